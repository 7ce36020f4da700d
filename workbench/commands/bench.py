"""``enricher bench workbench`` and ``bench replay``: measure how long users of the app wait, and a replay's speed."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from enricher.home import state_dir
from enricher.interfaces.cli.bench import finish, report, report_options, rounds


@click.command("workbench", epilog="Example: enricher bench workbench --runs 3")
@rounds(10, least=3, most=1_000)
@click.option(
    "--history",
    type=click.Path(exists=True, file_okay=False),
    help="Measure with the history in this state folder, not with your own.",
)
@report_options
def workbench(runs: int, history: str | None, is_json: bool, asserts: bool) -> None:
    """Time how long the app takes to start, filter, count coverage, save a file and show a new prompt.

    The times are also given as ratios to the time of importing Textual.
    """
    from storage.db.database import StorageError
    from workbench.bench import workbench_rows

    try:
        rows = workbench_rows(history or state_dir(), runs)
    except (StorageError, ValueError, TimeoutError) as error:
        raise click.ClickException(str(error)) from error
    report("workbench", rows, is_json=is_json, asserts=asserts)


@click.command("replay", epilog="Example: enricher bench replay --prompts 1000 --runs 1")
@click.option(
    "--prompts",
    default=5000,
    show_default=True,
    type=click.IntRange(100, 1_000_000),
    help="Number of generated prompts.",
)
@rounds(5, most=100)
@report_options
def replay(prompts: int, runs: int, is_json: bool, asserts: bool) -> None:
    """Time the replay of three kinds of edits on one core, and compare it with just reading the prompts.

    It also measures how long after a save the workbench shows the first and the complete figures.
    """
    from workbench.bench import missed, rates

    found, saves = rates(prompts, runs)
    if is_json:
        click.echo(json.dumps({"rates": [asdict(one) for one in found], "saves": [asdict(one) for one in saves]}))
    else:
        click.echo("| edit | prompts/s | ratio to reading | judged | changed | runs |\n|---|---|---|---|---|---|")
        for one in found:
            figures = f"{one.prompts_per_second:,.0f} | {one.ratio:.2f} | {one.judged:.1%} | {one.changed:,}"
            click.echo(f"| {one.name} | {figures} | {one.runs} |")
        click.echo("\n| save | first figures ms | complete ms | prompts | changed |\n|---|---|---|---|---|")
        for save in saves:
            figures = f"{save.first_ms:.0f} | {save.complete_ms:.0f} | {save.prompts:,} | {save.changed:,}"
            click.echo(f"| {save.name} | {figures} |")
    finish(missed(found, saves), asserts=asserts)
