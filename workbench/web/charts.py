"""Draw charts for the web pages as SVG, without scripts; each comes with a table of the same numbers.

There are charts over days (columns, lines) and bar charts. Positions are in percent of the width and letters keep their
size, so that a chart is as readable on a phone as on a wide screen; only shapes without text are stretched. Colours and
strokes are defined in ``enricher.css``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLOT = 150
"""Height of the plot in pixels; above it is room for the label of the highest mark, and below it for the days."""
ABOVE, BELOW = 8, 24
DIGIT_PX = 7  # width of a digit, from which the width of the vertical axis's labels is computed
LEAST_DAYS = 7  # so that the column of a single day is not as wide as the chart
MOST_LINKS = 120  # with more days, a column is too narrow to be pointed at, so that only the table has links
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
MOST_DAYS = 6  # labels of days; as many fit beside each other on a phone
STEPS_IN_DAYS = (1, 2, 7, 14)
STEPS_IN_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
MOST_DOTS = 45  # with more days, dots would touch each other, so only the lines are drawn
TABLE = Markup('<table class="bars" aria-label="{}"><tbody>{}</tbody></table>')
BAR = Markup(
    '<tr{}><th scope="row" title="{}">{}</th>'
    '<td class="bar"><svg aria-hidden="true"><rect width="{}%" height="100%"></rect></svg></td>'
    '<td class="num">{}</td><td class="num share">{}</td></tr>'
)
PATH = Markup('<path class="{}" d="{}"></path>')
PLOT_AREA = Markup(
    '<svg y="{}" width="100%" height="{}" viewBox="0 0 {} 1000" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
)


@dataclass(frozen=True, slots=True)
class ChartDay:
    """The values of a chart on one day (YYYY-MM-DD), one for each series; ``href`` links to that day's prompts."""

    day: str
    values: tuple[float, ...]
    href: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as SVG, and the same numbers as the columns and rows of a table, for readers who cannot see the chart."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    svg: Markup


def _over_days(
    caption: str,
    names: tuple[str, ...],
    given: Sequence[ChartDay],
    *,
    marks: list[float],
    body: Markup,
    key: Markup,
    unit: str,
) -> Chart:
    """Add the axes, labels and links to the drawn lines or columns of a chart (``body``), and return the whole chart.

    ``names`` are the names of the series in ``given``, ``marks`` the numbers on the vertical axis in ascending order,
    and ``key`` is the legend.
    """
    rows = tuple((link(day.href, day.day), *(number(one) for one in day.values)) for day in given)
    is_linked = len(given) <= MOST_LINKS
    rules = Markup("").join(RULE.format("rule" if mark else "axis", y=_height(mark, marks)) for mark in marks)
    svg = FIGURE.format(
        key=key if given else "",
        role="group" if is_linked and any(day.href for day in given) else "img",
        caption=caption,
        height=ABOVE + PLOT + BELOW,
        desc=_described(given, names, unit),
        wide=DIGIT_PX * max(len(written(mark)) for mark in marks),
        numbers=_numbers(marks),
        axes=rules + _along(given),
        marks=body + (_hits(given, names, unit) if is_linked else ""),
    )
    return Chart(caption, ("day", *names), rows, svg)


def position(given: Sequence[ChartDay], day: ChartDay) -> int:
    """Return the number of days from the first day of the chart of ``given`` to ``day``."""
    return (date.fromisoformat(day.day) - _first(given)).days


def length(given: Sequence[ChartDay]) -> int:
    """Return the number of days that the chart covers, including days without figures."""
    return position(given, given[-1]) + 1 if given else 1


def _first(given: Sequence[ChartDay]) -> date:
    last = date.fromisoformat(given[-1].day)
    return min(date.fromisoformat(given[0].day), last - timedelta(days=LEAST_DAYS - 1))


def number(value: float) -> str:
    """Return a number with thousands separators; a float is shown with one decimal."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def short(value: float) -> str:
    """Return a coordinate as text, rounded to two decimals, without zeros at the end."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def link(href: str, words: str) -> Markup:
    """Return the words as a link to ``href``, or as plain text if ``href`` is empty."""
    return Markup('<a href="') + href + Markup('">') + words + Markup("</a>") if href else escape(words)


