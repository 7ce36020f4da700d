"""Compute confidence intervals for shares and quantiles, and the normal and Student quantiles that they need."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from storage.metrics.percentiles import SHARES, nearest_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    Clusters = Counter[tuple[int, int]]
    Method = Literal["sessions resampled", "sessions counted", "one session"]

LEVEL = 0.95
"""The confidence level of all intervals."""
UPPER = (1 + LEVEL) / 2
"""The probability below the upper end of an interval; the rest lies above it, and as much below the lower end."""
LARGE_DF = 200  # above it, the expansion in 1/df errs by less than 4e-7
TAIL = 10  # standard deviations; the probability further out is too small to change a sum of doubles


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval from ``low`` to ``high``, both included; ``level`` is its confidence level."""

    low: float
    high: float
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson(successes: float, n: float) -> Interval:
    """Return Wilson's score interval for the share of ``successes`` among ``n`` observations.

    Both may be fractions, because ``n`` may be an effective sample size. Source: Wilson (1927), without continuity
    correction. Without observations the interval is 0 to 1. Raises ValueError if ``successes`` is not between 0 and n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}: a share lies between 0 and 1")
    if not n:
        return Interval(0.0, 1.0)
    z = normal_quantile(UPPER)
    share, weight = successes / n, z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    low = 0.0 if not successes else max(0.0, middle - half)  # rounding may leave 1e-16 at the ends
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Interval(low, high)


def upper_bound(n: float) -> float:
    """Return the upper end of Wilson's interval for the share of failures if ``n`` trials had no failure."""
    return wilson(0, n).high


