"""Find which prompts an edit of the rules can affect; the others need not be judged again.

Most edits change a few signals. A prompt with none of the words that a changed signal needs does not match the signal,
neither before nor after the edit, so that its recorded scores stay valid. Edits of thresholds or guardrails only weigh
these scores differently, so that the prompt need not be read again. A prompt may be called affected in error, but never
unaffected; ``tests/replay/test_reach.py`` checks that with random edits.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from enricher.classify.reading import MARKS
from enricher.classify.table import GAP, Table
from enricher.classify.verdict import scanned_part
from workbench.replay.rulesets.versions import pairs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt

    Entry = tuple[str, tuple[Any, ...]]
    Phrase = frozenset[frozenset[str]]

NOT, WEIGH, EVALUATE = range(3)
"""How an edit affects a prompt: not at all; its scores are only weighed differently; its scores may differ."""

READER = ("classes", "contractions", "requests", "openers", "approvals", "english")
"""Keys of the compiled table of signals that affect the reading of prompts: if one differs, all may be affected."""
ANY_CONFIDENCE = 0.0, math.inf
MARKERS_BEGIN = "\ue000"
"""Start of Unicode's private use area: the reader replaces <file> and other markers by such characters."""
RUN = re.compile("[a-z0-9]+")
LOWERED_OTHERWISE = frozenset("\u03c3\u03c2\u0307\u2019\n")
"""Characters for which a search in the lower-case text is unreliable, because the reader of prompts converts them.

They are the two Greek sigmas, the dot of a Turkish I, the curly apostrophe, and the line break, which separates the
prompts that are searched together.
"""
CONVERSATION = '"conversation"'
NOT_AS_WRITTEN = ('"answer":', "\\u0130", "\\u212a")
"""Pieces of JSON that make a search for words in the recorded inputs unreliable.

The texts in an ``answer`` are extracted before they are searched for signals; the two characters contain an ASCII
letter in lower case.
"""


_KNOWN: dict[str, _Signals] = {}  # see _signals
MOST_KNOWN = 32


