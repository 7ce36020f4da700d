"""Compile the signals of all classes in the instructions into the table with which ``enricher.classify`` works.

The table is plain JSON, used exactly as it is parsed: names are resolved, word forms
expanded and phrases split here, once after each edit instead of for each prompt.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from enricher.classify.table import LETTERS, WRITTEN_GAP
from enricher.rules.compiling.schema import FacetSettings
from enricher.rules.compiling.signals import (
    CONTRACTIONS,
    DEFAULT_GAP,
    LATE,
    LEAST_WEIGHT,
    LISTS,
    MARKERS,
    PLACES,
    alternatives,
    condition_of,
    forms,
    is_contained,
    label,
    tokens,
    wording_key,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enricher.rules.compiling.signals import ClassRule

Entries = dict[str, dict[str, list[str]]]
"""The phrases by their first and second words, each as "condition gap word word …"."""

LEADING = frozenset({"lead", "order", "last-order"})
"""Values of a signal's key ``at`` for the beginning of an order (imperative).

Phrases there match exactly, and their first words are the verbs by which orders are recognised.
"""
USUAL_SETTINGS = FacetSettings().model_dump(exclude={"disabled", "extend"})
MOST_CACHED_TABLES = 16
"""Number of compiled tables that a process caches.

These are the tables of two versions that are compared, and of variants of an edit in which one hunk is undone.
"""

_UNFOLDED = frozenset(
    "the and for not you are was has have had can will would could should this that these those with what where when"
    " why how who which into from than then there here its our your their his her him she they them all any but out off"
    " one two now yet also just only very too more most some such been being does did done".split()
)


def compile_classes(
    rules: list[ClassRule],
    *,
    facets: Mapping[str, dict[str, Any]] | None = None,
    lists: dict[str, list[str]] | None = None,
) -> dict[str, Any]:
    """Return the table that ``enricher.classify.verdict`` reads; every signal must have passed ``check_signal``.

    ``facets`` has the values of ``schema.FacetSettings`` by the name of the facet, which is a set of classes such as
    the task types. Of classes with equal scores, the first in ``rules`` wins. Callers must not change the table: it is
    cached and returned again for equal rules, because trying edits on recorded prompts compiles the same rules often.
    """
    names = list(dict.fromkeys(rule.facet for rule in rules))
    source = {
        "rules": [(names.index(rule.facet), rule.name, rule.signals, rule.word_weights) for rule in rules],
        "lists": {name: [] for name in LISTS} | (lists or {}),
    }
    return {
        "facets": [
            {"name": name, **USUAL_SETTINGS, **(facets or {}).get(name, {}), "floors": _floors(rules, name)}
            for name in names
        ],
        **_table_of(json.dumps(source, ensure_ascii=False, default=str)),
    }


def _floors(rules: list[ClassRule], facet: str) -> dict[str, float]:
    """Return the least confidence of each class that sets one of its own."""
    return {rule.name: rule.min_confidence for rule in rules if rule.facet == facet and rule.min_confidence}


@lru_cache(maxsize=MOST_CACHED_TABLES)
def _table_of(source: str) -> dict[str, Any]:
    """Return the table without facets; ``source`` has the rules and word lists as JSON, so that it can be cached."""
    given = json.loads(source)
    compiler = _Compiler(given["lists"])
    for at, (_facet_at, _name, signals, leanings) in enumerate(given["rules"]):
        for signal in signals:
            compiler.add(signal, class_at=at)
        for strength, words in leanings.items():
            for word in words:
                first, key = wording_key(word) or (word, "")
                compiler.word_weights.setdefault(first, {}).setdefault(key, []).append(f"{at} {int(strength)}")
    return {"classes": [[facet_at, name] for facet_at, name, _signals, _leanings in given["rules"]], **compiler.table()}


def condition_numbers(rules: list[ClassRule], lists: dict[str, list[str]]) -> list[list[int]]:
    """Return for each rule a list with the index of each of its signals in the compiled table."""
    compiler = _Compiler({name: [] for name in LISTS} | lists)
    return [[compiler.condition(signal) for signal in rule.signals] for rule in rules]


@dataclass(slots=True)
class _Condition:
    """When a signal fires, with the numbers of other conditions that must or must not hold, and what it then counts."""

    place: int
    label: str
    feature: str
    unless: list[int] = field(default_factory=list)
    needs: list[int] = field(default_factory=list)
    weights: list[tuple[int, int]] = field(default_factory=list)
    """(number of the class, points)"""


class _Compiler:
    """Builds the table for ``enricher.classify`` from signals that are added one by one."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        self.lists = lists
        self.conditions: list[_Condition] = []
        self.known: dict[str, int] = {}
        self.guards: dict[str, int] = {}
        self.exact: Entries = defaultdict(partial(defaultdict, list))
        self.index: Entries = defaultdict(partial(defaultdict, list))
        self.features: dict[str, list[int]] = {}
        self.contained: dict[str, list[int]] = {}
        self.late: dict[str, list[int]] = {}
        self.bases: list[Sequence[str]] = []
        """The words of each phrase that are matched in any inflected form."""
        self.word_weights: dict[str, dict[str, list[str]]] = {}
        self.orders: dict[str, int] = dict.fromkeys(lists.get("orders", []), 1)

    def add(self, signal: dict[str, Any], *, class_at: int) -> None:
        number = self.condition(signal)
        self.conditions[number].weights.append((class_at, signal.get("weight", LEAST_WEIGHT)))

    def condition(self, signal: dict[str, Any]) -> int:
        key = condition_of(signal)
        if key in self.known:
            return self.known[key]
        number = self.known[key] = len(self.conditions)
        feature = signal.get("feature", "")
        found = _Condition(PLACES[signal.get("at", "any")], label(signal), feature)
        self.conditions.append(found)
        if feature:
            table = self.late if feature.startswith(LATE) else self.features
            table.setdefault(feature.removeprefix(LATE), []).append(number)
        for phrase in dict.fromkeys(alternatives(signal, self.lists)):
            self.phrase(phrase, number, signal=signal)
        found.unless = [self.guard(guard) for guard in signal.get("unless", [])]
        found.needs = [self.guard(guard) for guard in signal.get("with", [])]
        return number

    def guard(self, written: str) -> int:
        if written not in self.guards:  # many signals have the same guards
            self.guards[written] = self.guard_condition(written)
        return self.guards[written]

    def guard_condition(self, written: str) -> int:
        written, _, place = written.partition("@")
        if written.startswith("["):
            return self.condition({"words": written[1:-1], **({"at": place} if place else {})})
        if written.startswith("<") and written not in MARKERS:
            return self.condition({"feature": written[1:-1]})
        return self.condition({"phrase": written})

    def phrase(self, phrase: str, number: int, *, signal: dict[str, Any]) -> None:
        if is_contained(phrase):
            self.contained.setdefault(phrase.strip("*").lower(), []).append(number)
            return
        first, second, others, has_gap = _split(phrase)
        leading = signal.get("at") in LEADING
        if leading:
            self.orders[first] = 1
        table = self.exact if leading or signal.get("exact") else self.index
        gap = signal.get("gap", DEFAULT_GAP) if has_gap else 0
        table[first][second].append(f"{number} {gap} {others}" if others else str(number))
        words = tokens(phrase)
        self.bases.append(words[1:] if table is self.exact else words)

    def table(self) -> dict[str, Any]:
        return {
            "places": [one.place for one in self.conditions],
            "conditions": "\n".join(_packed_condition(one) for one in self.conditions),
            "features": self.features,
            "contained": self.contained,
            "late": self.late,
            "leanings": _packed_index({word: _packed_word_weights(found) for word, found in self.word_weights.items()}),
            "exact": _packed_index(_packed_entries(self.exact)),
            "index": _packed_index(_packed_entries(self.index)),
            "fold": _packed_index(_folds(dict.fromkeys(chain.from_iterable(self.bases)))),
            "contractions": CONTRACTIONS,
            "orders": " ".join(self.orders),
            "openers": " ".join(opener for opener in self.lists["openers"] if " " not in opener),
            "requests": _by_first_word(
                [*(opener for opener in self.lists["openers"] if " " in opener), *self.lists["requests"]]
            ),
            "approvals": " ".join(self.lists["approvals"]),
            "english": " ".join(self.lists["english"]),
            "no_topics": " ".join(_with_forms(self.lists["no-topics"])),
        }


