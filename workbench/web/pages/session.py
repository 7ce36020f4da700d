"""Build the page of one session of an agent: its prompts in order, what was added to each, and totals.

Clients may use any text as a session id, even an empty one, so it is encoded (with tildes) in an address. Every query
uses an index and has a limit, so that even a session of a million prompts is read quickly.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode

from datasette.utils import tilde_decode
from datasette.utils.asgi import Response

from storage.traces.trace_pages import LONGEST_SESSION
from workbench.views import outcomes
from workbench.web import filters
from workbench.web.page import as_csv, refusal, render
from workbench.web.reading.records import IN_THE_SESSION

if TYPE_CHECKING:
    import sqlite3

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History

SESSION_PAGE = 100
PROMPT_CHARS = 400  # of each prompt on the page of a session
COLUMNS = (
    "id", "at", "status", "skip_reason", "task_type", "uncertain", "confidence", "latency_ms", "output_tokens",
    "guardrails", "label", "host", "project", "prompt_chars", "prompt",
)  # fmt: skip
WHICH_PROMPTS = f"""
    select id, at, host, project, status, skip_reason, task_type, confidence, uncertain, latency_ms, output_tokens,
           origin, prompt_chars, substr(prompt, 1, {PROMPT_CHARS}) as prompt,
           (select group_concat(guardrail_id, char(31)) from trace_guardrails where trace_id = traces.id) as guardrails,
           coalesce((select case verdict when 'class' then labels.task_type else verdict end
                     from labels where trace_id = traces.id order by labels.id desc limit 1), '') as label
    {IN_THE_SESSION} and id > :after order by id limit :limit
"""
WHAT_DID_IT_COME_TO = f"""
    select count(*) as prompts, coalesce(sum(status in ('ok', 'partial')), 0) as answered,
           coalesce(sum(case when status in ('ok', 'partial') then output_tokens end), 0) as tokens,
           coalesce(sum(latency_ms), 0.0) as latency_ms, coalesce(min(at), '') as first_at,
           coalesce(max(at), '') as last_at
    from (select at, status, output_tokens, latency_ms {IN_THE_SESSION} order by id limit :limit)
"""
WHICH_GUARDRAILS_WERE_SHOWN = f"""
    select guardrail_id, title, min(trace_id) as first_id, count(*) as times from trace_guardrails
    where trace_id in (
        select id {IN_THE_SESSION} and status in ('ok', 'partial') order by id limit :limit
    ) group by guardrail_id order by first_id, guardrail_id
"""


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


async def view(history: History, request: Request) -> Response:
    """Return a page of the session's prompts; ``?after=ID`` in the address asks for the prompts after that one."""
    given = request.url_vars
    session_id, after = tilde_decode(unquote(given["session"] or "")), request.args.get("after", "")
    session = await history.read(lambda db: read_session(db, session_id, after=after))
    kind = given.get("format")
    if not session.prompts:
        return await refusal(history, request, what="No such session", why=_why_missing(history, after))
    following = f"{history.session(session_id)}?{urlencode({'after': session.following})}" if session.following else ""
    if kind == "json":
        return Response.json({**asdict(session), "following": following.replace("?", ".json?")})
    if kind == "csv":
        return as_csv(COLUMNS, map(_cells, session.prompts))
    return await render(
        history, request, "session.html",
        place="traces",
        session=session,
        address=history.session(session_id),
        query=urlencode({"after": after}) if after else "",
        following=following,
        is_first=not after,
        bound=LONGEST_SESSION,
        drifts=outcomes.drifts(session.prompts),
        hosts=sorted({one.host for one in session.prompts if one.host}),
        projects=sorted({one.project for one in session.prompts if one.project}),
        part=filters.part,
    )  # fmt: skip


def read_session(db: sqlite3.Connection, session_id: str, *, after: str) -> SessionPage:
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


def _session_prompt(row: sqlite3.Row) -> SessionPrompt:
    values = dict(row)
    values["uncertain"] = bool(values["uncertain"])
    values["guardrails"] = tuple(filter(None, (values["guardrails"] or "").split("\x1f")))  # as the query joins them
    return SessionPrompt(**values)


def _why_missing(history: History, after: str) -> str:
    if after:
        return "No prompt of this session comes behind that one."
    if history.publication:
        return (
            "Sessions have pseudonyms in a snapshot: the address that a session has in the live history, or in another "
            "snapshot, leads nowhere here. Find one of its prompts instead, and go on from there."
        )
    return "None of its prompts is here (any more): forgotten, pruned, or of another account's history."


def _cells(one: SessionPrompt) -> list[object]:
    values = {**asdict(one), "guardrails": " ".join(one.guardrails), "uncertain": int(one.uncertain)}
    return [values[name] for name in COLUMNS]
