"""Read from the database what the page of one recorded prompt (a trace) shows.

Every query uses an index and has a limit, so that the page is fast even in a session of a million prompts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storage.traces import line_labels, queries, trace_pages
from storage.traces.trace_pages import LONGEST_SESSION

if TYPE_CHECKING:
    import sqlite3

    Row = dict[str, Any]

MOST_CANDIDATES = 20
MOST_REPLAYS = 20
MOST_NEIGHBOURS = 200
_WHICH = "traces.id, traces.at, traces.status, traces.origin, substr(traces.prompt, 1, 200) as prompt"

WHICH_HAS_THIS_ID = f"select {_WHICH} from traces where id = :id"
# Ids have hexadecimal digits, and "g" sorts after them, so that this is a range of the primary key.
WHICH_BEGIN_SO = f"""
    select {_WHICH} from traces where id > :id and id < :id || 'g' and origin <> 'test' order by id limit :limit
"""
WHICH_COMES_BEFORE = "select id from traces where id < :id and origin <> 'test' order by id desc limit 1"
WHICH_COMES_AFTER = "select id from traces where id > :id and origin <> 'test' order by id limit 1"
IN_THE_SESSION = "from traces where session_id = :session_id and origin <> 'test'"
WHICH_WAS_BEFORE_IN_THE_SESSION = f"select id {IN_THE_SESSION} and id < :id order by id desc limit 1"
WHICH_CAME_AFTER_IN_THE_SESSION = f"select id {IN_THE_SESSION} and id > :id order by id limit 1"
HOW_MANY_WERE_BEFORE = f"select count(*) from (select 1 {IN_THE_SESSION} and id < :id limit :limit)"
HOW_MANY_ARE_IN_THE_SESSION = f"select count(*) from (select 1 {IN_THE_SESSION} limit :limit)"
WHICH_REPLAYS_CHANGED_IT = """
    select replays.id, replays.at, replays.base, replays.candidate, replay_results.kinds, replay_results.cause
    from replay_results join replays on replays.id = replay_results.replay_id
    where replay_results.trace_id = :id order by replays.id desc limit :limit
"""


@dataclass(frozen=True, slots=True)
class MatchingTrace:
    """A recorded prompt whose id is, or begins with, the id that a reader asked for."""

    id: str
    at: str
    status: str
    origin: str
    prompt: str


@dataclass(frozen=True, slots=True)
class TraceReplay:
    """A stored replay (recorded prompts evaluated again under other rules) in which the prompt got another result.

    ``base`` and ``candidate`` name the two rule sets, ``kinds`` tell what changed, and ``cause`` is the edit behind it.
    """

    id: str
    at: str
    base: str
    candidate: str
    kinds: tuple[str, ...]
    cause: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ids of the prompts before and after a prompt; an id is empty if there is no such prompt.

    ``place`` is the prompt's number in its session, from 1 to LONGEST_SESSION; 0 if it is greater or was not counted.
    ``of`` is the number of prompts in the session, counted to LONGEST_SESSION + 1 at most; 0 if they were not counted.
    """

    before: str
    after: str
    place: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """All that the page of one prompt shows.

    ``trace`` is the prompt's record, as ``storage.traces.queries.show`` returns it, and ``layers`` are the instructions
    files that applied. ``in_time`` has the prompts before and after it among all prompts, and ``in_session`` those
    before and after it in its session.
    """

    trace: Row
    labels: list[dict[str, str]]
    lines: list[Row]
    """The lines of the text that was added to the prompt and their labels, as ``line_labels.as_rows`` returns them."""
    layers: list[str]
    replays: tuple[TraceReplay, ...]
    in_time: Neighbours
    in_session: Neighbours


def matching(db: sqlite3.Connection, wanted: str) -> list[MatchingTrace]:
    """Return the prompt with the id ``wanted``; if there is none, the first prompts whose ids begin with ``wanted``.

    The prompts whose ids only begin with ``wanted`` do not include prompts of tests.
    """
    found = db.execute(WHICH_HAS_THIS_ID, {"id": wanted}).fetchall()
    if not found and wanted:  # every id begins with an empty text
        found = db.execute(WHICH_BEGIN_SO, {"id": wanted, "limit": MOST_CANDIDATES + 1}).fetchall()
    return [MatchingTrace(*row) for row in found]


def read(db: sqlite3.Connection, trace_id: str) -> TraceRecord:
    """Return all that the page of a prompt shows; raises storage.traces.queries.UnknownTraceError if it is not stored.

    At most ``MOST_NEIGHBOURS`` scores, items and other rows of each kind are read.
    """
    trace: Row = queries.show(db, trace_id, most=MOST_NEIGHBOURS)
    labelled = line_labels.of_trace(db, trace_id)
    return TraceRecord(
        trace,
        trace_pages.label_history(db, trace_id),
        line_labels.as_rows(line_labels.lines(trace), labelled),
        trace_pages.sources(db, trace["rules_hash"]),
        tuple(_replayed(row) for row in db.execute(WHICH_REPLAYS_CHANGED_IT, {"id": trace_id, "limit": MOST_REPLAYS})),
        Neighbours(_one(db, WHICH_COMES_BEFORE, id=trace_id), _one(db, WHICH_COMES_AFTER, id=trace_id)),
        _in_session(db, trace_id, trace["session_id"]),
    )


def _in_session(db: sqlite3.Connection, trace_id: str, session_id: str) -> Neighbours:
    if not session_id:
        return Neighbours("", "")
    named = {"id": trace_id, "session_id": session_id}
    before = int(_one(db, HOW_MANY_WERE_BEFORE, **named, limit=LONGEST_SESSION))
    return Neighbours(
        _one(db, WHICH_WAS_BEFORE_IN_THE_SESSION, **named),
        _one(db, WHICH_CAME_AFTER_IN_THE_SESSION, **named),
        before + 1 if before < LONGEST_SESSION else 0,  # counting stopped at the limit: the place is unknown
        int(_one(db, HOW_MANY_ARE_IN_THE_SESSION, **named, limit=LONGEST_SESSION + 1)),
    )


def _replayed(row: sqlite3.Row) -> TraceReplay:
    identity, at, base, candidate, kinds, cause = row
    return TraceReplay(identity, at, base, candidate, tuple(map(str, json.loads(kinds))), cause)


def _one(db: sqlite3.Connection, query: str, **named: str | int) -> str:
    row = db.execute(query, named).fetchone()
    return "" if row is None else str(row[0])
