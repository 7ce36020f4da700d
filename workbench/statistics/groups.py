"""Compare two groups that share no prompt, such as the cohorts of an experiment; nothing is paired."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, variance
from typing import TYPE_CHECKING

from workbench.statistics.intervals import Interval, student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.statistics.shares import Share

FEWEST = 2


@dataclass(frozen=True, slots=True)
class Effect:
    """The difference of the second group from the first, its interval, and its standardised size.

    ``size`` is Cohen's h for shares and Hedges' g for means: 0.2 is small, 0.5 medium, 0.8 large.
    """

    difference: float
    interval: Interval
    size: float


def difference_of_shares(first: Share, second: Share) -> Effect:
    """Return second minus first; the interval combines those of both shares, and so takes sessions into account.

    Source: Newcombe (1998), method 10, with the intervals of ``share_changed``; h is the difference of twice the
    arcsines of the square roots (Cohen 1988).
    """
    difference = second.value - first.value
    down = math.hypot(second.value - second.interval.low, first.interval.high - first.value)
    up = math.hypot(second.interval.high - second.value, first.value - first.interval.low)
    size = 2 * (math.asin(math.sqrt(second.value)) - math.asin(math.sqrt(first.value)))
    return Effect(difference, Interval(difference - down, difference + up, first.interval.level), size)


def difference_of_means(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Effect:
    """Return second minus first with Welch's interval, in the unit of the values.

    The degrees of freedom are rounded down (Welch 1947); g is the difference in pooled standard deviations,
    corrected for small groups (Hedges 1981), and 0 if all values of each group are equal. Raises ValueError
    if a group has fewer than two values.
    """
    if min(len(first), len(second)) < FEWEST:
        raise ValueError("a difference of means needs two values in each group")
    difference = fmean(second) - fmean(first)
    errors = [variance(group) / len(group) for group in (first, second)]
    freedoms = [len(group) - 1 for group in (first, second)]
    if not sum(errors):
        return Effect(difference, Interval(difference, difference, level), 0.0)
    df = sum(errors) ** 2 / sum(error**2 / one for error, one in zip(errors, freedoms, strict=True))
    half = student_quantile((1 + level) / 2, df=max(1, int(df))) * math.sqrt(sum(errors))
    pooled = math.sqrt(
        sum(variance(group) * one for group, one in zip((first, second), freedoms, strict=True)) / sum(freedoms)
    )
    size = difference / pooled * (1 - 3 / (4 * sum(freedoms) - 1))
    return Effect(difference, Interval(difference - half, difference + half, level), size)
