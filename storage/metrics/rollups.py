"""Maintain sums over all traces: prompts by class, prompts by day and facet, latencies by day and overall.

A class is a combination of client, status, task type and the like; a facet is a single one of these properties. The
hook does not update the sums: programs that read the database add the traces (records of prompts) in the order in which
they were written. A trace is subtracted before it is deleted. Days are UTC. Traces that tests recorded are summed
separately, and no page shows these sums. Latencies are those of hook runs that were not skipped.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from storage.base.paced_writes import in_turn
from storage.traces.trace_pages import last_row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    ByClass = tuple[str, str, str, str, str, str, str]
    ByDay = tuple[str, str, str, str]
    Latency = tuple[str, str, str, int, int]
    Key = tuple[str | int, ...]

BATCH_ROWS = 200
"""Traces per transaction; they are counted in a few hundredths of a second, even if each is of a different day."""
BUCKETS_PER_E = 20
"""Number of buckets into which latencies from any value x to 2.718 x are sorted.

The middle of a bucket differs from the latencies in it by at most 2.5 %.
"""
LEAST_MS = 0.001  # latencies are recorded in thousandths of a millisecond; a logarithm of 0 does not exist
AFTER_ALL_STAGES = 1000
"""Position of channels in lists of stages: channels are queried during a stage, but listed after all stages."""

HOW_FAR = "select up_to, trace_id from rolled_up"
WHICH_IS_THE_ROW = "select id from traces where rowid = :row"
WHICH_COME_NEXT = "select rowid, id from traces where rowid > :row order by rowid limit :limit"
WHICH_ARE_COUNTED = """
    select id from traces where id in (select value from json_each(:ids)) and rowid <= (select up_to from rolled_up)
"""
MOVE_ON = "update rolled_up set up_to = :row, trace_id = :id"
WHICH_ROW_IS_LEFT = """
    select rowid, id from traces where rowid <= (select up_to from rolled_up) order by rowid desc limit 1
"""
SUMS = {
    "prompts_by_class": (
        ("origin", "host", "status", "task_type", "search_intent", "workflow", "rules_hash"), ("prompts",),
    ),
    "prompts_by_day": (("origin", "facet", "day", "value"), ("prompts", "tokens")),
    "latencies_by_day": (("kind", "name", "day", "bucket", "position"), ("measurements",)),
    "latencies_overall": (("kind", "name", "bucket", "position"), ("measurements",)),
}  # fmt: skip
"""The tables of sums, each with the columns of its key and the summed columns."""
START_AGAIN = (*(f"delete from {table}" for table in SUMS), "update rolled_up set up_to = 0, trace_id = ''")

# In the following queries, «cross join» makes SQLite look up the given ids instead of reading all traces.
WHAT_ARE_THEY = """
    select traces.id, substr(traces.at, 1, 10), traces.origin, traces.host, traces.status, traces.task_type,
           traces.search_intent, traces.workflow, traces.rules_hash, traces.skip_reason, traces.output_tokens,
           traces.latency_ms
    from json_each(:ids) as wanted cross join traces on traces.id = wanted.value
"""
WHICH_GUARDRAILS = """
    select distinct own.trace_id, own.guardrail_id
    from json_each(:ids) as wanted cross join trace_guardrails as own on own.trace_id = wanted.value
"""
WHICH_CHANNELS = """
    select own.trace_id, own.channel, own.status, own.latency_ms
    from json_each(:ids) as wanted cross join trace_channels as own on own.trace_id = wanted.value
"""
WHICH_STAGES = """
    select own.trace_id, own.stage, own.position, own.latency_ms
    from json_each(:ids) as wanted cross join trace_stages as own on own.trace_id = wanted.value
"""


@dataclass(slots=True)
class _Sums:
    """The sums over one batch of traces.

    ``by_day`` counts prompts; ``tokens``, with the same keys, has the total length of the texts added to these prompts.
    """

    by_class: Counter[ByClass] = field(default_factory=Counter)
    by_day: Counter[ByDay] = field(default_factory=Counter)
    tokens: Counter[ByDay] = field(default_factory=Counter)
    latencies: Counter[Latency] = field(default_factory=Counter)

    def add(self, key: ByDay, tokens: int) -> None:
        self.by_day[key] += 1
        self.tokens[key] += tokens

    def by_table(self) -> dict[str, dict[Key, tuple[int, ...]]]:
        """Return the rows for each table of ``SUMS``, as pairs of their key and their summed columns."""
        overall: Counter[Key] = Counter()
        for (kind, name, _day, number, position), count in self.latencies.items():
            overall[kind, name, number, position] += count
        return {
            "prompts_by_class": {key: (count,) for key, count in self.by_class.items()},
            "prompts_by_day": {key: (count, self.tokens[key]) for key, count in self.by_day.items()},
            "latencies_by_day": {key: (count,) for key, count in self.latencies.items()},
            "latencies_overall": {key: (count,) for key, count in overall.items()},
        }


@dataclass(frozen=True, slots=True)
class _Trace:
    """The attributes of a trace that are needed to count its guardrails, channels and stages."""

    origin: str
    day: str
    tokens: int
    is_measured: bool


def bucket(latency_ms: float) -> int:
    """Return the number of the bucket for a latency in milliseconds; all latencies below LEAST_MS share a bucket."""
    return math.floor(math.log(max(latency_ms, LEAST_MS)) * BUCKETS_PER_E)


def middle_ms(number: int) -> float:
    """Return the latency in milliseconds that represents all latencies of a bucket: its geometric middle."""
    return math.exp((number + 0.5) / BUCKETS_PER_E)


def waiting(db: sqlite3.Connection) -> int:
    """Return how many traces are not in the sums yet.

    Traces that were deleted before they were counted may be included, because the number is a difference of row ids.
    """
    return last_row(db) - int(db.execute(HOW_FAR).fetchone()[0])


def catch_up(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Add the traces that are not counted yet to the sums, one batch per transaction; return how many remain.

    Stop early if ``should_stop`` returns True before a batch. ``db`` must be in autocommit mode. Raises sqlite3.Error
    if the database cannot be written.
    """
    is_going_on = True
    while is_going_on and (waiting(db) or _is_renumbered(db)) and not should_stop():
        is_going_on = in_turn(db, _count_next, db)
    return max(0, waiting(db))