def _numbers(marks: list[float]) -> Markup:
    # Four pixels lower: a text stands on its position, and is to be beside the middle of its line.
    drawn = (LETTERS.format("100%", short(float(_height(mark, marks)) + 4), "end", written(mark)) for mark in marks)
    return Markup("").join(drawn)


def _height(mark: float, marks: list[float]) -> str:
    return short(ABOVE + PLOT - PLOT * mark / marks[-1])


def _along(given: Sequence[ChartDay]) -> Markup:
    if not given:
        return LETTERS.format("50%", ABOVE + PLOT // 2, "middle", "nothing in this period")
    first, last = _first(given), date.fromisoformat(given[-1].day)
    drawn = Markup("")
    for day, words in days(first, last):
        at = 100 * ((day - first).days + 0.5) / length(given)
        # Near an edge, align the words with it, so that they stay inside the chart.
        anchor = "start" if at < 5 else "end" if at > 92 else "middle"
        drawn += LETTERS.format(f"{short(0 if anchor == 'start' else at)}%", ABOVE + PLOT + 17, anchor, words)
    return drawn


def _hits(given: Sequence[ChartDay], names: tuple[str, ...], unit: str) -> Markup:
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


def _described(given: Sequence[ChartDay], names: tuple[str, ...], unit: str) -> str:
    if not given:
        return "There is nothing in this period."
    greatest = max(given, key=lambda day: max(day.values))
    return (
        f"{' and '.join(names)} in {unit}, {len(given)} days from {given[0].day} to {given[-1].day}; "
        f"the greatest is {number(max(greatest.values))} on {greatest.day}. The table has every day."
    )


def ticks(greatest: float, *, least_step: float = 0.0) -> list[float]:
    """Return the numbers for an axis: 0 and about ``MOST_NUMBERS`` multiples of a round step.

    The last one is ``greatest`` or more, and the step is at least ``least_step``.
    """
    if greatest <= 0:
        return [0.0, max(1.0, least_step)]
    rough = greatest / MOST_NUMBERS
    power = 10 ** math.floor(math.log10(rough))
    # 1e-9: a quotient that only rounding makes larger needs neither a larger step nor another mark
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    step = max(step, least_step)
    return [step * number for number in range(math.ceil(greatest / step - 1e-9) + 1)]


def written(tick: float) -> str:
    """Return the label for the position ``tick`` on an axis."""
    return f"{tick:,.0f}" if tick == int(tick) else f"{tick:,.10g}"


def days(first: date, last: date) -> list[tuple[date, str]]:
    """Return the days to mark on an axis from ``first`` to ``last``, with their labels."""
    length = (last - first).days + 1
    for step in STEPS_IN_DAYS:
        if length <= step * MOST_DAYS:
            marked = [first + timedelta(days=number) for number in range(0, length, step)]
            return [(day, f"{day.day} {day:%b}") for day in marked]
    return _months(first, last)


def _months(first: date, last: date) -> list[tuple[date, str]]:
    begin = first.year * 12 + first.month - (first.day == 1)  # the first month that begins in the chart
    every = [date(number // 12, number % 12 + 1, 1) for number in range(begin, last.year * 12 + last.month)]
    for step in STEPS_IN_MONTHS:
        marked = [day for day in every if (day.year * 12 + day.month - 1) % step == 0]
        if len(marked) <= MOST_DAYS:
            return [(day, f"{day:%b} {day.year}" if step < 12 else str(day.year)) for day in marked]
    return []


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a bar chart, with its name and a count of prompts.

    ``href`` links to the counted prompts, and ``is_bad`` means that the bar is highlighted.
    """

    label: str
    count: int
    href: str = ""
    is_bad: bool = False


def bars(caption: str, given: Sequence[Bar], *, whole: int = 0) -> Chart:
    """Return a bar chart whose longest bar fills the width.

    Each bar is labelled with its count and its share of ``whole``, or of the sum of all bars if ``whole`` is 0.
    """
    greatest = max((bar.count for bar in given), default=0)
    whole = whole or sum(bar.count for bar in given)
    rows, drawn = [], Markup("")
    for bar in given:
        row = (link(bar.href, bar.label), f"{bar.count:,}", share(bar.count, whole))
        look = Markup(' class="bad"') if bar.is_bad else ""
        drawn += BAR.format(look, bar.label, row[0], short(100 * bar.count / max(1, greatest)), *row[1:])
        rows.append(row)
    return Chart(caption, ("name", "prompts", "share"), tuple(rows), TABLE.format(caption, drawn))


def columns(caption: str, names: tuple[str, ...], given: Sequence[ChartDay], *, bad: str = "") -> Chart:
    """Return a chart with one column for each day, in which the values of that day are stacked.

    ``names`` has the name of each of a day's values; the values with the name ``bad`` are highlighted.
    """
    classes = tuple("column bad" if name == bad else f"column s{number}" for number, name in enumerate(names))
    marks = ticks(max((sum(day.values) for day in given), default=0.0), least_step=1.0)
    body = PLOT_AREA.format(ABOVE, PLOT, length(given), _stacks(given, classes, greatest=marks[-1]))
    key = _key(zip(names, classes, strict=True), "prompts a day")
    return _over_days(caption, names, given, marks=marks, body=body, key=key, unit="prompts")


def lines(caption: str, names: tuple[str, str], given: Sequence[ChartDay]) -> Chart:
    """Return a chart of two lines over days, with a coloured band between them; a single day is drawn as two dots.

    The first value of each day is the lower one, such as p50, the second the upper one, such as p95.
    """
    marks = ticks(max((max(day.values) for day in given), default=0.0))
    places = [(position(given, day) + 0.5, *(1000 - 1000 * one / marks[-1] for one in day.values)) for day in given]
    lower, upper = ([(x, pair[number]) for x, *pair in places] for number in (0, 1))
    shapes = Markup('<polygon class="band" points="{}"></polygon>').format(_points([*lower, *reversed(upper)]))
    for kind, line in (("line second", upper), ("line", lower)):
        shapes += Markup('<polyline class="{}" points="{}"></polyline>').format(kind, _points(line))
    body = PLOT_AREA.format(ABOVE, PLOT, length(given), shapes if len(given) > 1 else "")  # one day makes no line
    if len(given) <= MOST_DOTS:
        body += _dots(upper, "dot second", length(given)) + _dots(lower, "dot", length(given))
    key = _key(zip(names, ("line", "line second"), strict=True), "ms")
    return _over_days(caption, names, given, marks=marks, body=body, key=key, unit="ms")


def share(part: float, whole: float) -> str:
    """Return ``part`` as a percentage of ``whole``, with one decimal; "-" if ``whole`` is 0.

    Shares below that precision, except 0, are shown as "< 0.1 %".
    """
    if not whole:
        return "-"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %"


def _stacks(given: Sequence[ChartDay], classes: tuple[str, ...], *, greatest: float) -> Markup:
    """Return the stacked columns as one SVG path for each series; ``classes`` are the CSS classes of the series.

    A path has a rectangle for each day on which the value is not 0; ``greatest`` is the value that fills the height.
    """
    # One path for each series, because a year of single rectangles would be a large page.
    paths: list[list[str]] = [[] for _ in classes]
    for day in given:
        x, top = position(given, day) + 0.1, 1000.0  # 0.1 of a day is free on both sides of a column
        for path, value in zip(paths, day.values, strict=True):
            height = 1000 * value / greatest
            top -= height
            if value:
                path.append(f"M{short(x)} {short(top)}h0.8v{short(height)}h-0.8z")
    drawn = (PATH.format(kind, " ".join(path)) for kind, path in zip(classes, paths, strict=True) if path)
    return Markup("").join(drawn)


# Circles would be stretched with the plot area, so dots are drawn outside of it.
def _dots(places: Iterable[tuple[float, float]], kind: str, length: int) -> Markup:
    drawn = (
        Markup('<circle class="{}" cx="{}%" cy="{}" r="2.5"></circle>').format(
            kind, short(100 * x / length), short(ABOVE + PLOT * y / 1000)
        )
        for x, y in places
    )
    return Markup("").join(drawn)


def _key(parts: Iterable[tuple[str, str]], unit: str) -> Markup:
    line = Markup('<line class="{}" x1="0" x2="100%" y1="50%" y2="50%"></line>')
    rect = Markup('<rect class="{}" width="100%" height="100%"></rect>')
    shown = (
        Markup('<li><svg aria-hidden="true">{}</svg>{}</li>').format(
            (line if kind.startswith("line") else rect).format(kind), name
        )
        for name, kind in parts
    )
    return Markup('<ul class="key">{}<li>{}</li></ul>').format(Markup("").join(shown), unit)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{short(x)},{short(y)}" for x, y in places)