def of_others(interval: Interval, what: str) -> str:
    """Return a sentence on how many of other, similar prompts would do ``what``, such as "change".

    ``interval`` is the confidence interval of their share. The number of prompts is 100, or more if the share is small:
    "of 1,000 like these, at most 9 would change (95 % sure)".
    """
    others = 100
    while 0 < interval.high * others < 1:
        others *= 10
    # Rounded first, because 0.29 * 100 is 28.999999999999996.
    low, high = math.floor(round(interval.low * others, 6)), math.ceil(round(interval.high * others, 6))
    if high < others:
        number = f"{low:,} to {high:,}" if low else f"at most {high:,}"
    else:
        number = f"at least {low:,}" if low else "any number"
    return f"of {others:,} like these, {number} would {what} ({100 * interval.level:.0f} % sure)"


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution; raises ValueError outside of 0 < probability < 1."""
    if not 0 < probability < 1:
        raise ValueError(f"a level lies between 0 and 1, both excluded, not at {probability}")
    return NormalDist().inv_cdf(probability)


def student_within(t: float, *, df: int) -> float:
    """Return P(-t <= T <= t) for Student's t with ``df`` degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    total, term = 0.0, math.cos(angle) if df % 2 else 1.0
    for power in range(df % 2, df - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    return (angle + sine * total) * 2 / math.pi if df % 2 else sine * total


def student_quantile(probability: float, *, df: int) -> float:
    """Return the quantile of Student's t for a probability of at least one half and ``df`` >= 1 degrees of freedom.

    It is exact (by bisection) up to 200 degrees of freedom; for more, it is approximated (Abramowitz & Stegun 26.7.5).
    """
    z = normal_quantile(probability)
    if df > LARGE_DF:
        return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)
    low, high, within = 0.0, 1.0, 2 * probability - 1
    while student_within(high, df=df) < within:
        high *= 2
    for _halving in range(60):  # a double has 53 bits, so that more halvings change nothing
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, df=df) < within else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile with its confidence interval; a share of ``at`` (0 to 1) of the values are at most ``value``."""

    at: float
    value: float
    interval: Interval


def bootstrap_quantiles(values: Sequence[float]) -> list[Quantile]:
    """Return the quantiles of the values at SHARES (50, 95 and 99 %), each with its bootstrap percentile interval.

    Quantiles are nearest-rank. No resampling is needed: the k-th smallest of a resample is at most the j-th smallest
    value with the probability that Binomial(n, j/n) reaches k (Efron 1979). No interval goes beyond the largest value;
    with fewer than about 370 values, the interval of the 99th percentile ends at it. Raises ValueError if there are no
    values.
    """
    if not values:
        raise ValueError("a quantile needs at least one value")
    ordered = sorted(values)
    return [_quantile(ordered, one) for one in SHARES]


def _quantile(ordered: list[float], at: float) -> Quantile:
    n = len(ordered)
    rank = nearest_rank(n, at)
    low, high = (_place(n, rank, probability) for probability in (1 - UPPER, UPPER))
    return Quantile(at, ordered[rank - 1], Interval(ordered[low - 1], ordered[high - 1]))


def _place(n: int, rank: int, probability: float) -> int:
    """Find the smallest j such that a resample's quantile is at most the j-th smallest value with ``probability``.

    That quantile is the ``rank``-th smallest of ``n`` values drawn with replacement from the ``n`` given ones.
    """
    low, high = 1, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _tail_probability(n, middle / n, rank) >= probability else (middle + 1, high)
    return low


def _tail_probability(n: int, share: float, count: int) -> float:
    """Return P(Binomial(n, share) >= count)."""
    if share >= 1:
        return 1.0  # log1p(-1) below would fail
    logarithms = (
        math.lgamma(n + 1) - math.lgamma(one + 1) - math.lgamma(n - one + 1)
        + one * math.log(share) + (n - one) * math.log1p(-share)
        for one in _significant_terms(n, share, count)
    )  # fmt: skip
    return math.fsum(math.exp(one) for one in logarithms)


def _significant_terms(n: int, share: float, count: int) -> range:
    spread = TAIL * math.sqrt(n * share * (1 - share)) + TAIL  # the sum is for means near 0, which are skewed
    return range(max(count, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1)


@dataclass(frozen=True, slots=True)
class Share:
    """The share of prompts whose result changed, with its confidence interval, for prompts from ``clusters`` sessions.

    ``method`` is how the interval was computed: usually "sessions resampled"; "sessions counted" if all or no prompts
    changed; "one session" if there is at most one session.
    """

    value: float
    interval: Interval
    clusters: int
    changed: int
    prompts: int
    method: Method


def share_changed(clusters: Sequence[tuple[int, int]], *, resamples: int = 2000, seed: int = 0) -> Share:
    """Return the share of prompts whose result changed; ``clusters`` has (changed, prompts) for each session.

    The interval allows for prompts of the same session being alike. It is the smallest that contains two others:

    - a bootstrap interval: the percentiles of the share when sessions are drawn with replacement (each a Poisson number
      of times: Chamandy et al. 2012);
    - Wilson's interval, which is also valid for rare changes, with the number of prompts divided by the design effect
      and, because sessions are few, by (t/z)^2 (Korn & Graubard 1998). If few sessions determine the design effect, it
      is raised according to its own degrees of freedom (Satterthwaite 1946), at most to the effect of sessions whose
      prompts all behave alike.

    If all or no prompts changed, no design effect can be measured. Then the interval is Wilson's with the largest
    possible design effect, so that its width depends on the effective number of sessions (Kish 1965) and not on the
    number of prompts. With a single session, it is Wilson's interval for the prompts of that session, and says nothing
    about other sessions. Raises ValueError for a session of negative size or with more changes than prompts.
    """
    # Sessions without prompts say nothing; one with changes but no prompts is an error, reported below.
    groups = Counter((changed, prompts) for changed, prompts in clusters if prompts or changed)
    if any(not 0 <= changed <= prompts for changed, prompts in groups):
        raise ValueError("a session has between 0 and all of its prompts changed")
    changed = sum(one * times for (one, _), times in groups.items())
    prompts = sum(one * times for (_, one), times in groups.items())
    sessions = groups.total()
    value = changed / prompts if prompts else 0.0
    method: Method
    if sessions <= 1:
        interval, method = wilson(changed, prompts), "one session"
    elif changed in (0, prompts):
        effective = prompts / _largest_design_effect(groups, prompts)
        interval, method = wilson(value * effective, effective), "sessions counted"
    else:
        resampled = _percentiles(groups, resamples=resamples, seed=seed)
        widened = _with_design_effect(groups)
        interval = Interval(min(resampled.low, widened.low), max(resampled.high, widened.high))
        method = "sessions resampled"
    return Share(value, interval, sessions, changed, prompts, method)


def _largest_design_effect(groups: Clusters, prompts: int) -> float:
    """Return the design effect that results if, in each session, either all prompts change or none."""
    # It is the mean, over all prompts, of the size of the session that the prompt belongs to.
    return sum(size * size * times for (_, size), times in groups.items()) / prompts


def _with_design_effect(groups: Clusters) -> Interval:
    prompts = sum(size * times for (_, size), times in groups.items())
    share = sum(changed * times for (changed, _), times in groups.items()) / prompts
    sessions, largest = groups.total(), _largest_design_effect(groups, prompts)
    squares = [(times, (changed - share * size) ** 2) for (changed, size), times in groups.items()]
    total = math.fsum(times * square for times, square in squares)
    # The variance of the share over sessions, divided by that of as many independent prompts.
    design_effect = total * sessions / (sessions - 1) / prompts / (share * (1 - share))
    # The kurtosis of the sessions' residuals less 1: the larger it is, the fewer sessions determine ``total``.
    excess = sessions * math.fsum(times * square * square for times, square in squares) / total**2 - 1 if total else 0
    known = max(1, min(sessions - 1, int(2 * sessions / excess))) if excess else sessions - 1
    few = student_quantile(UPPER, df=sessions - 1)
    unsure = student_quantile(UPPER, df=known) / few
    design_effect = min(max(design_effect * unsure**2, 1.0), largest)
    effective = prompts / design_effect * (normal_quantile(UPPER) / few) ** 2
    return wilson(share * effective, effective)


def _percentiles(groups: Clusters, *, resamples: int, seed: int) -> Interval:
    """Return the bootstrap percentile interval for the share of changed prompts, from ``resamples`` draws of sessions.

    Sessions with the same numbers of changed and all prompts are drawn together, which saves time.
    """
    chance = random.Random(seed)
    changed, prompts = [0] * resamples, [0] * resamples
    for (one_changed, size), times in sorted(groups.items()):  # the order of sessions must not change the result
        counts = _poisson(times, resamples, chance)
        prompts = [total + size * count for total, count in zip(prompts, counts, strict=True)]
        if one_changed:
            changed = [total + one_changed * count for total, count in zip(changed, counts, strict=True)]
    # A resample may leave all sessions out.
    shares = sorted(part / whole for part, whole in zip(changed, prompts, strict=True) if whole)
    if not shares:
        return Interval(0.0, 1.0)
    outside = math.floor((1 - UPPER) * len(shares))
    return Interval(shares[outside], shares[-1 - outside])


def _poisson(mean: int, draws: int, chance: random.Random) -> list[int]:
    reach = TAIL * math.sqrt(mean) + TAIL
    counts = range(max(0, math.floor(mean - reach)), math.ceil(mean + reach) + 1)
    weights = (math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in counts)
    return chance.choices(counts, cum_weights=list(accumulate(weights)), k=draws)