def take_back(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Subtract from the sums those traces that are about to be deleted, within the transaction that deletes them."""
    named = {"ids": json.dumps(list(ids))}
    counted = [str(row[0]) for row in db.execute(WHICH_ARE_COUNTED, named)]
    if counted:
        for table, rows in _summed(db, counted).by_table().items():
            _add(db, table, {key: tuple(-one for one in sums) for key, sums in rows.items()})
            key, (first, *_others) = SUMS[table]
            # An empty row would still show its day and its value.
            where = f"({', '.join(key)}) = ({', '.join('?' * len(key))}) and {first} = 0"
            db.executemany(f"delete from {table} where {where}", rows)


def step_back(db: sqlite3.Connection) -> None:
    """Record, after traces were deleted, that the last counted trace is the newest counted one that still exists.

    Call this within the transaction of the deletion: SQLite reuses the row ids of the newest traces once they are
    deleted, and new traces with these ids would otherwise not be counted.
    """
    row = db.execute(WHICH_ROW_IS_LEFT).fetchone() or (0, "")
    db.execute(MOVE_ON, {"row": row[0], "id": row[1]})


def _is_renumbered(db: sqlite3.Connection) -> bool:
    """Return whether another program has deleted or renumbered traces.

    This is the case if the row of the last counted trace no longer exists or contains another trace.
    """
    up_to, trace_id = db.execute(HOW_FAR).fetchone()
    row = db.execute(WHICH_IS_THE_ROW, {"row": up_to}).fetchone()
    return bool(up_to) and (row is None or row[0] != trace_id)


def _count_next(db: sqlite3.Connection) -> bool:
    """Add the next batch of traces to the sums; return whether there was any trace to add.

    If rows were renumbered, the sums are emptied first, and counting starts again.
    """
    if _is_renumbered(db):
        for query in START_AGAIN:
            db.execute(query)
    row = db.execute(HOW_FAR).fetchone()[0]
    batch = db.execute(WHICH_COME_NEXT, {"row": row, "limit": BATCH_ROWS}).fetchall()
    if batch:
        for table, rows in _summed(db, [str(own) for _row, own in batch]).by_table().items():
            _add(db, table, rows)
        db.execute(MOVE_ON, {"row": batch[-1][0], "id": batch[-1][1]})
    return bool(batch)


def _summed(db: sqlite3.Connection, ids: Sequence[str]) -> _Sums:
    named = {"ids": json.dumps(list(ids))}
    cursor = db.cursor()
    cursor.row_factory = None  # plain tuples take half the time
    sums = _Sums()
    traces: dict[str, _Trace] = {}
    for own, day, origin, host, status, task_type, intent, workflow, rules_hash, reason, tokens, ms in cursor.execute(
        WHAT_ARE_THEY, named
    ):
        is_measured = status != "skipped" and origin == "hook"
        traces[own] = _Trace(origin, day, tokens, is_measured)
        sums.by_class[origin, host, status, task_type, intent, workflow, rules_hash] += 1
        values = {
            "status": status, "host": host, "skip_reason": reason, "task_type": task_type, "search_intent": intent,
            "workflow": workflow,
        }  # fmt: skip
        for facet, value in values.items():
            if value:
                sums.add((origin, facet, day, value), tokens)
        if is_measured:
            sums.latencies["total", "total", day, bucket(ms), -1] += 1  # -1: before all stages
    _sum_child_rows(cursor, sums, traces, named)
    return sums


def _sum_child_rows(cursor: sqlite3.Cursor, sums: _Sums, traces: dict[str, _Trace], named: dict[str, str]) -> None:
    for own, guardrail in cursor.execute(WHICH_GUARDRAILS, named):
        trace = traces[own]
        sums.add((trace.origin, "guardrail", trace.day, guardrail), trace.tokens)
    for own, channel, status, ms in cursor.execute(WHICH_CHANNELS, named):
        trace = traces[own]
        sums.add((trace.origin, "channel", trace.day, f"{channel} {status}"), trace.tokens)
        if trace.is_measured:
            sums.latencies["channel", channel, trace.day, bucket(ms), AFTER_ALL_STAGES] += 1
    for own, stage, position, ms in cursor.execute(WHICH_STAGES, named):
        trace = traces[own]
        if trace.is_measured:
            sums.latencies["stage", stage, trace.day, bucket(ms), position] += 1


def _add(db: sqlite3.Connection, table: str, rows: Mapping[Key, tuple[int, ...]]) -> None:
    key, summed = SUMS[table]
    columns = (*key, *summed)
    adding = ", ".join(f"{column} = {column} + excluded.{column}" for column in summed)
    query = f"""
        insert into {table} ({", ".join(columns)}) values ({", ".join("?" * len(columns))})
        on conflict do update set {adding}
    """
    db.executemany(query, ((*own, *sums) for own, sums in rows.items()))
