"""Windows of a long list of traces, for a table that never holds it whole.

A page begins behind a key, never at an offset: the millionth row costs what the first one does. ``marks``
walks the list once and keeps the key of every page, which is what a scroll bar needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from storage.selection import Selection

PAGE_ROWS = 200
PROMPT_CHARS = 500
ABOVE_ALL = "g"
"""Sorts behind every id, which is in hexadecimal digits."""
LONGEST_RANKING = 1_000

_LINE = f"""
    traces.id, traces.at, traces.host, traces.project, traces.session_id, traces.status, traces.origin,
    traces.task_type, traces.uncertain, traces.latency_ms, traces.output_tokens,
    substr(traces.prompt, 1, {PROMPT_CHARS}) as prompt,
    coalesce((select case labels.verdict when 'class' then labels.task_type else labels.verdict end
              from labels where labels.trace_id = traces.id order by labels.id desc limit 1), '') as label
"""
RANKINGS = {"slowest": "traces.latency_ms", "largest": "traces.output_tokens"}


@dataclass(frozen=True, slots=True)
class Line:
    """A trace as one line of a table; ``label`` is "ok", "wrong" or the task type that it should have had."""

    id: str
    at: str
    host: str
    project: str
    session_id: str
    status: str
    origin: str
    task_type: str
    uncertain: bool
    latency_ms: float
    tokens: int
    prompt: str
    label: str


def page(db: sqlite3.Connection, which: Selection, *, before: str = ABOVE_ALL, limit: int = PAGE_ROWS) -> list[Line]:
    """Return the newest traces that are older than ``before``, newest first."""
    query = f"""
        select {_LINE} from traces where traces.id < :before and ({which.where}) order by traces.id desc limit :limit
    """
    return [_line(row) for row in db.execute(query, {**which.parameters, "before": before, "limit": limit})]


def stream(db: sqlite3.Connection, which: Selection, *, limit: int = PAGE_ROWS) -> Iterator[Line]:
    """Yield the first page line by line, as it is found."""
    query = f"select {_LINE} from traces where {which.where} order by traces.id desc limit :limit"
    for row in db.execute(query, {**which.parameters, "limit": limit}):
        yield _line(row)


def ranking(db: sqlite3.Connection, which: Selection, *, by: str) -> list[Line]:
    """Return the first thousand by one of ``RANKINGS``, the greatest first; ties newest first."""
    query = f"""
        select {_LINE} from traces join (
            select traces.id as ranked from traces where {which.where}
            order by {RANKINGS[by]} desc, traces.id desc limit {LONGEST_RANKING}
        ) on traces.id = ranked order by {RANKINGS[by]} desc, traces.id desc
    """
    return [_line(row) for row in db.execute(query, which.parameters)]


def marks(db: sqlite3.Connection, which: Selection, *, behind: str) -> Iterator[str]:
    """Yield the id of the last row of every further page that is full, from the one behind that id on."""
    query = f"""
        select traces.id from traces where traces.id < :before and ({which.where})
        order by traces.id desc limit 1 offset {PAGE_ROWS - 1}
    """
    while row := db.execute(query, {**which.parameters, "before": behind}).fetchone():
        behind = row[0]
        yield behind


def rest(db: sqlite3.Connection, which: Selection, *, behind: str) -> int:
    """Return how many rows come behind the last mark, at most a page."""
    query = f"""
        select count(*) from (select 1 from traces where traces.id < :before and ({which.where}) limit {PAGE_ROWS})
    """
    return int(db.execute(query, {**which.parameters, "before": behind}).fetchone()[0])


def newest(db: sqlite3.Connection) -> int:
    """Return the number of the row that was written last, whatever its time."""
    return int(db.execute("select coalesce(max(rowid), 0) from traces").fetchone()[0])


def written_since(db: sqlite3.Connection, which: Selection, *, after: int, limit: int) -> list[Line]:
    """Return the traces that were written after that row, oldest first."""
    query = f"""
        select {_LINE} from traces where traces.rowid > :after and ({which.where}) order by traces.id limit :limit
    """
    return [_line(row) for row in db.execute(query, {**which.parameters, "after": after, "limit": limit})]


def _line(row: sqlite3.Row) -> Line:
    (trace_id, at, host, project, session_id, status, origin, task_type, uncertain, ms, tokens, prompt, label) = row
    return Line(
        trace_id, at, host, project, session_id, status, origin, task_type, bool(uncertain), ms, tokens, prompt, label
    )
