"""The one definition of a percentile: the nearest rank."""

from __future__ import annotations

import pytest

from storage.metrics.percentiles import nearest_rank, percentile, percentiles


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([(7, 1)], [7, 7, 7], id="one"),
        pytest.param([(1, 50), (2, 45), (3, 5)], [1, 2, 3], id="the rank itself counts"),
        pytest.param([(1, 1), (2, 1), (3, 1)], [2, 3, 3], id="a part of a rank is the next"),
        pytest.param([(2, 3)], [2, 2, 2], id="ties"),
    ],
)
def test_percentiles_are_the_nearest_rank(counted: list[tuple[int, int]], expected: list[int]) -> None:
    values = [value for value, count in counted for _ in range(count)]

    assert percentiles(counted) == expected
    assert not values or [percentile(values, share) for share in (0.5, 0.95, 0.99)] == expected


def test_a_share_that_is_no_binary_fraction_costs_no_rank() -> None:
    assert (nearest_rank(100, 0.07), nearest_rank(100, 0.29), nearest_rank(3, 0.0)) == (7, 29, 1)
