"""The rank correlation by which ``python -m tests.complexity`` reports whether the estimate orders prompts."""

from __future__ import annotations

import pytest

from tests.complexity.ranking import ranks, spearman, with_interval


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    assert ranks([3, 1, 3, 2]) == [3.5, 1, 3.5, 2]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param([1, 2, 3, 4], [10, 20, 30, 400], 1.0, id="the same order"),
        pytest.param([1, 2, 3, 4], [4, 3, 2, 1], -1.0, id="the reverse"),
        pytest.param([1, 1, 1], [1, 2, 3], 0.0, id="one value"),
        pytest.param([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8, id="two swaps"),
    ],
)
def test_spearman(first: list[float], second: list[float], expected: float) -> None:
    assert spearman(first, second) == pytest.approx(expected)


def test_an_interval_resamples_whole_repositories() -> None:
    rows = [{"repo": repo, "score": at, "files": at} for repo in "abc" for at in range(4)]

    assert with_interval(rows, "score", "files", draws=50) == "+1.00 [+1.00, +1.00]"
