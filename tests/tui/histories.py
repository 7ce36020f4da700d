"""A history that is the same on every day and machine: what the hook recorded, with other times and latencies."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from storage.db import database

if TYPE_CHECKING:
    import sqlite3

    from simulator import Account

FIRST = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
STEP_S = 7 * 3600
CHILDREN = ("trace_scores", "trace_stages", "trace_channels", "trace_items", "trace_guardrails", "sessions", "labels")
STAGE_US = {"read": 5200, "rules": 900, "redact": 120, "session": 210, "classify": 950, "gather": 2300, "guide": 130,
            "answer": 110}  # fmt: skip
CHANNEL_US = {"code": 1200, "history": 350, "memory": 480, "session": 130, "skills": 190, "tasks": 90, "tests": 260,
              "ways": 150}  # fmt: skip
REMOTE = '[remote "origin"]\n\turl = https://example.org/acme/shop.git\n'


def fix_times(account: Account, *, step_s: int = STEP_S) -> None:
    """Give the traces the times of an even series from a fixed day on, and latencies that follow their number."""
    with closing(database.connect(str(account.state))) as db:
        db.execute("pragma foreign_keys = off")
        for number, (old,) in enumerate(db.execute("select id from traces order by id").fetchall()):
            _move(db, old, number, step_s)
        db.execute("update memories set created_at = '2026-11-02T09:00:00Z', updated_at = created_at")
        db.execute("update instructions_versions set first_seen_at = '2026-11-02T09:00:00Z'")


def multiply(account: Account, times: int) -> None:
    """Repeat every trace so many times, each with an id of its own."""
    with closing(database.connect(str(account.state))) as db:
        columns = [row["name"] for row in db.execute("pragma table_info(traces)")]
        others = ", ".join(name for name in columns if name != "id")
        db.execute(
            f"""
            with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < :times)
            insert into traces (id, {others})
            select substr(id, 1, 14) || printf('%06x', n) || substr(id, 21), {others} from traces, numbers
            """,
            {"times": times},
        )


def _move(db: sqlite3.Connection, old: str, number: int, step_s: int) -> None:
    second = int(FIRST.timestamp()) + number * step_s
    new = f"{second * 1_000_000:014x}{number:010x}"
    at = f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}.000Z"
    factor = 1 + (number * 37 % 11) / 10
    named = {"new": new, "old": old, "at": at, "ms": round(10.1 * factor, 3)}
    db.execute("update traces set id = :new, at = :at, latency_ms = :ms where id = :old", named)
    for table in CHILDREN:
        db.execute(f"update {table} set trace_id = :new where trace_id = :old", named)
    for table, column, times in (("trace_stages", "stage", STAGE_US), ("trace_channels", "channel", CHANNEL_US)):
        for name, us in times.items():
            db.execute(
                f"update {table} set latency_ms = :ms where trace_id = :new and {column} = :name",
                {"ms": round(us * factor / 1000, 3), "new": new, "name": name},
            )


def name_project(account: Account) -> None:
    """Give the project a remote, so that its name does not depend on where it lies."""
    account.write("project/.git/config", REMOTE)
    account.write("project/.git/HEAD", "ref: refs/heads/main\n")
