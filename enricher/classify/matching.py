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

WEAKEST = (-10, 0)
MOST_REMEMBERED = 100_000
"""Bound of what a long-lived process keeps unpacked."""

GAP = 0
"""Stands for … in a compiled phrase; the words themselves are strings."""

Span = tuple[int, int]


class Drawers:
    """Values by word, in one text for each first letter: quick to load, and searched only for words that are there."""

    __slots__ = ("_texts",)

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def words(self) -> list[str]:
        """Return every word that has a value, sorted."""
        pairs = (pair for text in self._texts.values() for pair in text.split("~") if pair)
        return sorted(pair.partition("=")[0] for pair in pairs)

    def find(self, word: str) -> str:
        """Return the value of ``word``, empty where it has none."""
        text = self._texts.get(word[0], "")
        at = text.find(f"~{word}=")
        return text[at + len(word) + 2 : text.index("~", at + 1)] if at >= 0 else ""


class Table:
    """The compiled signals, unpacked as far as a prompt needs them.

    Every cold start reads the table, and most of it concerns words that the prompt
    does not hold: phrases and conditions stay packed texts until they are asked for.
    """

    __slots__ = (
        "_bases", "_conditions", "_exact", "_fold", "_index", "_leanings", "_no_topics", "_phrases", "_strengths",
        "approvals", "classes", "contractions", "english", "facets", "features", "late", "leaning_words", "openers", "orders", "places",
        "requests",
    )  # fmt: skip

    def __init__(self, packed: dict[str, Any]) -> None:
        self.facets: list[dict[str, Any]] = packed["facets"]
        self.classes: list[tuple[int, str]] = packed["classes"]
        self.features: dict[str, list[int]] = packed["features"]
        self.late: dict[str, list[int]] = packed["late"]
        self.contractions: dict[str, list[str]] = packed["contractions"]
        self.requests: dict[str, list[list[str]]] = packed["requests"]
        self._exact, self._index, self._fold, self._leanings = (
            Drawers(packed[name]) for name in ("exact", "index", "fold", "leanings")
        )
        self.leaning_words = self._leanings.words
        self.places: list[int] = packed["places"]
        self._conditions: list[Any] = list(packed["conditions"])
        self.orders, self.openers, self.approvals, self.english = (
            frozenset(packed[name].split(" ")) for name in ("orders", "openers", "approvals", "english")
        )
        self._no_topics: Any = packed["no_topics"]
        self._bases: dict[str, str] = {}
        self._strengths: dict[str, list[tuple[int, int]]] = {}
        self._phrases: dict[tuple[str, str], list[Any]] = {}

    @property
    def no_topics(self) -> frozenset[str]:
        """The words that are no topics."""
        if self._no_topics.__class__ is str:
            self._no_topics = frozenset(self._no_topics.split(" "))
        return self._no_topics  # type: ignore[no-any-return]

    def leaning(self, word: str) -> list[tuple[int, int]]:
        """Return towards which classes a plain word leans, and how strongly: (class, strength)."""
        found = self._strengths.get(word)
        if found is None:
            figures = [int(figure) for figure in self._leanings.find(word).split()]
            found = list(zip(figures[::2], figures[1::2], strict=True))
            if len(self._strengths) < MOST_REMEMBERED:
                self._strengths[word] = found
        return found

    def base(self, word: str) -> str:
        """Return the base form that ``word`` is an inflection of, empty where it is none."""
        found = self._bases.get(word)
        if found is None:
            found = self._fold.find(word)
            if len(self._bases) < MOST_REMEMBERED:
                self._bases[word] = found
        return found

    def phrases(self, word: str, follower: str) -> list[Any]:
        """Return the phrases that may begin with ``word`` and go on with ``follower``.

        Each is the number of a condition, or number, gap and the other words.
        """
        found = self._phrases.get((word, follower))
        if found is None:
            seconds = [follower, base] if (base := self.base(follower)) else [follower]
            base = self.base(word)
            own = [self._exact.find(word), self._index.find(word), self._index.find(base) if base else ""]
            found = [entry for packed in own if packed for entry in _unpacked(packed, seconds)]
            if len(self._phrases) < MOST_REMEMBERED:
                self._phrases[word, follower] = found
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