class Impact:
    """Tells which prompts the difference between two sets of rules can affect; all prompts if ``before`` is None."""

    __slots__ = ("_between", "_features", "_is_carried_otherwise", "_least", "_parts", "_phrases", "_sought")

    def __init__(self, before: Rules | None, after: Rules) -> None:
        self._phrases: set[Phrase] = set()
        self._features: frozenset[str] = frozenset()
        self._least = EVALUATE
        self._is_carried_otherwise = False
        self._between = ANY_CONFIDENCE
        if before is None:
            return
        one, other = before.body["classes"], after.body["classes"]
        if any(one[key] != other[key] for key in READER) or not self._collect_words(before, after):
            return
        self._is_carried_otherwise = _silent(one) != _silent(other)
        if not _differ_except_facets(before, after) and one["facets"] == other["facets"]:
            self._least = NOT
        elif not _is_settled_late(other):
            self._least = WEIGH
            self._between = _confidences_in_question(before, after)
        # Of each phrase, only the word that is probably the rarest is searched for: the one with the longest forms.
        forms = {form for phrase in self._phrases for form in max(phrase, key=lambda forms: min(map(len, forms)))}
        self._sought = _pattern(forms)
        # JSON writes letters and digits as they are, but escapes other characters.
        self._parts = {*NOT_AS_WRITTEN, *(max(RUN.findall(form), key=len, default="") for form in forms)}

    def _collect_words(self, one: Rules, other: Rules) -> bool:
        """Collect the words and features that changed signals look for; return False if they cannot be determined."""
        before, after = one.body["classes"], other.body["classes"]
        if before == after:
            return True
        changed = _Changed(_signals(one), _signals(other))
        words = set(before["orders"].split(" ")) ^ set(after["orders"].split(" "))
        for name in ("fold", "leanings"):
            words |= {word for word, _value in set(pairs(before[name])) ^ set(pairs(after[name]))}
        if any(map(_is_sign, words)):
            return False  # signs, such as a question mark, are not words of the text
        self._phrases = {frozenset([frozenset([word])]) for word in words} | changed.phrases
        if not all(phrase and LOWERED_OTHERWISE.isdisjoint(chain(*chain(*phrase))) for phrase in self._phrases):
            return False
        self._phrases = {frozenset(_with_contractions(phrase, before["contractions"])) for phrase in self._phrases}
        self._features = frozenset(changed.features)
        return True

    @property
    def is_everything(self) -> bool:
        """Return whether every prompt must be judged again."""
        return self._least == EVALUATE

    @property
    def is_for_all(self) -> bool:
        """Return whether the edit may affect prompts with none of the changed words, whatever their confidence."""
        return bool(self._features) or (self._least != NOT and self._between == ANY_CONFIDENCE)

    @property
    def is_nothing(self) -> bool:
        """Return whether the edit can affect no prompt at all."""
        return self._least == NOT and not (self._phrases or self._features)

    def level(
        self,
        prompt: str = "",
        earlier: str = "",
        *,
        features: Collection[str] | None = None,
        confidence: float | None = None,
    ) -> int:
        """Return how much of a prompt must be judged again: nothing (NOT), its scores (WEIGH), or all (EVALUATE).

        ``earlier`` is the text of the conversation that the prompt refers back to. ``features`` are the prompt's
        features, including one for its task type, such as ``task_debug``; ``confidence`` is the confidence in that task
        type. Both were determined by the rules before the edit; they are None if they are not known.
        """
        if self._least == EVALUATE or self.is_nothing:
            return self._least
        if self._features and (earlier or features is None or not self._features.isdisjoint(features)):
            return EVALUATE
        if earlier and (self._is_carried_otherwise or self._holds(earlier)):
            return EVALUATE
        if self._holds(prompt):
            return EVALUATE
        low, high = self._between
        return NOT if confidence is not None and not low <= confidence < high else self._least

    def positions(self, rows: Sequence[RecordedPrompt], *, knows_confidence: bool) -> Collection[int]:
        """Return the positions in ``rows`` of the prompts that may be affected; ``level`` can exclude some of them.

        All prompts are searched at once, which takes a fraction of the time of one search per prompt.
        """
        if self.is_everything or self._features:
            return range(len(rows))
        lowered = [_lowered(row.prompt) for row in rows]
        starts = list(accumulate((len(low) + 1 for low in lowered), initial=0))  # + 1: the line break between prompts
        found = {bisect_right(starts, match.start()) - 1 for match in self._sought.finditer("\n".join(lowered))}
        found.update(self._with_conversation(rows))
        if self._least != NOT:
            low, high = self._between if knows_confidence else ANY_CONFIDENCE
            found.update(at for at, row in enumerate(rows) if row.confidence is None or low <= row.confidence < high)
        return found

    def _with_conversation(self, rows: Sequence[RecordedPrompt]) -> Iterator[int]:
        """Yield the positions of the prompts whose recorded conversation may contain a word of a changed signal.

        The JSON text is searched, which is faster than finding out whether the prompt refers back to the conversation.
        """
        texts = {at: row.inputs.lower() for at, row in enumerate(rows) if CONVERSATION in row.inputs}
        joined = "\n".join(texts.values())  # most parts occur in no prompt, which one search shows
        parts = [part for part in self._parts if part in joined]
        return (at for at, text in texts.items() if self._is_carried_otherwise or any(part in text for part in parts))

    def _holds(self, text: str) -> bool:
        low = _lowered(text)
        if not self._sought.search(low):
            return False
        words = set(RUN.findall(low))
        return any(all(_occurs(forms, words, low) for forms in phrase) for phrase in self._phrases)


def _signals(rules: Rules) -> _Signals:
    """Return the signals of compiled rules; they are cached, because many edits are compared with the same rules.

    Rules with the same hash may have different tables of signals if two releases compiled them, so a cached entry is
    used only if its table equals that of ``rules``.
    """
    packed = rules.body["classes"]
    known = _KNOWN.get(rules.hash)
    if known is None or not known.is_of(packed):
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[rules.hash] = _Signals(packed)
    return known


def _lowered(text: str) -> str:
    """Return the part of a text that is searched for signals, in lower case and with straight apostrophes."""
    return scanned_part(text).lower().replace("\u2019", "'")


