"""The frame of a chart over days: axes, tooltips of the days, and the table of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

PLOT = 150
"""Height of the plot in pixels; above it is room for the highest mark, below it for the days."""
ABOVE, BELOW = 8, 24
DIGIT_PX = 7
LEAST_DAYS = 7
"""Least width of a chart in days, counted back from the last one."""
MOST_LINKS = 120
"""Most days whose columns are links; with more they are too narrow to point at, and only the table links them."""
FIGURE = Markup(
    '<figure class="chart">{key}<div class="plot">'
    '<svg aria-hidden="true" width="{wide}" height="{height}">{numbers}</svg>'
    '<svg role="{role}" aria-label="{caption}" height="{height}"><desc>{desc}</desc>'
    '<g aria-hidden="true">{axes}</g>{marks}</svg></div></figure>'
)
RULE = Markup('<line class="{}" x1="0" x2="100%" y1="{y}" y2="{y}"></line>')
LETTERS = Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>')
HIT = Markup('<rect class="hit" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>')
LINKED = Markup('<a href="{}" tabindex="-1" aria-label="{}">{}</a>')
MOST_NUMBERS = 4
MOST_DAYS = 6
STEPS_IN_DAYS = (1, 2, 7, 14)
STEPS_IN_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)


@dataclass(frozen=True, slots=True)
class Day:
    """The figures of a day (YYYY-MM-DD), in the order of the chart's names."""

    day: str
    values: tuple[float, ...]
    href: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as SVG, and its numbers as table rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    svg: Markup


def over_days(
    caption: str,
    names: tuple[str, ...],
    given: Sequence[Day],
    *,
    marks: list[float],
    body: Markup,
    key: Markup,
    unit: str,
) -> Chart:
    """Return the chart that frames the SVG ``body``; ``marks`` are the vertical axis's numbers, the largest last."""
    rows = tuple((link(day.href, day.day), *(number(one) for one in day.values)) for day in given)
    is_linked = len(given) <= MOST_LINKS
    svg = FIGURE.format(
        key=key if given else "",
        role="group" if is_linked and any(day.href for day in given) else "img",
        caption=caption,
        height=ABOVE + PLOT + BELOW,
        desc=_described(given, names, unit),
        wide=DIGIT_PX * max(len(written(mark)) for mark in marks),
        numbers=_numbers(marks),
        axes=_rules(marks) + _along(given),
        marks=body + (_hits(given, names, unit) if is_linked else ""),
    )
    return Chart(caption, ("day", *names), rows, svg)


def position(given: Sequence[Day], day: Day) -> int:
    """Return the number of days from the first day of the chart to this one."""
    return (date.fromisoformat(day.day) - _first(given)).days


def length(given: Sequence[Day]) -> int:
    """Return the width of the chart in days, including days without figures."""
    return position(given, given[-1]) + 1 if given else 1


def _first(given: Sequence[Day]) -> date:
    last = date.fromisoformat(given[-1].day)
    return min(date.fromisoformat(given[0].day), last - timedelta(days=LEAST_DAYS - 1))


def number(value: float) -> str:
    """Return a number with thousands separators; a float has one decimal."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def short(value: float) -> str:
    """Return a coordinate, rounded to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def link(href: str, words: str) -> Markup:
    """Return the words, as a link if ``href`` is not empty."""
    return Markup('<a href="') + href + Markup('">') + words + Markup("</a>") if href else escape(words)


def _numbers(marks: list[float]) -> Markup:
    drawn = (LETTERS.format("100%", short(float(_height(mark, marks)) + 4), "end", written(mark)) for mark in marks)
    return Markup("").join(drawn)


def _rules(marks: list[float]) -> Markup:
    return Markup("").join(RULE.format("rule" if mark else "axis", y=_height(mark, marks)) for mark in marks)


def _height(mark: float, marks: list[float]) -> str:
    return short(ABOVE + PLOT - PLOT * mark / marks[-1])


def _along(given: Sequence[Day]) -> Markup:
    if not given:
        return LETTERS.format("50%", ABOVE + PLOT // 2, "middle", "nothing in this period")
    first, last = _first(given), date.fromisoformat(given[-1].day)
    drawn = Markup("")
    for day, words in days(first, last):
        at = 100 * ((day - first).days + 0.5) / length(given)
        # Keep words inside the chart: half a word's width from either edge.
        anchor = "start" if at < 5 else "end" if at > 92 else "middle"
        drawn += LETTERS.format(f"{short(0 if anchor == 'start' else at)}%", ABOVE + PLOT + 17, anchor, words)
    return drawn


def _hits(given: Sequence[Day], names: tuple[str, ...], unit: str) -> Markup:
    every = length(given)
    drawn = Markup("")
    for day in given:
        words = f"{day.day}: " + ", ".join(
            f"{name} {number(one)} {unit}" for name, one in zip(names, day.values, strict=True)
        )
        x = short(100 * position(given, day) / every)
        hit = HIT.format(x, ABOVE, short(100 / every), PLOT, words)
        drawn += LINKED.format(day.href, words, hit) if day.href else hit
    return drawn


def _described(given: Sequence[Day], names: tuple[str, ...], unit: str) -> str:
    if not given:
        return "There is nothing in this period."
    greatest = max(given, key=lambda day: max(day.values))
    return (
        f"{' and '.join(names)} in {unit}, {len(given)} days from {given[0].day} to {given[-1].day}; "
        f"the greatest is {number(max(greatest.values))} on {greatest.day}. The table has every day."
    )


def ticks(greatest: float, *, most: int = MOST_NUMBERS, least_step: float = 0.0) -> list[float]:
    """Return 0 and up to ``most`` round numbers above it, the last not below ``greatest``."""
    if greatest <= 0:
        return [0.0, max(1.0, least_step)]
    rough = greatest / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    step = max(step, least_step)
    return [step * number for number in range(math.ceil(greatest / step - 1e-9) + 1)]


def written(tick: float) -> str:
    """Return a round number as an axis label."""
    return f"{tick:,.0f}" if tick == int(tick) else f"{tick:,.10g}"


def days(first: date, last: date) -> list[tuple[date, str]]:
    """Return the days to mark between two days, both included, with their labels."""
    length = (last - first).days + 1
    for step in STEPS_IN_DAYS:
        if length <= step * MOST_DAYS:
            marked = [first + timedelta(days=number) for number in range(0, length, step)]
            return [(day, f"{day.day} {day:%b}") for day in marked]
    return _months(first, last)


def _months(first: date, last: date) -> list[tuple[date, str]]:
    begin = first.year * 12 + first.month - (first.day == 1)
    every = [date(number // 12, number % 12 + 1, 1) for number in range(begin, last.year * 12 + last.month)]
    for step in STEPS_IN_MONTHS:
        marked = [day for day in every if (day.year * 12 + day.month - 1) % step == 0]
        if len(marked) <= MOST_DAYS:
            return [(day, f"{day:%b} {day.year}" if step < 12 else str(day.year)) for day in marked]
    return []
