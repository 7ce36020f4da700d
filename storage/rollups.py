"""Sums over the traces, kept by readers: prompts by class, by day and facet, latencies by day in buckets.

All of them are additive: a trace is counted when a reader comes past it, in the order in which traces were
written, and taken out again by the same queries with the sign turned before it is deleted. Days are UTC.
Rows of tests are counted under their origin and shown by nobody.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

BATCH_ROWS = 500
BUCKETS_PER_E = 20
"""A bucket of latencies is 1/20 of a factor e wide: what is read from its middle is 2.5 % off at most."""

HOW_FAR = "select up_to from rolled_up"
WHICH_ROW_IS_LAST = "select coalesce(max(rowid), 0) from traces"
WHICH_COME_NEXT = "select rowid, id from traces where rowid > :row order by rowid limit :limit"
WHICH_ARE_COUNTED = """
    select id from traces where id in (select value from json_each(:ids)) and rowid <= (select up_to from rolled_up)
"""
MOVE_ON = "update rolled_up set up_to = :row"
STEP_BACK = "update rolled_up set up_to = min(up_to, (select coalesce(max(rowid), 0) from traces))"

_THESE = "traces.id in (select value from json_each(:ids))"
_MEASURED = "traces.status <> 'skipped' and traces.origin <> 'import'"
COUNT_BY_CLASS = f"""
    insert into prompts_by_class (origin, host, status, task_type, search_intent, rules_hash, prompts)
    select origin, host, status, task_type, search_intent, rules_hash, :sign * count(*) from traces
    where {_THESE} group by 1, 2, 3, 4, 5, 6
    on conflict do update set prompts = prompts + excluded.prompts
"""
FACETS = {
    "status": ("traces", "traces.status"),
    "skip_reason": ("traces", "nullif(traces.skip_reason, '')"),
    "task_type": ("traces", "nullif(traces.task_type, '')"),
    "search_intent": ("traces", "nullif(traces.search_intent, '')"),
    "host": ("traces", "traces.host"),
    "guardrail": ("traces cross join trace_guardrails as own on own.trace_id = traces.id", "own.guardrail_id"),
    "channel": (
        "traces cross join trace_channels as own on own.trace_id = traces.id", "own.channel || ' ' || own.status",
    ),
}  # fmt: skip
COUNT_BY_DAY = """
    insert into prompts_by_day (day, origin, facet, value, prompts, tokens)
    select substr(traces.at, 1, 10), traces.origin, '{facet}', {value}, :sign * count(*),
           :sign * sum(traces.output_tokens)
    from {source} where {these} and {value} is not null group by 1, 2, 4
    on conflict do update set prompts = prompts + excluded.prompts, tokens = tokens + excluded.tokens
"""
COUNT_LATENCIES = """
    insert into latencies_by_day (day, position, kind, name, bucket, measurements)
    select substr(traces.at, 1, 10), {position}, '{kind}', {name}, bucket({column}.latency_ms), :sign * count(*)
    from {source} where {these} and {measured} group by 1, 4, 5
    on conflict do update set measurements = measurements + excluded.measurements
"""
_LATENCIES = (
    COUNT_LATENCIES.format(
        position="-1", kind="total", name="'total'", column="traces", source="traces", these=_THESE, measured=_MEASURED
    ),
    COUNT_LATENCIES.format(
        position="own.position", kind="stage", name="own.stage", column="own", these=_THESE, measured=_MEASURED,
        source="traces cross join trace_stages as own on own.trace_id = traces.id",
    ),
    COUNT_LATENCIES.format(
        position="1000", kind="channel", name="own.channel", column="own", these=_THESE, measured=_MEASURED,
        source="traces cross join trace_channels as own on own.trace_id = traces.id",
    ),
)  # fmt: skip
COUNTING = (
    COUNT_BY_CLASS,
    *(COUNT_BY_DAY.format(facet=facet, source=own[0], value=own[1], these=_THESE) for facet, own in FACETS.items()),
    *_LATENCIES,
)
DROP_WHAT_IS_NONE = (
    "delete from prompts_by_class where prompts = 0",
    "delete from prompts_by_day where prompts = 0",
    "delete from latencies_by_day where measurements = 0",
)


def bucket(latency_ms: float) -> int:
    """Return the bucket of a latency in milliseconds; below a thousandth of one they are all alike."""
    return math.floor(math.log(max(latency_ms, 0.001)) * BUCKETS_PER_E)


def middle_ms(number: int) -> float:
    """Return the latency that stands for a bucket: the geometric middle, in milliseconds."""
    return math.exp((number + 0.5) / BUCKETS_PER_E)


def waiting(db: sqlite3.Connection) -> int:
    """Return how many rows are not counted yet, gaps counted."""
    return int(db.execute(WHICH_ROW_IS_LAST).fetchone()[0]) - int(db.execute(HOW_FAR).fetchone()[0])


def catch_up(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Count the traces that were not counted yet, a batch per transaction; return how many still wait.

    ``db`` is in autocommit mode. Raises sqlite3.Error where the database cannot be written.
    """
    db.create_function("bucket", 1, bucket, deterministic=True)
    while waiting(db) > 0 and not should_stop():
        db.execute("begin immediate")
        try:
            row = int(db.execute(HOW_FAR).fetchone()[0])
            batch = db.execute(WHICH_COME_NEXT, {"row": row, "limit": BATCH_ROWS}).fetchall()
            if batch:
                _count(db, [str(one[1]) for one in batch], sign=1)
                db.execute(MOVE_ON, {"row": int(batch[-1][0])})
            db.execute("commit")
        except BaseException:
            db.rollback()
            raise
        if not batch:
            break
    return max(0, waiting(db))


def take_back(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Uncount traces that are about to be deleted, in the transaction of whoever deletes them."""
    db.create_function("bucket", 1, bucket, deterministic=True)
    counted = [str(row[0]) for row in db.execute(WHICH_ARE_COUNTED, {"ids": json.dumps(list(ids))})]
    if counted:
        _count(db, counted, sign=-1)
        for query in DROP_WHAT_IS_NONE:
            db.execute(query)


def step_back(db: sqlite3.Connection) -> None:
    """Follow the deletion of the newest traces, whose row numbers are given again."""
    db.execute(STEP_BACK)


def _count(db: sqlite3.Connection, ids: Sequence[str], *, sign: int) -> None:
    for query in COUNTING:
        db.execute(query, {"ids": json.dumps(list(ids)), "sign": sign})
