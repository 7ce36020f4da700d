"""Paired tests, against scipy where it has them, and against chance where only chance can tell."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import combinations_with_replacement
from statistics import median

import numpy as np
import pytest
import scipy
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.statistics.pairs import (
    benjamini_hochberg,
    hodges_lehmann,
    mcnemar_midp,
    mean_by_session,
    minimum_detectable_effect,
    minimum_detectable_share,
    minimum_detectable_shift,
    signed_rank,
    verdict_of,
)

COUNTS = st.integers(0, 200)
DIFFERENCES = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=40)
DISCORDANT = 60


@given(COUNTS, COUNTS)
def test_midp_is_twice_the_binomial_tail_with_half_of_the_observed(gained: int, lost: int) -> None:
    fewer, n = min(gained, lost), gained + lost
    expected = (
        2 * scipy.stats.binom.cdf(fewer, n, 0.5) - scipy.stats.binom.pmf(fewer, n, 0.5) if gained != lost else 1.0
    )

    assert mcnemar_midp(gained, lost) == pytest.approx(float(expected), rel=1e-9)
    assert mcnemar_midp(gained, lost) == mcnemar_midp(lost, gained)


@given(COUNTS, st.integers(0, 100))
def test_a_more_lopsided_count_is_never_less_significant(fewer: int, more: int) -> None:
    assert mcnemar_midp(fewer, fewer + more + 1) <= mcnemar_midp(fewer, fewer + more)


def test_without_a_pair_that_changed_sides_nothing_is_significant() -> None:
    assert mcnemar_midp(0, 0) == 1


def test_midp_calls_one_equal_pair_in_twenty_different_where_the_exact_test_calls_half_of_that() -> None:
    chance = random.Random(9)
    drawn = Counter(chance.getrandbits(DISCORDANT).bit_count() for _pair in range(20_000))
    midp = sum(times for gained, times in drawn.items() if mcnemar_midp(gained, DISCORDANT - gained) < 0.05)
    exact = sum(times for gained, times in drawn.items() if scipy.stats.binomtest(gained, DISCORDANT).pvalue < 0.05)

    assert midp / 20_000 == pytest.approx(0.05, abs=0.006)
    assert exact / 20_000 < 0.03


@pytest.mark.parametrize(("n", "shift"), [(6, 0.5), (25, 0.3), (50, 0.0), (400, 0.1)])
def test_the_signed_rank_test_is_that_of_scipy(n: int, shift: float) -> None:
    values = np.random.default_rng(n).normal(shift, 1, n)
    method = "exact" if n <= 50 else "asymptotic"

    assert signed_rank(values.tolist()) == pytest.approx(scipy.stats.wilcoxon(values, method=method).pvalue, rel=1e-9)


def test_ties_and_zeros_are_ranked_as_scipy_ranks_them() -> None:
    values = [float(one) for one in np.random.default_rng(2).integers(-3, 5, 200)]

    assert signed_rank(values) == pytest.approx(scipy.stats.wilcoxon(values, method="asymptotic").pvalue, rel=1e-9)


@given(DIFFERENCES)
def test_few_ties_are_counted_out(values: list[float]) -> None:
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1)
    ours = [value for value in values if value][:8]
    ranks = scipy.stats.rankdata(np.abs(ours)) if ours else np.array([])
    sums = (signs[: len(ours)] * ranks[:, None]).sum(axis=0)
    seen = abs(float((np.sign(ours) * ranks).sum()))

    assert signed_rank(ours) == pytest.approx(float((np.abs(sums) >= seen - 1e-9).mean()))


@given(DIFFERENCES)
def test_the_shift_is_the_median_of_all_means_of_two(values: list[float]) -> None:
    means = sorted((one + other) / 2 for one, other in combinations_with_replacement(values, 2))
    shift = hodges_lehmann(values)

    assert shift.estimate == pytest.approx(median(means), abs=1e-9)
    assert shift.interval.low <= shift.estimate <= shift.interval.high


@given(DIFFERENCES)
def test_the_other_direction_is_the_same_shift_with_the_other_sign(values: list[float]) -> None:
    there, back = hodges_lehmann(values), hodges_lehmann([-value for value in values])

    assert there.estimate == pytest.approx(-back.estimate)
    assert there.interval.low == pytest.approx(-back.interval.high)


def test_the_interval_of_the_shift_is_what_the_signed_rank_test_does_not_reject() -> None:
    values = np.random.default_rng(3).normal(1, 2, 30).tolist()
    interval = hodges_lehmann(values).interval

    assert signed_rank([value - interval.low + 1e-6 for value in values]) <= 0.05
    assert signed_rank([value - interval.low - 1e-6 for value in values]) > 0.05
    assert signed_rank([value - interval.high - 1e-6 for value in values]) <= 0.05


def test_five_differences_say_what_level_they_reach() -> None:
    shift = hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0])

    assert (shift.interval.low, shift.interval.high, shift.interval.level) == (1, 5, 1 - 2**-4)


def test_a_long_log_is_reduced_without_moving_the_shift() -> None:
    values = np.random.default_rng(4).standard_t(3, 3000)
    every = np.add.outer(values, values)[np.triu_indices(3000)] / 2
    shift = hodges_lehmann(values.tolist())

    assert shift.estimate == pytest.approx(float(np.median(every)), abs=0.001)
    assert shift.n == 3000


def test_the_mean_of_pairs_without_sessions_has_the_interval_of_the_paired_t_test() -> None:
    values = np.random.default_rng(5).normal(2, 3, 40)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    mean = mean_by_session(values.tolist())

    assert (mean.interval.low, mean.interval.high) == pytest.approx((expected.low, expected.high))
    assert mean.error == pytest.approx(float(values.std(ddof=1)) / math.sqrt(40))


def test_a_session_that_says_the_same_ten_times_counts_once() -> None:
    values = [1.0, 4.0, 2.0, 6.0]
    repeated = mean_by_session(
        [value for value in values for _ in range(10)], sessions=[*"a" * 10, *"b" * 10, *"c" * 10, *"d" * 10]
    )

    assert repeated.interval.low == pytest.approx(mean_by_session(values).interval.low)


def test_equal_sides_differ_by_nothing_at_all() -> None:
    mean = mean_by_session([0.0] * 20)

    assert (mean.estimate, mean.interval.low, mean.interval.high) == (0, 0, 0)
    assert signed_rank([0.0] * 20) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_are_those_of_scipy(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values).tolist())


def test_nothing_to_adjust_is_nothing_adjusted() -> None:
    assert benjamini_hochberg([]) == []


def test_the_detectable_effect_is_found_as_often_as_promised() -> None:
    n, disagree = 300, 0.2
    effect = minimum_detectable_effect(n, baseline=disagree)
    drawn = np.random.default_rng(6).multinomial(
        n, [(disagree + effect) / 2, (disagree - effect) / 2, 1 - disagree], 3000
    )
    found = sum(mcnemar_midp(int(gained), int(lost)) < 0.05 for gained, lost, _ in drawn) / 3000

    assert 0.76 < found < 0.84


@given(st.integers(1, 5000), st.floats(0.01, 1))
@example(3, 1.0)
def test_more_pairs_detect_smaller_effects(n: int, disagree: float) -> None:
    assert minimum_detectable_effect(n + 1, baseline=disagree) <= minimum_detectable_effect(n, baseline=disagree)


def test_three_pairs_detect_no_effect() -> None:
    assert minimum_detectable_effect(3, baseline=0.1) == 1


def test_a_share_of_one_in_a_hundred_shows_among_161_prompts_four_times_in_five() -> None:
    assert minimum_detectable_share(161) == pytest.approx(0.00995, rel=0.01)
    assert minimum_detectable_share(0) == 1


def test_a_shift_of_a_fifth_of_the_spread_needs_about_two_hundred_pairs() -> None:
    assert minimum_detectable_shift(5 / math.sqrt(196)) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(
    ("verdict", "evidence"),
    [
        pytest.param("identical", {"changed": 0}, id="no prompt changed"),
        pytest.param("changed", {"changed": 3}, id="no labels"),
        pytest.param("changed", {"changed": 3, "gained": 2}, id="only better"),
        pytest.param("changed", {"changed": 30, "gained": 20, "lost": 2}, id="significantly better"),
        pytest.param("inconclusive", {"changed": 3, "lost": 1}, id="one worse"),
        pytest.param("inconclusive", {"changed": 30, "gained": 9, "lost": 9}, id="as many worse as better"),
        pytest.param("regressed", {"changed": 30, "gained": 2, "lost": 20}, id="significantly worse"),
        pytest.param("regressed", {"changed": 1, "failing_cases": 1}, id="an approved case flipped"),
    ],
)  # fmt: skip
def test_the_verdict_of(verdict: str, evidence: dict[str, object]) -> None:
    assert verdict_of(**evidence) == verdict  # type: ignore[arg-type]


@given(st.integers(0, 3))
def test_what_did_not_change_is_identical_unless_an_approved_case_fails(failing: int) -> None:
    assert (verdict_of(0, failing_cases=failing) == "identical") == (not failing)
