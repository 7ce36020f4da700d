"""Compute what the charts of the pages show; the template ``charts.html`` draws them as SVG, without scripts.

There are charts over days (columns or lines), and the timeline of one prompt, which has a bar for each stage of the
hook and each channel (source) that it asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from enricher.context import CHANNELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

LEAST_DAYS = 7  # so that the column of a single day is not as wide as the chart
MOST_LINKS = 120  # with more days, a column is too narrow to be pointed at, so that only the table has links
MOST_NUMBERS = 4
MOST_DAYS = 6  # labels of days; as many fit beside each other on a phone
STEPS_IN_DAYS = (1, 2, 7, 14)
STEPS_IN_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
MOST_DOTS = 45  # with more days, dots would touch each other, so only the lines are drawn
HEIGHT = 1000  # of the area in which shapes are drawn; the template stretches it to the size of the chart
GATHERING = "gather"  # the stage that calls the channels
NOT_ASKED = ("off", "untrusted")
RECORDING = "record"
LEAST_RECORDING_MS = 0.01  # a smaller rest is from rounding the durations of the stages


@dataclass(frozen=True, slots=True)
class ChartDay:
    """The values of a chart on one day (YYYY-MM-DD), one for each series; ``href`` links to that day's prompts."""

    day: str
    values: tuple[float, ...]
    href: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A part of a chart: an SVG path with its CSS class. It spans one unit for each day, and is ``HEIGHT`` units high.

    ``dots`` are the places at which dots are drawn, which must not be stretched.
    """

    look: str
    path: str
    dots: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart over days. ``names`` are the names of the series, ``looks`` their CSS classes in the legend.

    ``days`` has only the days with figures, and ``scale`` the numbers on the vertical axis, in ascending order.
    """

    caption: str
    names: tuple[str, ...]
    looks: tuple[str, ...]
    unit: str
    days: Sequence[ChartDay]
    scale: list[float]
    shapes: list[Shape]

    @property
    def length(self) -> int:
        """Return the number of days that the chart covers, including days without figures."""
        return _length(self.days)

    @property
    def has_links(self) -> bool:
        """Return whether the days can be pointed at."""
        return len(self.days) <= MOST_LINKS

    @property
    def labels(self) -> list[tuple[float, str]]:
        """Return the numbers on the vertical axis as shares of its height, and as texts."""
        return [(mark / self.scale[-1], written(mark)) for mark in self.scale]

    @property
    def greatest(self) -> ChartDay:
        """Return the day with the greatest value."""
        return max(self.days, key=lambda day: max(day.values))

    def place(self, day: ChartDay) -> int:
        """Return the number of days from the first day of the chart to ``day``."""
        return _place(self.days, day)

    def marked_days(self) -> list[tuple[float, str]]:
        """Return the days that are marked on the horizontal axis, as shares of its length, and as texts."""
        if not self.days:
            return []
        first = _first(self.days)
        marked = days(first, date.fromisoformat(self.days[-1].day))
        return [(((day - first).days + 0.5) / self.length, words) for day, words in marked]


def columns(caption: str, names: tuple[str, ...], given: Sequence[ChartDay], *, bad: str = "") -> Chart:
    """Return a chart with one column for each day, in which the values of that day are stacked.

    ``names`` has the name of each of a day's values; the values with the name ``bad`` are highlighted.
    """
    looks = tuple("column bad" if name == bad else f"column s{number}" for number, name in enumerate(names))
    scale = ticks(max((sum(day.values) for day in given), default=0.0), least_step=1.0)
    # One path for each series, because a year of single rectangles would be a large page.
    paths: list[list[str]] = [[] for _ in looks]
    for day in given:
        x, top = _place(given, day) + 0.1, float(HEIGHT)  # 0.1 of a day is free on both sides of a column
        for path, value in zip(paths, day.values, strict=True):
            height = HEIGHT * value / scale[-1]
            top -= height
            if value:
                path.append(f"M{_short(x)} {_short(top)}h0.8v{_short(height)}h-0.8z")
    shapes = [Shape(look, " ".join(path)) for look, path in zip(looks, paths, strict=True) if path]
    return Chart(caption, names, looks, "prompts", given, scale, shapes)


