"""``enricher bench workbench``: measure how long a user waits for the app."""

from __future__ import annotations

import click

from enricher.home import state_dir
from enricher.interfaces.cli.bench import as_json, asserting, finish, print_rows


@click.command("workbench")
@click.option("--runs", "-n", default=10, show_default=True, type=click.IntRange(3, 1_000), help="Rounds of the run.")
@click.option("--history", type=click.Path(exists=True, file_okay=False), help="Another state folder to measure with.")
@as_json
@asserting
def workbench(runs: int, history: str | None, is_json: bool, asserts: bool) -> None:
    """Time the app's start, its filter and its live tail, as ratios to importing Textual alone."""
    from enricher.interfaces.bench.targets import missed
    from storage.db.database import StorageError
    from workbench.bench.app import workbench_rows

    try:
        rows = workbench_rows(history or state_dir(), runs)
    except (StorageError, ValueError, TimeoutError) as error:
        raise click.ClickException(str(error)) from error
    print_rows(rows, is_json=is_json)
    finish(missed("workbench", rows), asserts=asserts)
