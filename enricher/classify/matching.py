"""Decide which signals of the compiled table a prompt fires.

One walk over the words with dictionary look-ups; a gap of a phrase is at most twelve
words and is searched once per first word, so no prompt and no signal can hang it.
"""

from __future__ import annotations

from enricher.classify.reading import MARKS, STOPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.classify.reading import Reading

ANY, START, END, FIRST_SENTENCE, LAST_SENTENCE, WHOLE, LEAD, ORDER, LAST_ORDER, OBJECT = range(10)
REACH_OF_AN_OBJECT = 6
MOST_WORDS_OF_A_WHOLE = 16
MOST_TRIES = 12
"""How many occurrences of one word are looked at; what has not fired by then does not."""

GAP = 0
"""Stands for … in a compiled phrase; the words themselves are strings."""

Span = tuple[int, int]


class _Places:
    """The positions that ``at`` speaks of."""

    __slots__ = ("end", "first_order", "last_order", "last_sentence", "object_end", "reading", "whole")

    def __init__(self, reading: Reading) -> None:
        words = reading.words
        end = len(words)
        while end and words[end - 1] in MARKS:
            end -= 1
        self.reading = reading
        self.end = end
        self.last_sentence = reading.sentences[end - 1] if end else 0
        self.first_order = reading.order[0] if reading.order else -1
        self.last_order = reading.order[-1] if reading.order else -1
        self.object_end = self._object_end(words)
        self.whole = end <= MOST_WORDS_OF_A_WHOLE

    def _object_end(self, words: list[str]) -> int:
        at = self.first_order + 1
        limit = min(len(words), at + REACH_OF_AN_OBJECT)
        while at < limit and words[at] not in STOPS:
            at += 1
        return at

    def holds(self, place: int, start: int, end: int) -> bool:
        reading = self.reading
        if place == START:
            return start == reading.start or start == 0
        if place == LEAD:
            return start in reading.leads and start not in reading.quiet
        if place == ORDER:
            return start == self.first_order
        if place == LAST_ORDER:
            return start == self.last_order
        if place == OBJECT:
            return -1 < self.first_order < start and end <= self.object_end
        if place == END:
            return end == self.end
        if place == FIRST_SENTENCE:
            return reading.sentences[start] == 0
        if place == LAST_SENTENCE:
            return reading.sentences[start] == self.last_sentence
        return self.whole


def fired(reading: Reading, features: dict[str, Span], compiled: dict[str, Any]) -> dict[int, Span]:
    """Return the signals that hold, each with its first span of words; a feature has the span (-1, -1)."""
    places = _Places(reading)
    found: dict[int, Span] = {}
    wholes: dict[int, list[Span]] = {}
    words, fold, quiet = reading.words, compiled["fold"], reading.quiet
    exact, index, conditions = compiled["exact"], compiled["index"], compiled["conditions"]
    tried: dict[str, int] = {}
    for at, word in enumerate(words):
        if at in quiet or (word not in index and word not in exact and word not in fold):
            continue
        times = tried[word] = tried.get(word, 0) + 1
        if times > MOST_TRIES:
            continue
        entries = exact.get(word, ())
        if word in index:
            entries = (*entries, *index[word])
        base = fold.get(word)
        if base is not None and base in index:
            entries = (*entries, *index[base])
        for entry in entries:
            single = entry.__class__ is int
            condition = entry if single else entry[0]
            place = conditions[condition][0]
            if place != WHOLE and condition in found:
                continue
            end = at + 1 if single else _match(entry, words, at, fold)
            if not end or (place and not places.holds(place, at, end)):
                continue
            if place == WHOLE:
                wholes.setdefault(condition, []).append((at, end))
            else:
                found[condition] = (at, end)
    _add_wholes(found, wholes, reading)
    for name, holding in compiled["features"].items():
        if name in features:
            for condition in holding:
                found[condition] = (-1, -1)
    return _allowed(found, conditions)


def fired_late(found: dict[int, Span], task_type: str, compiled: dict[str, Any]) -> dict[int, Span]:
    """Return the signals that rest on the task type a prompt came out as."""
    later = compiled["late"].get(task_type, ())
    if not later:
        return {}
    allowed = _allowed({**found, **dict.fromkeys(later, (-1, -1))}, compiled["conditions"])
    return {condition: span for condition, span in allowed.items() if condition in later}


def _match(entry: list[Any], words: list[str], at: int, fold: dict[str, str]) -> int:
    """Return where the phrase ends that begins at ``at``; 0 where it does not match."""
    gap, size = 0, len(words)
    at += 1
    for want in entry[2:]:
        if want == GAP:
            gap = entry[1]
            continue
        limit = min(size, at + gap + 1)
        while at < limit:
            word = words[at]
            if word == want or fold.get(word) == want:
                break
            if word in STOPS:
                return 0
            at += 1
        else:
            return 0
        at += 1
        gap = 0
    return at


def _add_wholes(found: dict[int, Span], wholes: dict[int, list[Span]], reading: Reading) -> None:
    for condition, spans in wholes.items():
        covered = set(reading.openers)
        for start, end in spans:
            covered.update(range(start, end))
        if all(at in covered or word in MARKS or word.isdigit() for at, word in enumerate(reading.words)):
            found[condition] = (spans[0][0], spans[-1][1])


def _allowed(found: dict[int, Span], conditions: list[list[Any]]) -> dict[int, Span]:
    """Leave out what its own ``unless`` forbids or whose ``with`` is missing."""
    refused = [
        condition
        for condition in found
        if any(guard in found for guard in conditions[condition][2])
        or (conditions[condition][3] and not any(need in found for need in conditions[condition][3]))
    ]
    for condition in refused:
        del found[condition]
    return found
