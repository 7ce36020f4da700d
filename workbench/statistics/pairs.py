"""Compare two rule sets or variants, on the same prompts or in two groups of sessions.

This module contains significance tests, effects with their intervals, verdicts, and the smallest effects that can be
detected.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import NormalDist, fmean, variance
from typing import TYPE_CHECKING, Literal

from workbench.statistics.intervals import LEVEL, UPPER, Interval, normal_quantile, student_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from workbench.statistics.intervals import Share

EXACT_RANKS = 50
"""With up to this many differences, the distribution of the rank sum is exact; with more, it is taken as normal."""
EXACT_DIFFERENCES = 2000
"""If there are more differences, they are reduced to this many quantiles before the means of all pairs are formed."""
POWER = 0.8
"""The power of a test: the probability with which it finds a difference that is called detectable here."""
Verdict = Literal["identical", "changed", "regressed", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Shift:
    """A typical difference between two samples, with its confidence interval, in the unit of the values.

    ``n`` is the number of pairs; if the samples are not paired, it is the number of values in both.
    """

    estimate: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean difference of pairs, with its confidence interval and its standard error.

    The error is infinite if all pairs come from one session.
    """

    estimate: float
    interval: Interval
    error: float


def mcnemar_midp(gained: int, lost: int) -> float:
    """Return the two-sided mid-p value of McNemar's test, which asks if more pairs changed one way than the other.

    ``gained`` and ``lost`` are the numbers of pairs that changed one way and the other, for example from wrong to right
    and from right to wrong. If they are equal, the value is 1.

    Source: Fagerland, Lydersen & Laake (2013), "The McNemar test for binary matched-pairs data": twice the binomial
    tail below the smaller count, plus that count's own probability. Raises ValueError for negative counts.
    """
    if gained < 0 or lost < 0:
        raise ValueError("pairs that changed sides are counted from 0")
    n, fewer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0  # the sum below is then 1, too, but for rounding
    own = math.exp(math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1) - n * math.log(2))
    below, term = 0.0, own
    for count in range(fewer, 0, -1):
        term *= count / (n - count + 1)
        below += term
        if term < own * 1e-17:  # too small to change the sum
            break
    return min(1.0, 2 * below + own)


