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

    Condition = tuple[list[int], list[int], list[tuple[int, int]], str, str]

ANY, START, END, FIRST_SENTENCE, LAST_SENTENCE, WHOLE, LEAD, ORDER, LAST_ORDER, OBJECT = range(10)
REACH_OF_AN_OBJECT = 6
MOST_WORDS_OF_A_WHOLE = 16
MOST_TRIES = 12
"""How many occurrences of one word are looked at; what has not fired by then does not."""

STRONGEST = 9
GAP = 0
"""Stands for … in a compiled phrase; the words themselves are strings."""

Span = tuple[int, int]


class Table:
    """The compiled signals, unpacked as far as a prompt needs them.

    Every cold start reads the table, and most of it concerns words that the prompt
    does not hold: phrases and conditions stay packed texts until they are asked for.
    """

    __slots__ = (
        "_beginnings", "_conditions",
        "approvals",
        "classes",
        "contractions",
        "english",
        "exact",
        "facets",
        "features",
        "fold",
        "index",
        "late",
        "leanings",
        "no_topics",
        "openers",
        "orders", "places",
        "requests",
    )  # fmt: skip

    def __init__(self, packed: dict[str, Any]) -> None:
        self.facets: list[dict[str, Any]] = packed["facets"]
        self.classes: list[tuple[int, str]] = packed["classes"]
        self.features: dict[str, list[int]] = packed["features"]
        self.late: dict[str, list[int]] = packed["late"]
        self.leanings: dict[str, str] = packed["leanings"]
        self.contractions: dict[str, list[str]] = packed["contractions"]
        self.requests: dict[str, list[list[str]]] = packed["requests"]
        self.exact: dict[str, str] = packed["exact"]
        self.index: dict[str, str] = packed["index"]
        self._beginnings: dict[str, list[Beginning]] = {}
        self.places: list[int] = packed["places"]
        self._conditions: list[Any] = list(packed["conditions"])
        pairs = packed["fold"].split(" ")
        self.fold: dict[str, str] = dict(zip(pairs[::2], pairs[1::2], strict=False))
        self.orders, self.openers, self.approvals, self.english, self.no_topics = (
            frozenset(packed[name].split(" ")) for name in ("orders", "openers", "approvals", "english", "no_topics")
        )

    def beginnings(self, word: str) -> list[Beginning]:
        """Return the phrases that begin with ``word``, as written or by its base form."""
        found = self._beginnings.get(word)
        if found is None:
            base = self.fold.get(word, "")
            packed = [self.exact.get(word), self.index.get(word), self.index.get(base)]
            found = [Beginning(text) for text in packed if text]
            if found:
                self._beginnings[word] = found
        return found

    def condition(self, number: int) -> Condition:
        """Return one condition: unless, with, [(class, weight)], feature, label."""
        found = self._conditions[number]
        if found.__class__ is str:
            unless, needs, weights, feature, label = found.split(";", 4)
            pairs = [int(figure) for figure in weights.split()]
            found = self._conditions[number] = (
                [int(at) for at in unless.split()], [int(at) for at in needs.split()],
                list(zip(pairs[::2], pairs[1::2], strict=True)), feature, label,
            )  # fmt: skip
        return found  # type: ignore[no-any-return]


class Beginning:
    """The phrases that begin with one word, those of two or more words by their second one."""

    __slots__ = ("by_second", "others")

    def __init__(self, packed: str) -> None:
        self.others: list[Any] = []
        self.by_second: dict[str, list[Any]] = {}
        for text in packed.split("|"):
            entry = _entry(text)
            if entry.__class__ is int or entry[2] == GAP:
                self.others.append(entry)
            else:
                self.by_second.setdefault(entry[2], []).append(entry)


def _entry(packed: str) -> Any:
    number, _, rest = packed.partition(" ")
    if not rest:
        return int(number)
    gap, *words = rest.split(" ")
    return [int(number), int(gap), *(GAP if word == "…" else word for word in words)]


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


def fired(reading: Reading, features: dict[str, Span], table: Table) -> dict[int, Span]:
    """Return the signals that hold, each with its first span of words; a feature has the span (-1, -1)."""
    places = _Places(reading)
    found: dict[int, Span] = {}
    wholes: dict[int, list[Span]] = {}
    words, fold, quiet = reading.words, table.fold, reading.quiet
    size, places_of = len(words), table.places
    tried: dict[str, int] = {}
    for at, word in enumerate(words):
        begun = table.beginnings(word)
        if not begun or at in quiet:
            continue
        times = tried[word] = tried.get(word, 0) + 1
        if times > MOST_TRIES:
            continue
        for entry in _going_on(begun, words[at + 1] if at + 1 < size else "", fold):
            single = entry.__class__ is int
            condition = entry if single else entry[0]
            place = places_of[condition]
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
    for name, holding in table.features.items():
        if name in features:
            for condition in holding:
                found[condition] = (-1, -1)
    return _allowed(found, table)


def _going_on(begun: list[Beginning], follower: str, fold: dict[str, str]) -> list[Any]:
    """The phrases that may hold where ``follower`` is the second word."""
    base = fold.get(follower)
    found: list[Any] = []
    for one in begun:
        found += one.others
        if follower in one.by_second:
            found += one.by_second[follower]
        if base in one.by_second:
            found += one.by_second[base]
    return found


def fired_late(found: dict[int, Span], task_type: str, table: Table) -> dict[int, Span]:
    """Return the signals that rest on the task type a prompt came out as."""
    later = table.late.get(task_type, ())
    if not later:
        return {}
    allowed = _allowed({**found, **dict.fromkeys(later, (-1, -1))}, table)
    return {condition: span for condition, span in allowed.items() if condition in later}


def leanings(reading: Reading, table: Table) -> dict[int, tuple[int, Span]]:
    """Return the points that the plain words of a prompt add per class, each with the place of the strongest word.

    Twice the sum of the strengths, divided by the root of the number of words that
    lean at all: a long prompt holds more words, not more evidence.
    """
    first: dict[str, int] = {}
    for at, word in enumerate(reading.words):
        if word in table.leanings and word not in first and at not in reading.quiet:
            first[word] = at
    sums: dict[int, int] = {}
    strongest: dict[int, tuple[int, int]] = {}
    for word, at in first.items():
        figures = [int(figure) for figure in table.leanings[word].split(" ")]
        for class_at, strength in zip(figures[::2], figures[1::2], strict=True):
            sums[class_at] = sums.get(class_at, 0) + strength
            strongest[class_at] = max(strongest.get(class_at, (-STRONGEST, 0)), (strength, -at))
    root = len(first) ** 0.5
    found = {}
    for class_at in sorted(sums):
        points, at = round(2 * sums[class_at] / root), -strongest[class_at][1]
        if points:
            found[class_at] = (points, (at, at + 1))
    return found


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


def _allowed(found: dict[int, Span], table: Table) -> dict[int, Span]:
    """Leave out what its own ``unless`` forbids or whose ``with`` is missing."""
    refused = []
    for condition in found:
        unless, needs, *_ = table.condition(condition)
        if any(guard in found for guard in unless) or (needs and not any(need in found for need in needs)):
            refused.append(condition)
    for condition in refused:
        del found[condition]
    return found