def lines(caption: str, names: tuple[str, str], given: Sequence[ChartDay]) -> Chart:
    """Return a chart of two lines over days, with a coloured band between them; a single day is drawn as two dots.

    The first value of each day is the lower one, such as p50, the second the upper one, such as p95.
    """
    looks = ("line", "line second")
    scale = ticks(max((max(day.values) for day in given), default=0.0))
    lower, upper = (
        tuple((_place(given, day) + 0.5, HEIGHT - HEIGHT * day.values[number] / scale[-1]) for day in given)
        for number in (0, 1)
    )
    band = Shape("band", _path((*lower, *reversed(upper))) if len(given) > 1 else "")
    drawn = ((looks[1], upper), (looks[0], lower))
    shapes = [Shape(look, _path(line), line if len(given) <= MOST_DOTS else ()) for look, line in drawn]
    return Chart(caption, names, looks, "ms", given, scale, [band, *shapes])


def _path(places: Sequence[tuple[float, float]]) -> str:
    """Return the SVG path that connects the points ``places``; empty if there are fewer than two."""
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in places) if len(places) > 1 else ""


def _short(value: float) -> str:
    """Return a coordinate as text, rounded to two decimals, without zeros at the end."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _place(given: Sequence[ChartDay], day: ChartDay) -> int:
    return (date.fromisoformat(day.day) - _first(given)).days


def _length(given: Sequence[ChartDay]) -> int:
    return _place(given, given[-1]) + 1 if given else 1


def _first(given: Sequence[ChartDay]) -> date:
    last = date.fromisoformat(given[-1].day)
    return min(date.fromisoformat(given[0].day), last - timedelta(days=LEAST_DAYS - 1))


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
class TimelineBar:
    """A stage or channel in a timeline: its start, counted from the start of the hook, and its duration.

    ``status`` is how the channel ended, and empty for a stage.
    """

    name: str
    start_ms: float
    ms: float
    status: str = ""

    @property
    def was_asked(self) -> bool:
        """Return whether the channel was called; true for every stage."""
        return self.status not in NOT_ASKED


@dataclass(frozen=True, slots=True)
class Timeline:
    """How long each stage of the hook took for one prompt, and each channel, on an axis that is ``span_ms`` long.

    ``marks`` are the times on the axis, with their labels.
    """

    stages: list[TimelineBar]
    channels: list[TimelineBar]
    total_ms: float
    span_ms: float
    marks: list[tuple[float, str]]


def timeline(trace: Row) -> Timeline:
    """Return the timeline of a prompt; ``trace`` is its record, as ``storage.traces.queries.show`` returns it.

    Only durations are recorded. Start times are computed from the order: stages follow each other, and the channels run
    within the stage that calls them.
    """
    stages = list(_stages(trace["stages"], trace["latency_ms"]))
    asking = next((one.start_ms for one in stages if one.name == GATHERING), 0.0)
    channels = list(_channels(_in_order(trace), asking))
    longest = max((one.start_ms + one.ms for one in (*stages, *channels)), default=0.0)
    scale = ticks(longest)
    # The axis ends with the last bar, because a mark beyond it would only make the bars narrower.
    span = longest or scale[-1]
    return Timeline(stages, channels, trace["latency_ms"], span, [(at, written(at)) for at in scale if at <= span])


def _stages(rows: Iterable[Row], total_ms: float) -> Iterator[TimelineBar]:
    at = 0.0
    for row in rows:
        yield TimelineBar(row["stage"], at, row["latency_ms"])
        at += row["latency_ms"]
    if at and total_ms - at > LEAST_RECORDING_MS:
        yield TimelineBar(RECORDING, at, total_ms - at)


def _channels(rows: Iterable[Row], asking: float) -> Iterator[TimelineBar]:
    """Yield the bars of the channels; ``asking`` is the time at which the stage that calls them began.

    Built-in channels run one after the other; users' programs run in parallel to them, and all start with that stage.
    """
    at = asking
    for row in rows:
        is_own = row["channel"] in CHANNELS
        yield TimelineBar(row["channel"], at if is_own else asking, row["latency_ms"], row["status"])
        at += row["latency_ms"] if is_own else 0.0


def _in_order(trace: Row) -> Sequence[Row]:
    """Return the rows of a prompt's channels in the order of its recorded rules, or in the default order."""
    recorded = trace["inputs"].get("channels", ()) if isinstance(trace["inputs"], dict) else ()
    names = [one.get("name") for one in recorded if isinstance(one, dict)] or list(CHANNELS)
    return sorted(
        trace["channels"], key=lambda row: names.index(row["channel"]) if row["channel"] in names else len(names)
    )
