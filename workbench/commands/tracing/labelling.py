"""``enricher trace label``, ``queue`` and ``wrong``: label prompts or lines added to them; list what to label first."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import new_console, new_list, opened, print_json, printable
from enricher.interfaces.cli.trace.trace import ID_CHARS, task_types
from storage.traces import labels, line_labels, queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from workbench.gate.queue import Queued

SHOWN_CHARS = 1_200  # of a prompt in the queue
LAST = "last"


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A label to store: of a whole prompt, or, if ``line`` is not 0, of one line of the text that was added to it.

    ``place`` says where in a file of labels it is, as ``file:line: ``; it is empty if the label is not from a file.
    """

    trace_id: str
    verdict: str
    line: int = 0
    place: str = ""


@click.command("label", epilog="Example: enricher trace label 0064a1 debug --case")
@click.argument("trace_id", metavar="ID", required=False)
@click.argument("verdict", metavar="CLASS|ok|wrong", required=False)
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.File(encoding="utf-8"),
    help="Read labels from JSON Lines, as a published snapshot gives them; - for standard input.",
)
@click.option("--workflow", metavar="NAME", help="Write a golden case: the prompt should have this workflow.")
@options.as_case
@options.as_json
def label(
    trace_id: str | None,
    verdict: str | None,
    file: IO[str] | None,
    workflow: str | None,
    is_case: bool,
    cases: str,
    is_json: bool,
) -> None:
    """Label the prompt with this ID as classified right (ok) or wrong, or with the task type CLASS that is correct."""
    if workflow:
        if file is not None or not trace_id or verdict:
            raise click.UsageError("--workflow needs an ID, and neither a label nor --from FILE")
        _expect_workflow(trace_id, workflow, cases=cases)
        return
    if file is None and not (trace_id and verdict):
        raise click.UsageError("give an ID and a label, or a file of labels with --from FILE")
    if file is not None and trace_id:
        raise click.UsageError("give an ID and a label, or --from FILE, not both")
    given = list(_lines(file)) if file is not None else [GivenLabel(str(trace_id), str(verdict))]
    known = task_types()
    for one in given:
        _refuse_unknown(one, known)
    with opened() as db:
        entries = [_store(db, one, is_case=is_case, cases=cases) for one in given]
    for entry, one in zip(entries, given, strict=True):
        if is_json:
            print_json(entry)
        else:
            place = f"{entry['id']} line {one.line}" if one.line else entry["id"]
            click.echo(f"{place}: {one.verdict}" + (f", in {entry['cases']}" if "cases" in entry else ""))


def _expect_workflow(trace_id: str, name: str, *, cases: str) -> None:
    """Write a golden case (a regression test) that expects this workflow for a prompt, and print the case's file.

    Raises click.ClickException if there is no such workflow or prompt.
    """
    from enricher.interfaces.api import rules_for
    from workbench.gate import labelling
    from workbench.gate.cases import CasesError

    known = [one for one, _types in rules_for(os.getcwd())[0].body["workflows"]["rules"]]
    if name not in known:
        raise click.BadParameter(f"{name!r} is no workflow; the workflows are: {', '.join(known)}")
    with opened(CasesError) as db:
        found = queries.find(db, trace_id)
        given = labelling.expect_workflow(db, found, name, path=_absolute(cases))
    click.echo(f"{found}: workflow {name}, in {given.path}")


def _refuse_unknown(one: GivenLabel, known: Sequence[str]) -> None:
    """Raise click.ClickException if the verdict of a label is unknown.

    Labels of lines and labels of prompts allow different verdicts; ``known`` are the task types, which only labels of
    prompts allow.
    """
    if one.line and one.verdict not in line_labels.VERDICTS:
        raise click.ClickException(f"{one.place}{one.verdict!r} is not ok or wrong, which is what lines can be")
    if not one.line and one.verdict not in (*labels.VERDICTS, *known):
        message = f"{one.verdict!r} is not ok, wrong or a task type; the task types are: {', '.join(known)}"
        raise click.ClickException(one.place + message) if one.place else click.BadParameter(message)


def _store(db: sqlite3.Connection, one: GivenLabel, *, is_case: bool, cases: str) -> dict[str, object]:
    try:
        found = queries.find(db, one.trace_id)
        if one.line:
            from workbench.gate import labelling

            return labelling.judge_line(db, found, one.line, one.verdict)
    except (queries.UnknownTraceError, line_labels.UnknownLineError) as error:
        raise click.ClickException(f"{one.place}{error}") from error
    if not (is_case or cases):
        return labels.add(db, found, one.verdict)
    from workbench.gate import labelling
    from workbench.gate.cases import CasesError

    try:  # first the file, because it may refuse the case, and then there is to be no label
        written = labelling.write_case(db, found, one.verdict, path=_absolute(cases))
    except CasesError as error:
        raise click.ClickException(str(error)) from error
    return {**labels.add(db, found, one.verdict), "cases": written}


