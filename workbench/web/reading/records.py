"""Read from the database what the page of one recorded prompt (a trace), or of one session, shows.

Every query uses an index and has a limit, so that even a session of a million prompts is read quickly.
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
SESSION_PAGE = 100
PROMPT_CHARS = 400  # of each prompt on the page of a session
_WHICH = "traces.id, traces.at, traces.status, traces.origin, substr(traces.prompt, 1, 200) as prompt"

WHICH_HAS_THIS_ID = f"select {_WHICH} from traces where id = :id"
# Ids have hexadecimal digits, and "g" sorts after them, so that this is a range of the primary key.
WHICH_BEGIN_SO = f"""
    select {_WHICH} from traces where id > :id and id < :id || 'g' and origin <> 'test' order by id limit :limit
"""
WHICH_COMES_BEFORE = "select id from traces where id < :id and origin <> 'test' order by id desc limit 1"
WHICH_COMES_AFTER = "select id from traces where id > :id and origin <> 'test' order by id limit 1"
_IN_THE_SESSION = "from traces where session_id = :session_id and origin <> 'test'"
WHICH_WAS_BEFORE_IN_THE_SESSION = f"select id {_IN_THE_SESSION} and id < :id order by id desc limit 1"
WHICH_CAME_AFTER_IN_THE_SESSION = f"select id {_IN_THE_SESSION} and id > :id order by id limit 1"
HOW_MANY_WERE_BEFORE = f"select count(*) from (select 1 {_IN_THE_SESSION} and id < :id limit :limit)"
HOW_MANY_ARE_IN_THE_SESSION = f"select count(*) from (select 1 {_IN_THE_SESSION} limit :limit)"
WHICH_REPLAYS_CHANGED_IT = """
    select replays.id, replays.at, replays.base, replays.candidate, replay_results.kinds, replay_results.cause
    from replay_results join replays on replays.id = replay_results.replay_id
    where replay_results.trace_id = :id order by replays.id desc limit :limit
"""
WHICH_PROMPTS = f"""
    select id, at, host, project, status, skip_reason, task_type, confidence, uncertain, latency_ms, output_tokens,
           origin, prompt_chars, substr(prompt, 1, {PROMPT_CHARS}) as prompt,
           (select group_concat(guardrail_id, char(31)) from trace_guardrails where trace_id = traces.id) as guardrails,
           coalesce((select case verdict when 'class' then labels.task_type else verdict end
                     from labels where trace_id = traces.id order by labels.id desc limit 1), '') as label
    {_IN_THE_SESSION} and id > :after order by id limit :limit
"""
WHAT_DID_IT_COME_TO = f"""
    select count(*) as prompts, coalesce(sum(status in ('ok', 'partial')), 0) as answered,
           coalesce(sum(case when status in ('ok', 'partial') then output_tokens end), 0) as tokens,
           coalesce(sum(latency_ms), 0.0) as latency_ms, coalesce(min(at), '') as first_at,
           coalesce(max(at), '') as last_at
    from (select at, status, output_tokens, latency_ms {_IN_THE_SESSION} order by id limit :limit)
"""
WHICH_GUARDRAILS_WERE_SHOWN = f"""
    select guardrail_id, title, min(trace_id) as first_id, count(*) as times from trace_guardrails
    where trace_id in (
        select id {_IN_THE_SESSION} and status in ('ok', 'partial') order by id limit :limit
    ) group by guardrail_id order by first_id, guardrail_id
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


@dataclass(frozen=True, slots=True)
class SessionPrompt:
    """A prompt as a row of its session's page; ``guardrails`` are ids, and ``label`` is the newest label, if any."""

    id: str
    at: str
    host: str
    project: str
    status: str
    skip_reason: str
    task_type: str
    confidence: float | None
    uncertain: bool
    latency_ms: float
    output_tokens: int
    origin: str
    prompt_chars: int
    prompt: str
    guardrails: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True)
class ShownGuardrail:
    """A guardrail that was added to ``times`` prompts of a session; ``first_id`` is the id of the first of them."""

    id: str
    title: str
    first_id: str
    times: int


@dataclass(frozen=True, slots=True)
class Sums:
    """Totals for at most the first ``LONGEST_SESSION`` prompts of a session.

    ``answered`` counts the prompts to which a text was added, and ``tokens`` the tokens of these texts.
    """

    prompts: int
    answered: int
    tokens: int
    latency_ms: float
    first_at: str
    last_at: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of the list of a session's prompts, oldest first, with the totals of the session.

    ``following`` is the id of the last prompt on this page, after which the next page begins; empty on the last page.
    """

    id: str
    prompts: tuple[SessionPrompt, ...]
    following: str
    sums: Sums
    guardrails: tuple[ShownGuardrail, ...]


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


def read_session(db: sqlite3.Connection, session_id: str, *, after: str = "") -> SessionPage:
    """Return the page of a session's prompts that follow the prompt with the id ``after``, or the first page.

    The page has no prompts if there is no such session.
    """
    named = {"session_id": session_id, "limit": LONGEST_SESSION}
    wanted = {"session_id": session_id, "after": after, "limit": SESSION_PAGE + 1}  # one more tells that more follow
    rows = [_session_prompt(row) for row in db.execute(WHICH_PROMPTS, wanted)]
    return SessionPage(
        session_id,
        tuple(rows[:SESSION_PAGE]),
        rows[SESSION_PAGE - 1].id if len(rows) > SESSION_PAGE else "",
        Sums(*db.execute(WHAT_DID_IT_COME_TO, named).fetchone()),
        tuple(ShownGuardrail(*row) for row in db.execute(WHICH_GUARDRAILS_WERE_SHOWN, named)),
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


def _session_prompt(row: sqlite3.Row) -> SessionPrompt:
    values = dict(row)
    values["uncertain"] = bool(values["uncertain"])
    values["guardrails"] = tuple(filter(None, (values["guardrails"] or "").split("\x1f")))  # as the query joins them
    return SessionPrompt(**values)
