"""Compile the class rules of the instructions file into the table that ``enricher.classify`` reads.

The compiled form is plain JSON and is used as it is parsed: names are resolved,
word forms expanded and phrases split here, once per edit, never per prompt.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from typing import Any

from enricher.classify import matching, reading
from enricher.classify.table import GAP
from enricher.prompt.wording import structure
from enricher.rules.compiling.inflection import CONTRACTIONS, forms
from enricher.rules.compiling.packing import packed_condition, packed_entries, packed_index, packed_word_weights

PLACES = {
    "any": matching.ANY,
    "start": matching.START,
    "end": matching.END,
    "first-sentence": matching.FIRST_SENTENCE,
    "last-sentence": matching.LAST_SENTENCE,
    "whole": matching.WHOLE,
    "lead": matching.LEAD,
    "order": matching.ORDER,
    "last-order": matching.LAST_ORDER,
    "object": matching.OBJECT,
}
LEADING = frozenset({"lead", "order", "last-order"})
MARKERS = {
    "<code>": structure.CODE,
    "<file>": structure.FILE,
    "<doc>": structure.DOC_FILE,
    "<agent-file>": structure.AGENT_FILE,
    "<test-file>": structure.TEST_FILE,
    "<url>": structure.URL,
    "<quote>": structure.QUOTE,
    "<image>": structure.IMAGE,
}
FEATURES = frozenset(
    "always question_mark ends_with_question no_words tiny short medium long very_long order imperative several_orders"
    " order_last polite_request prohibition approval several_sentences non_english code_block inline_code diff"
    " stack_trace log shell table pasted_error error_line list heading quoted quote path file doc_file agent_file"
    " test_file url image mention identifier".split()
)
KEYS = frozenset({"phrase", "any", "words", "feature", "at", "gap", "weight", "unless", "with", "exact"})
SUBJECTS = ("phrase", "any", "words", "feature")
MOST_GAP, LEAST_WEIGHT = 12, 1
MOST_WEIGHT = 30  # a single signal written by the user outweighs all fitted ones
MOST_FITTED = 9  # what `tune` gives at most, and the most that a leaning counts
DEFAULT_GAP = 6
LONGEST_WORDING = 2
WORDING_PLACES = (matching.AT_LEAD, matching.AT_OBJECT)
LATE = "task_"
RESERVED = frozenset(";|=~")
"""Separators in the compiled texts; when a prompt is read, they are replaced by spaces."""

LISTS = ("openers", "requests", "approvals", "english", "no-topics")
"""Word lists that the code for reading prompts needs; other lists are used by signals only."""

MOST_CACHED_TABLES = 16
"""Tables that a process keeps compiled: both sides of a comparison, and those with single hunks of an edit undone."""

_UNFOLDED = frozenset(
    "the and for not you are was has have had can will would could should this that these those with what where when"
    " why how who which into from than then there here its our your their his her him she they them all any but out off"
    " one two now yet also just only very too more most some such been being does did done".split()
)


@dataclass(frozen=True, slots=True)
class ClassRule:
    """One class of a facet: its signals, and example prompts that must be classified as it."""

    facet: str
    name: str
    title: str
    signals: list[dict[str, Any]]
    examples: list[str]
    line: int
    file: str
    word_weights: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassFacet:
    """How the scores of one facet become a confidence, and when its best class is shown."""

    name: str
    points_that_double: float = 3.0
    min_confidence: float = 0.5
    silent: list[str] = field(default_factory=list)
    max_silent: float = 1.0


def check_signal(signal: object, lists: dict[str, list[str]]) -> list[str]:
    """Return the problems of one signal as written, each with how to correct it; empty if there are none."""
    if not isinstance(signal, dict):
        return ['a signal is a mapping such as {phrase: "how do i", weight: 4}']
    found = [f"unknown key '{key}'; known: {', '.join(sorted(KEYS))}" for key in signal if key not in KEYS]
    subjects = [key for key in SUBJECTS if key in signal]
    if len(subjects) != 1:
        found.append(f"needs exactly one of {', '.join(SUBJECTS)}")
    if not isinstance(signal.get("at", "any"), str) or signal.get("at", "any") not in PLACES:
        found.append(f"at: '{signal['at']}' is no place; known: {', '.join(PLACES)}")
    gap = signal.get("gap", DEFAULT_GAP)
    if not _is_whole(gap) or not 0 < gap <= MOST_GAP:
        found.append(f"gap: {gap} is outside 1 to {MOST_GAP}")
    weight = signal.get("weight", LEAST_WEIGHT)
    if not _is_whole(weight) or not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        found.append(f"weight: {weight} is outside {LEAST_WEIGHT} to {MOST_WEIGHT}")
    if "feature" in signal and not _is_feature(signal["feature"]):
        found.append(f"unknown feature '{signal['feature']}'; known: {', '.join(sorted(FEATURES))}")
    if "words" in signal and (not isinstance(signal["words"], str) or signal["words"] not in lists):
        found.append(f"unknown word list '{signal['words']}'; known: {', '.join(sorted(lists))}")
    if not found:
        found += _check_phrases(signal, lists)
    return found


def check_word_weights(leanings: dict[str, list[str]]) -> list[str]:
    """Return the problems of the plain words of a class; empty if there are none."""
    found = []
    for strength, words in leanings.items():
        figure = int(strength) if strength.removeprefix("-").isdecimal() else 0
        if not LEAST_WEIGHT <= abs(figure) <= MOST_FITTED:
            found.append(f"leanings: '{strength}' is outside 1 to {MOST_FITTED} and -1 to -{MOST_FITTED}")
        found += [
            f"leanings: '{word}' is not one word, two, or one at @lead or @object; a longer wording is a signal"
            for word in words
            if not wording_key(word)
        ]
    return found


def wording_key(written: str) -> tuple[str, str] | None:
    """Return a plain word and its condition: empty, the next word, ``@lead`` or ``@object``; None if malformed."""
    wording, at, place = written.partition("@")
    words = tokens(wording)
    if "…" in words or RESERVED.intersection(written):
        return None
    if at:
        return (words[0], at + place) if len(words) == 1 and at + place in WORDING_PLACES else None
    return (words[0], "".join(words[1:])) if 1 <= len(words) <= LONGEST_WORDING else None


def _is_feature(name: object) -> bool:
    """Return whether ``name`` is a structural feature, or a task type chosen by an earlier facet (``task_debug``)."""
    return isinstance(name, str) and (name in FEATURES or name.startswith(LATE))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_phrases(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[str]:
    for key in ("any", "unless", "with"):
        if not isinstance(signal.get(key, []), list):
            return [f"{key}: needs a list in square brackets"]
    guards = [*signal.get("unless", []), *signal.get("with", [])]
    found = []
    names = frozenset(lists)
    for phrase in [*_alternatives(signal, lists), *guards]:
        if not isinstance(phrase, str):
            found.append(f"{phrase!r} is no text; put it in quotes")
        elif problem := _phrase_problem(phrase, names, has_place="at" in signal):
            found.append(problem)
    for phrase in guards:
        if (
            isinstance(phrase, str)
            and phrase.startswith("<")
            and phrase not in MARKERS
            and phrase[1:-1] not in FEATURES
        ):
            found.append(f"unknown feature '{phrase[1:-1]}'")
    return found


@cache
def _phrase_problem(phrase: str, names: frozenset[str], *, has_place: bool) -> str:
    """Return what is wrong with one wording, empty if nothing is; ``names`` are those of all word lists."""
    words = tokens(phrase)
    if not words or words[0] == "…" or words[-1] == "…":
        return f"'{phrase}' is empty, or begins or ends with …"
    if is_contained(phrase) and (phrase.isascii() or has_place):
        return f"'{phrase}': only words of scripts without spaces may be between stars, and without 'at'"
    if RESERVED.intersection(phrase):
        signs = " ".join(sorted(RESERVED))
        return f"'{phrase}' holds one of {signs}, which no prompt is read with; leave it out"
    if not phrase.startswith("["):
        return ""
    name, _, place = phrase.partition("@")
    if name[1:-1] not in names:
        return f"unknown word list '{phrase}'"
    return f"'{place}' in '{phrase}' is no place; known: {', '.join(PLACES)}" if place and place not in PLACES else ""


def _alternatives(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[Any]:
    if "phrase" in signal:
        return [signal["phrase"]]
    if "any" in signal:
        return list(signal["any"])
    return list(lists[signal["words"]]) if "words" in signal else []


@cache
def tokens(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase as they are split when a prompt is read."""
    found: list[str] = []
    spaced = reading.spaced_foreign_text(phrase.lower()) if not phrase.isascii() else phrase.lower()
    for chunk in spaced.replace("…", " … ").replace("?", " ? ").replace(",", " , ").split():
        found += CONTRACTIONS.get(chunk, [MARKERS.get(chunk, chunk)])
    return tuple(found)


