"""Read a long list of traces (the records of prompts) page by page, for tables that never load it completely.

A page starts after a given trace id, never at a row number, so the millionth row costs as much as the first. ``marks``
walks the list once and yields the id at the end of every page, which a scroll bar needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from storage.traces.selection import Selection

    Parameters = dict[str, str | float]

PAGE_ROWS = 200
PROMPT_CHARS = 500
ABOVE_ALL = "g"
"""A text that sorts after every trace id, because ids are hexadecimal.

As the argument ``before`` it means the beginning of the list; appended to an id, it makes ``before`` include that id.
"""
LONGEST_RANKING = 1_000  # traces
FEW_ROWS = 2_000
"""If an index finds at most this many rows, sorting them is faster than reading the whole list in its order."""
LONGEST_SESSION = 2_000  # traces of a session that are listed

_LINE = f"""
    traces.id, traces.at, traces.host, traces.project, traces.session_id, traces.status, traces.origin,
    traces.task_type, traces.uncertain, traces.latency_ms, traces.output_tokens,
    substr(traces.prompt, 1, {PROMPT_CHARS}) as prompt,
    coalesce((select case labels.verdict when 'class' then labels.task_type else labels.verdict end
              from labels where labels.trace_id = traces.id order by labels.id desc limit 1), '') as label
"""
RANKINGS = {"slowest": "traces.latency_ms", "largest": "traces.output_tokens"}
RANKED_BY = {"slowest": "traces_by_latency", "largest": "traces_by_tokens"}
LEADERS = 20_000
"""Number of slowest or largest traces of all, which an index keeps sorted, that are searched first for a ranking.

The top thousand of a selection are among them unless the selection matches few traces.
"""
WHICH_HOLD_THE_WORDS = """
    select trace_numbers.trace_id from trace_numbers
    where trace_numbers.number in (select rowid from prompts_fts where prompts_fts match :match)
"""
IN_BRIEF = "traces indexed by traces_in_brief"
"""The table with a hint for SQLite's query planner to scan a narrow index, which has only the columns of filters.

Without the hint, SQLite walks the ids and looks up each row, which takes seconds in a million traces.
"""
WHICH_LINE = f"select {_LINE} from traces where traces.id = :id"
WHICH_LINES_OF_THE_SESSION = f"""
    select {_LINE} from traces where traces.session_id = :session_id order by traces.id limit {LONGEST_SESSION}
"""
LABEL_HISTORY = "select verdict, task_type, labelled_at from labels where trace_id = :id order by id desc"
WHICH_SOURCES = "select layer from instructions_sources where hash = :hash order by position"


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A trace as one line of a table.

    ``label`` is what a user said about its classification: "ok", "wrong" or the correct task type; it is empty if there
    is no label.
    """

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


def among(which: Selection, ids: Sequence[str]) -> Selection:
    """Return the selection restricted to the traces with these ids."""
    part = "traces.id in (select value from json_each(:among))"
    return replace(
        which,
        where=f"({which.where}) and {part}",
        without_words=f"({which.without_words}) and {part}",
        parameters={**which.parameters, "among": json.dumps(ids)},
        bounds=(*which.bounds, f"traces where {part}"),
    )


def page(
    db: sqlite3.Connection, which: Selection, *, before: str = ABOVE_ALL, limit: int = PAGE_ROWS
) -> list[TraceLine]:
    """Return up to ``limit`` selected traces that are older than the trace id ``before``, newest first."""
    return list(stream(db, which, before=before, limit=limit))


def stream(
    db: sqlite3.Connection, which: Selection, *, before: str = ABOVE_ALL, limit: int = PAGE_ROWS
) -> Iterator[TraceLine]:
    """Yield the traces that ``page`` returns, each as soon as the query finds it."""
    body, named = _after(db, which, before)
    for row in db.execute(f"select {_LINE} {body} limit :limit", {**named, "limit": limit}):
        yield _line(row)


def newer(db: sqlite3.Connection, which: Selection, *, than: str, limit: int = PAGE_ROWS) -> str:
    """Return the trace id to pass to ``page`` as ``before`` for the selected traces just newer than the trace ``than``.

    It is ABOVE_ALL if these traces are on the first page.
    """
    body, named = _after(db, which, than, is_newer=True)
    row = db.execute(f"select traces.id {body} limit 1 offset :limit", {**named, "limit": limit}).fetchone()
    return str(row[0]) if row else ABOVE_ALL


def ranking(db: sqlite3.Connection, which: Selection, *, by: str) -> list[TraceLine]:
    """Return the thousand selected traces that took longest ("slowest") or that got the longest text ("largest").

    ``by`` is one of these two words. The greatest value comes first; of equal ones, the newest trace.
    """
    column, index = RANKINGS[by], f"traces indexed by {RANKED_BY[by]}"
    leaders = f"select {column} from {index} order by {column} desc limit 1 offset {LEADERS}"
    found = _ranked(db, which, column, source=index, among=f"{column} > ({leaders})")
    return found if len(found) == LONGEST_RANKING else _ranked(db, which, column, source=IN_BRIEF)


def marks(db: sqlite3.Connection, which: Selection, *, behind: str) -> Iterator[str]:
    """Yield the id of the last trace of every full page of the list.

    The first page begins with the first trace after the trace id ``behind``.
    """
    while True:
        body, named = _after(db, which, behind)
        row = db.execute(f"select traces.id {body} limit 1 offset {PAGE_ROWS - 1}", named).fetchone()
        if row is None:
            return
        behind = str(row[0])
        yield behind


def rest(db: sqlite3.Connection, which: Selection, *, behind: str) -> int:
    """Return how many selected traces come after the trace id ``behind`` in the list; counting stops at a full page."""
    body, named = _after(db, which, behind)
    return int(db.execute(f"select count(*) from (select 1 {body} limit {PAGE_ROWS})", named).fetchone()[0])