def signed_rank(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test for paired differences; 1 if all of them are 0.

    Zeros are left out, and tied differences get the mean of their ranks (Wilcoxon 1945; Hollander & Wolfe 3.1). For up
    to 50 differences, the exact distribution is used, also with ties; for more, the normal approximation, with its
    variance corrected for ties.
    """
    doubled = _doubled_ranks([value for value in differences if value])
    if not doubled:
        return 1.0
    positive = sum(rank for rank, is_positive in doubled if is_positive)
    ranks = [rank for rank, _ in doubled]
    smaller = min(positive, sum(ranks) - positive)
    if len(ranks) <= EXACT_RANKS:
        # Both tails: twice the sets of ranks with so small a sum, of the 2^n sets that are equally likely.
        return min(1.0, sum(_rank_sums(ranks)[: smaller + 1]) / float(2 ** (len(ranks) - 1)))
    deviation = math.sqrt(sum(rank * rank for rank in ranks)) / 2
    return min(1.0, 2 * NormalDist().cdf((smaller - sum(ranks) / 2) / deviation))


def hodges_lehmann(differences: Sequence[float]) -> Shift:
    """Return the typical paired difference: the median of the means of all pairs of differences (Hodges-Lehmann).

    Its confidence interval is the one that belongs to Wilcoxon's signed-rank test (Hollander & Wolfe 3.2 and 3.3). The
    ends of the interval are two of these means, given by their ranks; the ranks are exact for up to 50 differences, and
    a normal approximation for more. With fewer than six differences, a level of 95 % cannot be reached; the interval
    is then their range, with the lower level that the range has. More than 2,000 differences are first reduced to 2,000
    evenly spaced quantiles, which limits the work. Raises ValueError if there are no differences.
    """
    n = len(differences)
    if not n:
        raise ValueError("a shift needs at least one pair")
    values = sorted(differences)
    if n > EXACT_DIFFERENCES:
        values = [values[(2 * place + 1) * n // (2 * EXACT_DIFFERENCES)] for place in range(EXACT_DIFFERENCES)]
    whole = len(values) * (len(values) + 1) // 2
    estimate = (_walsh(values, (whole + 1) // 2) + _walsh(values, whole // 2 + 1)) / 2
    rank, level = _interval_rank(n)
    rank = max(1, round(rank * whole / (n * (n + 1) // 2)))  # as a share of all means, where values were reduced
    return Shift(estimate, Interval(_walsh(values, rank), _walsh(values, whole + 1 - rank), level), n)


def mean_by_session(differences: Sequence[float], *, sessions: Sequence[Hashable] | None = None) -> Mean:
    """Return the mean of paired differences, with a Student confidence interval.

    The interval takes into account that differences of the same session may be similar. ``sessions`` has the session of
    each difference; without it, each difference is taken as a session of its own. The variance is that of a ratio of
    session sums (Cochran 1977, 6.4), with one degree of freedom less than there are sessions. With a single session the
    interval is unbounded. Raises ValueError if there are no differences.
    """
    n = len(differences)
    if not n:
        raise ValueError("a mean needs at least one pair")
    mean = math.fsum(differences) / n
    residuals: defaultdict[Hashable, float] = defaultdict(float)
    for session, value in zip(sessions or range(n), differences, strict=True):
        residuals[session] += value - mean
    clusters = len(residuals)
    if clusters == 1:
        return Mean(mean, Interval(-math.inf, math.inf), math.inf)
    error = math.sqrt(math.fsum(one * one for one in residuals.values()) * clusters / (clusters - 1)) / n
    half = student_quantile(UPPER, df=clusters - 1) * error
    return Mean(mean, Interval(mean - half, mean + half), error)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the p-values, in the given order, adjusted by the step-up procedure of Benjamini & Hochberg (1995).

    A threshold on the adjusted values limits the false discovery rate.
    """
    count, smallest = len(p_values), 1.0
    adjusted = [1.0] * count
    for rank, place in reversed(list(enumerate(sorted(range(count), key=p_values.__getitem__), start=1))):
        smallest = min(smallest, p_values[place] * count / rank)
        adjusted[place] = smallest
    return adjusted


def _doubled_ranks(values: list[float]) -> list[tuple[int, bool]]:
    """Rank the values by their absolute value; return twice each rank, and whether the value is positive.

    Ranks are doubled, because the mean rank of tied values may be a half.
    """
    ranked: list[tuple[int, bool]] = []
    for _, tied in groupby(sorted(values, key=abs), key=abs):
        group = list(tied)
        mean = 2 * len(ranked) + len(group) + 1
        ranked += [(mean, value > 0) for value in group]
    return ranked


def _rank_sums(ranks: Sequence[int]) -> list[int]:
    """Return, at index s, the number of subsets of ``ranks`` whose sum is s."""
    ways = [1]
    for rank in ranks:
        above = [0] * rank
        ways = [without + having for without, having in zip(ways + above, above + ways, strict=True)]
    return ways


def _interval_rank(n: int) -> tuple[int, float]:
    """Return the rank of the ends of the Hodges-Lehmann interval of ``n`` differences, and its confidence level.

    Its lower end has this rank among the means of all pairs of differences, counted from the smallest; its upper end
    has the same rank, counted from the greatest.
    """
    if n > EXACT_RANKS:
        spread = normal_quantile(UPPER) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(1, math.floor(n * (n + 1) / 4 - spread)), LEVEL
    outside = list(accumulate(_rank_sums(range(1, n + 1))))
    rank = bisect_right(outside, (1 - LEVEL) / 2 * 2**n)
    # Too few differences: the interval is their range, which misses only if all differences have the same sign.
    return (rank, LEVEL) if rank else (1, 1 - 2 ** (1 - n))


def _walsh(values: list[float], rank: int) -> float:
    """Form the means of all pairs of values, including each value with itself; return the ``rank``-th smallest."""
    low, high = values[0], values[-1]
    while low < (middle := (low + high) / 2) < high:  # until no double lies between them
        low, high = (low, middle) if _means_up_to(values, middle) >= rank else (middle, high)
    return low if _means_up_to(values, low) >= rank else high


def _means_up_to(values: list[float], limit: float) -> int:
    """Return how many of the means of all pairs of values, including each value with itself, are at most ``limit``."""
    count, partner = 0, len(values) - 1
    for place, value in enumerate(values):
        while partner >= place and (value + values[partner]) / 2 > limit:
            partner -= 1
        if partner < place:
            break
        count += partner - place + 1
    return count


@dataclass(frozen=True, slots=True)
class Effect:
    """How far a second group differs from a first: the difference, its confidence interval, and its standardised size.

    ``size`` is Cohen's h for shares and Hedges' g for means: 0.2 is small, 0.5 medium, 0.8 large.
    """

    difference: float
    interval: Interval
    size: float


def difference_of_shares(first: Share, second: Share) -> Effect:
    """Return the second share minus the first, with an interval that is combined from the intervals of both.

    If those two intervals take into account that prompts of the same session are similar, so does the combined one.
    Source: Newcombe (1998), method 10. The standardised size is Cohen's h (Cohen 1988).
    """
    difference = second.value - first.value
    down = math.hypot(second.value - second.interval.low, first.interval.high - first.value)
    up = math.hypot(second.interval.high - second.value, first.value - first.interval.low)
    size = 2 * (math.asin(math.sqrt(second.value)) - math.asin(math.sqrt(first.value)))
    return Effect(difference, Interval(difference - down, difference + up), size)


def difference_of_means(first: Sequence[float], second: Sequence[float]) -> Effect:
    """Return the mean of the second group minus that of the first, with Welch's interval, in the unit of the values.

    The degrees of freedom are rounded down (Welch 1947). The standardised size is Hedges' g: the difference in pooled
    standard deviations, corrected for small groups (Hedges 1981); it is 0 if all values of each group are equal. Raises
    ValueError if a group has fewer than two values.
    """
    if min(len(first), len(second)) < 2:
        raise ValueError("a difference of means needs two values in each group")
    difference = fmean(second) - fmean(first)
    errors = [variance(group) / len(group) for group in (first, second)]
    freedoms = [len(group) - 1 for group in (first, second)]
    if not sum(errors):
        return Effect(difference, Interval(difference, difference), 0.0)
    df = sum(errors) ** 2 / sum(error**2 / one for error, one in zip(errors, freedoms, strict=True))
    half = student_quantile(UPPER, df=max(1, int(df))) * math.sqrt(sum(errors))
    pooled = math.sqrt(
        sum(variance(group) * one for group, one in zip((first, second), freedoms, strict=True)) / sum(freedoms)
    )
    size = difference / pooled * (1 - 3 / (4 * sum(freedoms) - 1))
    return Effect(difference, Interval(difference - half, difference + half), size)


def verdict_of(changed: int, *, failing_cases: int = 0, gained: int = 0, lost: int = 0) -> Verdict:
    """Return the verdict on edited rules, which changed the results of ``changed`` prompts.

    It is the first of these that applies:

    - regressed: results that a person had approved have changed (``failing_cases`` is their number), or significantly
      more labelled prompts became wrong (``lost``) than right (``gained``), by McNemar's mid-p test.
    - identical: no prompt changed.
    - inconclusive: some labelled prompts became wrong, but the labels are too few to say whether
      more became wrong than right.
    - changed: none of the above; without labels, this means neither better nor worse.
    """
    is_significant = mcnemar_midp(gained, lost) < 1 - LEVEL
    if failing_cases or (is_significant and lost > gained):
        return "regressed"
    if not changed:
        return "identical"
    return "inconclusive" if lost and not is_significant else "changed"


def minimum_detectable_effect(n: int, *, baseline: float) -> float:
    """Return the smallest difference of two shares in ``n`` pairs that McNemar's test finds with a probability of 80 %.

    ``baseline`` is the expected share of pairs that disagree, such as prompts that only one of two rule sets gets
    right; the result never exceeds it. A result of 1 means that no difference can be detected with so few pairs.
    Source: Connor (1987), solved for the difference. Raises ValueError if ``baseline`` is not in (0, 1].
    """
    if not 0 < baseline <= 1:
        raise ValueError(f"the share of pairs that disagree lies between 0 and 1, not at {baseline}")
    if not n:
        return 1.0
    alpha, beta = normal_quantile(UPPER), normal_quantile(POWER)
    needed = alpha * math.sqrt(baseline)
    # difference * sqrt(n) = needed + beta * sqrt(baseline - difference^2), a quadratic
    a, b, c = n + beta * beta, -2 * needed * math.sqrt(n), needed * needed - beta * beta * baseline
    difference = (-b + math.sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)
    if difference > baseline or difference * math.sqrt(n) < needed:  # squaring adds roots that solve only the square
        return 1.0
    return difference


def minimum_detectable_share(n: int) -> float:
    """Return how frequent an event has to be (as a share) to occur among ``n`` prompts with a probability of 80 %."""
    return 1 - (1 - POWER) ** (1 / n) if n else 1.0


def minimum_detectable_shift(error: float) -> float:
    """Return the smallest mean difference that the paired t-test finds with a probability of 80 %.

    ``error`` is the standard error of the mean. Source: the normal approximation of the test's power (Cohen 1988).
    """
    return (normal_quantile(UPPER) + normal_quantile(POWER)) * error