def _lines(file: IO[str]) -> Iterator[GivenLabel]:
    """Yield the labels of a JSON Lines file; raises click.ClickException for a line that is not a label."""
    try:
        lines = file.readlines()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file.name}: cannot be read as UTF-8 text: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{file.name}:{number}: "
        try:
            value = json.loads(line)
            yield GivenLabel(str(value["id"]), str(value["verdict"]), int(value.get("line", 0)), place)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):  # of 1e999 and [[[…
            remedy = 'write an object such as {"id": "0064a1", "verdict": "debug"}'
            raise click.ClickException(f"{place}this line is not a label; {remedy}") from None


def _absolute(cases: str) -> str:
    return os.path.abspath(cases) if cases else ""


@click.command("queue", epilog="Example: enricher trace queue --limit 5")
@options.limit(30)
@options.as_json
def queue(limit: int, is_json: bool) -> None:
    """List the prompts whose labels would help most, best first.

    These are prompts with a close decision that are similar to many others. Prompts that are similar to each other do
    not follow one another in the list.
    """
    from workbench.gate.queue import MOST_PROMPTS, order

    with opened() as db:
        found = order(labels.candidates(db, limit=MOST_PROMPTS))[:limit]
    if is_json:
        print_json([asdict(one) for one in found])
    elif found:
        _print_queue(found)
    else:
        click.echo("there is no prompt without a label", err=True)


def _print_queue(found: list[Queued]) -> None:
    table = new_list("id", "task_type", "confidence", "margin", "alike", "prompt")
    for one in found:
        prompt = " ".join(one.prompt[:SHOWN_CHARS].split())
        figures = (f"{one.confidence:.2f}", f"{one.margin:g}", one.cluster_size)
        table.add_row(*map(printable, (one.id[:ID_CHARS], one.task_type, *figures, prompt)))
    new_console().print(table)


@click.command("wrong", epilog="Example: enricher trace wrong 0064a1 1 --because 'the file was renamed'")
@click.argument("trace_id", metavar="ID|last")
@click.argument("number", metavar="[LINE]", type=click.IntRange(min=1), required=False)
@click.option("--because", default="", help="Why, in a few words; secrets are redacted.")
@click.option("--right", "is_right", is_flag=True, help="Call the line right instead.")
@click.option("--undo", "is_undo", is_flag=True, help="Take the newest label of the line back.")
@options.as_json
def wrong(trace_id: str, number: int | None, because: str, is_right: bool, is_undo: bool, is_json: bool) -> None:
    """Say that a line of the text added to the prompt ID was wrong. "last" is the newest prompt of this folder.

    LINE is the number of the line, as "enricher trace show" prints it; without it, the lines are listed.
    """
    if is_undo and (is_right or because):
        raise click.UsageError("--undo takes a label back; leave out --right and --because")
    with opened(line_labels.UnknownLineError, line_labels.NothingToUndoError) as db:
        found = _last_here(db) if trace_id == LAST else queries.find(db, trace_id)
        if number is None:
            _print_lines(db, found, is_json=is_json)
            return
        entry = _change(db, found, number, because=because, is_right=is_right, is_undo=is_undo)
    if is_json:
        print_json(entry)
    else:
        click.echo(printable(_in_words(entry)))


def _last_here(db: sqlite3.Connection) -> str:
    """Return the id of the newest prompt typed in the working folder to which a text was added.

    Raises UnknownTraceError if there is none.
    """
    # Ids begin with the time, so that the greatest is the newest.
    query = "select max(id) from traces where cwd = :cwd and output_text <> '' and origin = 'hook'"
    found = db.execute(query, {"cwd": os.getcwd()}).fetchone()[0]
    if found is None:
        problem = f"nothing was added to a prompt in {os.getcwd()}"
        raise queries.UnknownTraceError(f"{problem}; name one: enricher trace list")
    return str(found)


def _change(
    db: sqlite3.Connection, trace_id: str, number: int, *, because: str, is_right: bool, is_undo: bool
) -> dict[str, object]:
    from workbench.gate import labelling

    if is_undo:
        line_labels.take_back(db, trace_id, number)
        return {"id": trace_id, "line": number, "verdict": None}
    verdict = line_labels.OK if is_right else line_labels.WRONG
    return labelling.judge_line(db, trace_id, number, verdict, because=because)


def _in_words(entry: dict[str, object]) -> str:
    place = f"{entry['id']} line {entry['line']}"
    if entry["verdict"] is None:
        return f"{place}: label taken back"
    what = " ".join(filter(None, (str(entry["line_kind"]), str(entry["rule"]))))
    said = "right" if entry["verdict"] == line_labels.OK else "wrong"
    return f"{place}: {what} {said}" + (f", because {entry['because']}" if entry["because"] else "")


def _print_lines(db: sqlite3.Connection, trace_id: str, *, is_json: bool) -> None:
    trace = queries.show(db, trace_id)
    found, judged = line_labels.lines(trace), line_labels.of_trace(db, trace_id)
    if is_json:
        print_json(line_labels.as_rows(found, judged))
        return
    for one in found:
        said = f" ({line_labels.VERDICT_WORDS[judged[one.number].verdict]})" if one.number in judged else ""
        click.echo(printable(f"{one.number:>3} {one.text}{said}"))
    if not found:
        click.echo(f"nothing was added to {trace_id}, or its text was not stored", err=True)