@cache
def _split(phrase: str) -> tuple[str, str, str, bool]:
    """Return the first word of a phrase, the one right behind it, all behind the first, and whether it has a gap.

    The second is empty if the phrase has one word, or a gap there.
    """
    first, *others = tokens(phrase)
    second = others[0] if others and others[0] != WRITTEN_GAP else ""
    return first, second, " ".join(others), WRITTEN_GAP in others


def _packed_condition(one: _Condition) -> str:
    """Return a condition as the text "unless;with;class weight …;feature;label", which ``table.Table`` unpacks."""
    figures = " ".join(f"{class_at} {weight}" for class_at, weight in one.weights)
    return f"{' '.join(map(str, one.unless))};{' '.join(map(str, one.needs))};{figures};{one.feature};{one.label}"


def _packed_word_weights(found: dict[str, list[str]]) -> str:
    # Weights without a condition come first; each condition follows as ``|condition=`` with the weights under it.
    alone = " ".join(found.get("", []))
    return alone + "".join(f"|{key}={' '.join(figures)}" for key, figures in found.items() if key)


def _packed_entries(table: Entries) -> dict[str, str]:
    """Return for each first word its phrases as a text: "phrase;phrase|second=phrase;…|".

    Phrases with one word or with a gap after the first word come first, the others under their second word.
    """
    packed = {}
    for first, found in table.items():
        groups = "".join(f"|{second}={';'.join(texts)}" for second, texts in found.items() if second)
        packed[first] = ";".join(found.get("", ())) + (groups + "|" if groups else "")
    return packed


def _packed_index(values: dict[str, str]) -> dict[str, str]:
    # By the letters with which the words begin: "~word=value~word=value~".
    packed: dict[str, list[str]] = {}
    for word, value in sorted(values.items()):
        packed.setdefault(word[:LETTERS], []).append(f"~{word}={value}")
    return {letters: f"{''.join(texts)}~" for letters, texts in packed.items()}


def _folds(bases: dict[str, None]) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in bases:
        if base in _UNFOLDED:
            continue
        for form in forms(base):
            if form != base:
                found.setdefault(form, base)
    return found


def _by_first_word(phrases: list[str]) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for phrase in phrases:
        first, *rest = tokens(phrase)
        found.setdefault(first, []).append(rest)
    return found


def _with_forms(words: list[str]) -> dict[str, int]:
    found = dict.fromkeys(words, 1)
    for word in words:
        found.update(dict.fromkeys(forms(word), 1))
    return found
