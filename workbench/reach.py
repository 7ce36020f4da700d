"""Which prompts an edit of the rules can reach at all: the others need not be judged again.

Most edits touch a few signals. A prompt that holds none of the words which a changed
signal needs fires neither its old nor its new form, and comes out as before. Where an
edit is of another kind, every prompt is judged again. Words are looked for as parts of
the text, so the answer «may be reached» can be wrong, «is not reached» cannot:
``tests/workbench/test_reach.py`` holds that against edits by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.classify.matching import MOST_TRIES
from enricher.classify.reading import MARKS
from enricher.classify.table import GAP, Table
from enricher.decision import RECORDED_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from enricher.rules.cache import Rules

    Entry = tuple[str, tuple[Any, ...]]

PASSIVE = ("classes", "settings", "format")
"""Parts of the compiled rules that are compared by what is in them."""
COMPARED_WHOLE = ("contractions", "requests", "openers", "approvals", "english")
"""Lists that the reader of every prompt goes by."""
MARKERS_BEGIN = "\ue000"


class Reach:
    """Whether two versions of the rules may judge a prompt differently; an unknown one may judge any so."""

    __slots__ = ("is_everything", "is_nothing", "needles", "repeated")

    def __init__(self, before: Rules | None, after: Rules) -> None:
        self.needles: tuple[str, ...] = ()
        self.repeated: tuple[str, ...] = ()
        self.is_nothing = before is not None and before.hash == after.hash
        self.is_everything = before is None or not (self.is_nothing or _differ_in_signals_only(before, after))
        if before is not None and not (self.is_nothing or self.is_everything):
            self._compare(before.body["classes"], after.body["classes"])

    def _compare(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        try:
            needles, firsts = _changed_words(before, after)
        except _TooWideError:
            self.is_everything = True
            return
        chunks = {chunk for chunk, parts in before["contractions"].items() if needles.intersection(parts)}
        self.needles = _shortest(needles | chunks)
        self.repeated = tuple(sorted(firsts))

    def may_touch(self, *texts: str) -> bool:
        """Say whether a prompt that consists of these texts may come out otherwise."""
        if self.is_everything or self.is_nothing:
            return self.is_everything
        for text in texts:
            low = text.lower().replace("\u2019", "'")
            for needle in self.needles:
                if needle in low:
                    return True
            for first in self.repeated:
                if low.count(first) >= MOST_TRIES:
                    return True
        return False


class _TooWideError(Exception):
    """The edit reaches prompts that no word tells."""


def _differ_in_signals_only(before: Rules, after: Rules) -> bool:
    one, other = before.body, after.body
    if any(one.get(key) != other.get(key) for key in {*one, *other} if key not in PASSIVE):
        return False
    if any(one["settings"].get(key) != other["settings"].get(key) for key in RECORDED_SETTINGS):
        return False
    tables = one["classes"], other["classes"]
    return all(tables[0][key] == tables[1][key] for key in ("facets", "classes", *COMPARED_WHOLE))


def _changed_words(before: dict[str, Any], after: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Return the words one of which a reached prompt holds, and those whose many repetitions may shift what fires."""
    was, now = _Signals(before), _Signals(after)
    needles: set[str] = set()
    firsts: set[str] = set()
    for side, other in ((was, now), (now, was)):
        for signal in side.all - other.all:
            for first, entry in side.entries_of(signal):
                needles |= side.one_word_of(first, entry)
                firsts |= side.forms_of(first)
    for name in ("fold", "leanings"):
        needles |= _changed_keys(before[name], after[name])
    needles |= set(before["orders"].split(" ")) ^ set(after["orders"].split(" "))
    if not all(needle.isascii() for needle in needles):
        raise _TooWideError
    return needles, firsts


def _changed_keys(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {word for word, _value in set(_pairs(before)) ^ set(_pairs(after))}


def _pairs(drawers: dict[str, str]) -> Iterator[tuple[str, str]]:
    for text in drawers.values():
        for pair in text.split("~"):
            if pair:
                word, _, value = pair.partition("=")
                yield word, value


class _Signals:
    """The conditions of a compiled table by what they look for, whatever their numbers are."""

    def __init__(self, packed: dict[str, Any]) -> None:
        self._packed = packed
        self._table = Table(packed)
        self._entries: dict[int, list[Entry]] = {}
        for kind in ("exact", "index"):
            for first, value in _pairs(packed[kind]):
                for number, rest in _unpacked(value):
                    self._entries.setdefault(number, []).append((first, (kind, *rest)))
        self._features = {number: name for name, held in packed["features"].items() for number in held}
        self._features |= {number: f"task_{name}" for name, held in packed["late"].items() for number in held}
        self._forms: dict[str, set[str]] = {}
        for form, base in _pairs(packed["fold"]):
            self._forms.setdefault(base, set()).add(form)
        self._names: dict[int, str] = {}
        self._numbers = {self._name(number): number for number in range(len(packed["conditions"]))}
        self.all = self._numbers.keys()

    def _name(self, number: int) -> str:
        if number not in self._names:
            unless, needs, weights, feature, _label = self._table.condition(number)
            guards = [sorted(map(self._name, guard)) for guard in (unless, needs)]
            sought = sorted(map(repr, self._entries.get(number, [])))
            self._names[number] = repr((self._packed["places"][number], feature, sought, guards, sorted(weights)))
        return self._names[number]

    def entries_of(self, name: str) -> list[Entry]:
        """Return the phrases of a signal; raises _TooWideError for one that looks for no words."""
        number = self._numbers[name]
        if number in self._features or not self._entries.get(number):
            raise _TooWideError
        return self._entries[number]

    def one_word_of(self, first: str, entry: tuple[Any, ...]) -> set[str]:
        """Return every form of one word without which the phrase does not match: the longest is the rarest."""
        kind, _gap, *rest = entry if len(entry) > 1 else (*entry, 0)
        words = [first, *(word for word in rest if word != GAP)]
        plain = [word for word in words if word not in MARKS and word < MARKERS_BEGIN]
        if not plain:
            raise _TooWideError
        longest = max(plain, key=len)
        return {longest} if kind == "exact" and longest == first else self.forms_of(longest)

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


def _shortest(words: Iterable[str]) -> tuple[str, ...]:
    """Leave out every word that holds another one of them."""
    kept: list[str] = []
    for word in sorted(set(words), key=lambda word: (len(word), word)):
        if not any(shorter in word for shorter in kept):
            kept.append(word)
    return tuple(kept)
