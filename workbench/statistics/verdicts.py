"""The four verdicts of comparisons, the same on every screen and in every file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from workbench.statistics.pairs import mcnemar_midp

if TYPE_CHECKING:
    from workbench.statistics.intervals import Interval

Verdict = Literal["identical", "changed", "regressed", "inconclusive"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def verdict_of(
    changed: int,
    *,
    failing_cases: int = 0,
    gained: int = 0,
    lost: int = 0,
    share: Interval | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Verdict:
    """Return the verdict on a comparison with ``changed`` changed prompts: the first of these that holds.

    - regressed: the outcome of an approved case changed (``failing_cases``), or of the labelled
      prompts significantly more became wrong (``lost``) than right (``gained``), by mid-p McNemar.
    - identical: no prompt changed.
    - inconclusive: some labelled prompts became wrong, and the labels are too few to say whether
      more than became right; or the interval of the changed ``share`` holds the ``margin`` that
      was asked about, so that the share may lie on either side of it.
    - changed: none of the above; without labels it implies neither better nor worse.
    """
    is_significant = mcnemar_midp(gained, lost) < 1 - level
    if failing_cases or (is_significant and lost > gained):
        return "regressed"
    if not changed:
        return "identical"
    is_undecided = share is not None and margin is not None and share.low <= margin < share.high
    return "inconclusive" if is_undecided or (lost and not is_significant) else "changed"
