"""Read traces (the records of prompts) from the database, for the command line and the workbench.

A row is a dict with the column names of the schema, decoded JSON, and flags as booleans, as ``--json`` and ``export``
write it.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from storage import traces
from storage.traces import labels, line_labels

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from storage.traces.selection import Selection

    Row = dict[str, object]

JSON_COLUMNS = (
    "topics", "inputs", "evidence", "memory_context", "estimation_factors", "agent_ids", "subtask_ids",
    "execution_metadata",
)  # fmt: skip
FLAG_COLUMNS = (
    "uncertain", "partial", "should_decompose", "success", "conflict_detected", "fallback_to_sequential", "resolved",
)  # fmt: skip
CHILDREN = (
    "trace_scores", "trace_stages", "trace_channels", "trace_items", "trace_guardrails", "complexity_estimates",
    "parallel_attempts", "rule_violations",
)  # fmt: skip
RARE = ("complexity_estimates", "parallel_attempts", "rule_violations")
"""Tables in which only some traces have rows; ``show`` omits such a table if it has none for the trace."""
PAGE_ROWS = 200
# A month needs a year before it, a day a month, and a time a day; what follows a part may not be a part cut short.
DATE = re.compile(
    r"(\d{4})(-\d\d(?=[-Z]|$))?(-\d\d(?=[TZ]|$))?(?:(?<=-\d\d-\d\d)T(?:[01]\d|2[0-3])(?::[0-5]\d){0,2}(?:\.\d+)?)?Z?"
)

_MATCHING = "from traces where 1"  # ``_asked`` puts the condition of a selection in place of the 1
_OF_THE_HOOK = f"{_MATCHING} and (:names_origin or origin = 'hook')"

WHICH_TRACES_MATCH = f"select * {_MATCHING} and (:before = '' or id < :before) order by id desc limit :limit"
# A range, since ``like`` would not use the index: ids are hexadecimal, so a prefix with "g" appended sorts after all
# ids with that prefix. The id itself comes first; a second row shows that the prefix is ambiguous.
WHICH_IDS_BEGIN_SO = "select id from {} where id = :id or (id > :id and id < :id || 'g') order by id <> :id limit 2"
WHAT_IS_THIS_TRACE = "select * from traces where id = :id"
# Slash commands, which may themselves ask about the last prompt, and second calls by a hook that is registered twice do
# not count as prompts; imported prompts never went through the hook.
_IS_A_PROMPT = "skip_reason not in ('slash_command', 'duplicate') and origin <> 'import'"
WHICH_WAS_LAST = f"select max(id) from traces where (:host = '' or host = :host) and {_IS_A_PROMPT}"
WHICH_WAS_LAST_IN_THE_SESSION = f"select max(id) from traces where session_id = :session_id and {_IS_A_PROMPT}"
WHICH_TABLES_ARE_THERE = "select name from sqlite_master where type = 'table'"
"""Needed because a published snapshot, which is read by the same functions, lacks some of the tables."""
WHICH_INSTRUCTIONS = "select text from instructions_versions where hash = :hash"

HOW_MANY_BY_STATUS = f"select status, count(*) as prompts {_OF_THE_HOOK} group by status"
HOW_MANY_WERE_JUDGED = f"""
    select coalesce(sum(status = 'silent'), 0), count(*), coalesce(sum(origin = 'import'), 0) {_MATCHING}
    and status <> 'skipped' and (:names_origin or origin <> 'test')
"""
HOW_MANY_SKIPPED_BY_REASON = f"""
    select skip_reason, count(*) as prompts {_OF_THE_HOOK} and status = 'skipped'
    group by skip_reason order by prompts desc, skip_reason
"""
LAST_PROMPT_OF_EACH_HOST = f"select host, max(at) as last_at {_OF_THE_HOOK} group by host order by last_at desc, host"
HOW_LONG_DOES_IT_TAKE = f"""
    with matching as (select id, latency_ms {_OF_THE_HOOK} and status <> 'skipped'),
    measured as (
        select 'total' as stage, -1 as position, latency_ms from matching
        union all
        select trace_stages.stage, trace_stages.position, trace_stages.latency_ms
        from trace_stages join matching on matching.id = trace_stages.trace_id
    ),
    ranked as (
        select stage, position, latency_ms,
               row_number() over (partition by stage order by latency_ms) as place,
               count(*) over (partition by stage) as measurements
        from measured
    )
    select stage, measurements,
           min(case when place * 100 >= measurements * 50 then latency_ms end) as p50_ms,
           min(case when place * 100 >= measurements * 95 then latency_ms end) as p95_ms,
           min(case when place * 100 >= measurements * 99 then latency_ms end) as p99_ms
    from ranked group by stage order by min(position), stage
