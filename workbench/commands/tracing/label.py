"""``enricher trace label``: label a trace, and on request store it as a golden case of its repository."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json
from enricher.interfaces.cli.trace.trace import opened, task_types

if TYPE_CHECKING:
    import sqlite3


@click.command("label", epilog="Example: enricher trace label 0064a1 debug --case")
@click.argument("trace_id", metavar="ID")
@click.argument("verdict", metavar="CLASS|ok|wrong")
@options.as_case
@options.as_json
def label(trace_id: str, verdict: str, is_case: bool, cases: str, is_json: bool) -> None:
    """Label the recorded prompt with this ID: it was classified right (ok), wrong, or should be the task type CLASS."""
    from storage.traces import labels, queries

    known = task_types()
    if verdict not in (*labels.VERDICTS, *known):
        raise click.BadParameter(f"{verdict!r} is not ok, wrong or a task type; the task types are: {', '.join(known)}")
    with opened() as db:
        found = queries.find(db, trace_id)
        written = write_case(db, found, verdict, cases=cases) if is_case or cases else ""
        entry = labels.give(db, found, verdict)
    if is_json:
        print_json({**entry, "cases": written} if written else entry)
    else:
        click.echo(f"{entry['id']}: {verdict}" + (f", in {written}" if written else ""))


def write_case(db: sqlite3.Connection, trace_id: str, verdict: str, *, cases: str = "") -> str:
    """Write a trace and its label as a case into its repository's cases, or into ``cases``; return the file's path."""
    from storage.traces import queries
    from workbench.gate import cases as files

    cwd = str(queries.show(db, trace_id)["cwd"])
    if not cases and not os.path.isdir(cwd):
        raise click.ClickException(
            f"the folder of this prompt does not exist ({cwd or 'none was recorded'}); name a file with --cases FILE"
        )
    path = os.path.abspath(cases) if cases else files.path_for(cwd)
    try:
        files.add(path, files.case_of(db, trace_id, verdict))
    except files.CasesError as error:
        raise click.ClickException(str(error)) from error
    return path
