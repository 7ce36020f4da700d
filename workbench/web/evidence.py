"""Render a prompt as HTML in which certain words are marked: those that made a signal fire, or search words.

A signal is a phrase or feature that gives points to a class, such as a task type; the signals are also listed by class.
The output is escaped. Its size is limited even for very long prompts with many signals, and it says what was left out.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from enricher.prompt.text import shortened
from workbench.views.outcomes import SEARCH_INTENT, TASK_TYPE, EvidenceSignal, ScoredSignal, places, signals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

FACETS = {TASK_TYPE: "task type", SEARCH_INTENT: "search intent"}
MOST_PLACES = 200
"""At most this many matches are marked: first those for the prompt's task type, then those with the most points."""
SIGNALS_READ = 500  # of each class; more than can be shown in a prompt
MOST_LISTED = 4  # signals in the title of one mark
MOST_CLASSES = 24
MOST_SIGNALS = 40  # of one class
SIGNALS_IN_A_CELL = 6
LONGEST_QUOTE = 61
FOLDED_FROM = 3_000  # characters; readers unfold the rest of a prompt that is a quarter longer or more
LONGEST_SHOWN = 100_000
MARK = Markup('<mark class="{}" title="{}">{}</mark>')
CELL = Markup('<span class="signal">{} <small>{}</small></span>')
FOR_CLASS, FOR_OTHER, FOR_RIVAL = "for-class", "for-other", "for-rival"
EXCERPT_CHARS = 160
CHARS_BEFORE = 40  # of the first match, where an excerpt from the prompt's beginning would not show it
FOUND = Markup("<mark>{}</mark>")


@dataclass(frozen=True, slots=True)
class MarkedPrompt:
    """A prompt as HTML in which the words that made a signal fire are marked.

    ``head`` is its visible part, and ``rest`` the part that is folded at first. Of the ``found`` matches,
    ``marked`` are marked; ``left`` is the number of characters that are not shown, and ``kinds`` are the CSS classes of
    the marks that occur.
    """

    head: Markup
    rest: Markup
    found: int
    marked: int
    left: int
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fired:
    """A signal that fired ``times`` times, with ``weight`` points each time.

    ``words`` is its first match, or an empty string if the signal is about the prompt as a whole.
    """

    name: str
    weight: float
    times: int
    words: str


@dataclass(frozen=True, slots=True)
class ClassScore:
    """The points that a prompt has for one class, and the signals that gave them.

    ``share`` is the length of its bar in percent, ``is_chosen`` whether the prompt got the class, and ``hidden`` the
    number of signals that are left out.
    """

    name: str
    points: float
    share: float
    is_chosen: bool
    fired: tuple[Fired, ...]
    hidden: int


def mark(text: str, scores: Sequence[Row], task_type: str) -> MarkedPrompt:
    """Return the prompt ``text`` as HTML in which the words that made its signals fire are marked.

    ``scores`` are the prompt's rows of the table ``trace_scores``. The CSS class of a mark says whether the signal gave
    points to the prompt's task type, to another class that the prompt got, or to a class that it did not get.
    """
    found = list(dict.fromkeys(places(scores, task_type, length=len(text), with_rivals=True, most=SIGNALS_READ)))
    drawn = sorted(found, key=lambda one: (not one.is_for_class, not one.is_chosen, -one.signal.weight))[:MOST_PLACES]
    fold = _fold(text)
    return MarkedPrompt(
        _marked(text, drawn, 0, fold),
        _marked(text, drawn, fold, min(len(text), LONGEST_SHOWN)),
        len(found),
        len(drawn),
        max(0, len(text) - LONGEST_SHOWN),
        frozenset(_kind([one]) for one in drawn),
    )


def ranking(scores: Sequence[Row], facet: str, *, chosen: str, text: str) -> list[ClassScore]:
    """Return the classes of a facet (task type or search intent) with the signals for them, most points first.

    Of classes with as many points, the one that the prompt got comes first. ``scores`` are the rows of the table
    ``trace_scores`` for the prompt ``text``; ``chosen`` is the class that it got.
    """
    found = sorted(scores, key=lambda one: (-one["score"], one["name"] != chosen))
    own = [one for one in found if one["facet"] == facet][:MOST_CLASSES]
    most = max((abs(one["score"]) for one in own), default=0.0) or 1.0  # a divisor, so not 0
    return [_score(one, most=most, is_chosen=one["name"] == chosen, text=text) for one in own]


def cell(value: object) -> Markup | None:
    """Render a value of the column ``evidence``, a list of signals, as a table cell; None for any other value.

    The signals with the most points come first.
    """
    try:
        given = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None
    found = sorted(signals(given), key=lambda one: -abs(one.weight))
    if not found and given != []:  # not a list of signals: Datasette shows the value as it is
        return None
    shown = [CELL.format(one.name, _points(one.weight)) for one in found[:SIGNALS_IN_A_CELL]]
    more = [escape(f"and {len(found) - len(shown):,} more")] if len(found) > len(shown) else []
    return Markup(" · ").join([*shown, *more])


