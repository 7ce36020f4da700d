"""Find the signals of the compiled table that fire in a prompt, and the points that its single words add.

Each word of the prompt is looked up once in a dictionary of the words with which phrases begin. Only the first twelve
occurrences of a word are tried, and a gap in a phrase spans at most twelve words, so that the time is bounded for any
prompt and signal.
"""

from __future__ import annotations

from enricher.classify.reading import MARKS, STOPS, lowered
from enricher.classify.table import GAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from enricher.classify.reading import Reading
    from enricher.classify.table import Table

ANY, START, END, FIRST_SENTENCE, LAST_SENTENCE, WHOLE, LEAD, ORDER, LAST_ORDER, OBJECT = range(10)
MOST_OBJECT_WORDS = 6
MOST_WORDS_OF_A_WHOLE = 16
"""In a prompt with more words than this, no phrase counts as the whole prompt (``at: whole`` in the rules)."""
MOST_TRIES = 12
"""Maximum occurrences of a word that are tried as the beginning of a phrase; later ones do not fire a signal."""

WEAKEST = -10
"""A number lower than the weight of any word, with which the search for the strongest word of a class begins."""
AT_LEAD, AT_OBJECT = "@lead", "@object"
"""Positions at which a word may have a further weight, used as part of its key.

``@lead``: the first word of its sentence after openers such as "ok, now". ``@object``: in the object of an order.
"""

Span = tuple[int, int]


class _Places:
    """The places in one prompt, such as its last sentence, that a rule can require for a signal with the key ``at``."""

    __slots__ = ("end", "object", "reading")

    def __init__(self, reading: Reading) -> None:
        self.reading, self.object = reading, _object_of_order(reading)
        self.end = len(reading.words)
        while self.end and reading.words[self.end - 1] in MARKS:
            self.end -= 1

    def bits(self) -> list[int]:
        """Return a bit mask for each word: the places, such as LAST_SENTENCE, of a phrase whose first word it is.

        For some places, ``ends_well`` must also check where the phrase ends.
        """
        reading, sentences, size = self.reading, self.reading.sentences, len(self.reading.words)
        last_sentence = sentences[self.end - 1] if self.end else 0
        last_start = sentences.index(last_sentence) if size else 0
        found = [1 << ANY | 1 << END | (1 << WHOLE if self.end <= MOST_WORDS_OF_A_WHOLE else 0)] * size
        for place, positions in (
            (FIRST_SENTENCE, range(sentences.count(0))),
            (LAST_SENTENCE, range(last_start, last_start + sentences.count(last_sentence))),
            (START, {0, reading.start}),
            (LEAD, reading.leads.keys() - reading.quiet),
            (ORDER, reading.order[:1]),
            (LAST_ORDER, reading.order[-1:]),
            (OBJECT, self.object),
        ):
            for at in positions:
                if at < size:  # a prompt of nothing but openers starts after its last word
                    found[at] |= 1 << place
        return found

    def ends_well(self, place: int, end: int) -> bool:
        """Return whether a phrase that is required at ``place``, such as OBJECT, may end before the word ``end``."""
        if place == OBJECT:
            return end <= self.object.stop
        return place != END or end == self.end


def contained(masked: str, table: Table) -> dict[int, Span]:
    """Return the signals whose text occurs in the prompt, even inside words, each with its first range of characters.

    Only signals whose text has stars around it in the rules (``*text*``) are searched for.
    """
    found: dict[int, Span] = {}
    if table.contained and not masked.isascii():  # these signals are for scripts without spaces, so never ASCII
        low = lowered(masked)
        for text, holding in table.contained.items():
            at = low.find(text)
            if at >= 0:
                for condition in holding:
                    found.setdefault(condition, (at, at + len(text)))
    return found


def _object_of_order(reading: Reading) -> range:
    """Return the positions of the words in the object of the first order (a verb in the imperative).

    The object begins after the verb; it ends with the sentence, or after six words.
    """
    if not reading.order:
        return range(0)
    words, begin = reading.words, reading.order[0] + 1
    end, limit = begin, min(len(words), begin + MOST_OBJECT_WORDS)
    while end < limit and words[end] not in STOPS:
        end += 1
    return range(begin, end)


def fired(reading: Reading, features: dict[str, Span], table: Table, inside: Collection[int]) -> dict[int, Span]:
    """Map the index in the table of each signal that fires to the range of words of its first match in the prompt.

    The range is (-1, -1) for signals that fire on a feature, and for those in ``inside``, which ``contained`` found.
    """
    places = _Places(reading)
    found: dict[int, Span] = {}
    wholes: dict[int, list[Span]] = {}
    words = reading.words
    bases = list(map(table.base, words))
    size, places_of, allowed_at = len(words), table.places, places.bits()
    phrases = table.phrases
    passed_over = reading.quiet | _surplus(words)
    for at, word in enumerate(words):
        begun = phrases(word, words[at + 1] if at + 1 < size else "¶")
        if not begun or at in passed_over:
            continue
        here = allowed_at[at]
        for entry in begun:
            single = entry.__class__ is int  # faster than isinstance(), and this runs for each phrase
            condition = entry if single else entry[0]
            place = places_of[condition]
            # Only for WHOLE is every match needed: together they must cover the prompt.
            if not here >> place & 1 or (condition in found and place != WHOLE):
                continue
            end = at + 1 if single else _match(entry, words, at, bases)
            if not end or not places.ends_well(place, end):
                continue
            if place == WHOLE:
                wholes.setdefault(condition, []).append((at, end))
            else:
                found[condition] = (at, end)
    if wholes:
        _add_wholes(found, wholes, reading)
    for name, holding in table.features.items():
        if name in features:
            found |= dict.fromkeys(holding, (-1, -1))
    for condition in inside:
        found.setdefault(condition, (-1, -1))
    return _allowed(found, table)


