"""``enricher trace wrong``: call a line of an added text wrong, or right, or take that back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import opened, print_json, printable
from storage.traces import line_labels, queries

if TYPE_CHECKING:
    import sqlite3

LAST = "last"


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
    try:
        with opened() as db:
            found = last_here(db) if trace_id == LAST else queries.find(db, trace_id)
            if number is None:
                _print_lines(db, found, is_json=is_json)
                return
            entry = _change(db, found, number, because=because, is_right=is_right, is_undo=is_undo)
    except (queries.UnknownTraceError, line_labels.UnknownLineError, line_labels.NothingToUndoError) as error:
        raise click.ClickException(printable(error)) from error
    if is_json:
        print_json(entry)
    else:
        click.echo(printable(_told(entry)))


def last_here(db: sqlite3.Connection) -> str:
    """Return the newest prompt typed in the current folder that got a text; raises UnknownTraceError."""
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


def _told(entry: dict[str, object]) -> str:
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
