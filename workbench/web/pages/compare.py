"""The list of stored replays, and the page of one: the outcome under other instructions, prompt by prompt."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from datasette.utils.asgi import Response

from storage.evaluation import replays
from workbench.views.differences import DiffSection, unfolded
from workbench.web.page import as_csv, missing, render
from workbench.web.reading import replay_view
from workbench.web.reading.versions import HOW_MANY_OF_EACH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History

PAGE_ROWS, JSON_ROWS, CSV_ROWS = 50, 1_000, 100_000
RUNS = 50
"""Stored replays on a page of their list."""
MOST_CASES = 100
WHAT_THE_CASES_SAY = "select id, substr(prompt, 1, 500) from traces where id in (select value from json_each(:ids))"
CSV_COLUMNS = (
    "trace_id", "at", "kinds", "cause", "task_type_before", "task_type_after", "guardrails_before",
    "guardrails_after", "tokens_before", "tokens_after", "prompt",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """The results of a replay that a request asks for; ``before`` is the last id of the previous page."""

    run: str
    kind: str
    trace: str
    before: str
    limit: int

    def query(self, **instead: str) -> str:
        """Return the query string for the same kind of change, with the values of ``instead`` added or replaced."""
        return urlencode({name: value for name, value in {"kind": self.kind, **instead}.items() if value})


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """A replay with a page of its results; ``versions`` are the hashes of its two sides that have a page.

    ``regressed`` has the id and the first line of the prompt of approved cases that fail now, at most MOST_CASES.
    """

    replay: replay_view.ReplayView
    by_kind: dict[str, int]
    difference: list[DiffSection]
    results: list[replays.PreviewedResult]
    has_more: bool
    versions: frozenset[str]
    regressed: list[tuple[str, str]]


async def view(history: History, request: Request) -> Response:
    """List the stored replays, newest first."""
    before = request.args.get("before") or ""
    found = await history.read(lambda db: _listing(db, before))
    rows, more = [replay_view.replay(one) for one in found[:RUNS]], len(found) > RUNS
    if request.url_vars.get("format"):
        return Response.json(
            {"replays": [_without_diff(one) for one in rows], "next": rows[-1].kept.id if more else None}
        )
    return await render(history, request, "compare.html", place="compare", rows=rows, more=more, before=before)


async def run(history: History, request: Request) -> Response:
    """Show one replay, by its id or a prefix of it, with the requested results."""
    form = request.url_vars.get("format")
    wanted = _wanted(request, {"json": JSON_ROWS, "csv": CSV_ROWS}.get(form or "", PAGE_ROWS))
    try:
        found = await history.read(lambda db: look_up(db, wanted))
    except replays.UnknownReplayError as error:
        if form:
            return Response.json({"error": str(error)}, status=404)
        why = "It may have been deleted, or made after this was published. Keep one with: enricher replay --keep"
        return await missing(history, request, what=_sentence(str(error)), why=why)
    if form == "csv":
        return as_csv(CSV_COLUMNS, (_cells(one) for one in found.results))
    if form:
        return Response.json(_as_object(found))
    changes = [replay_view.changed(one) for one in found.results]
    return await render(
        history, request, "replay.html", place="compare", found=found, changes=changes, wanted=wanted
    )  # fmt: skip


def look_up(db: sqlite3.Connection, wanted: ResultQuery) -> ReplayPage:
    """Read a replay and a page of its results; raises UnknownReplayError."""
    try:
        kept = replays.find(db, wanted.run)
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        raise replays.UnknownReplayError("no replay is kept in what is served here") from error
    results = replays.window(
        db, kept.id, kind=wanted.kind, trace=wanted.trace, before=wanted.before, limit=wanted.limit + 1
    )
    view = replay_view.replay(kept)
    known = {str(row[0]) for row in db.execute(HOW_MANY_OF_EACH)}
    return ReplayPage(
        view,
        replay_view.in_order(replays.by_kind(db, kept)),
        unfolded(kept.diff),
        results[: wanted.limit],
        len(results) > wanted.limit,
        frozenset({kept.base_hash, kept.candidate_hash} & known),
        _named(db, view.regressed[:MOST_CASES]),
    )


def _named(db: sqlite3.Connection, cases: Sequence[str]) -> list[tuple[str, str]]:
    """Return each case with the first line of its prompt, empty if the history does not have it."""
    texts = dict(map(tuple, db.execute(WHAT_THE_CASES_SAY, {"ids": json.dumps(cases)})))
    return [(case, replay_view.opening(texts.get(case, ""))) for case in cases]


def _listing(db: sqlite3.Connection, before: str) -> list[replays.StoredReplay]:
    try:
        return replays.listing(db, limit=RUNS + 1, before=before)
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return []


def _wanted(request: Request, limit: int) -> ResultQuery:
    args = request.args
    before = args.get("before") or replays.ABOVE_ALL
    return ResultQuery(request.url_vars["run"], args.get("kind") or "", args.get("trace") or "", before, limit)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _without_diff(one: replay_view.ReplayView) -> dict[str, Any]:
    fields = asdict(one.kept)
    del fields["diff"]
    return {**fields, "share": one.share, "verdict_told": one.verdict_text}


def _as_object(found: ReplayPage) -> dict[str, Any]:
    results = [
        {**asdict(one.result), "at": one.at, "prompt": one.prompt, "kinds": list(one.result.kinds)}
        for one in found.results
    ]
    last = results[-1]["trace_id"] if found.has_more else None
    return {
        **_without_diff(found.replay), "diff": found.replay.kept.diff, "by_kind": found.by_kind,
        "p_value": found.replay.p_value, "results": results, "next": last,
    }  # fmt: skip


def _cells(one: replays.PreviewedResult) -> list[object]:
    result = one.result
    sides = result.before, result.after
    return [
        result.trace_id, one.at, "; ".join(result.kinds), result.cause,
        *(side.get("task_type", "") for side in sides), *(" ".join(side.get("guardrails", ())) for side in sides),
        *(side.get("tokens", "") for side in sides), one.prompt,
    ]  # fmt: skip
