"""``enricher trace merge``: merge the traces of colleagues, or of another machine, into this database."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import print_json, printable, progress_bar

if TYPE_CHECKING:
    from storage.db.merge import MergeResult

MOST_PRINTED = 10


@click.command("merge", epilog="Example: enricher trace merge /media/laptop/enricher.db --dry-run")
@click.argument("paths", metavar="OTHER.db…", nargs=-1, required=True, type=click.Path())
@options.dry_run
@options.as_json
def command(paths: tuple[str, ...], is_dry: bool, is_json: bool) -> None:
    """Copy the recorded prompts of other databases into yours; a prompt that is there already is not copied again.

    Their scores, labels and versions of the instructions are copied, too. Memories are not copied, nor is the record
    of what was added to each session, because they are personal. The other databases are not changed.
    """
    from enricher.home import state_dir
    from storage.db import database
    from storage.db.merge import broken_references, merge

    outcomes: list[MergeResult] = []
    try:
        with database.opened(state_dir()) as db:
            for path in paths:
                with progress_bar(printable(path), is_json=is_json) as advance:
                    outcomes.append(merge(db, path, state_dir=state_dir(), is_dry=is_dry, advance=advance))
            broken = [] if is_dry else broken_references(db)
    except database.StorageError as refusal:  # the databases before this one were merged completely
        _report(outcomes, is_dry=is_dry, is_json=False)
        raise click.ClickException(printable(refusal)) from refusal
    except KeyboardInterrupt:
        _report(outcomes, is_dry=is_dry, is_json=False)
        raise click.ClickException(
            "interrupted; what was copied is complete; run the same command again for the rest"
        ) from None
    _report(outcomes, is_dry=is_dry, is_json=is_json)
    for table in broken:
        click.echo(f"Error: the table {table} refers to traces that do not exist", err=True)
    sys.exit(1 if broken or any(one.conflict_count or one.refused for one in outcomes) else 0)


def _report(outcomes: list[MergeResult], *, is_dry: bool, is_json: bool) -> None:
    if is_json:
        print_json([{**asdict(one), "dry_run": is_dry} for one in outcomes])
        return
    verb = "would be added" if is_dry else "added"
    for one in outcomes:
        click.echo(
            printable(
                f"{one.path}: {one.traces:,} traces, {one.labels:,} labels, {one.versions:,} versions of the "
                f"instructions {verb}; {one.same:,} were there already"
            )
        )
        if one.refused:
            click.echo(f"{one.refused:,} traces are not valid, and were left out", err=True)
        for identity in one.conflicts[:MOST_PRINTED]:
            click.echo(printable(f"{identity}: another trace has this id here; it was not replaced"), err=True)
        if one.conflict_count > MOST_PRINTED:
            click.echo(f"… and {one.conflict_count - MOST_PRINTED:,} more (--json lists them)", err=True)
    if outcomes:
        click.echo("memories, sessions and stored replays are not merged", err=True)
