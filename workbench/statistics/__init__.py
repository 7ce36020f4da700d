"""The arithmetic behind every verdict: intervals, paired tests, and the difference a comparison can detect.

Standard library only, pure and deterministic: the same figures give the same result on every machine, and
resampling takes a seed. Nothing is rounded here; the caller rounds when printing. Shares and levels are numbers
between 0 and 1; a difference is candidate minus base.
"""

from workbench.statistics.intervals import (
    Interval,
    Quantile,
    Share,
    bootstrap_quantiles,
    share_changed,
    upper_bound,
    wilson,
)
from workbench.statistics.pairs import (
    Effect,
    Mean,
    Shift,
    benjamini_hochberg,
    difference_of_means,
    difference_of_shares,
    hodges_lehmann,
    mcnemar_midp,
    mean_by_session,
    signed_rank,
)
from workbench.statistics.verdicts import (
    VERDICTS,
    Verdict,
    minimum_detectable_effect,
    minimum_detectable_share,
    minimum_detectable_shift,
    verdict_of,
)

__all__ = [
    "VERDICTS",
    "Effect",
    "Interval",
    "Mean",
    "Quantile",
    "Share",
    "Shift",
    "Verdict",
    "benjamini_hochberg",
    "bootstrap_quantiles",
    "difference_of_means",
    "difference_of_shares",
    "hodges_lehmann",
    "mcnemar_midp",
    "mean_by_session",
    "minimum_detectable_effect",
    "minimum_detectable_share",
    "minimum_detectable_shift",
    "share_changed",
    "signed_rank",
    "upper_bound",
    "verdict_of",
    "wilson",
]
