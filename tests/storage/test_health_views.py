"""The views on the hook's health: the same as counting every trace, whoever has counted how many."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from storage import traces
from storage.db import database
from storage.metrics import rollups

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

MOMENTS = ("2026-11-20T23:59:59.999Z", "2026-11-21T00:00:00.000Z", "2026-11-21T12:00:00.500Z")
LAST_SEEN = "select host, max(at), count(*) from traces where origin = 'hook' group by host order by host"
SKIPPED = """
    select skip_reason, host, count(*), max(at) from traces where status = 'skipped' and origin = 'hook'
    group by 1, 2 order by 1, 2
"""


@pytest.fixture(params=["counted", "half counted", "not counted"])
def db(
    state: str, whole_trace: Callable[..., traces.Trace], request: pytest.FixtureRequest
) -> Iterator[sqlite3.Connection]:
    """Prompts of two clients around midnight, an import and a test after them."""
    origins = ("hook", "hook", "hook", "import", "test")
    with closing(database.connect(state)) as db:
        for number, origin in enumerate(origins * 2):
            trace = whole_trace(
                at=MOMENTS[min(number % 5, 2)], origin=origin, host=("claude", "codex")[number > 4],
                status="skipped", skip_reason=("bypass", "slash_command")[number % 2],
            )  # fmt: skip
            trace.id = f"{int(datetime.fromisoformat(trace.at).timestamp() * 1_000_000):014x}{number:010x}"
            for table, rows in traces.flatten(trace).items():
                db.executemany(traces.insertion(table, traces.TABLES[table]), rows)
            if request.param == "half counted" and number == len(origins):
                rollups.catch_up(db)
        if request.param == "counted":
            rollups.catch_up(db)
        yield db


def test_when_a_client_was_last_seen_is_what_its_prompts_say(db: sqlite3.Connection) -> None:
    shown = db.execute("select host, last_at, prompts from when_each_host_was_last_seen order by host").fetchall()

    assert [tuple(row) for row in shown] == [tuple(row) for row in db.execute(LAST_SEEN)]


def test_why_prompts_were_skipped_is_what_they_say(db: sqlite3.Connection) -> None:
    shown = db.execute("select * from why_prompts_were_skipped order by 1, 2").fetchall()

    assert [tuple(row) for row in shown] == [tuple(row) for row in db.execute(SKIPPED)]
