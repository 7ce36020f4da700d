"""Build the list of stored replays, and the page of one replay.

In a replay, recorded prompts were evaluated again under edited instructions (the candidate), and the results were
compared with those under the original instructions (the base).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from datasette.utils.asgi import Response

from storage.evaluation import replays
from storage.traces.selection import NO_TESTS
from storage.traces.trace_pages import ABOVE_ALL
from workbench.replay.compare import KINDS
from workbench.replay.outcome import Outcome
from workbench.statistics.pairs import mcnemar_midp
from workbench.views.blast_radius import NONE, context_text, guardrail_moves
from workbench.views.differences import DiffSection, compared, folded, unfolded
from workbench.views.outcomes import VERDICT_TEXTS
from workbench.web.page import VERDICT_LOOKS, as_csv, refusal, render
from workbench.web.reading.versions import HOW_MANY_OF_EACH

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from datasette.utils.asgi import Request

    from storage.evaluation.replays import PreviewedResult, StoredReplay
    from workbench.web.reading.history import History

PAGE_ROWS, JSON_ROWS, CSV_ROWS = 50, 1_000, 100_000
RUNS = 50  # replays on one page of the list
MOST_CASES = 100
WHAT_THE_CASES_SAY = "select id, substr(prompt, 1, 500) from traces where id in (select value from json_each(:ids))"
CSV_COLUMNS = (
    "trace_id", "at", "kinds", "cause", "task_type_before", "task_type_after", "guardrails_before",
    "guardrails_after", "tokens_before", "tokens_after", "prompt",
)  # fmt: skip
NOT_IN_A_SNAPSHOT = "It may have been made after this snapshot, or deleted before."
NOT_KEPT = "It may have been deleted, or never kept. Keep one with: enricher replay --keep"


@dataclass(frozen=True, slots=True)
class Move:
    """A part of a prompt's result, such as its task type, that differs between the two rule sets of a replay."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A prompt whose result a replay changed, as the page shows it.

    ``opening`` is the first line of the prompt, ``kinds`` are the kinds of change, ``cause`` is the edit behind them,
    and ``moves`` are the parts of the result that differ. ``sections`` compare the texts that would be added, and are
    empty if these are equal.
    """

    trace_id: str
    at: str
    opening: str
    kinds: tuple[str, ...]
    cause: str
    moves: tuple[Move, ...]
    sections: tuple[DiffSection, ...]


@dataclass(frozen=True, slots=True)
class ReplayView:
    """A stored replay, as the pages show it."""

    kept: StoredReplay

    @property
    def figures(self) -> dict[str, Any]:
        """Return the figures of the replay, which ``workbench.edits.progress.store_run`` has stored."""
        return self.kept.figures

    @property
    def share(self) -> float:
        """Return the share of prompts whose result changed, among those to which the edit applies."""
        concerned = self.figures["concerned"]
        return self.kept.changed / concerned if concerned else 0.0

    @property
    def p_value(self) -> float | None:
        """Return McNemar's mid-p value for the labelled prompts that became right or wrong; None if there are none."""
        gained, lost = self.figures["gained"], self.figures["lost"]
        return mcnemar_midp(gained, lost) if gained or lost else None

    @property
    def verdict_text(self) -> str:
        """Return the verdict on the candidate as a sentence."""
        return VERDICT_TEXTS.get(self.kept.verdict, "")

    @property
    def look(self) -> str:
        """Return the CSS class with which the verdict is shown."""
        return VERDICT_LOOKS.get(self.kept.verdict, "quiet")

    @property
    def selection(self) -> str:
        """Return the filter that selected the replayed prompts; empty for the default filter, which excludes tests."""
        return "" if self.kept.selection == NO_TESTS else self.kept.selection


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """A request for results of a replay: those with the change ``kind``, or only that of the prompt ``trace``.

    ``run`` is the id of the replay, and ``before`` the id of the last prompt on the previous page.
    """

    run: str
    kind: str
    trace: str
    before: str
    limit: int

    def query(self, **instead: str) -> str:
        """Return the query string for results with the same kind of change; ``instead`` adds or replaces values."""
        return urlencode({name: value for name, value in {"kind": self.kind, **instead}.items() if value})


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """A replay with one page of its changed prompts (``results``); ``by_kind`` counts them by kind of change.

    ``difference`` is the edit of the instructions. ``versions`` has the hashes of those of the two rule sets that have
    a page of their own. ``regressed`` has, for at most MOST_CASES approved cases whose result changed, the id and the
    first line of the prompt.
    """

    replay: ReplayView
    by_kind: dict[str, int]
    difference: list[DiffSection]
    results: list[PreviewedResult]
    has_more: bool
    versions: frozenset[str]
    regressed: list[tuple[str, str]]


