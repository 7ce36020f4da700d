"""``enricher bisect``: find the stored version of the rules that changed a prompt's result, and the edit in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import print_json, printable
from workbench.commands.replaying.blast_radius import opened

if TYPE_CHECKING:
    from workbench.replay.attribution import Cause
    from workbench.replay.bisect import BisectStep
    from workbench.replay.hunks import Hunk
    from workbench.replay.outcome import Outcome

SHORT = 10
MOST_LINES = 20


@click.command("bisect", epilog="Example: enricher bisect 0064a1")
@click.argument("trace_id", metavar="ID")
@as_json
def bisect(trace_id: str, is_json: bool) -> None:
    """Classify a recorded prompt with every stored version of the instructions.

    Each change of the result is shown with the edit that caused it. The beginning of an ID is enough.
    """
    from storage.traces import queries
    from storage.traces.selection import EVERYTHING
    from workbench.replay.bisect import BisectError, steps

    with opened(EVERYTHING) as corpus:
        try:
            whole = queries.find(corpus.db, trace_id)
            found = []
            for step in steps(corpus, whole):
                found.append(step)
                if not is_json:
                    _print(step)
        except (BisectError, queries.UnknownTraceError) as error:
            raise click.ClickException(str(error)) from error
    if is_json:
        print_json(
            {"trace_id": whole, "flips": sum(bool(one.kinds) for one in found), "steps": [*map(_as_json, found)]}
        )
    else:
        _print_sum(found)


def _print(step: BisectStep) -> None:
    own = "  (recorded under this one)" if step.is_own else ""
    outcome = _describe_outcome(step.outcome) if step.outcome else f"skipped: {step.skipped}"
    if step.kinds:
        click.echo(printable(f"  changes: {', '.join(step.kinds)}"))
        _print_cause(step.cause, step.note)
    click.echo(printable(f"{step.version[:SHORT]}  {step.first_seen_at[:19]}  {outcome}{own}"))


def _print_cause(cause: Cause | None, note: str) -> None:
    if note or cause is None:
        click.echo(printable(f"    {note or 'the cause was not found'}"))
        return
    how = {"together": "each of these is needed", "pair": "only undoing both brings the outcome back"}
    if cause.how in how or cause.how == "set":
        click.echo(f"    {how.get(cause.how, 'more than two of these')}:")
    for hunk in cause.hunks:
        click.echo(printable(f"    {hunk.file}:{hunk.line}  {hunk.heading}"))
        for line in _diff(hunk):
            click.echo(printable(f"    {line}"))


def _diff(hunk: Hunk) -> list[str]:
    lines = [f"-{line}" for line in hunk.before.splitlines()] + [f"+{line}" for line in hunk.after.splitlines()]
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES} more lines"]


def _print_sum(found: list[BisectStep]) -> None:
    judged = sum(step.outcome is not None for step in found)
    flips = sum(bool(step.kinds) for step in found)
    if judged == 1:
        click.echo("only one stored version can classify this prompt, so there is nothing to compare")
    else:
        click.echo(f"{judged} versions, {flips or 'no'} {'change' if flips == 1 else 'changes'}")


def _describe_outcome(outcome: Outcome) -> str:
    parts = [outcome.task_type + ("" if outcome.shown else " (uncertain)"), outcome.search_intent]
    parts += [f"workflow {outcome.workflow}"] if outcome.workflow else []
    parts += [" ".join(outcome.guardrails)] if outcome.guardrails else []
    parts += ["approach"] if outcome.approach else []
    return "  ".join([*parts, *(f"{len(outcome.items)} items" for _ in outcome.items[:1])])


def _as_json(step: BisectStep) -> dict[str, object]:
    from dataclasses import asdict

    cause = step.cause
    return {
        "version": step.version,
        "first_seen_at": step.first_seen_at,
        "is_own": step.is_own,
        "skipped": step.skipped or None,
        "outcome": asdict(step.outcome) if step.outcome else None,
        "kinds": step.kinds,
        "note": step.note or None,
        "cause": cause
        and {
            "how": cause.how,
            "hunks": [
                {"file": one.file, "line": one.line, "heading": one.heading, "before": one.before, "after": one.after}
                for one in cause.hunks
            ],
        },
    }