def is_contained(phrase: str) -> bool:
    """Return whether a phrase is also searched inside words: ``*为什么*``, for scripts without spaces."""
    return len(phrase) > len("**") and phrase[0] == phrase[-1] == "*"


def label(signal: dict[str, Any]) -> str:
    """Return the name of a signal that ``explain`` shows."""
    if "feature" in signal:
        text = f"<{signal['feature']}>"
    elif "words" in signal:
        text = f"[{signal['words']}]"
    elif "phrase" in signal:
        text = f'"{signal["phrase"]}"'
    else:
        shown = signal["any"][:3]
        text = "/".join(map(str, shown)) + ("/…" if len(signal["any"]) > len(shown) else "")
    return text + (f" at {signal['at']}" if signal.get("at", "any") != "any" else "")


def condition_of(signal: dict[str, Any]) -> str:
    """Return the condition of a signal without its weight; signals with equal conditions fire together."""
    return repr(sorted((key, value) for key, value in signal.items() if key != "weight"))


def compile_classes(
    rules: list[ClassRule], *, facets: list[ClassFacet] | None = None, lists: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return the table that ``enricher.classify.classify`` reads; every signal must have passed ``check_signal``.

    Ties between classes keep the order of ``rules``. Equal rules share one table, so callers must not change it:
    a replay compiles many stacks of files that differ in other places.
    """
    described = {facet.name: facet for facet in facets or []}
    names = list(dict.fromkeys(rule.facet for rule in rules))
    source = {
        "rules": [(names.index(rule.facet), rule.name, rule.signals, rule.word_weights) for rule in rules],
        "lists": {name: [] for name in LISTS} | (lists or {}),
    }
    return {
        "facets": [asdict(described.get(name, ClassFacet(name))) for name in names],
        **_table_of(json.dumps(source, ensure_ascii=False, default=str)),
    }


@lru_cache(maxsize=MOST_CACHED_TABLES)
def _table_of(source: str) -> dict[str, Any]:
    """Return the table, without facets, of the rules and word lists in a JSON text, which is the key of the cache."""
    given = json.loads(source)
    compiler = _Compiler(given["lists"])
    for at, (_facet_at, _name, signals, leanings) in enumerate(given["rules"]):
        for signal in signals:
            compiler.add(signal, class_at=at)
        for strength, words in leanings.items():
            for word in words:
                first, key = wording_key(word) or (word, "")
                compiler.word_weights.setdefault(first, {}).setdefault(key, []).append(f"{at} {int(strength)}")
    return {
        "classes": [[facet_at, name] for facet_at, name, _signals, _leanings in given["rules"]],
        **compiler.table(),
    }


def condition_numbers(rules: list[ClassRule], lists: dict[str, list[str]]) -> list[list[int]]:
    """Return for each rule the number of each of its signals in the compiled table."""
    compiler = _Compiler({name: [] for name in LISTS} | lists)
    return [[compiler.condition(signal) for signal in rule.signals] for rule in rules]


class _Compiler:
    """The table during compilation, to which signals are added one by one."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        self.lists = lists
        self.conditions: list[list[Any]] = []
        self.known: dict[str, int] = {}
        self.exact: dict[str, list[Any]] = {}
        self.index: dict[str, list[Any]] = {}
        self.features: dict[str, list[int]] = {}
        self.contained: dict[str, list[int]] = {}
        self.late: dict[str, list[int]] = {}
        self.bases: dict[str, None] = {}
        self.word_weights: dict[str, dict[str, list[str]]] = {}
        self.orders: dict[str, int] = dict.fromkeys(lists.get("orders", []), 1)

    def add(self, signal: dict[str, Any], *, class_at: int) -> None:
        number = self.condition(signal)
        self.conditions[number][4].append([class_at, signal.get("weight", LEAST_WEIGHT)])

    def condition(self, signal: dict[str, Any]) -> int:
        key = condition_of(signal)
        if key in self.known:
            return self.known[key]
        number = self.known[key] = len(self.conditions)
        feature = signal.get("feature", "")
        row: list[Any] = [PLACES[signal.get("at", "any")], label(signal), [], [], [], feature]
        self.conditions.append(row)
        if feature:
            table = self.late if feature.startswith(LATE) else self.features
            table.setdefault(feature.removeprefix(LATE), []).append(number)
        for phrase in dict.fromkeys(_alternatives(signal, self.lists)):
            self.phrase(phrase, number, signal=signal)
        row[2] = [self.guard(guard) for guard in signal.get("unless", [])]
        row[3] = [self.guard(guard) for guard in signal.get("with", [])]
        return number

    def guard(self, written: str) -> int:
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
        words = tokens(phrase)
        leading = signal.get("at") in LEADING
        if leading:
            self.orders[words[0]] = 1
        table = self.exact if leading or signal.get("exact") else self.index
        rest = [GAP if word == "…" else word for word in words[1:]]
        gap = signal.get("gap", DEFAULT_GAP) if GAP in rest else 0
        table.setdefault(words[0], []).append([number, gap, *rest] if rest else number)
        for word in words[1:] if table is self.exact else words:
            self.bases[word] = None

    def table(self) -> dict[str, Any]:
        return {
            "places": [row[0] for row in self.conditions],
            "conditions": "\n".join(packed_condition(row) for row in self.conditions),
            "features": self.features,
            "contained": self.contained,
            "late": self.late,
            "leanings": packed_index({word: packed_word_weights(found) for word, found in self.word_weights.items()}),
            "exact": packed_index(packed_entries(self.exact)),
            "index": packed_index(packed_entries(self.index)),
            "fold": packed_index(_folds(self.bases)),
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
