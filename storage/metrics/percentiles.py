"""Percentiles by the nearest rank: the smallest value that a share of all values does not exceed.

The definition of every percentile that is printed or drawn; the SQL of ``storage.traces.queries`` and of the published
questions spells it out, and tests compare the two. Where a text says median of a few runs, that is
``statistics.median``, the mean of the middle two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHARES = (0.5, 0.95, 0.99)


def nearest_rank(count: int, share: float) -> int:
    """Return which of ``count`` sorted values, counted from 1, is the percentile."""
    return max(1, math.ceil(round(count * share, 6)))  # a product such as 7.000000000000001 is no rank of its own


def percentile(values: Iterable[float], share: float) -> float:
    """Return the percentile of at least one value; raises IndexError for none."""
    ordered = sorted(values)
    return ordered[nearest_rank(len(ordered), share) - 1]


def percentiles(counted: Sequence[tuple[int, int]], shares: Sequence[float] = SHARES) -> list[int]:
    """Return the percentiles of values that are counted, (value, count) sorted by value; none for no counts."""
    every = sum(count for _value, count in counted)
    ranks = [nearest_rank(every, share) for share in shares]
    found: list[int] = []
    below = 0
    for value, count in counted:
        below += count
        while len(found) < len(ranks) and below >= ranks[len(found)]:
            found.append(value)
    return found
