"""Compute percentiles by nearest rank: the smallest value v such that at least a given share of the values is ≤ v.

Every percentile that is printed or drawn follows this definition. The SQL of ``storage.traces.queries`` and of the
published site has its own implementation, and tests check that the results are equal. There is one exception: the
"median" of a few benchmark runs is ``statistics.median``, the mean of the middle two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHARES = (0.5, 0.95, 0.99)


def nearest_rank(count: int, share: float) -> int:
    """Return the rank, counted from 1, of the percentile for ``share`` (0 to 1) among ``count`` sorted values."""
    return max(1, math.ceil(round(count * share, 6)))  # a product such as 7.000000000000001 must not round up to 8


def percentile(values: Iterable[float], share: float) -> float:
    """Return the percentile of the values for ``share`` (0 to 1); raises IndexError if there are no values."""
    ordered = sorted(values)
    return ordered[nearest_rank(len(ordered), share) - 1]


def percentiles(counted: Sequence[tuple[int, int]], shares: Sequence[float] = SHARES) -> list[int]:
    """Return the percentile for each of ``shares``, which must increase; empty if there are no values.

    ``counted`` has the values with their counts, sorted by value.
    """
    every = sum(count for _value, count in counted)
    ranks = [nearest_rank(every, share) for share in shares]
    found: list[int] = []
    below = 0
    for value, count in counted:
        below += count
        while len(found) < len(ranks) and below >= ranks[len(found)]:
            found.append(value)
    return found
