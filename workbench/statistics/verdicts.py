"""The four verdicts of comparisons, and the smallest difference that a comparison can detect."""

from __future__ import annotations

import math
from typing import Literal, get_args

from workbench.statistics.intervals import normal_quantile
from workbench.statistics.pairs import mcnemar_midp

Verdict = Literal["identical", "changed", "regressed", "inconclusive"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def verdict_of(changed: int, *, failing_cases: int = 0, gained: int = 0, lost: int = 0, level: float = 0.95) -> Verdict:
    """Return the verdict on a comparison with ``changed`` changed prompts: the first of these that holds.

    - regressed: the outcome of an approved case changed (``failing_cases``), or of the labelled
      prompts significantly more became wrong (``lost``) than right (``gained``), by mid-p McNemar.
    - identical: no prompt changed.
    - inconclusive: some labelled prompts became wrong, and the labels are too few to say whether
      more than became right.
    - changed: none of the above; without labels it implies neither better nor worse.
    """
    is_significant = mcnemar_midp(gained, lost) < 1 - level
    if failing_cases or (is_significant and lost > gained):
        return "regressed"
    if not changed:
        return "identical"
    return "inconclusive" if lost and not is_significant else "changed"


def minimum_detectable_effect(n: int, *, baseline: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest difference of two paired shares that McNemar's test would detect with ``power``.

    ``baseline`` is the share of the ``n`` pairs on which the sides are expected to disagree; the result never
    exceeds it. Source: Connor (1987), solved for the difference. A result of 1 means that no difference can be
    detected with these pairs. Raises ValueError outside of (0, 1].
    """
    if not 0 < baseline <= 1:
        raise ValueError(f"the share of pairs that disagree lies between 0 and 1, not at {baseline}")
    if not n:
        return 1.0
    alpha, beta = normal_quantile((1 + level) / 2), normal_quantile(power)
    needed = alpha * math.sqrt(baseline)
    # difference * sqrt(n) = needed + beta * sqrt(baseline - difference^2), a quadratic
    a, b, c = n + beta * beta, -2 * needed * math.sqrt(n), needed * needed - beta * beta * baseline
    difference = (-b + math.sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)
    return difference if difference <= baseline else 1.0


def minimum_detectable_share(n: int, *, power: float = 0.8) -> float:
    """Return the smallest share that would occur at least once among ``n`` prompts with probability ``power``."""
    return 1 - (1 - power) ** (1 / n) if n else 1.0


def minimum_detectable_shift(n: int, *, deviation: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest mean difference that ``n`` pairs can detect, in the unit of ``deviation``, a pair's spread.

    Source: the normal approximation of the paired t-test (Cohen 1988). Without pairs: infinite.
    """
    reach = normal_quantile((1 + level) / 2) + normal_quantile(power)
    return reach * deviation / math.sqrt(n) if n else math.inf
