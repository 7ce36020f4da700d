"""The arithmetic behind every verdict: intervals, paired tests, and the difference a comparison can detect.

Standard library only, pure and deterministic: the same figures give the same result on every machine, and
resampling takes a seed. Nothing is rounded here; the caller rounds when printing. Shares and levels are numbers
between 0 and 1; a difference is candidate minus base.
"""

from workbench.statistics.groups import Effect, difference_of_means, difference_of_shares
from workbench.statistics.intervals import Interval, upper_bound, wilson
from workbench.statistics.pairs import (
    Mean,
    Shift,
    benjamini_hochberg,
    hodges_lehmann,
    mcnemar_midp,
    mean_by_session,
    signed_rank,
)
from workbench.statistics.power import minimum_detectable_effect, minimum_detectable_share, minimum_detectable_shift
from workbench.statistics.quantiles import Quantile, bootstrap_quantiles
from workbench.statistics.shares import Share, share_changed
from workbench.statistics.verdicts import VERDICTS, Verdict, verdict_of

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
