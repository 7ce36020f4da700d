"""Summarise how long the hook took: percentiles in total and for each hour or day, and the time budgets.

A series is the latencies of the whole hook, of one of its stages, or of one channel (a source that it asks). A series
is stored as a mapping from a latency in microseconds to the number of prompts that had it, so that memory does not grow
with the number of prompts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.metrics.latencies import TOTAL, Block, Counts, Series
from storage.metrics.percentiles import percentiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.settings import Value

INSIDE_MS = 1500
"""Milliseconds after which the hook stops searching and answers with what it has found so far."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Nearest-rank percentiles of ``n`` latencies, in milliseconds."""

    n: int
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Point:
    """The percentiles of one series in one hour or day, which begins at ``start``, in seconds since 1970."""

    start: int
    figures: Percentiles


@dataclass(frozen=True, slots=True)
class Profile:
    """The figures of one series: percentiles in total and for each hour or day (oldest first)."""

    series: Series
    figures: Percentiles
    points: tuple[Point, ...]


class LatencyTally:
    """Counts of the latencies of recorded prompts; the prompts are added in blocks, the newest block first.

    Once all blocks of an hour or day have been added, only its percentiles are kept.
    """

    def __init__(self) -> None:
        self._whole: dict[Series, Counts] = {}
        self._parts: dict[int, dict[Series, Counts]] = {}
        self._points: dict[Series, dict[int, Percentiles]] = {}
        self._newest = 0
        self.prompts = 0
        self.reached = 0
        """The beginning of the oldest hour or day that was added, in seconds since 1970; 0 before the first."""

    def add(self, block: Block) -> None:
        """Add the latencies of a block of prompts, which are all of one hour or day.

        All blocks of an hour or day must be added before those of another, except that further blocks of the newest one
        may be added at any time.
        """
        self.prompts += block.prompts
        self.reached = min(self.reached or block.start, block.start)
        self._newest = max(self._newest, block.start)
        part = self._parts.setdefault(block.start, {})
        for series, counts in block.counts.items():
            self._whole.setdefault(series, Counter()).update(counts)
            own = part.setdefault(series, Counter())
            own.update(counts)
            self._points.setdefault(series, {})[block.start] = _figures(own)
        # Only these two can still grow; the others need their percentiles only.
        self._parts = {start: own for start, own in self._parts.items() if start in (self._newest, block.start)}

    def profiles(self) -> tuple[Profile, ...]:
        """Return the figures of every series that was added, in the order in which a prompt passes the stages."""
        found = []
        for series, counts in sorted(self._whole.items()):
            points = tuple(Point(start, figures) for start, figures in sorted(self._points[series].items()))
            found.append(Profile(series, _figures(counts), points))
        return tuple(found)


def budget_ms(series: Series, settings: Mapping[str, Value]) -> float | None:
    """Return how many milliseconds the hook, stage or channel of ``series`` may take; None if it has no limit."""
    if series == TOTAL:
        return INSIDE_MS
    if series.kind == "channel":
        return float(settings["budgets.channel_ms"])
    return float(settings["budgets.gather_ms"]) if series.name == "gather" else None


def _figures(counts: Counts) -> Percentiles:
    return Percentiles(counts.total(), *(us / 1000 for us in percentiles(sorted(counts.items()))))
