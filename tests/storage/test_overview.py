"""What a history answers first, from the roll-ups."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.metrics import overview, rollups
from storage.metrics.overview import Count, Rate
from storage.traces import filter_text, queries, spool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from storage import traces

DAYS = ("2026-11-01", "2026-11-02", "2026-11-04")


@pytest.fixture
def db(state: str, whole_trace: Callable[..., traces.Trace]) -> Iterator[sqlite3.Connection]:
    """Ten prompts on each of three days: one silent, one failed, one skipped; the n-th of all took n ms."""
    statuses = ("ok",) * 7 + ("silent", "error", "skipped")
    for number in range(30):
        status = statuses[number % 10]
        trace = whole_trace(
            at=f"{DAYS[number // 10]}T12:00:00.000Z",
            status=status,
            skip_reason="slash_command" if status == "skipped" else "",
            latency_ms=float(number + 1),
            stages=[("read", 1.0), ("gather", (number + 1) / 2)],
            channels=[("code", "timeout" if status == "error" else "ok", 2.0, 0, 0, 0, "", "")],
        )
        spool.record(state, trace)
    for origin in ("import", "test"):
        spool.record(state, whole_trace(origin=origin, host="codex", at=f"{DAYS[0]}T12:00:00.000Z"))
    with closing(database.connect(state)) as db:
        rollups.catch_up(db)
        yield db


def test_rates_say_of_how_many(db: sqlite3.Connection) -> None:
    found = overview.overview(db)

    assert (found.prompts, found.imported) == (30, 1)
    assert (found.failures, found.silences, found.partials) == (
        Rate(3, 30),
        Rate(3, 28),
        Rate(0, 27),
    )  # silence is of the imported one, too


def test_they_are_the_counts_that_reading_every_trace_gives(db: sqlite3.Connection) -> None:
    found, read = overview.overview(db), queries.stats(db)

    assert {one.value: one.prompts for one in found.statuses} == read.by_status
    assert (found.failures.share, found.silences.share) == (read.failure_rate, read.silent_share)


def test_percentiles_are_those_of_every_trace_within_a_bucket(db: sqlite3.Connection) -> None:
    found, read = overview.overview(db), queries.stats(db, filter_text.parse("origin:hook"))
    (total,) = [one for one in read.latencies if one.stage == "total"]

    assert found.total is not None
    assert found.total.measurements == total.measurements
    assert [found.total.p50_ms, found.total.p95_ms, found.total.p99_ms] == pytest.approx(
        [total.p50_ms, total.p95_ms, total.p99_ms], rel=0.0254
    )


def test_each_day_has_its_own_figures(db: sqlite3.Connection) -> None:
    days = overview.overview(db).by_day

    assert [(one.day, one.prompts, one.failures, one.measured) for one in days] == [(day, 10, 1, 9) for day in DAYS]
    assert days[1].p50_ms == pytest.approx(15.0, rel=0.0254)


def test_the_slowest_stage_comes_first(db: sqlite3.Connection) -> None:
    assert [one.name for one in overview.overview(db).stages] == ["gather", "read"]


def test_channels_tell_how_often_they_were_late(db: sqlite3.Connection) -> None:
    (code,) = overview.overview(db).channels

    assert (code.asked, code.late, code.failed, code.statuses[0]) == (30, 3, 0, Count("ok", 27))


def test_values_that_only_tests_or_imports_have_are_not_shown(db: sqlite3.Connection) -> None:
    assert overview.overview(db).hosts == (Count("claude", 30),)


def test_the_last_days_are_counted_from_the_newest_prompt_back(db: sqlite3.Connection) -> None:
    found = overview.overview(db, days=3)

    assert (found.first_day, found.last_day, found.prompts, len(found.by_day)) == (DAYS[1], DAYS[2], 20, 2)
    assert found.total is not None
    assert found.total.measurements == 18


def test_a_history_without_a_prompt_has_an_overview_too(ready: str) -> None:
    with closing(database.connect(ready)) as db:
        found = overview.overview(db)

    assert (found.prompts, found.total, found.by_day, found.failures.share) == (0, None, (), 0.0)
