"""Intervals and the quantiles that they are computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

LARGE_DF = 200
"""Degrees of freedom above which the series in 1/df is more accurate than any figure printed."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The values that are compatible with the data at ``level``, both ends included."""

    low: float
    high: float
    level: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a share; ``n`` may be an effective number.

    Source: Wilson (1927), without continuity correction. Without observations the interval is 0 to 1. Raises
    ValueError if successes are not between 0 and n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}: a share lies between 0 and 1")
    if not n:
        return Interval(0.0, 1.0, level)
    z = normal_quantile((1 + level) / 2)
    share, weight = successes / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    low = 0.0 if not successes else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Interval(low, high, level)


def upper_bound(n: float, *, level: float = 0.95) -> float:
    """Return the highest share of failures that is compatible with 0 failures in ``n`` trials: Wilson's upper end."""
    return wilson(0, n, level=level).high


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile; raises ValueError outside of (0, 1)."""
    if not 0 < probability < 1:
        raise ValueError(f"a level lies between 0 and 1, both excluded, not at {probability}")
    return NormalDist().inv_cdf(probability)


def student_within(t: float, *, df: int) -> float:
    """Return P(-t <= T <= t) for Student's t; Abramowitz & Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(df))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    total, term = 0.0, math.cos(angle) if df % 2 else 1.0
    for power in range(df % 2, df - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    return (angle + sine * total) * 2 / math.pi if df % 2 else sine * total


def student_quantile(probability: float, *, df: int) -> float:
    """Return Student's quantile for a probability of at least one half and ``df`` >= 1.

    Exact by bisection up to 200 degrees of freedom, above by Abramowitz & Stegun 26.7.5.
    """
    z = normal_quantile(probability)
    if df > LARGE_DF:
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)
    low, high = 0.0, 1.0
    while student_within(high, df=df) < 2 * probability - 1:
        high *= 2
    for _halving in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, df=df) < 2 * probability - 1 else (low, middle)
    return high
