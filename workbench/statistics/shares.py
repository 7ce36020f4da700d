"""Estimate the share of changed prompts, with an interval that allows for similar prompts within a session.

Forty sessions of fifteen prompts are not six hundred independent answers: an interval that treats them as such
misses the true share one time in three. The unit here is the session.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from workbench.statistics.intervals import Interval, normal_quantile, student_quantile, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    Clusters = Counter[tuple[int, int]]
    Method = Literal["sessions resampled", "sessions counted", "one session"]

TAIL = 10
"""Standard deviations from the mean within which Poisson counts are drawn; the probability beyond is negligible."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of changed prompts, its interval, and the method of the interval.

    ``method`` is "sessions resampled" in general, "sessions counted" where all or no prompts changed, "one session"
    if there is only one.
    """

    value: float
    interval: Interval
    clusters: int
    changed: int
    prompts: int
    method: Method


def share_changed(
    clusters: Sequence[tuple[int, int]], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Share:
    """Return the share of changed prompts; ``clusters`` holds (changed, prompts) for each session.

    The interval is the hull of two. The first has the percentiles of the ratio of sums when sessions are drawn with
    replacement (each a Poisson number of times: Chamandy et al. 2012). The second is Wilson's, with the number of
    prompts divided by the design effect and by (t/z)^2 for few sessions (Korn & Graubard 1998), which also holds
    for rare changes; where few sessions make up the design effect, the effect is raised by the t of its own degrees
    of freedom (Satterthwaite 1946), at most to the effect of sessions whose prompts all behave alike. Where all or
    no prompts changed, no design effect can be measured; that largest effect is used, which makes the effective
    number of sessions (Kish 1965) count, not the number of prompts. With one session the interval is Wilson's for
    its prompts: nothing is known about other sessions. Raises ValueError for a session of negative size or with
    more changes than prompts.
    """
    groups = Counter((changed, prompts) for changed, prompts in clusters if prompts or changed)
    if any(not 0 <= changed <= prompts for changed, prompts in groups):
        raise ValueError("a session has between 0 and all of its prompts changed")
    changed = sum(one * times for (one, _), times in groups.items())
    prompts = sum(one * times for (_, one), times in groups.items())
    sessions = groups.total()
    value = changed / prompts if prompts else 0.0
    interval: Interval
    method: Method
    if sessions <= 1:
        interval, method = wilson(changed, prompts, level=level), "one session"
    elif changed in (0, prompts):
        effective = prompts / _largest_design_effect(groups, prompts)
        interval, method = wilson(value * effective, effective, level=level), "sessions counted"
    else:
        resampled = _percentiles(groups, level=level, resamples=resamples, seed=seed)
        widened = _with_design_effect(groups, level=level)
        ends = (min(resampled.low, widened.low), max(resampled.high, widened.high))
        interval, method = Interval(*ends, level), "sessions resampled"
    return Share(value, interval, sessions, changed, prompts, method)


def _largest_design_effect(groups: Clusters, prompts: int) -> float:
    """Return the design effect of sessions whose prompts all behave alike: the mean size of a prompt's session."""
    return sum(size * size * times for (_, size), times in groups.items()) / prompts


def _with_design_effect(groups: Clusters, *, level: float) -> Interval:
    prompts = sum(size * times for (_, size), times in groups.items())
    share = sum(changed * times for (changed, _), times in groups.items()) / prompts
    sessions, largest = groups.total(), _largest_design_effect(groups, prompts)
    squares = [(times, (changed - share * size) ** 2) for (changed, size), times in groups.items()]
    total = math.fsum(times * square for times, square in squares)
    design_effect = total * sessions / (sessions - 1) / prompts / (share * (1 - share))
    excess = sessions * math.fsum(times * square * square for times, square in squares) / total**2 - 1 if total else 0
    known = max(1, min(sessions - 1, int(2 * sessions / excess))) if excess else sessions - 1
    probability = (1 + level) / 2
    few = student_quantile(probability, df=sessions - 1)
    unsure = student_quantile(probability, df=known) / few
    design_effect = min(max(design_effect * unsure**2, 1.0), largest)
    effective = prompts / design_effect * (normal_quantile(probability) / few) ** 2
    return wilson(share * effective, effective, level=level)


def _percentiles(groups: Clusters, *, level: float, resamples: int, seed: int) -> Interval:
    """Return percentiles of the share over ``resamples`` draws of sessions; equal sessions are drawn together."""
    chance = random.Random(seed)
    changed, prompts = [0] * resamples, [0] * resamples
    for (one_changed, size), times in sorted(groups.items()):
        counts = _poisson(times, resamples, chance)
        prompts = [total + size * count for total, count in zip(prompts, counts, strict=True)]
        if one_changed:
            changed = [total + one_changed * count for total, count in zip(changed, counts, strict=True)]
    shares = sorted(part / whole for part, whole in zip(changed, prompts, strict=True) if whole)
    if not shares:
        return Interval(0.0, 1.0, level)
    outside = math.floor((1 - level) / 2 * len(shares))
    return Interval(shares[outside], shares[-1 - outside], level)


def _poisson(mean: int, draws: int, chance: random.Random) -> list[int]:
    reach = TAIL * math.sqrt(mean) + TAIL
    counts = range(max(0, math.floor(mean - reach)), math.ceil(mean + reach) + 1)
    weights = (math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in counts)
    return chance.choices(counts, cum_weights=list(accumulate(weights)), k=draws)