"""


class UnknownTraceError(LookupError):
    """Raised if no trace has the given id, or if the ids of several traces begin with it."""


@dataclass(frozen=True, slots=True)
class StageLatency:
    """The latency percentiles of one stage of the hook, by nearest rank; the stage «total» is the whole hook run."""

    stage: str
    measurements: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of the hook's runs; ``failure_rate`` is the share of all prompts for which the hook failed.

    ``judged`` is the number of prompts that were not skipped, of which ``judged_imports`` were imported;
    ``silent_share`` is the share of the judged prompts to which nothing was added.
    """

    prompts: int
    by_status: dict[str, int]
    failure_rate: float
    silent_share: float
    judged: int
    judged_imports: int
    skips: dict[str, int]
    latencies: tuple[StageLatency, ...]
    last_seen: dict[str, str]


def find(db: sqlite3.Connection, wanted: str) -> str:
    """Return the trace id that equals ``wanted``, or the only one that begins with it; raises UnknownTraceError."""
    ids = ids_beginning_with(db, wanted, table="traces")
    if len(ids) != 1:
        raise UnknownTraceError(
            f"several traces begin with {wanted!r}: give more of the id" if ids else f"no trace {wanted!r}"
        )
    return ids[0]


def ids_beginning_with(db: sqlite3.Connection, wanted: str, *, table: str) -> list[str]:
    """Return the id in a table that equals ``wanted``; if there is none, the ids that begin with it, at most two."""
    if not wanted:  # every id begins with the empty text
        return []
    wanted = traces.storable(wanted)
    ids = [str(row[0]) for row in db.execute(WHICH_IDS_BEGIN_SO.format(table), {"id": wanted})]
    return [wanted] if wanted in ids else ids


def matching(db: sqlite3.Connection, which: Selection | None = None, *, limit: int, before: str = "") -> list[Row]:
    """Return up to ``limit`` traces that ``which`` selects, newest first; None selects all.

    With ``before``, a trace id, only traces older than that one are returned.
    """
    return [readable(row) for row in _asked(db, WHICH_TRACES_MATCH, which, limit=limit, before=before)]


def show(db: sqlite3.Connection, trace_id: str, *, most: int = -1) -> Row:
    """Return one trace together with its rows in other tables, at most ``most`` from each table; -1 means all.

    Raises UnknownTraceError.
    """
    row = db.execute(WHAT_IS_THIS_TRACE, {"id": trace_id}).fetchone()
    if row is None:
        raise UnknownTraceError(f"no trace {trace_id!r}")
    return _with_children(db, readable(row), most=most)


def last(db: sqlite3.Connection, *, session_id: str = "", host: str = "") -> str:
    """Return the id of the newest trace of a session, of an agent client (``host``), or, if neither is given, of all.

    ``host`` is ignored if a session is given. Raises UnknownTraceError if there is no such trace.
    """
    if session_id:
        found = db.execute(WHICH_WAS_LAST_IN_THE_SESSION, {"session_id": traces.short(session_id)}).fetchone()[0]
    else:
        found = db.execute(WHICH_WAS_LAST, {"host": traces.storable(host)}).fetchone()[0]
    if found is None:
        raise UnknownTraceError("there is no trace yet" if not session_id else f"no trace of session {session_id!r}")
    return str(found)


def instructions(db: sqlite3.Connection, rules_hash: str) -> str | None:
    """Return the text of the instructions version with this hash, or None if it was never stored."""
    row = db.execute(WHICH_INSTRUCTIONS, {"hash": rules_hash}).fetchone()
    return None if row is None else str(row[0])


