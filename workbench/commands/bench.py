"""``enricher bench workbench``: measure how long a user waits for the app."""

from __future__ import annotations

import click

from enricher.home import state_dir
from enricher.interfaces.cli.bench import asserting, report, rounds
from enricher.interfaces.cli.options import as_json


@click.command("workbench", epilog="Example: enricher bench workbench --runs 3")
@rounds(10, least=3, most=1_000)
@click.option(
    "--history",
    type=click.Path(exists=True, file_okay=False),
    help="Measure with the history in this state folder, not with your own.",
)
@as_json
@asserting
def workbench(runs: int, history: str | None, is_json: bool, asserts: bool) -> None:
    """Time start, filter, coverage, saving and a new prompt in the app, as ratios to importing Textual."""
    from storage.db.database import StorageError
    from workbench.bench.app import workbench_rows

    try:
        rows = workbench_rows(history or state_dir(), runs)
    except (StorageError, ValueError, TimeoutError) as error:
        raise click.ClickException(str(error)) from error
    report("workbench", rows, is_json=is_json, asserts=asserts)
