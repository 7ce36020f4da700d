"""Summarise how long the hook took: percentiles in total and for each hour or day, and changes between two versions.

Here a version is one state of the instructions, and a series is the latencies of the whole hook, of one of its stages,
or of one channel (a source that it asks). A series is stored as a mapping from a latency in microseconds to the number
of prompts that had it, so that memory does not grow with the number of prompts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from storage.metrics.latencies import TOTAL, Block, Counts, Series, Use
from storage.metrics.percentiles import percentiles
from workbench.statistics.intervals import LEVEL, Interval, normal_quantile
from workbench.statistics.pairs import Shift, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enricher.settings import Value

HOOK_MS = 2000
"""Milliseconds after which an agent's client ends the hook (ruling R2)."""
INSIDE_MS = 1500
"""Milliseconds after which the hook stops searching and answers with what it has found so far."""
BINS_PER_DOUBLING = 16  # each bin is 4 % wider than the one before it
MOST_COMPARED = 1000
"""If a version has more latencies than this, they are reduced to this many quantiles before all pairs are compared."""


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
class Bin:
    """One bar of a histogram: the number of latencies from ``low`` (included) to ``high``, both in milliseconds."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The figures of one series: percentiles in total and for each hour or day (oldest first), and a histogram."""

    series: Series
    figures: Percentiles
    points: tuple[Point, ...]
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class SeriesComparison:
    """The latencies of one series under two versions of the instructions, ``base`` and ``candidate``.

    ``shift`` is the typical difference, candidate minus base, or None if one of the versions has no latencies;
    ``verdict`` says whether the difference is significant.
    """

    series: Series
    base: Percentiles | None
    candidate: Percentiles | None
    shift: Shift | None
    verdict: Verdict


class LatencyTally:
    """Counts of the latencies of recorded prompts; the prompts are added in blocks, the newest block first.

    Once all blocks of an hour or day have been added, only its percentiles are kept.
    """

    def __init__(self) -> None:
        self._whole: dict[Series, Counts] = {}
        self._parts: dict[int, dict[Series, Counts]] = {}
        self._points: dict[Series, dict[int, Percentiles]] = {}
        self._uses: dict[str, Use] = {}
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
        for use in block.uses:
            known = self._uses.get(use.rules_hash, Use(use.rules_hash, 0, ""))
            self._uses[use.rules_hash] = Use(
                use.rules_hash, known.prompts + use.prompts, max(known.last_at, use.last_at)
            )
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
            found.append(Profile(series, _figures(counts), points, _bins(counts)))
        return tuple(found)

    def versions(self) -> tuple[Use, ...]:
        """Return how many prompts each version of the instructions was used for, the most recently used first."""
        return tuple(sorted(self._uses.values(), key=lambda use: (use.last_at, use.rules_hash), reverse=True))


def budget_ms(series: Series, settings: Mapping[str, Value]) -> float | None:
    """Return how many milliseconds the hook, stage or channel of ``series`` may take; None if it has no limit."""
    if series == TOTAL:
        return INSIDE_MS
    if series.kind == "channel":
        return float(settings["budgets.channel_ms"])
    return float(settings["budgets.gather_ms"]) if series.name == "gather" else None


def compare_versions(base: Mapping[Series, Counts], candidate: Mapping[Series, Counts]) -> list[SeriesComparison]:
    """Compare the latencies of two versions of the instructions, for every series that either version has."""
    return [_compare(series, base.get(series), candidate.get(series)) for series in sorted({*base, *candidate})]


def shift_between(first: Mapping[int, int], second: Mapping[int, int]) -> Shift:
    """Return by how many milliseconds the ``second`` latencies are typically greater than the ``first``.

    Each argument maps a latency in microseconds to the number of prompts that had it. The estimate is the median
    difference over all pairs of a first and a second latency; its confidence interval inverts the rank-sum test in
    normal approximation (Hollander & Wolfe 4.2 and 4.3). Raises ValueError if an argument is empty.
    """
    if not first or not second:
        raise ValueError("a shift needs values on both sides")
    n, m = sum(first.values()), sum(second.values())
    left, right = _reduced(first), _reduced(second)
    pairs = len(left) * len(right)
    # As a share of all n * m pairs, so that it also fits the fewer pairs of the reduced latencies.
    spread = normal_quantile((1 + LEVEL) / 2) * math.sqrt((n + m + 1) / (12 * n * m)) * pairs
    low = max(1, math.floor(pairs / 2 - spread))
    ends = [_difference(left, right, rank) / 1000 for rank in (low, (pairs + 1) // 2, pairs + 1 - low)]
    return Shift(ends[1], Interval(ends[0], ends[2]), n + m)


def _compare(series: Series, base: Counts | None, candidate: Counts | None) -> SeriesComparison:
    sides = [_figures(counts) if counts else None for counts in (base, candidate)]
    if not base or not candidate:
        return SeriesComparison(series, sides[0], sides[1], None, "inconclusive")
    shift = shift_between(base, candidate)
    return SeriesComparison(series, sides[0], sides[1], shift, _verdict(shift, is_same=base == candidate))


def _verdict(shift: Shift, *, is_same: bool) -> Verdict:
    if is_same:
        return "identical"
    if 0 in shift.interval:
        return "inconclusive"
    return "regressed" if shift.estimate > 0 else "changed"


def _figures(counts: Counts) -> Percentiles:
    return Percentiles(counts.total(), *(us / 1000 for us in percentiles(sorted(counts.items()))))


def _bins(counts: Counts) -> tuple[Bin, ...]:
    """Return a histogram, including empty bins; each bin is wider than the previous one by a constant factor."""
    found: Counter[int] = Counter()
    for us, count in counts.items():
        found[math.floor(math.log2(max(us, 1)) * BINS_PER_DOUBLING)] += count  # 0 has no logarithm
    if not found:
        return ()
    return tuple(Bin(_bound(one), _bound(one + 1), found[one]) for one in range(min(found), max(found) + 1))


def _bound(number: int) -> float:
    return float(2 ** (number / BINS_PER_DOUBLING) / 1000)


def _reduced(counts: Mapping[int, int]) -> list[int]:
    """Return the values counted in ``counts`` as a sorted list in which each value occurs as often as it was counted.

    If that list would be longer than MOST_COMPARED, return evenly spaced quantiles of it instead.
    """
    values = sorted(counts)
    ends = list(accumulate(counts[value] for value in values))
    n, most = ends[-1], MOST_COMPARED
    # The middles of equal parts, so that neither the fastest nor the slowest are preferred.
    ranks = range(n) if n <= most else [(2 * place + 1) * n // (2 * most) for place in range(most)]
    return [values[bisect_right(ends, rank)] for rank in ranks]


def _difference(first: Sequence[int], second: Sequence[int], rank: int) -> int:
    """Form all pairs of a value of ``first`` and one of ``second``; return the ``rank``-th smallest difference.

    Differences are second minus first, ranks begin with 1, and both sequences are sorted.
    """
    # A binary search for the difference, because the pairs (up to a million) need not be formed to count them.
    low, high = second[0] - first[-1], second[-1] - first[0]
    while low < high:
        middle = (low + high) // 2
        below = sum(bisect_right(second, value + middle) for value in first)
        low, high = (low, middle) if below >= rank else (middle + 1, high)
    return low