async def view(history: History, request: Request) -> Response:
    """Return the list of stored replays, newest first, as a page or as JSON."""
    before = request.args.get("before") or ""
    found = await history.read(lambda db: replays.listing(db, limit=RUNS + 1, before=before))
    rows, more = [ReplayView(one) for one in found[:RUNS]], len(found) > RUNS
    if request.url_vars.get("format"):
        return Response.json(
            {"replays": [_without_diff(one) for one in rows], "next": rows[-1].kept.id if more else None}
        )
    return await render(history, request, "compare.html", place="compare", rows=rows, more=more, before=before)


async def run(history: History, request: Request) -> Response:
    """Return the page of the replay whose id is, or begins with, the one in the address, with the requested results."""
    form, args = request.url_vars.get("format"), request.args
    before, limit = args.get("before") or ABOVE_ALL, {"json": JSON_ROWS, "csv": CSV_ROWS}.get(form, PAGE_ROWS)
    wanted = ResultQuery(request.url_vars["run"], args.get("kind") or "", args.get("trace") or "", before, limit)
    try:
        found = await history.read(lambda db: look_up(db, wanted))
    except replays.UnknownReplayError as error:
        why = NOT_IN_A_SNAPSHOT if history.publication else NOT_KEPT
        what = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return await refusal(history, request, what=what, why=why)
    if form == "csv":
        return as_csv(CSV_COLUMNS, (_cells(one) for one in found.results))
    if form:
        return Response.json(_as_object(found))
    changes = [_changed(one) for one in found.results]
    return await render(history, request, "replay.html", place="compare", found=found, changes=changes, wanted=wanted)


def look_up(db: sqlite3.Connection, wanted: ResultQuery) -> ReplayPage:
    """Read a replay and a page of its results; raises UnknownReplayError if there is no such replay."""
    kept = replays.find(db, wanted.run)
    results = replays.window(
        db, kept.id, kind=wanted.kind, trace=wanted.trace, before=wanted.before, limit=wanted.limit + 1
    )
    known = {str(row[0]) for row in db.execute(HOW_MANY_OF_EACH)}
    return ReplayPage(
        ReplayView(kept),
        _in_order(replays.by_kind(db, kept)),
        unfolded(kept.diff),
        results[: wanted.limit],
        len(results) > wanted.limit,
        frozenset({kept.base_hash, kept.candidate_hash} & known),
        _named(db, kept.figures["regressed"][:MOST_CASES]),
    )


def _named(db: sqlite3.Connection, cases: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ids of approved cases, each with the first line of its prompt, or "" if the prompt is not stored."""
    texts = dict(map(tuple, db.execute(WHAT_THE_CASES_SAY, {"ids": json.dumps(cases)})))
    return [(case, _opening(texts.get(case, ""))) for case in cases]


def _without_diff(one: ReplayView) -> dict[str, Any]:
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


def _cells(one: PreviewedResult) -> list[object]:
    result = one.result
    sides = Outcome.of_stored(result.before), Outcome.of_stored(result.after)
    return [
        result.trace_id, one.at, "; ".join(result.kinds), result.cause,
        *(side.task_type for side in sides), *(" ".join(side.guardrails) for side in sides),
        *(side.tokens for side in sides), one.prompt,
    ]  # fmt: skip


def _changed(seen: PreviewedResult) -> Changed:
    """Return the data that the page shows for one prompt of a replay: the differences in its result and added text."""
    result = seen.result
    before, after = Outcome.of_stored(result.before), Outcome.of_stored(result.after)
    sections = tuple(folded(compared(before.text, after.text))) if before.text != after.text else ()
    opening, moves = _opening(seen.prompt), tuple(_moves(before, after))
    return Changed(result.trace_id, seen.at, opening, result.kinds, result.cause, moves, sections)


def _opening(prompt: str) -> str:
    """Return the first line of a prompt that is not blank; empty if there is none."""
    return next((line.strip() for line in prompt.splitlines() if line.strip()), "")


def _moves(before: Outcome, after: Outcome) -> Iterator[Move]:
    """Yield the parts of a prompt's result that differ between the two rule sets, beginning with the task type."""
    added, dropped = guardrail_moves(before, after)
    for name, one, other in (
        ("task type", _task_type(before), _task_type(after)),
        ("search intent", before.search_intent, after.search_intent),
        ("workflow", before.workflow, after.workflow),
        ("guardrails added", "", ", ".join(added)),
        ("guardrails dropped", ", ".join(dropped), ""),
        ("approach", before.approach, after.approach),
        ("context", context_text(before), context_text(after)),
        ("tokens", str(before.tokens), str(after.tokens)),
    ):
        if one != other:
            yield Move(name, one or NONE, other or NONE)


def _in_order(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts of prompts by kind of change, in the order of KINDS, with unknown kinds last."""
    return {kind: counts[kind] for kind in (*KINDS, *sorted(counts.keys() - set(KINDS))) if kind in counts}


def _task_type(outcome: Outcome) -> str:
    return f"{outcome.task_type}{'' if outcome.shown else ' (not shown)'}"
