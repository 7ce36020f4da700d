"""``enricher trace merge``: merge the traces of colleagues, or of another machine, into this database."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.output import as_json, print_json, printable, progress_bar

if TYPE_CHECKING:
    from storage.db.merge import Merged

MOST_TOLD = 10


@click.command("merge")
@click.argument("paths", metavar="OTHER.db…", nargs=-1, required=True, type=click.Path())
@click.option("--dry-run", "is_dry", is_flag=True, help="Count only; write nothing.")
@as_json
def command(paths: tuple[str, ...], is_dry: bool, is_json: bool) -> None:
    """Add the traces of other databases to this one, each once, by their ids.

    With them come what was weighed, their labels, and the versions of the instructions that they name.
    Memories and what sessions were told stay where they are: they are personal. The others are only read.
    """
    from enricher.erasure.answers import without_answer
    from enricher.home import state_dir
    from storage.db import database
    from storage.db.merge import broken_references, merge

    outcomes: list[Merged] = []
    try:
        with database.said_in_words(state_dir()), contextlib.closing(database.connect(state_dir())) as db:
            for path in paths:
                with progress_bar(printable(path), is_json=is_json) as advance:
                    outcomes.append(
                        merge(db, path, state_dir=state_dir(), condense=without_answer, is_dry=is_dry, advance=advance)
                    )
            broken = [] if is_dry else broken_references(db)
    except database.StorageError as refusal:
        _report(outcomes, is_dry=is_dry, is_json=False)
        raise click.ClickException(printable(refusal)) from refusal
    except KeyboardInterrupt:
        _report(outcomes, is_dry=is_dry, is_json=False)
        raise click.ClickException("interrupted: what was merged is whole; run the same again for the rest") from None
    _report(outcomes, is_dry=is_dry, is_json=is_json)
    for table in broken:
        click.echo(f"Error: {table} names traces that are not there", err=True)
    sys.exit(1 if broken or any(one.conflict_count or one.refused for one in outcomes) else 0)


def _report(outcomes: list[Merged], *, is_dry: bool, is_json: bool) -> None:
    if is_json:
        print_json(
            [
                {
                    "path": one.path,
                    "traces": one.traces,
                    "same": one.same,
                    "labels": one.labels,
                    "versions": one.versions,
                    "refused": one.refused,
                    "conflicts": one.conflicts,
                    "conflict_count": one.conflict_count,
                    "dry_run": is_dry,
                }
                for one in outcomes
            ]
        )
        return
    verb = "would be added" if is_dry else "added"
    for one in outcomes:
        click.echo(
            printable(
                f"{one.path}: {one.traces:,} traces, {one.labels:,} labels, {one.versions:,} versions of the "
                f"instructions {verb}; {one.same:,} were here already"
            )
        )
        if one.refused:
            click.echo(f"{one.refused:,} traces are not of a form that is stored, and were left out", err=True)
        for identity in one.conflicts[:MOST_TOLD]:
            click.echo(printable(f"{identity}: another trace is here under this id; ours is kept"), err=True)
        if one.conflict_count > MOST_TOLD:
            click.echo(f"… and {one.conflict_count - MOST_TOLD:,} more (--json lists them)", err=True)
    if outcomes:
        click.echo("memories, sessions and kept replays are not merged", err=True)
