"""Percentiles by nearest rank: the smallest value for which at least the given share of all values is not greater.

Every percentile that is printed or drawn follows this definition; the SQL of ``storage.traces.queries`` and of the
published questions implements it again, and tests compare the two. The "median" of a few runs is
``statistics.median``, the mean of the middle two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHARES = (0.5, 0.95, 0.99)


def nearest_rank(count: int, share: float) -> int:
    """Return the rank of the percentile among ``count`` sorted values, counted from 1."""
    return max(1, math.ceil(round(count * share, 6)))  # a product such as 7.000000000000001 must not round up to 8


def percentile(values: Iterable[float], share: float) -> float:
    """Return the percentile of the values; raises IndexError if there are none."""
    ordered = sorted(values)
    return ordered[nearest_rank(len(ordered), share) - 1]


def percentiles(counted: Sequence[tuple[int, int]], shares: Sequence[float] = SHARES) -> list[int]:
    """Return the percentiles of (value, count) pairs sorted by value; an empty list if there are no pairs."""
    every = sum(count for _value, count in counted)
    ranks = [nearest_rank(every, share) for share in shares]
    found: list[int] = []
    below = 0
    for value, count in counted:
        below += count
        while len(found) < len(ranks) and below >= ranks[len(found)]:
            found.append(value)
    return found
