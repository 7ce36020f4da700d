"""Build the page of one recorded prompt: what was asked, what was added and why, how long it took, and its label.

With a form on the page, a reader can label the prompt, or a line of the text added to it, as right or wrong. In the
live history the label is stored; from a snapshot it is downloaded as a file. Labelling the live history needs the
permission ``label-prompt``, which readers have once they have signed in with the address that ``enricher publish``
prints. Datasette itself rejects forms that were sent from another site.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from datasette.utils import tilde_encode
from datasette.utils.asgi import Response
from markupsafe import Markup, escape

from enricher.interfaces.explanation import violation_summary
from enricher.rules.cache import read_any_age, shipped_file
from enricher.settings import DEFAULTS
from storage.db import database
from storage.traces import labels, line_labels, queries
from workbench.gate import labelling
from workbench.views import outcomes
from workbench.views.latency import INSIDE_MS
from workbench.views.outcomes import SEARCH_INTENT, TASK_TYPE
from workbench.web import charts, evidence, filters
from workbench.web.page import refusal, render
from workbench.web.reading import reasons, records
from workbench.web.reading.history import LABEL_PROMPT

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History
    from workbench.web.reading.reasons import Reasons
    from workbench.web.reading.records import MatchingTrace, TraceRecord

    Row = dict[str, Any]

LINES_UNFOLDED = 60  # a longer text that was added to the prompt is folded at first
MOST_ITEMS = 60
MOST_OF_A_KIND = 40
MOMENT_DIGITS = 14  # at the beginning of an id: the time in microseconds since 1970, in hexadecimal
NO_ACTOR = "Only a signed-in reader can label prompts."
HOW_TO_SIGN_IN = "Open the address for signing in that enricher publish printed; it works once."
DENIED = "You may not label prompts here."
WHO_DENIES = f"Whoever serves this history has denied you the permission {LABEL_PROMPT}."
WHICH_TYPES = "select distinct value from prompts_by_day where facet = 'task_type' and value <> ''"
JSON_LINES = "application/x-ndjson; charset=utf-8"


async def view(history: History, request: Request) -> Response:
    """Return the page of the prompt whose id is in the address.

    If the address has only the beginning of the id, redirect to the prompt, or list the prompts if several match.
    """
    given = request.url_vars
    wanted, is_data = unquote(given["id"]), given.get("format") == "json"
    if not wanted:
        return Response.redirect(history.path("traces"))
    found = await history.read(lambda db: records.matching(db, wanted))
    if len(found) != 1 or found[0].origin == "test":  # prompts of tests are on no page
        return await _not_one(history, request, wanted, found, is_data=is_data)
    if found[0].id != wanted:
        return Response.redirect(history.path(f"trace/{quote(found[0].id, safe='')}{'.json' * is_data}"))
    try:
        if is_data:
            return Response.json(await history.read(lambda db: queries.show(db, wanted)))
        record, types, why = await history.read(lambda db: _read(db, wanted))
        return await _page(history, request, record, types, why)
    except queries.UnknownTraceError:  # it was deleted after its id was looked up
        return await _not_one(history, request, wanted, [], is_data=is_data)


def _read(db: sqlite3.Connection, trace_id: str) -> tuple[TraceRecord, Sequence[str], Reasons]:
    record = records.read(db, trace_id)
    return record, _task_types(db), reasons.of_shown(db, record.trace)


async def _page(
    history: History, request: Request, record: TraceRecord, types: Sequence[str], why: Reasons
) -> Response:
    trace = record.trace
    return await render(
        history, request, "trace.html",
        place="traces",
        record=record,
        trace=trace,
        other_types=[one for one in types if one != trace["task_type"]],
        can_label=await history.may_label(request),
        prompt=evidence.mark(trace["prompt"], trace["scores"], trace["task_type"]),
        rankings=_rankings(trace, why),
        why=why,
        more_scores=[one for one in trace["scores"] if one["facet"] not in (TASK_TYPE, SEARCH_INTENT)][:MOST_OF_A_KIND],
        signals=evidence.cell,
        items=trace["items"][:MOST_ITEMS],
        offered=max(len(trace["items"]), sum(one["offered"] for one in trace["channels"])),
        labels=_labels(trace),
        most=MOST_OF_A_KIND,
        time=charts.timeline(trace),
        INSIDE_MS=INSIDE_MS,
        budgets=DEFAULTS,
        nothing=outcomes.why_nothing(trace),
        model=outcomes.describe_model_call(trace),
        plan=outcomes.describe_plan(trace),
        violations=[violation_summary(one) for one in trace.get("rule_violations", [])[:MOST_OF_A_KIND]],
        wording=outcomes,
        added=_exact(trace["output_text"]),
        lines=record.lines,
        is_long=trace["output_text"].count("\n") >= LINES_UNFOLDED,
        part=filters.part,
        raw=history.datasette.urls.row(history.database.name, "traces", tilde_encode(trace["id"])),
    )  # fmt: skip


def _rankings(trace: Row, why: Reasons) -> list[tuple[str, str, list[evidence.ClassScore], str]]:
    """Return, for task type and search intent, the ranking of the classes that the page shows.

    Each ranking is the title of the facet, the class that the prompt got, all classes with their points, and a sentence
    on the class that came second.
    """
    chosen = {TASK_TYPE: trace["task_type"], SEARCH_INTENT: trace["search_intent"]}
    return [
        (
            outcomes.FACET_TEXTS[facet],
            name,
            evidence.ranking(trace["scores"], facet, chosen=name, text=trace["prompt"]),
            why.nearest[facet] if name else "",
        )
        for facet, name in chosen.items()
    ]


def _labels(trace: Row) -> dict[tuple[str, str], str]:
    """Return the texts that were shown for items (what channels found) that have no text of their own.

    The texts are keyed by the channel and the reference of the item.
    """
    channels = trace["inputs"].get("channels", ()) if isinstance(trace["inputs"], dict) else ()
    # A candidate is recorded as a list: its text, its reference, its score, its label, and more.
    return {
        (channel["name"], offered[1]): str(offered[3]).removeprefix(str(offered[1])).lstrip(" —")
        for channel in channels
        for offered in channel["candidates"]
        if len(offered) > 3
    }


def _exact(text: str) -> Markup:
    """Escape a text for ``<pre>``; carriage returns are encoded, too, because browsers would change them."""
    return escape(text).replace("\r", Markup("&#13;"))


async def _not_one(
    history: History, request: Request, wanted: str, found: Sequence[MatchingTrace], *, is_data: bool
) -> Response:
    """Return a page that says why no prompt is shown: its id is unknown or ambiguous, or the prompt is from a test."""
    is_test = len(found) == 1
    candidates = () if is_test else found
    what = f"Several prompts begin with {wanted}" if candidates else f"No prompt has the id {wanted}"
    if is_data:
        ids = [one.id for one in candidates]
        return Response.json({"ok": False, "error": what, "candidates": ids}, status=404)
    return await render(
        history, request, "trace_missing.html",
        status=404,
        place="traces",
        what=what[:200],  # an address can be long
        is_test=is_test,
        candidates=[asdict(one) for one in candidates[: records.MOST_CANDIDATES]],
        has_more=len(candidates) > records.MOST_CANDIDATES,
        asked_at=_moment(wanted),
    )  # fmt: skip


def _moment(wanted: str) -> str:
    """Return the UTC time that the beginning of the requested id encodes; empty if it is not a plausible time."""
    try:
        seconds = int(wanted[:MOMENT_DIGITS], 16) / 1_000_000
        when = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    is_plausible = len(wanted) >= MOMENT_DIGITS and 2020 <= when.year < 2100  # other digits are no id of a prompt
    return f"{when:%Y-%m-%dT%H:%M:%S}" if is_plausible else ""


async def label(history: History, request: Request) -> Response:
    """Store the label that a reader chose in the form, and redirect to the prompt.

    A snapshot is not changed: the label is sent to the reader as a file, which ``enricher trace label`` can read.
    """
    identity = unquote(request.url_vars["id"])
    if request.method != "POST":
        return Response.redirect(history.path(f"trace/{identity}"))
    if not await history.may_label(request):
        what, why = (DENIED, WHO_DENIES) if request.actor else (NO_ACTOR, HOW_TO_SIGN_IN)
        return await refusal(history, request, status=403, what=what, why=why)
    form = await request.post_vars()
    verdict, number = str(form.get("verdict", "")), str(form.get("line", ""))
    known = line_labels.VERDICTS if number else (*labels.VERDICTS, *await history.read(_task_types))
    if verdict not in known or not (number or "1").isdecimal():  # without a number, the label is for the whole prompt
        what = "The form names no verdict that exists."
        return await refusal(history, request, status=400, what=what, why="Go back, reload the page, and choose again.")
    line = int(number or 0)
    try:
        found = await history.read(lambda db: _find_labelled(db, identity, line))
    except (queries.UnknownTraceError, line_labels.UnknownLineError) as error:
        return await refusal(history, request, status=404, what=str(error), why="It may have been deleted.")
    if history.publication:
        chosen = {"id": found, **({"line": line} if line else {}), "verdict": verdict}
        name = {"content-disposition": f'attachment; filename="label-{found}.jsonl"'}
        return Response(json.dumps(chosen) + "\n", content_type=JSON_LINES, headers=name)
    # In a thread, because writing may have to wait for others; Datasette's own connections only read.
    await asyncio.to_thread(_store, str(history.database.path), found, verdict, line)
    return Response.redirect(history.path(f"trace/{found}") + ("#lines" if line else "#label"))


def _task_types(db: sqlite3.Connection) -> list[str]:
    """Return the task types that a label may name: those of the packaged rules, then others of recorded prompts."""
    shipped = read_any_age(shipped_file())
    known = list(shipped.body["meanings"]) if shipped else []
    return list(dict.fromkeys([*known, *sorted(str(row[0]) for row in db.execute(WHICH_TYPES))]))


def _find_labelled(db: sqlite3.Connection, identity: str, line: int) -> str:
    """Return the full id of the prompt to label, after checking that the prompt and the line to label exist.

    ``line`` is the number of a line of the text that was added to the prompt, or 0 to label the prompt itself. Raises
    UnknownTraceError or UnknownLineError if there is no such prompt or line.
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
