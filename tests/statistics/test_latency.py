"""The library half of the Latency screen: what is added up, shifts between two sides, budgets."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from enricher.settings import DEFAULTS
from storage.metrics.latencies import DAY_S, TOTAL, Block, Series, Use
from workbench.views.latency import LatencyTally, Percentiles, budget_ms, compare_versions, shift_between

values = st.lists(st.integers(0, 5000), min_size=1, max_size=40)


def block(day: int, *us: int, use: str = "v1") -> Block:
    return Block(day * DAY_S, "", {TOTAL: Counter(us)}, (Use(use, len(us), f"2026-01-{day + 1:02}"),))


def test_the_figures_are_those_of_all_blocks() -> None:
    tally = LatencyTally()
    for one in (block(2, 3000, 4000), block(1, 2000), block(1, 1000)):
        tally.add(one)
    profile = tally.profiles()[0]

    assert profile.figures == Percentiles(4, 2.0, 4.0, 4.0)
    assert [(point.start // DAY_S, point.figures.n) for point in profile.points] == [(1, 2), (2, 2)]


def test_the_newest_day_may_grow_after_older_ones_were_read() -> None:
    tally = LatencyTally()
    for one in (block(2, 3000), block(1, 2000), block(0, 1000), block(2, 5000, 7000)):
        tally.add(one)

    assert tally.profiles()[0].points[-1].figures == Percentiles(3, 5.0, 7.0, 7.0)


def test_the_spread_holds_every_measurement_without_a_gap() -> None:
    tally = LatencyTally()
    tally.add(block(0, 900, 1000, 1001, 64000))
    bins = tally.profiles()[0].bins

    assert sum(one.count for one in bins) == 4
    assert all(one.high == after.low for one, after in pairwise(bins))


def test_versions_are_counted_the_last_one_first() -> None:
    tally = LatencyTally()
    for one in (block(2, 1, use="new"), block(1, 1, 1, use="old"), block(0, 1, use="old")):
        tally.add(one)

    assert [(use.rules_hash, use.prompts) for use in tally.versions()] == [("new", 1), ("old", 3)]


@given(values, values)
def test_the_shift_is_the_median_of_all_differences(first: list[int], second: list[int]) -> None:
    differences = sorted((b - a) / 1000 for a, b in product(first, second))
    shift = shift_between(Counter(first), Counter(second))

    assert shift.estimate == pytest.approx(differences[(len(differences) - 1) // 2])
    assert shift.interval.low <= shift.estimate <= shift.interval.high


@given(values)
def test_the_same_latencies_are_identical(some: list[int]) -> None:
    compared = compare_versions({TOTAL: Counter(some)}, {TOTAL: Counter(some)})

    assert compared[0].verdict == "identical"


def test_the_interval_leaves_zero_out_where_the_rank_sum_test_is_significant() -> None:
    first = [1000 + 37 * number % 900 for number in range(60)]
    for offset in range(0, 600, 20):
        second = [value + offset + (1 if number % 2 else -1) for number, value in enumerate(first)]
        interval = shift_between(Counter(first), Counter(second)).interval
        p = scipy.stats.mannwhitneyu(first, second, method="asymptotic", use_continuity=False).pvalue
        if not 0.04 < p < 0.06:
            assert (0 not in interval) == (p < 0.05)


def test_a_large_side_is_reduced_without_losing_the_shift() -> None:
    first = Counter(dict.fromkeys(range(5000, 9000), 20))
    second = Counter({us + 700: 20 for us in range(5000, 9000)})

    assert shift_between(first, second).estimate == pytest.approx(0.7, abs=0.01)


def test_a_side_without_values_has_no_shift() -> None:
    with pytest.raises(ValueError, match="both sides"):
        shift_between({}, {1: 1})


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        pytest.param(range(1000, 1100), range(2000, 2100), "regressed", id="slower"),
        pytest.param(range(2000, 2100), range(1000, 1100), "changed", id="faster"),
        pytest.param(range(1000, 1100), range(1001, 1101), "inconclusive", id="the interval holds zero"),
        pytest.param((), range(1000, 1100), "inconclusive", id="one side has nothing"),
    ],
)
def test_verdicts(first: range, second: range, verdict: str) -> None:
    compared = compare_versions({TOTAL: Counter(first)}, {TOTAL: Counter(second)})

    assert compared[0].verdict == verdict


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param(TOTAL, 1500, id="the hook"),
        pytest.param(Series(5, "stage", "gather"), 200, id="gather"),
        pytest.param(Series(1000, "channel", "code"), 150, id="channel"),
        pytest.param(Series(0, "stage", "read"), None, id="no budget"),
    ],
)
def test_budgets(series: Series, expected: float | None) -> None:
    assert budget_ms(series, DEFAULTS) == expected
