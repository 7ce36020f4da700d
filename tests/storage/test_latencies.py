"""Latencies by stage and channel: blocks and percentiles."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.metrics import latencies
from storage.metrics.latencies import DAY_S, HOUR_S, TOTAL, Series
from storage.metrics.percentiles import percentiles
from storage.traces import queries, spool
from storage.traces.filter_text import parse
from storage.traces.selection import EVERYTHING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from storage import traces

DAY = 1_793_000_000 // DAY_S * DAY_S
READ, EXTERNAL = Series(0, "stage", "read"), Series(1000, "channel", "external")


@pytest.fixture
def db(state: str, whole_trace: Callable[..., traces.Trace]) -> Iterator[sqlite3.Connection]:
    """Thirty prompts of three days, ten a day and one an hour; the n-th took n milliseconds."""
    for number in range(30):
        second = DAY + number // 10 * DAY_S + number % 10 * HOUR_S
        trace = whole_trace(
            id=f"{second * 1_000_000:014x}{number:010x}",
            latency_ms=float(number + 1),
            stages=[("read", (number + 1) / 2)],
            channels=[("external", "ok", (number + 1) / 4, 0, 0, 0, "", "")],
            rules_hash="old" if number < 20 else "new",
        )
        spool.record(state, trace)
    with closing(database.connect(state)) as db:
        yield db


def test_blocks_come_newest_first_and_end_with_the_day(db: sqlite3.Connection) -> None:
    found = [(block.start - DAY, block.prompts) for block in latencies.blocks(db, EVERYTHING, width_s=DAY_S)]

    assert found == [(2 * DAY_S, 10), (DAY_S, 10), (0, 10)]


def test_a_long_day_is_read_in_pieces(db: sqlite3.Connection) -> None:
    found = [block.prompts for block in latencies.blocks(db, EVERYTHING, width_s=DAY_S, most=4)]

    assert found == [4, 4, 2] * 3


def test_all_blocks_together_are_every_measurement_once(db: sqlite3.Connection) -> None:
    every: Counter[int] = Counter()
    for block in latencies.blocks(db, EVERYTHING, width_s=HOUR_S, most=3):
        every.update(block.counts[READ])

    assert sorted(every.elements()) == [500 * number for number in range(1, 31)]


def test_what_came_after_an_id_is_read_alone(db: sqlite3.Connection) -> None:
    newest = latencies.newest(db)
    before = db.execute("select id from traces order by id desc limit 1 offset 3").fetchone()[0]

    assert list(latencies.blocks(db, EVERYTHING, width_s=DAY_S, after=newest)) == []
    assert sum(block.prompts for block in latencies.blocks(db, EVERYTHING, width_s=DAY_S, after=before)) == 3


def test_channels_are_measured_beside_stages(db: sqlite3.Connection) -> None:
    block = next(latencies.blocks(db, EVERYTHING, width_s=DAY_S))

    assert sorted(block.counts) == [TOTAL, READ, EXTERNAL]


def test_a_filter_leaves_out_what_it_does_not_select(db: sqlite3.Connection) -> None:
    found = list(latencies.blocks(db, parse("ms>25"), width_s=DAY_S))

    assert [block.prompts for block in found] == [5]


def test_skipped_and_imported_prompts_were_never_measured(db: sqlite3.Connection) -> None:
    db.execute("update traces set status = 'skipped', skip_reason = 'bypass' where latency_ms < 11")
    db.execute("update traces set origin = 'import' where latency_ms > 20")

    assert [block.prompts for block in latencies.blocks(db, EVERYTHING, width_s=DAY_S)] == [10]


def test_percentiles_are_those_of_the_stats(db: sqlite3.Connection) -> None:
    whole: Counter[int] = Counter()
    for block in latencies.blocks(db, EVERYTHING, width_s=DAY_S):
        whole.update(block.counts[TOTAL])
    stats = queries.stats(db).latencies[0]

    found = [us / 1000 for us in percentiles(sorted(whole.items()))]
    assert found == [stats.p50_ms, stats.p95_ms, stats.p99_ms]
