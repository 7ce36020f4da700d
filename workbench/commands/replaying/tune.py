"""``enricher tune``: fit weights to labelled prompts, as a diff of the instructions."""

from __future__ import annotations

import click

from enricher.interfaces.cli import options

LEAST_PROMPTS = 100
"""With fewer prompts, the weights would overfit single prompts."""


@click.command("tune", epilog="Example: enricher tune labelled.jsonl")
@click.argument("labelled", type=click.Path(exists=True, dir_okay=False))
@options.instructions_file(default="the packaged one")
@options.labels
@click.option("--without", multiple=True, metavar="OWNER/NAME", help="Leave out the prompts of this repository.")
@click.option("--report", is_flag=True, help="Print the accuracy on repositories that were left out, not a diff.")
@click.option("--force", is_flag=True, help="Fit the weights even if there are too few prompts.")
def tune(
    labelled: str,
    instructions: str | None,
    files: tuple[str, ...],
    without: tuple[str, ...],
    report: bool,
    force: bool,
) -> None:
    """Fit weights, words and thresholds to labelled prompts, and print the result as a diff of the instructions.

    Each line of the file LABELLED is a JSON object such as {"prompt": "…", "task_type": "debug"}; what "enricher trace
    export" writes is accepted, too.
    """
    try:
        from workbench.tuning.labelled_prompts import LabelError
        from workbench.tuning.tune import TuningError
    except ImportError as error:
        raise click.ClickException(
            f"{error}; tuning needs numpy, which you can install with: pip install numpy"
        ) from error
    try:
        _check_prompts((labelled, *files), force=force, report=report)
        click.echo(_proposal(labelled, instructions, also=files, without=without, report=report), nl=report)
    except (TuningError, LabelError) as error:
        raise click.ClickException(str(error)) from error


def _proposal(
    labelled: str, instructions: str | None, *, also: tuple[str, ...], without: tuple[str, ...], report: bool
) -> str:
    from enricher.rules.layers import packaged_file
    from workbench.tuning import accuracy
    from workbench.tuning.tune import propose

    if report:
        return accuracy.report(accuracy.leave_repositories_out([labelled], also=also, apart=without))
    return propose(labelled, instructions or packaged_file(), also=also, without=without)


def _check_prompts(paths: tuple[str, ...], *, force: bool, report: bool) -> None:
    """Print how many prompts are used; raise ClickException if they are too few, or lack labels that a report needs."""
    from workbench.tuning.accuracy import packaged_table
    from workbench.tuning.labelled import check_labels
    from workbench.tuning.labelled_prompts import read_rows

    rows = [row for path in paths for row in read_rows(path)]
    prompts = [row for row in rows if row is not None]
    click.echo(
        f"{len(prompts)} labelled prompts are used, {len(rows) - len(prompts)} without a label are left out", err=True
    )
    if not prompts or (len(prompts) < LEAST_PROMPTS and not force):
        needed = f"{', '.join(paths)}: {len(prompts)} labelled prompts, but {LEAST_PROMPTS} are needed"
        raise click.ClickException(
            f"{needed}; to label more, run: enricher trace queue" + " (or use --force)" * bool(prompts)
        )
    if report:
        check_labels(prompts, packaged_table())
        if without := [row.place for row in prompts if not row.search_intent]:
            raise click.ClickException(f"{without[0]}: the row has no search_intent, which --report needs in every row")
