"""Build the page of one session of an agent: its prompts in order, what was added to each, and totals.

Clients may use any text as a session id, even an empty one, so it is encoded (with tildes) in an address.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode

from datasette.utils import tilde_decode
from datasette.utils.asgi import Response

from storage.traces.trace_pages import LONGEST_SESSION
from workbench.views import outcomes
from workbench.web import filters
from workbench.web.page import as_csv, refusal, render
from workbench.web.reading import records

if TYPE_CHECKING:
    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History
    from workbench.web.reading.records import SessionPrompt

COLUMNS = (
    "id", "at", "status", "skip_reason", "task_type", "uncertain", "confidence", "latency_ms", "output_tokens",
    "guardrails", "label", "host", "project", "prompt_chars", "prompt",
)  # fmt: skip


async def view(history: History, request: Request) -> Response:
    """Return a page of the session's prompts; ``?after=ID`` in the address asks for the prompts after that one."""
    given = request.url_vars
    session_id, after = tilde_decode(unquote(given["session"] or "")), request.args.get("after", "")
    session = await history.read(lambda db: records.read_session(db, session_id, after=after))
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