def last_row(db: sqlite3.Connection) -> int:
    """Return the rowid of the trace that was inserted last, whatever its time."""
    return int(db.execute("select coalesce(max(rowid), 0) from traces").fetchone()[0])


def written_since(db: sqlite3.Connection, which: Selection, *, after: int, limit: int) -> list[TraceLine]:
    """Return up to ``limit`` selected traces that were inserted after the one with rowid ``after``, oldest first."""
    query = f"""
        select {_LINE} from traces where traces.rowid > :after and ({which.where}) order by traces.id limit :limit
    """
    return [_line(row) for row in db.execute(query, {**which.parameters, "after": after, "limit": limit})]


def lines(db: sqlite3.Connection, ids: Sequence[str]) -> list[TraceLine]:
    """Return the traces with these ids in the given order, without those that were deleted."""
    found = (db.execute(WHICH_LINE, {"id": one}).fetchone() for one in ids)
    return [_line(row) for row in found if row is not None]


def session(db: sqlite3.Connection, session_id: str) -> list[TraceLine]:
    """Return the traces of a session, oldest first, at most ``LONGEST_SESSION``."""
    return [_line(row) for row in db.execute(WHICH_LINES_OF_THE_SESSION, {"session_id": session_id})]


def label_history(db: sqlite3.Connection, trace_id: str) -> list[dict[str, str]]:
    """Return all labels that users gave to a trace, newest first, as rows."""
    return [dict(row) for row in db.execute(LABEL_HISTORY, {"id": trace_id})]


def sources(db: sqlite3.Connection, rules_hash: str) -> list[str]:
    """Return the names of the layers from which a version of the rules was compiled, lowest layer first.

    The list is empty if the version's files were not stored.
    """
    return [str(row[0]) for row in db.execute(WHICH_SOURCES, {"hash": rules_hash})]


def newest_first(db: sqlite3.Connection, which: Selection, *, few: int) -> tuple[str, Parameters]:
    """Return SQL and its parameters for a query that lists all selected traces, newest first.

    The SQL begins with ``from`` and ends with ``order by``. If an index finds at most ``few`` rows for a part of the
    selection, only these are read, and then sorted.
    """
    return _after(db, which, ABOVE_ALL, few=few)


def _ranked(
    db: sqlite3.Connection, which: Selection, column: str, *, source: str, among: str = "true"
) -> list[TraceLine]:
    where = f"{which.without_words} and traces.id in ({WHICH_HOLD_THE_WORDS})" if which.match else which.where
    query = f"""
        select {_LINE} from traces join (
            select traces.id as ranked from {source} where {among} and ({where})
            order by {column} desc, traces.id desc limit {LONGEST_RANKING}
        ) on traces.id = ranked order by {column} desc, traces.id desc
    """
    return [_line(row) for row in db.execute(query, {**which.parameters, "match": which.match})]


def _after(
    db: sqlite3.Connection, which: Selection, before: str, *, is_newer: bool = False, few: int = FEW_ROWS
) -> tuple[str, Parameters]:
    """Return SQL, from the ``from`` to the ``order by`` clause, and its parameters for listing selected traces.

    The query lists the traces older than the trace id ``before``, newest first; with ``is_newer``, it lists the newer
    ones, oldest first. For ``few`` see ``_source``.
    """
    named = dict(which.parameters)
    than, order = (">", "asc") if is_newer else ("<", "desc")
    if not which.match:
        named["before"] = before
        source, condition = _source(db, which, few)
        return f"from {source} where traces.id {than} :before and {condition} order by traces.id {order}", named
    named["match"] = which.match
    named["below"] = _number(db, before)
    # «cross join» makes SQLite read the tables in this order, so that the rows come sorted by the row number.
    return (
        f"""from prompts_fts
        cross join trace_numbers on trace_numbers.number = prompts_fts.rowid
        cross join traces on traces.id = trace_numbers.trace_id
        where prompts_fts match :match and prompts_fts.rowid {than} :below and ({which.without_words})
        order by prompts_fts.rowid {order}""",
        named,
    )


def _source(db: sqlite3.Connection, which: Selection, few: int) -> tuple[str, str]:
    """Return the table to read and the condition on its rows that together give the selected traces.

    If one of the selection's ``bounds`` finds at most ``few`` rows, these are read; otherwise a narrow index of all
    traces is scanned.
    """
    for bound in which.bounds:
        query = f"select count(*) from (select 1 from {bound} limit {few + 1})"
        if db.execute(query, which.parameters).fetchone()[0] <= few:
            return "traces", f"traces.rowid in (select traces.rowid from {bound}) and ({which.where})"
    return IN_BRIEF, f"({which.where})"


def _number(db: sqlite3.Connection, before: str) -> int:
    """Return the number that exceeds the row numbers, in the full-text index, of all traces older than ``before``.

    It is 0 if the trace ``before`` is not in the index.
    """
    if before == ABOVE_ALL:
        return 2**62  # above the microseconds of any id, which have 56 bits
    query = "select number from trace_numbers where trace_id = :id"
    row = db.execute(query, {"id": before.removesuffix(ABOVE_ALL)}).fetchone()
    return int(row[0]) + before.endswith(ABOVE_ALL) if row else 0  # one more, to include the trace ``before`` itself


def _line(row: sqlite3.Row) -> TraceLine:
    (trace_id, at, host, project, session_id, status, origin, task_type, uncertain, ms, tokens, prompt, label) = row
    return TraceLine(
        trace_id, at, host, project, session_id, status, origin, task_type, bool(uncertain), ms, tokens, prompt, label
    )