def _score(row: Row, *, most: float, is_chosen: bool, text: str) -> ClassScore:
    times: Counter[tuple[str, float]] = Counter()
    firsts: dict[tuple[str, float], EvidenceSignal] = {}
    for one in islice(signals(row["evidence"]), SIGNALS_READ):
        firsts.setdefault((one.name, one.weight), one)
        times[one.name, one.weight] += 1
    unread = max(0, len(row["evidence"]) - SIGNALS_READ) if isinstance(row["evidence"], list) else 0
    ranked = sorted(firsts, key=lambda key: -abs(key[1] * times[key]))
    fired = [Fired(*key, times[key], _words(firsts[key], text)) for key in ranked[:MOST_SIGNALS]]
    share = round(100 * max(0.0, row["score"]) / most, 2)
    return ClassScore(row["name"], row["score"], share, is_chosen, tuple(fired), len(ranked) - len(fired) + unread)


def _words(signal: EvidenceSignal, text: str) -> str:
    if not signal.is_at_a_place(len(text)):
        return ""
    # Four times the quote, because runs of blanks become one blank each.
    return shortened(" ".join(text[signal.start : signal.end][: 4 * LONGEST_QUOTE].split()), LONGEST_QUOTE)


def _fold(text: str) -> int:
    """Return the offset (between two lines or words) from which a prompt is folded, or its length if it is short."""
    if len(text) <= FOLDED_FROM * 5 // 4:  # so that what is unfolded is worth the click
        return len(text)
    for blank in ("\n", " "):
        at = text.rfind(blank, FOLDED_FROM // 2, FOLDED_FROM)
        if at > 0:
            return at + 1
    return FOLDED_FROM


def _marked(text: str, drawn: Sequence[ScoredSignal], low: int, high: int) -> Markup:
    parts: list[Markup] = []
    for start, end, over in _pieces(drawn, low, high):  # pieces, because HTML elements cannot overlap as signals do
        words = text[start:end]
        parts.append(MARK.format(_kind(over), _title(over), words) if over else escape(words))
    return Markup("").join(parts)


def _pieces(drawn: Sequence[ScoredSignal], low: int, high: int) -> Iterator[tuple[int, int, list[ScoredSignal]]]:
    """Divide the text from ``low`` to ``high`` into pieces, at each place where a signal begins or ends.

    Yield each piece as its start, its end, and the signals that cover it.
    """
    bounds = sorted({low, high, *(at for one in drawn for at in _bounds(one) if low < at < high)})
    over: list[list[ScoredSignal]] = [[] for _ in bounds]
    for one in drawn:
        start, end = _bounds(one)
        for number in range(bisect_left(bounds, max(start, low)), bisect_left(bounds, min(end, high))):
            over[number].append(one)
    for number, (start, end) in enumerate(pairwise(bounds)):
        yield start, end, over[number]


def _bounds(place: ScoredSignal) -> tuple[int, int]:
    return place.signal.start, place.signal.end


def _kind(over: Iterable[ScoredSignal]) -> str:
    kinds = {FOR_CLASS if one.is_for_class else FOR_OTHER if one.is_chosen else FOR_RIVAL for one in over}
    return next(kind for kind in (FOR_CLASS, FOR_OTHER, FOR_RIVAL) if kind in kinds)


def _title(over: Sequence[ScoredSignal]) -> str:
    lines = [
        f"{FACETS.get(one.facet, one.facet)} {one.name} {_points(one.signal.weight)}: {one.signal.name}"
        for one in over[:MOST_LISTED]
    ]
    return "\n".join(lines) + (f"\nand {len(over) - MOST_LISTED:,} more" if len(over) > MOST_LISTED else "")


def _points(weight: float) -> str:
    return f"{weight:+g}"


def excerpt(prompt: str, words: tuple[str, ...] = ()) -> Markup:
    """Return a short part of a prompt, in which the search words ``words`` are marked.

    It is the beginning, or the part around the first match if that is farther on.
    """
    line = " ".join(prompt.split())
    pattern = _pattern(words)
    found = pattern.search(line) if pattern else None
    start = max(0, found.start() - CHARS_BEFORE) if found and found.end() > EXCERPT_CHARS else 0
    if start:
        start = line.find(" ", start) + 1  # with the next whole word
    shown = line[start : start + EXCERPT_CHARS]
    return Markup("").join(
        ("… " if start else "", _with_marks(shown, pattern), " …" if start + EXCERPT_CHARS < len(line) else "")
    )


def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    # There may be punctuation between the words of a phrase, because the word index ignores it.
    phrases = [r"\W+".join(re.escape(one) for one in re.findall(r"\w+", text)) or re.escape(text) for text in words]
    return re.compile("|".join(phrases), re.IGNORECASE) if phrases else None


def _with_marks(text: str, pattern: re.Pattern[str] | None) -> Markup:
    drawn, end = Markup(""), 0
    for found in pattern.finditer(text) if pattern else ():
        drawn += escape(text[end : found.start()]) + FOUND.format(found[0])
        end = found.end()
    return drawn + escape(text[end:])