def export(db: sqlite3.Connection, which: Selection | None = None, *, with_children: bool) -> Iterator[Row]:
    """Yield every trace that ``which`` selects, newest first; None selects all.

    ``with_children`` adds the rows of other tables to each trace. Only one page of traces is in memory at a time.
    """
    before = ""
    while page := matching(db, which, limit=PAGE_ROWS, before=before):
        before = str(page[-1]["id"])
        yield from (_with_children(db, row) if with_children else row for row in page)


def stats(db: sqlite3.Connection, which: Selection | None = None) -> Stats:
    """Return counts and latencies of the traces that ``which`` selects; None selects all.

    Unless the filter names an origin, only prompts of the hook are counted; ``silent_share`` also covers imported ones.
    """
    names_origin = which is not None and "origin:" in which.typed.lower()
    ask = partial(_asked, db, which=which, names_origin=names_origin)
    silent, judged, imports = map(int, ask(HOW_MANY_WERE_JUDGED).fetchone())
    by_status = {row["status"]: row["prompts"] for row in ask(HOW_MANY_BY_STATUS)}
    prompts = sum(by_status.values())
    return Stats(
        prompts=prompts,
        by_status={status: by_status[status] for status in traces.STATUSES if status in by_status},
        failure_rate=by_status.get("error", 0) / prompts if prompts else 0.0,
        silent_share=silent / judged if judged else 0.0,
        judged=judged,
        judged_imports=imports,
        skips={row["skip_reason"]: row["prompts"] for row in ask(HOW_MANY_SKIPPED_BY_REASON)},
        latencies=tuple(StageLatency(**row) for row in ask(HOW_LONG_DOES_IT_TAKE)),
        last_seen={row["host"]: row["last_at"] for row in ask(LAST_PROMPT_OF_EACH_HOST)},
    )


def _asked(db: sqlite3.Connection, query: str, which: Selection | None, **parameters: object) -> sqlite3.Cursor:
    """Run a query of this module, restricted to the traces that ``which`` selects; return the cursor with its rows."""
    if which is not None:
        query = query.replace(_MATCHING, f"from traces where ({which.where})", 1)
        parameters |= which.parameters
    return db.execute(query, parameters)


def first_id(seconds: float) -> str:
    """Return the smallest possible id of a trace that begins at this time, which is in seconds since the epoch."""
    return f"{int(max(0.0, seconds * 1_000_000)) & 0xFFFFFFFFFFFFFF:014x}"  # ``seconds`` may be minus infinity


def is_date(text: str) -> bool:
    """Return whether the text is a UTC time or the beginning of one, such as a year, a month or a day."""
    found = DATE.fullmatch(text)
    try:
        return found is not None and bool(datetime.fromisoformat(f"{found[1]}{found[2] or '-01'}{found[3] or '-01'}"))
    except ValueError:
        return False


def _with_children(db: sqlite3.Connection, row: Row, *, most: int = -1) -> Row:
    there = {name for (name,) in db.execute(WHICH_TABLES_ARE_THERE)}
    for table in [name for name in CHILDREN if name not in RARE or name in there]:
        # 2 is the second column, such as the channel.
        order = "position" if "position" in traces.TABLES[table] else "score desc, name" if table == CHILDREN[0] else 2
        query = f"select * from {table} where trace_id = :id order by {order} limit :most"
        rows = db.execute(query, {"id": row["id"], "most": most})
        children = [readable(child, without="trace_id") for child in rows]
        if children or table not in RARE:
            row[table.removeprefix("trace_")] = children
        for item in children if table == "trace_items" else ():  # in trace_channels, ``kept`` is a number
            item["kept"] = bool(item["kept"])
    row["label"] = labels.newest(db, str(row["id"]))
    if judged := line_labels.of_trace(db, str(row["id"])):
        row["line_labels"] = [asdict(one) for one in judged.values()]
    return row


def readable(row: sqlite3.Row, *, without: str = "") -> dict[str, Any]:
    """Return a database row as a dict, with decoded JSON and flags as booleans; leave out the column ``without``."""
    return {column: _as_value(column, row[column]) for column in row.keys() if column != without}  # noqa: SIM118


def _as_value(column: str, value: object) -> object:
    if column in JSON_COLUMNS and isinstance(value, str):
        return json.loads(value)
    return bool(value) if column in FLAG_COLUMNS else value