def _occurs(forms: Iterable[str], words: set[str], low: str) -> bool:
    """Return whether the text ``low`` contains one of the forms of a word.

    ``words`` are the words of the text. A form with characters besides a-z and digits is also found inside words.
    """
    return any(form in words or (not RUN.fullmatch(form) and form in low) for form in forms)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the words, with no letter or digit directly before or after it.

    Non-ASCII words are found anywhere, because Chinese, for example, is written without spaces.
    """
    escaped = [re.escape(word) for word in words]
    alone, inside = ("|".join(one for one in escaped if one.isascii() == is_ascii) for is_ascii in (True, False))
    patterns = [rf"(?<![a-z0-9])(?:{alone})(?![a-z0-9])"] * bool(alone) + [inside] * bool(inside)
    return re.compile("|".join(patterns) or r"(?!)")  # (?!) matches nowhere


def _with_contractions(
    words: Iterable[frozenset[str]], contractions: Mapping[str, Iterable[str]]
) -> list[frozenset[str]]:
    """Return the sets of word forms in ``words``, each with the contractions that contain one of its forms added."""
    short: dict[str, set[str]] = {}
    for chunk, parts in contractions.items():
        for part in parts:
            short.setdefault(part, set()).add(chunk)
    return [frozenset({*forms, *(chunk for form in forms for chunk in short.get(form, ()))}) for forms in words]


def _differ_except_facets(before: Rules, after: Rules) -> bool:
    """Return whether two sets of rules differ in more than signals and facets: guardrails, channels or budgets."""
    one, other = before.body, after.body
    # The settings are recorded with each prompt; the format only says which release compiled the rules.
    return any(one.get(key) != other.get(key) for key in {*one, *other} - {"classes", "settings", "format"})


def _silent(packed: dict[str, Any]) -> list[str]:
    """Return the task types, such as small talk, that a prompt does not inherit from the text it refers back to."""
    return next((facet["silent"] for facet in packed["facets"] if facet["name"] == TASK_TYPE), [])


def _confidences_in_question(before: Rules, after: Rules) -> tuple[float, float]:
    """Return the range of confidences [low, high) in which only one of the two sets of rules shows the task type.

    The range is unbounded if anything other than the task type's minimum confidence differs.
    """
    was, now = (rules.body["classes"]["facets"] for rules in (before, after))
    if _differ_except_facets(before, after) or list(map(_without_threshold, was)) != list(map(_without_threshold, now)):
        return ANY_CONFIDENCE
    low, high = sorted(facet["min_confidence"] for facet in (*was, *now) if facet["name"] == TASK_TYPE)
    return low, high


def _without_threshold(facet: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facet.items() if facet["name"] != TASK_TYPE or key != "min_confidence"}


def _is_settled_late(packed: dict[str, Any]) -> bool:
    """Return whether a signal that depends on the chosen task type also gives points to a task type.

    If so, the task type cannot be chosen again from the recorded scores, because these include such points.
    """
    table = Table(packed)
    of_task_type = {at for at, (facet, _name) in enumerate(table.classes) if facet == TASK_TYPE}
    late = (number for numbers in table.late.values() for number in numbers)
    return any(class_at in of_task_type for number in late for class_at, _weight in table.condition(number)[2])


class _Changed:
    """The phrases and features (such as a prompt's length) that the changed signals of an edit look for.

    A prompt without any of them matches none of these signals.
    """

    def __init__(self, was: _Signals, now: _Signals) -> None:
        self.phrases: set[Phrase] = set()
        self.features: set[str] = set()
        for side, other in ((was, now), (now, was)):
            counterparts = _by_frame(other, (other.counts - side.counts).elements())
            for frame, numbers in _by_frame(side, (side.counts - other.counts).elements()).items():
                of_other = counterparts.get(frame, [])
                is_one = len(numbers) == len(of_other) == 1
                common = set(other.entries(of_other[0])) if is_one else set()
                for number in numbers:
                    self._add(side, number, common)

    def _add(self, side: _Signals, number: int, common: Collection[Entry]) -> None:
        """Add the feature and the phrases that signal ``number`` of ``side`` looks for.

        Phrases in ``common``, which the signal looks for both before and after the edit, are left out.
        """
        if feature := side.feature(number):
            self.features.add(feature)
        for first, entry in side.entries(number):
            if (first, entry) not in common:
                self.phrases.add(side.words_of(first, entry))


def _by_frame(side: _Signals, names: Iterable[str]) -> dict[str, list[int]]:
    """Return the numbers of the named signals, grouped by their ``frame``.

    Signals of one group have the same weights, conditions and position, and can differ only in their phrases.
    """
    found: dict[str, list[int]] = {}
    for name in names:
        number = side.number(name)
        found.setdefault(side.frame(number), []).append(number)
    return found


class _Signals:
    """The signals of a compiled table, with a name for each by which the same signal can be found in another table.

    A signal's number may differ between two tables, so its name is composed of all its phrases, weights and conditions.
    ``counts`` is the number of signals by name.
    """

    def __init__(self, packed: dict[str, Any]) -> None:
        self._packed = packed
        self._table = Table(packed)
        self._entries: dict[int, list[Entry]] = {}
        for kind in ("exact", "index"):
            for first, value in pairs(packed[kind]):
                for number, rest in _unpacked(value):
                    self._entries.setdefault(number, []).append((first, (kind, *rest)))
        for text, numbers in packed["contained"].items():
            for number in numbers:
                self._entries.setdefault(number, []).append((text, ("exact", 0)))
        self._features: dict[int, str] = {number: name for name, held in packed["features"].items() for number in held}
        self._features |= {number: f"task_{name}" for name, held in packed["late"].items() for number in held}
        self._forms: dict[str, set[str]] = {}
        for form, base in pairs(packed["fold"]):
            self._forms.setdefault(base, set()).add(form)
        self._names: dict[int, str] = {}  # a signal's name contains those of the signals in its conditions
        self._frames: dict[int, str] = {}
        numbers = range(len(packed["places"]))
        self._numbers = {self._name(number): number for number in numbers}
        self.counts = Counter(map(self._name, numbers))

    def _name(self, number: int) -> str:
        if number not in self._names:
            unless, needs, weights, feature, _label = self._table.condition(number)
            guards = [sorted(map(self._name, guard)) for guard in (unless, needs)]
            sought = sorted(map(repr, self._entries.get(number, [])))
            self._frames[number] = repr((self._packed["places"][number], feature, guards, sorted(weights)))
            self._names[number] = repr((self._frames[number], sought))
        return self._names[number]

    def frame(self, number: int) -> str:
        """Return a string that represents everything in signal ``number`` except its phrases."""
        return self._frames[number]

    def is_of(self, packed: dict[str, Any]) -> bool:
        """Return whether these signals were read from the table ``packed``."""
        return self._packed is packed or self._packed == packed

    def number(self, name: str) -> int:
        """Return the number in this table of the signal with this name."""
        return self._numbers[name]

    def feature(self, number: int) -> str:
        """Return the feature that a signal looks for; empty for a signal that looks for words."""
        return self._features.get(number, "")

    def entries(self, number: int) -> list[Entry]:
        """Return the phrases of a signal, each as its first word and a tuple (kind, gap, and its other words)."""
        return self._entries.get(number, [])

    def words_of(self, first: str, entry: tuple[Any, ...]) -> Phrase:
        """Return the words that a prompt must contain to match a phrase, each as the set of its forms.

        The phrase begins with the word ``first`` and continues with ``entry``, as in the result of ``entries``.
        """
        kind, _gap, *rest = entry
        words = [{first} if kind == "exact" else self.forms_of(first)]
        words += [self.forms_of(word) for word in rest if word != GAP]
        return frozenset(frozenset(forms) for forms in words if not any(map(_is_sign, forms)))

    def forms_of(self, word: str) -> set[str]:
        """Return the word and its inflections."""
        return {word, *self._forms.get(word, ())}


def _unpacked(value: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    alone, _, behind = value.partition("|")
    groups = [alone, *(group.partition("=")[2] for group in behind.split("|"))]
    for text in (text for group in groups for text in group.split(";") if text):
        number, *rest = text.split(" ")
        gap, *words = rest or ["0"]
        yield int(number), (int(gap), *(GAP if word == "…" else word for word in words))


def _is_sign(word: str) -> bool:
    return word in MARKS or word >= MARKERS_BEGIN
