"""Build the page of coverage: how often each rule fires, which rules never or always fire, and unmatched prompts.

A prompt is unmatched if no signal fired in it. All figures are for one version of the instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from datasette.utils.asgi import Response

from workbench.coverage.figures import as_object
from workbench.web.page import as_csv, refusal, render
from workbench.web.reading import coverage_store, versions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from datasette.utils.asgi import Request

    from workbench.coverage.figures import Coverage
    from workbench.web.reading.history import History

CSV_COLUMNS = (
    "kind", "name", "label", "rule", "weight", "prompts", "of", "share", "tokens", "right", "wrong", "file", "line",
)  # fmt: skip
MOST_SHOWN = 40  # of each kind of rule; readers have to unfold the others
WORDS_OF_KINDS = {
    "signal": "Signals", "task type": "Task types", "search intent": "Search intents", "guardrail": "Guardrails",
    "approach": "Approaches", "workflow": "Workflows", "channel": "Channels",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CoveragePage:
    """The data for the page of coverage of the version ``chosen``, one of those that were measured (``known``).

    ``rules`` has the rules of each kind, those that fire most often first. ``dead`` are rules that never fired,
    ``always_on`` rules that always did, ``doubtful`` signals that are wrong too often, and ``together`` groups of rules
    that fired on exactly the same prompts.
    """

    chosen: coverage_store.MeasuredVersion
    known: Sequence[coverage_store.MeasuredVersion]
    coverage: Coverage
    rules: dict[str, list[coverage_store.Rule]]
    dead: list[coverage_store.Rule]
    always_on: list[coverage_store.Rule]
    doubtful: list[coverage_store.Rule]
    together: list[list[coverage_store.Rule]]


async def view(history: History, request: Request) -> Response:
    """Return the page for the requested version; if none is requested, for the measured version that was used last."""
    wanted, form = request.args.get("version") or "", request.url_vars.get("format")
    known = await history.read(coverage_store.measured)
    chosen = [one for one in known if one.rules_hash.startswith(wanted.lower())]
    if wanted and len(chosen) != 1:
        what = f"{'Several versions' if chosen else 'No version'} whose coverage was measured begin{'s' * (not chosen)}"
        why = "Versions are measured one after the other while the history is published, those in use first."
        return await refusal(history, request, what=f"{what} with {wanted}.", why=why)
    if not chosen:
        if form:
            return Response.json({"rules_hash": None, "rows": []})
        return await render(history, request, "coverage.html", place="coverage", found=None)
    found = await history.read(lambda db: look_up(db, chosen[0], known))
    if form == "csv":
        return as_csv(CSV_COLUMNS, (_cells(one) for own in found.rules.values() for one in own))
    if form:
        return Response.json(_as_object(found))
    return await render(
        history, request, "coverage.html", place="coverage", found=found, most=MOST_SHOWN, words=WORDS_OF_KINDS
    )


def look_up(
    db: sqlite3.Connection, chosen: coverage_store.MeasuredVersion, known: Sequence[coverage_store.MeasuredVersion]
) -> CoveragePage:
    """Read the stored coverage of a version, and add to each rule the link to its line on the version's page."""
    measured = coverage_store.coverage(db, chosen.rules_hash)
    places = {one.path: one.number for one in versions.sources(db, chosen.rules_hash)}
    dead, always_on, doubtful = (
        [coverage_store.rule(row, places) for row in rows]
        for rows in (measured.dead(), measured.always_on(), measured.doubtful())
    )
    together = [[coverage_store.rule(row, places) for row in one.rows] for one in measured.overlaps]
    return CoveragePage(
        chosen, known, measured, coverage_store.rules(measured, places), dead, always_on, doubtful, together
    )


def _as_object(found: CoveragePage) -> dict[str, Any]:
    """Return the values that ``enricher coverage --json`` prints, without those that are not stored."""
    fields: dict[str, Any] = as_object(found.coverage)
    rows = [{name: value for name, value in row.items() if name != coverage_store.NOT_STORED} for row in fields["rows"]]
    return fields | {"rows": rows, "at": found.chosen.at}


def _cells(one: coverage_store.Rule) -> list[object]:
    row = one.row
    return [
        row.kind, row.name, row.label, row.rule, row.weight, row.fired, row.prompts, round(row.share, 6), row.tokens,
        row.right, row.wrong, row.file, row.line,
    ]  # fmt: skip
