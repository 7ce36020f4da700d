"""Spearman's rank correlation of two columns, with an interval from resampled repositories. Pure."""

from __future__ import annotations

import random
from collections import defaultdict
from statistics import correlation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]
DRAWS, LOW, HIGH = 1000, 0.025, 0.975


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, 1 for the smallest; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for place in order[at:end]:
            found[place] = (at + 1 + end) / 2
        at = end
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the rank correlation, -1 to 1; 0 if a column has a single value."""
    if len(set(first)) < 2 or len(set(second)) < 2:
        return 0.0
    return correlation(ranks(first), ranks(second))


def with_interval(rows: Sequence[Row], first: str, second: str, *, draws: int = DRAWS) -> str:
    """Return the correlation of two columns and its interval over resampled repositories, as text."""
    by_repo: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_repo[row["repo"]].append(row)
    groups, chance = list(by_repo.values()), random.Random(1)
    found = sorted(
        _of([row for group in chance.choices(groups, k=len(groups)) for row in group], first, second)
        for _draw in range(draws)
    )
    low, high = (found[min(draws - 1, int(share * draws))] for share in (LOW, HIGH))
    return f"{_of(rows, first, second):+.2f} [{low:+.2f}, {high:+.2f}]"


def _of(rows: Sequence[Row], first: str, second: str) -> float:
    return spearman([row[first] for row in rows], [row[second] for row in rows])
