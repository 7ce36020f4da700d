"""Percentiles with the interval of a bootstrap of infinitely many resamples, computed without resampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.metrics.percentiles import SHARES, nearest_rank
from workbench.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Quantile:
    """The value that a share ``at`` of the values does not exceed."""

    at: float
    value: float
    interval: Interval


def bootstrap_quantiles(
    values: Sequence[float], at: Sequence[float] = SHARES, *, level: float = 0.95
) -> list[Quantile]:
    """Return each quantile (nearest rank) with its bootstrap percentile interval, in the unit of the values.

    The k-th smallest of a resample is at most the j-th smallest value with the probability that Binomial(n, j/n)
    reaches k (Efron 1979), so no resampling is needed. No interval exceeds the largest value: with fewer than about
    370 values that of the 99th percentile ends there. Raises ValueError without values.
    """
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    return [_quantile(ordered, one, level) for one in at]


def _quantile(ordered: list[float], at: float, level: float) -> Quantile:
    n = len(ordered)
    rank = nearest_rank(n, at)
    low, high = (_place(n, rank, probability) for probability in ((1 - level) / 2, (1 + level) / 2))
    return Quantile(at, ordered[rank - 1], Interval(ordered[low - 1], ordered[high - 1], level))


def _place(n: int, rank: int, probability: float) -> int:
    """Return the smallest j such that the resampled quantile is at most the j-th value with ``probability`` or more."""
    low, high = 1, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _reaches(n, middle / n, rank) >= probability else (middle + 1, high)
    return low


def _reaches(n: int, share: float, count: int) -> float:
    """Return P(Binomial(n, share) >= count)."""
    if share >= 1:
        return 1.0
    logarithms = (
        math.lgamma(n + 1) - math.lgamma(one + 1) - math.lgamma(n - one + 1)
        + one * math.log(share) + (n - one) * math.log1p(-share)
        for one in _worth_adding(n, share, count)
    )  # fmt: skip
    return math.fsum(math.exp(one) for one in logarithms)


def _worth_adding(n: int, share: float, count: int) -> range:
    spread = 10 * math.sqrt(n * share * (1 - share)) + 10
    return range(max(count, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1)