def _unpacked(packed: str, seconds: list[str]) -> list[Any]:
    """The entries that stand alone or have a gap, and those whose second word is one of ``seconds``."""
    alone, _, behind = packed.partition("|")
    found = [_entry(text) for text in alone.split(";") if text]
    for second in seconds:
        at = behind.find(f"{second}=") if behind.startswith(f"{second}=") else behind.find(f"|{second}=")
        if at >= 0:
            start = behind.index("=", at) + 1
            found += [_entry(text) for text in behind[start : behind.index("|", start)].split(";")]
    return found


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

    def where(self, at: int) -> int:
        """Return the places that a phrase beginning ``at`` may hold at, as bits; its end may still speak against it."""
        reading = self.reading
        bits = _EVERYWHERE
        if at in (reading.start, 0):
            bits |= 1 << START
        if at in reading.leads and at not in reading.quiet:
            bits |= 1 << LEAD
        if at == self.first_order:
            bits |= 1 << ORDER
        if at == self.last_order:
            bits |= 1 << LAST_ORDER
        if -1 < self.first_order < at < self.object_end:
            bits |= 1 << OBJECT
        if reading.sentences[at] == 0:
            bits |= 1 << FIRST_SENTENCE
        if reading.sentences[at] == self.last_sentence:
            bits |= 1 << LAST_SENTENCE
        return bits | 1 << WHOLE if self.whole else bits

    def ends_well(self, place: int, end: int) -> bool:
        """Say whether a phrase that ends at ``end`` still holds at ``place``."""
        if place == OBJECT:
            return end <= self.object_end
        return place != END or end == self.end


_EVERYWHERE = 1 << ANY | 1 << END


def fired(reading: Reading, features: dict[str, Span], table: Table) -> dict[int, Span]:
    """Return the signals that hold, each with its first span of words; a feature has the span (-1, -1)."""
    places = _Places(reading)
    found: dict[int, Span] = {}
    wholes: dict[int, list[Span]] = {}
    words, quiet = reading.words, reading.quiet
    bases = [table.base(word) for word in words]
    size, places_of = len(words), table.places
    tried: dict[str, int] = {}
    for at, word in enumerate(words):
        begun = table.phrases(word, words[at + 1] if at + 1 < size else "¶")
        if not begun or at in quiet:
            continue
        times = tried[word] = tried.get(word, 0) + 1
        if times > MOST_TRIES:
            continue
        here = places.where(at)
        for entry in begun:
            single = entry.__class__ is int
            condition = entry if single else entry[0]
            place = places_of[condition]
            if not here >> place & 1 or (condition in found and place != WHOLE):
                continue
            end = at + 1 if single else _match(entry, words, at, bases)
            if not end or not places.ends_well(place, end):
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
        if word not in first and at not in reading.quiet and table.leaning(word):
            first[word] = at
    sums: dict[int, int] = {}
    strongest: dict[int, tuple[int, int]] = {}
    for word, at in first.items():
        for class_at, strength in table.leaning(word):
            sums[class_at] = sums.get(class_at, 0) + strength
            if strength > strongest.get(class_at, WEAKEST)[0]:
                strongest[class_at] = (strength, at)
    root = len(first) ** 0.5
    found = {}
    for class_at in sorted(sums):
        points, at = round(2 * sums[class_at] / root), strongest[class_at][1]
        if points:
            found[class_at] = (points, (at, at + 1))
    return found


def _match(entry: list[Any], words: list[str], at: int, bases: list[str]) -> int:
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
            if word == want or bases[at] == want:
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
    fired_ones = found.keys()
    for condition in found:
        unless, needs, *_ = table.condition(condition)
        if (unless and not fired_ones.isdisjoint(unless)) or (needs and fired_ones.isdisjoint(needs)):
            refused.append(condition)
    for condition in refused:
        del found[condition]
    return found
