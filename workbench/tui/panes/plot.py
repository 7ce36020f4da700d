"""Draw the percentiles of a latency over time, as lines of braille dots.

Every line is named at its end and every axis has its unit, so that no information is conveyed by colour alone.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from storage.metrics.latencies import DAY_S
from workbench.tui.widgets.lists.figures import ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.views.latency import Percentiles, Profile

DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character, by the column and row of its dots."""
AXIS = 10
NAMES = 16
"""Cells to the left of the plot for the axis (``AXIS``), and to its right for the names of the lines (``NAMES``)."""
NEAR = 2.0
"""A budget is drawn if it is at most this multiple of the highest latency; a higher one is named above the plot."""

Piece = tuple[str, str]
"""A piece of text and the name of its style, which selects one of the plot's component classes."""
LINES: tuple[tuple[str, Callable[[Percentiles], float]], ...] = (
    ("p99", lambda figures: figures.p99),
    ("p95", lambda figures: figures.p95),
    ("p50", lambda figures: figures.p50),
)


class Canvas:
    """A grid of dots, two across and four down in each cell of the terminal; the origin is at the bottom left."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bits = [[0] * width for _row in range(height)]
        self._looks = [[""] * width for _row in range(height)]

    def dot(self, x: int, y: int, look: str) -> None:
        """Set a dot in the style ``look``; dots outside of the canvas are ignored."""
        column, row = x // 2, self.height - 1 - y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            self._bits[row][column] |= DOTS[x % 2][3 - y % 4]
            self._looks[row][column] = look

    def line(self, start: tuple[float, float], end: tuple[float, float], look: str) -> None:
        """Set the dots on the straight line between two points, in the style ``look``."""
        steps = max(1, round(max(abs(end[0] - start[0]), abs(end[1] - start[1]))))
        for step in range(steps + 1):
            share = step / steps
            self.dot(round(start[0] + (end[0] - start[0]) * share), round(start[1] + (end[1] - start[1]) * share), look)

    def row(self, number: int) -> list[Piece]:
        """Return a row of cells, counted from the top; adjacent cells with the same look form one piece."""
        cells = zip(self._bits[number], self._looks[number], strict=True)
        return [
            ("".join(chr(0x2800 + bits) if bits else " " for bits, _look in alike), look)  # U+2800: braille patterns
            for look, alike in groupby(cells, key=itemgetter(1))
        ]


class PercentilePlot(Widget):
    """A plot of the percentiles (p50, p95, p99) that a stage or channel had in every hour or day."""

    DEFAULT_CSS = """
    PercentilePlot {
        height: 1fr; background: $background;
        & > .plot--axis { color: $text-muted; }
        & > .plot--p50 { color: $success; }
        & > .plot--p95 { color: $primary; }
        & > .plot--p99 { color: $accent; }
        & > .plot--budget { color: $error; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"plot--axis", "plot--p50", "plot--p95", "plot--p99", "plot--budget"}
    ALLOW_SELECT = False

    def __init__(self, *, id: str) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self._profile: Profile | None = None
        self._budget: float | None = None
        self._width_s = DAY_S
        self._picture: list[list[Piece]] | None = None

    def show(self, profile: Profile | None, *, budget: float | None, width_s: int) -> None:
        """Draw a profile (the latencies of one stage or channel); draw nothing if it is None.

        ``budget`` is in milliseconds, and each point of the profile stands for ``width_s`` seconds.
        """
        self._profile, self._budget, self._width_s = profile, budget, width_s
        self._picture = None
        self.refresh()

    def on_resize(self) -> None:
        self._picture = None

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if self._picture is None:
            # 30 cells are hardly more than the axis and the names of the lines need.
            self._picture = self.picture(self._profile, width, height) if self._profile and width > 30 else []
        pieces = self._picture[y] if y < len(self._picture) else []
        segments = [
            Segment(text, self.rich_style + self.get_component_rich_style(f"plot--{look}", partial=True) if look
                    else self.rich_style)
            for text, look in pieces
        ]  # fmt: skip
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def picture(self, profile: Profile, width: int, height: int) -> list[list[Piece]]:
        """Return the rows of the plot, each as pieces of text; an empty list if there is no room for it."""
        points, across, down = profile.points, width - AXIS - NAMES, height - 1
        if down < 3 or not points:
            return []
        highest = max(point.figures.p99 for point in points)
        budget = self._budget if self._budget and self._budget <= highest * NEAR else 0.0
        top = _round_up(max(highest, budget))
        canvas = Canvas(across, down)
        first, last = points[0].start, points[-1].start
        span = max(1, last - first)

        def place(start: int, value: float) -> tuple[float, float]:
            x = (start - first) / span if last > first else 0.5  # a single point is in the middle
            return x * (across * 2 - 1), value / top * (down * 4 - 1)

        if budget:
            for x in range(0, across * 2, 4):  # dotted, so that it differs from the lines
                canvas.dot(x, round(place(first, budget)[1]), "budget")
        for name, value in reversed(LINES):  # where lines cross, the higher percentile is on top
            before: tuple[float, float] | None = None
            for point in points:
                here = place(point.start, value(point.figures))
                canvas.line(before or (here[0] - 1, here[1]), here, name)  # a single point is a line of two dots
                before = here
        ends = {name: place(last, value(points[-1].figures))[1] for name, value in LINES}
        names = _names(points[-1].figures, ends, down)
        if budget:  # setdefault: a percentile in the same row is more important
            names.setdefault(_row(place(first, budget)[1], down), (f" budget {ms(budget)}", "budget"))
        # The top, the middle of the row in the middle, and 0.
        ticks = {0: top, (down - 1) // 2: top * (1 - ((down - 1) // 2 + 0.5) / down), down - 1: 0.0}
        rows = [
            [
                (f"{_tick(ticks[row]) if row in ticks else '':>{AXIS - 2}} ", "axis"),
                ("┤" if row in ticks else "│", "axis"),
                *canvas.row(row),
                names.get(row, ("", "")),
            ]
            for row in range(down)
        ]
        return [*rows, [(" " * (AXIS - 1) + self._time_axis(points[0].start, last, across), "axis")]]

    def _time_axis(self, first: int, last: int, across: int) -> str:
        begin, end = self._time(first), self._time(last)
        if first == last:
            return f"└{end:─^{across}} UTC"
        # The end is written over the line, so that both stay in the plot if there is little room.
        return f"└{begin:─<{across}}"[: across + 1 - len(end)] + f"{end} UTC"

    def _time(self, second: int) -> str:
        moment = datetime.fromtimestamp(second, UTC)
        day = f"{moment:%b} {moment.day}"
        return f" {day} " if self._width_s >= DAY_S else f" {day} {moment:%H:%M} "


def _names(figures: Percentiles, ends: dict[str, float], down: int) -> dict[int, Piece]:
    """Return the label of each line (its name and last value), by the row of the plot in which it is written.

    ``ends`` are the heights at which the lines end, in dots. Labels never share a row.
    """
    found: dict[int, Piece] = {}
    below = -1
    for name, value in LINES:
        row = max(_row(ends[name], down), below + 1)
        below = row
        found[row] = (f" {name} {ms(value(figures))}", name)
    overhang = max(0, below - (down - 1))  # labels below the plot: all are moved up by as many rows
    return {row - overhang: piece for row, piece in found.items()}


def _tick(value: float) -> str:
    return ms(value) if value else "0 ms"


def _row(y: float, down: int) -> int:
    return down - 1 - round(y) // 4


def _round_up(value: float) -> float:
    """Return the next higher number that suits the end of an axis: 1, 1.5, 2, 3, 5 or 8 times a power of ten.

    Return 1 for 0 or less.
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    # 0.999: without it, a value hardly above a step would get the next step, which leaves much of the plot empty.
    return next(step * power for step in (1, 1.5, 2, 3, 5, 8, 10) if step * power >= value * 0.999)
