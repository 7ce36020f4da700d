"""Label a prompt, or a line of the text added to it, by a form on the prompt's page.

In the live history the label is stored; from a snapshot it is downloaded as a file. Labelling the live history needs
the permission ``label-prompt``, which readers have after they signed in with the address that ``enricher publish``
prints. Datasette itself rejects forms that were sent from another site.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import unquote

from datasette.utils.asgi import Response

from enricher.rules.cache import read_any_age, shipped_file
from storage.db import database
from storage.traces import labels, line_labels, queries
from workbench.gate import labelling
from workbench.web.page import refusal
from workbench.web.reading.history import LABEL_PROMPT

if TYPE_CHECKING:
    import sqlite3

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History

NO_ACTOR = "Only a signed-in reader can label prompts."
HOW_TO_SIGN_IN = "Open the address for signing in that enricher publish printed; it works once."
DENIED = "You may not label prompts here."
WHO_DENIES = f"Whoever serves this history has denied you the permission {LABEL_PROMPT}."
WHICH_TYPES = "select distinct value from prompts_by_day where facet = 'task_type' and value <> ''"
JSON_LINES = "application/x-ndjson; charset=utf-8"


async def view(history: History, request: Request) -> Response:
    """Store the label from a submitted form and redirect to the prompt; for a snapshot, send the label as a file."""
    identity = unquote(request.url_vars["id"])
    if request.method != "POST":
        return Response.redirect(history.path(f"trace/{identity}"))
    if not await history.may_label(request):
        what, why = (DENIED, WHO_DENIES) if request.actor else (NO_ACTOR, HOW_TO_SIGN_IN)
        return await refusal(history, request, status=403, what=what, why=why)
    form = await request.post_vars()
    verdict, number = str(form.get("verdict", "")), str(form.get("line", ""))
    known = line_labels.VERDICTS if number else (*labels.VERDICTS, *await history.read(task_types))
    if verdict not in known or not (number or "1").isdecimal():
        what = "The form names no verdict that exists."
        return await refusal(history, request, status=400, what=what, why="Go back, reload the page, and choose again.")
    line = int(number or 0)
    try:
        found = await history.read(lambda db: _find(db, identity, line))
    except (queries.UnknownTraceError, line_labels.UnknownLineError) as error:
        return await refusal(history, request, status=404, what=str(error), why="It may have been deleted.")
    if history.publication:
        label = {"id": found, **({"line": line} if line else {}), "verdict": verdict}
        name = {"content-disposition": f'attachment; filename="label-{found}.jsonl"'}
        return Response(json.dumps(label) + "\n", content_type=JSON_LINES, headers=name)
    await asyncio.to_thread(_store, str(history.database.path), found, verdict, line)
    return Response.redirect(history.path(f"trace/{found}") + ("#lines" if line else "#label"))


def task_types(db: sqlite3.Connection) -> list[str]:
    """Return the task types that a label may name: those of the packaged rules, then others from the history."""
    shipped = read_any_age(shipped_file())
    known = list(shipped.body["meanings"]) if shipped else []
    return list(dict.fromkeys([*known, *sorted(str(row[0]) for row in db.execute(WHICH_TYPES))]))


def _find(db: sqlite3.Connection, identity: str, line: int) -> str:
    """Return the full id of a prompt; check that the text added to it has the line, unless ``line`` is 0.

    Raises UnknownTraceError or UnknownLineError.
    """
    found = queries.find(db, identity)
    if line:
        line_labels.line(queries.show(db, found), line)
    return found


def _store(path: str, identity: str, verdict: str, line: int) -> None:
    with closing(database.connect(os.path.dirname(path))) as db:
        if line:
            labelling.judge_line(db, identity, line, verdict)
        else:
            labels.add(db, identity, verdict)
