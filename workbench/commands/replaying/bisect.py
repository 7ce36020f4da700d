"""``enricher bisect``: find the stored versions of the rules that changed a prompt's result, and the edits that did so.

The prompt is judged under each version, oldest first. The list of versions is not searched by halving, because an
outcome may change back and forth, and judging a prompt takes less than a millisecond. Versions that never applied to
the prompt's folder, and versions compiled by another release, are listed and skipped.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.options import as_json
from enricher.interfaces.cli.output import print_json, printable
from storage.evaluation.corpus import versions_by_first_use
from storage.traces import queries
from storage.traces.selection import EVERYTHING
from workbench.commands.replaying.blast_radius import opened
from workbench.replay.attribution import ELSEWHERE, undoing_between
from workbench.replay.compare import kinds
from workbench.replay.corpus import NOT_CLASSIFIED, why_left_out
from workbench.replay.outcome import reevaluated
from workbench.replay.rulesets.layer_stack import OF_ONE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.attribution import Cause
    from workbench.replay.corpus import Corpus
    from workbench.replay.hunks import Hunk
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.versions import Texts

HASH_CHARS = 10
MOST_LINES = 20  # of the diff of one edit
ANOTHER_RELEASE = "compiled by another release"
NOT_HERE = "applies in another folder"
NO_FILES = "the files of one of the two versions were not kept"


@dataclass(frozen=True, slots=True)
class BisectStep:
    """The result of judging the prompt under one version of the rules.

    ``outcome`` is None if the version was skipped; ``skipped`` is then the reason. ``kinds`` are the kinds of
    difference from the outcome under the version before, ``cause`` is the part of the edit that made them, and ``note``
    says why no cause is known. ``is_own`` marks the version that the prompt was recorded under.
    """

    version: str
    first_seen_at: str
    outcome: Outcome | None
    skipped: str = ""
    kinds: tuple[str, ...] = ()
    cause: Cause | None = None
    note: str = ""
    is_own: bool = False


@click.command("bisect", epilog="Example: enricher bisect 0064a1")
@click.argument("trace_id", metavar="ID")
@as_json
def bisect(trace_id: str, is_json: bool) -> None:
    """Classify a recorded prompt with every stored version of the instructions.

    Each change of the result is shown with the edit that caused it. The beginning of an ID is enough.
    """
    with opened(EVERYTHING, queries.UnknownTraceError) as corpus:
        whole = queries.find(corpus.db, trace_id)
        found = []
        for step in _steps(corpus, whole):
            found.append(step)
            if not is_json:
                _print(step)
    if is_json:
        print_json(
            {"trace_id": whole, "flips": sum(bool(one.kinds) for one in found), "steps": [*map(_as_json, found)]}
        )
    else:
        _print_sum(found)


def _steps(corpus: Corpus, trace_id: str) -> Iterator[BisectStep]:
    """Yield the outcome of a recorded prompt under every stored version, oldest first.

    Raises click.ClickException if the prompt cannot be judged again.
    """
    row = _row(corpus, trace_id)
    own = corpus.versions.rules(row.rules_hash)
    last: tuple[str, Outcome] | None = None
    for version, at in versions_by_first_use(corpus.db):
        rules = corpus.versions.rules(version)
        is_own = version == row.rules_hash
        reason = "" if is_own or _applies_in(row.cwd, corpus.versions.texts(version)) else NOT_HERE
        if rules is None or reason:
            yield BisectStep(version, at, None, reason or ANOTHER_RELEASE, is_own=is_own)
            continue
        outcome = reevaluated(row, rules, recorded=own)
        found = kinds(last[1], outcome) if last else ()
        cause, note = _cause(corpus, row, last, version, own) if last and found else (None, "")
        yield BisectStep(version, at, outcome, "", found, cause, note, is_own)
        last = version, outcome


def _row(corpus: Corpus, trace_id: str) -> RecordedPrompt:
    row = corpus.find(trace_id)
    if row is None:
        raise click.ClickException(f"no trace {trace_id!r}")
    if why_left_out(row):
        why = f"it was {row.status}" if row.status in NOT_CLASSIFIED else "its text was not kept"
        raise click.ClickException(f"trace {trace_id} cannot be judged again: {why}")
    return row


def _applies_in(cwd: str, texts: Texts) -> bool:
    """Return whether a version of the rules applies to prompts typed in the folder ``cwd``.

    It does if ``cwd`` is within the folders of all project and package files in ``texts``, the files of that version.
    """
    # The files are in a folder (.enricher) of the project or package to which they belong.
    folders = [os.path.dirname(os.path.dirname(path)) for layer, path, _text in texts if layer in OF_ONE_FOLDER]
    here = os.path.abspath(cwd) if cwd else ""
    # rstrip, because the root folder ends with a separator itself
    return all(here == folder or here.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _cause(
    corpus: Corpus, row: RecordedPrompt, last: tuple[str, Outcome], version: str, own: Rules | None
) -> tuple[Cause | None, str]:
    earlier, before = last
    was, now = corpus.versions.texts(earlier), corpus.versions.texts(version)
    if not was or not now:
        return None, NO_FILES
    cause = undoing_between(was, now).cause(row, before, recorded=own)
    return cause, "settings differ, or the files are the same" if cause and cause.how == ELSEWHERE else ""


def _print(step: BisectStep) -> None:
    own = "  (recorded under this one)" if step.is_own else ""
    outcome = _describe_outcome(step.outcome) if step.outcome else f"skipped: {step.skipped}"
    if step.kinds:
        click.echo(printable(f"  changes: {', '.join(step.kinds)}"))
        _print_cause(step.cause, step.note)
    click.echo(printable(f"{step.version[:HASH_CHARS]}  {step.first_seen_at[:19]}  {outcome}{own}"))


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
    parts += [f"{len(outcome.items)} items"] if outcome.items else []
    return "  ".join(parts)


def _as_json(step: BisectStep) -> dict[str, object]:
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
