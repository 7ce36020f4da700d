"""The library half of the Latency screen: what is added up, and budgets."""

from __future__ import annotations

from collections import Counter

import pytest

from enricher.settings import DEFAULTS
from storage.metrics.latencies import DAY_S, TOTAL, Block, Series
from workbench.views.latency import LatencyTally, Percentiles, budget_ms


def block(day: int, *us: int) -> Block:
    return Block(day * DAY_S, "", {TOTAL: Counter(us)})


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
