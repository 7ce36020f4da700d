"""Shares and percentiles: against scipy where it has them, and against the truth in simulated logs."""

from __future__ import annotations

import random

import numpy as np
import pytest
import scipy
from effort import processor_s
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.intervals import (
    bootstrap_quantiles,
    share_changed,
    student_quantile,
    student_within,
    upper_bound,
    wilson,
)

SESSIONS = st.lists(
    st.integers(1, 30).flatmap(lambda prompts: st.tuples(st.integers(0, prompts), st.just(prompts))), min_size=1
)


def sessions(chance: random.Random, *, count: int, prompts: int, share: float, alike: float) -> list[tuple[int, int]]:
    """Draw a log whose sessions differ: ``alike`` is the correlation of two prompts of one session."""
    spread = (1 - alike) / alike
    found = []
    for _session in range(count):
        own = chance.betavariate(share * spread, (1 - share) * spread)
        found.append((sum(chance.random() < own for _prompt in range(prompts)), prompts))
    return found


@pytest.mark.parametrize(("successes", "n"), [(0, 30), (3, 10), (27, 4812), (500, 500)])
def test_wilson_is_that_of_scipy(successes: int, n: int) -> None:
    expected = scipy.stats.binomtest(successes, n).proportion_ci(method="wilson")

    assert wilson(successes, n).low == pytest.approx(expected.low, abs=1e-12)
    assert wilson(successes, n).high == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize(("n", "bound"), [(30, 0.114), (100, 0.037), (300, 0.013), (1000, 0.0038)])
def test_what_may_still_go_wrong_after_n_prompts_without_a_regression(n: int, bound: float) -> None:
    assert upper_bound(n) == pytest.approx(bound, rel=0.03)


def test_no_prompts_leave_every_share_possible() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)


def test_more_successes_than_observations_are_refused() -> None:
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 30, 199, 200, 201, 5000])
def test_students_quantile_is_that_of_scipy(df: int) -> None:
    assert student_quantile(0.975, df=df) == pytest.approx(scipy.stats.t.ppf(0.975, df), rel=1e-6)
    assert student_within(1.7, df=df) == pytest.approx(2 * scipy.stats.t.cdf(1.7, df) - 1, abs=1e-12)


@given(SESSIONS, st.integers(0, 3))
def test_a_share_lies_in_its_interval_and_that_between_0_and_1(log: list[tuple[int, int]], seed: int) -> None:
    share = share_changed(log, resamples=50, seed=seed)

    assert 0 <= share.interval.low <= share.value <= share.interval.high <= 1
    assert share == share_changed(log[::-1], resamples=50, seed=seed)


def test_what_did_not_change_is_the_rest_of_what_changed() -> None:
    log = sessions(random.Random(4), count=60, prompts=10, share=0.2, alike=0.2)
    changed, same = share_changed(log), share_changed([(prompts - one, prompts) for one, prompts in log])

    assert changed.value == pytest.approx(1 - same.value)
    assert changed.interval.high == pytest.approx(1 - same.interval.low, abs=0.01)


def test_sessions_that_agree_with_themselves_say_less_than_their_prompts() -> None:
    alike = share_changed([(15, 15)] * 4 + [(0, 15)] * 36).interval
    mixed = share_changed([(2, 15)] * 20 + [(1, 15)] * 20).interval

    assert alike.high - alike.low > 2 * (mixed.high - mixed.low)


def test_without_a_change_sessions_count_and_not_their_prompts() -> None:
    share = share_changed([(0, 50)] * 20)

    assert share.interval.high == pytest.approx(upper_bound(20))
    assert share.method == "sessions counted"


def test_one_session_is_said_to_be_one() -> None:
    assert share_changed([(3, 10)]).method == "one session"
    assert share_changed([(3, 10)]).interval == wilson(3, 10)


def test_the_interval_of_the_share_covers_the_truth_where_counting_prompts_does_not() -> None:
    chance = random.Random(5)
    logs = [sessions(chance, count=40, prompts=15, share=0.1, alike=0.4) for _log in range(200)]
    ours = sum(0.1 in share_changed(log, resamples=400).interval for log in logs)
    naive = sum(0.1 in wilson(sum(changed for changed, _ in log), 600) for log in logs)

    assert ours / 200 > 0.9
    assert naive / 200 < 0.75


def test_the_interval_of_a_rare_change_covers_the_truth() -> None:
    chance = random.Random(6)
    logs = [sessions(chance, count=60, prompts=8, share=0.02, alike=0.4) for _log in range(200)]

    assert sum(0.02 in share_changed(log, resamples=400).interval for log in logs) / 200 > 0.88


def test_thousand_sessions_are_resampled_in_the_blink_of_an_eye() -> None:
    log = sessions(random.Random(7), count=1000, prompts=5, share=0.03, alike=0.2)

    assert processor_s(lambda: share_changed(log)) < 0.5


def test_percentiles_have_the_interval_of_a_long_bootstrap() -> None:
    chance = np.random.default_rng(8)
    values = np.sort(chance.lognormal(3, 0.5, 200))
    drawn = np.sort(values[chance.integers(0, 200, (20_000, 200))], axis=1)
    middle, high, _ = bootstrap_quantiles(values.tolist())

    assert (middle.value, high.value) == (values[99], values[189])
    for found, ranked in ((middle, drawn[:, 99]), (high, drawn[:, 189])):
        assert found.interval.low == pytest.approx(np.quantile(ranked, 0.025), rel=0.02)
        assert found.interval.high == pytest.approx(np.quantile(ranked, 0.975), rel=0.02)


def test_a_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        bootstrap_quantiles([])