def _surplus(words: list[str]) -> set[int]:
    """Return the positions of all words that have already occurred MOST_TRIES times before in ``words``."""
    if len(words) - len(set(words)) < MOST_TRIES:  # no word can occur so often
        return set()
    found: set[int] = set()
    times: dict[str, int] = {}
    for at, word in enumerate(words):
        times[word] = times.get(word, 0) + 1
        if times[word] > MOST_TRIES:
            found.add(at)
    return found


def fired_late(found: dict[int, Span], task_type: str, table: Table) -> dict[int, Span]:
    """Return the signals that fire only because of the chosen task type; ``found`` are those that fired before."""
    later = table.late.get(task_type, ())
    if not later:
        return {}
    allowed = _allowed({**found, **dict.fromkeys(later, (-1, -1))}, table)
    return {condition: span for condition, span in allowed.items() if condition in later}


class WeightedWording:
    """A word, a pair of words, or a word at a certain position, to which the rules give weights for classes.

    ``start`` and ``end`` are the positions of its first word and after its last word, where it first occurs in the
    prompt; ``figures`` contains (class, weight) for each class.
    """

    __slots__ = ("end", "figures", "start")

    def __init__(self, start: int, end: int, figures: list[tuple[int, int]]) -> None:
        self.start, self.end, self.figures = start, end, figures


def weighted_wordings(reading: Reading, table: Table) -> list[WeightedWording]:
    """Return the words and pairs of words in a prompt that have weights, each once, except words in a prohibition."""
    found: list[WeightedWording] = []
    seen: set[str] = set()
    words, last, objects = reading.words, len(reading.words) - 1, _object_of_order(reading)
    weights_of, strengths = table.word_weights, table.strengths
    for at, word in enumerate(words):
        packed = weights_of(word)
        if not packed or at in reading.quiet:
            continue
        more = packed.find("|")
        if more and word not in seen:
            seen.add(word)
            found.append(WeightedWording(at, at + 1, strengths(packed[:more] if more > 0 else packed)))
        if more < 0:
            continue
        follower = words[at + 1] if at < last else ""
        for key, is_there in ((follower, at < last), (AT_LEAD, at in reading.leads), (AT_OBJECT, at in objects)):
            if is_there and (start := packed.find(f"|{key}=", more)) >= 0 and (name := f"{word} {key}") not in seen:
                seen.add(name)
                figures = packed[start + len(key) + 2 :].partition("|")[0]
                found.append(WeightedWording(at, at + 2 if key is follower else at + 1, strengths(figures)))
    return found


def wordings(reading: Reading) -> set[str]:
    """Return everything in a prompt that could have a weight, as keys of the table of word weights.

    For each word outside a prohibition, these are the word itself, the word with the next one ("fix bug") and, where
    it applies, the word with its position ("fix @lead", "bug @object").
    """
    words, objects = reading.words, _object_of_order(reading)
    found: set[str] = set()
    for at, word in enumerate(words):
        if at not in reading.quiet:
            found.add(word)
            if at + 1 < len(words):
                found.add(f"{word} {words[at + 1]}")
            if at in reading.leads:
                found.add(f"{word} {AT_LEAD}")
            if at in objects:
                found.add(f"{word} {AT_OBJECT}")
    return found


def word_points(weighted: list[WeightedWording], table: Table) -> dict[int, int]:
    """Return the points per class that the single words of a prompt add.

    The points are twice the sum of the words' weights for the class, divided by the square root of the number of
    entries in ``weighted``, because a long prompt contains more words, not more evidence.
    """
    sums = [0] * len(table.classes)
    for one in weighted:
        for class_at, strength in one.figures:
            sums[class_at] += strength
    root = len(weighted) ** 0.5
    return {class_at: points for class_at, total in enumerate(sums) if total and (points := round(2 * total / root))}


def strongest(weighted: list[WeightedWording], classes: Iterable[int]) -> dict[int, Span]:
    """Return for each class the positions (start, end) of the word or word pair with the largest weight for it."""
    best: dict[int, tuple[int, Span]] = dict.fromkeys(classes, (WEAKEST, (0, 1)))
    for one in weighted:
        for class_at, strength in one.figures:
            if class_at in best and strength > best[class_at][0]:
                best[class_at] = (strength, (one.start, one.end))
    return {class_at: span for class_at, (_, span) in best.items()}


def _match(entry: list[Any], words: list[str], at: int, bases: list[str]) -> int:
    """Return the position after the phrase that begins at ``at`` if the words there match ``entry``, else 0.

    ``entry`` is a compiled phrase whose first word has been compared already. A word matches in the form in ``words``
    or in the base form at the same position of ``bases``.
    """
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
            if word in STOPS:  # a gap does not go beyond the sentence
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
    """Remove from ``found`` the signals whose ``unless`` or ``with`` condition is not met, and return ``found``.

    No signal under ``unless`` may have fired, and at least one of those under ``with``, if there are any, must have.
    """
    refused = []
    fired_ones, condition_of = found.keys(), table.condition
    for condition in found:
        unless, needs, *_ = condition_of(condition)
        if (unless and not fired_ones.isdisjoint(unless)) or (needs and fired_ones.isdisjoint(needs)):
            refused.append(condition)
    for condition in refused:
        del found[condition]
    return found
