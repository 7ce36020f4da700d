"""Write a snapshot for ``enricher publish --snapshot``: show what it would reveal, ask, and report the progress."""

from __future__ import annotations

import os
import sqlite3
import sys
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli.output import printable, progress_bar

if TYPE_CHECKING:
    from workbench.web.reading.history import Publication

STEPS = {
    "traces": "prompts", "trace_scores": "scores", "trace_stages": "stages", "index": "index", "sums": "sums",
    "explanations": "reasons",
}  # fmt: skip


def written(path: str, text: str, *, is_sure: bool) -> Publication:
    """Write a snapshot of this account and return its description.

    Raises SnapshotError, or click.ClickException for errors of the database or the folder.
    """
    from storage.db import database
    from workbench.web.snapshot import writing as snapshot

    snapshot.may_be_written(path)
    try:
        with database.opened(state_dir()) as db:
            if text == "full":
                _reveal(db, is_sure=is_sure)
            publication = _write(db, path, text)
    except database.StorageError as failure:
        raise click.ClickException(printable(failure)) from failure
    except (OSError, sqlite3.Error) as failure:
        raise click.ClickException(printable(f"{path} cannot be written: {failure}")) from failure
    size = os.stat(path).st_size / 1e6
    click.echo(printable(f"{path}: {described(publication)}, {size:,.1f} MB"), err=True)
    return publication


def described(publication: Publication) -> str:
    """Return a phrase that describes a snapshot: the number of prompts, the period, and how texts were treated."""
    kept = {"redacted": "texts redacted", "hash": "no texts", "full": "texts as stored"}[publication.text]
    span = f" from {publication.since[:10]} to {publication.until[:10]}" if publication.prompts else ""
    return f"{publication.prompts:,} {'prompt' if publication.prompts == 1 else 'prompts'}{span}, {kept}"


def _write(db: sqlite3.Connection, path: str, text: str) -> Publication:
    from workbench.web.reading import derived_data
    from workbench.web.server.serving import stop_signals
    from workbench.web.snapshot import writing as snapshot

    with stop_signals() as asked, progress_bar(STEPS["sums"]) as bar:

        def advance(step: str, done: int, total: int) -> None:
            if bar:
                bar(done, total, STEPS.get(step, "the rest"))

        derived_data.catch_up(db, should_stop=asked.is_set)
        if asked.is_set():
            raise snapshot.InterruptedSnapshotError("interrupted: no snapshot was written")
        return snapshot.write(state_dir(), path, text=text, should_stop=asked.is_set, advance=advance)


def _reveal(db: sqlite3.Connection, *, is_sure: bool) -> None:
    """Print what full texts would show, and ask for confirmation."""
    from workbench.web.snapshot.writing import revealed

    seen = revealed(db)
    span = f"from {seen.since[:10]} to {seen.until[:10]}" if seen.prompts else "none yet"
    click.echo(
        "With --text full, everyone who has the file or can open the pages can read, as stored:\n"
        f"  {seen.prompts:,} prompts as typed, {span}, without recognised secrets, and what was added to them\n"
        f"  {seen.memories:,} quoted memories\n"
        f"  {seen.projects:,} projects, {seen.folders:,} folders of this machine, {seen.sessions:,} session ids",
        err=True,
    )
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(
            "nothing was written: there is no terminal to ask for confirmation; add --yes to write the snapshot"
        )
    if not click.confirm("Write the snapshot?", default=False, err=True):
        raise click.ClickException("nothing was written, because you did not confirm")
