"""Two groups without a common prompt, against scipy and against chance."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy

from workbench.statistics.intervals import share_changed
from workbench.statistics.pairs import difference_of_means, difference_of_shares


def test_the_difference_of_means_has_welchs_interval() -> None:
    chance = np.random.default_rng(1)
    first, second = chance.normal(5, 1, 30), chance.normal(6, 3, 50)
    expected = scipy.stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    effect = difference_of_means(first.tolist(), second.tolist())

    assert (effect.interval.low, effect.interval.high) == pytest.approx((expected.low, expected.high), rel=0.01)


def test_hedges_g_is_the_difference_in_pooled_deviations() -> None:
    effect = difference_of_means([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])

    assert effect.size == pytest.approx(1 - 3 / 15)


def test_groups_without_spread_have_no_size() -> None:
    assert difference_of_means([1.0, 1.0], [1.0, 1.0]).size == 0


def test_one_value_is_no_group() -> None:
    with pytest.raises(ValueError, match="two values"):
        difference_of_means([1.0], [1.0, 2.0])


def test_cohens_h_of_a_half_and_all() -> None:
    effect = difference_of_shares(share_changed([(1, 2)] * 10), share_changed([(2, 2)] * 10))

    assert effect.size == pytest.approx(math.pi / 2)
    assert effect.difference == 0.5


def test_the_difference_of_two_cohorts_covers_the_truth() -> None:
    chance = random.Random(2)

    def cohort(share: float) -> list[tuple[int, int]]:
        own = [chance.betavariate(3 * share, 3 * (1 - share)) for _session in range(30)]
        return [(sum(chance.random() < one for _prompt in range(6)), 6) for one in own]

    pairs = [
        (share_changed(cohort(0.6), resamples=300), share_changed(cohort(0.75), resamples=300)) for _ in range(150)
    ]
    covered = sum(0.15 in difference_of_shares(first, second).interval for first, second in pairs)

    assert covered / 150 > 0.9
