"""``enricher tune``: fit weights to labelled prompts, as a diff of the instructions."""

from __future__ import annotations

import click

LEAST_PROMPTS = 100
"""With fewer prompts, the weights would overfit single prompts."""


@click.command("tune")
@click.argument("labelled", type=click.Path(exists=True, dir_okay=False))
@click.option("--instructions", type=click.Path(exists=True, dir_okay=False), help="The file to tune; else ours.")
@click.option("--also", multiple=True, type=click.Path(exists=True, dir_okay=False), help="More prompts to fit.")
@click.option("--without", multiple=True, metavar="OWNER/NAME", help="A repository whose prompts take no part.")
@click.option("--report", is_flag=True, help="The accuracy on left-out repositories in place of a diff.")
@click.option("--force", is_flag=True, help="Also with too few prompts to learn from.")
def tune(
    labelled: str,
    instructions: str | None,
    also: tuple[str, ...],
    without: tuple[str, ...],
    report: bool,
    force: bool,
) -> None:
    """Propose weights, plain words and thresholds from labelled prompts, as a diff of the instructions.

    LABELLED holds one {"prompt": …, "task_type": …} a line, or is what "enricher trace export" writes.
    """
    try:
        from workbench.tuning.labelled_rows import LabelError
        from workbench.tuning.tune import TuningError
    except ImportError as error:
        raise click.ClickException(f"{error}; tuning needs numpy: pip install numpy") from error
    try:
        _check_prompts((labelled, *also), force=force, report=report)
        click.echo(_proposal(labelled, instructions, also=also, without=without, report=report), nl=report)
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
    from workbench.tuning.labelled_rows import read_rows

    rows = [row for path in paths for row in read_rows(path)]
    prompts = [row for row in rows if row is not None]
    click.echo(f"{len(prompts)} labelled prompts used, {len(rows) - len(prompts)} without a label left out", err=True)
    if not prompts or (len(prompts) < LEAST_PROMPTS and not force):
        needed = f"{len(prompts)} labelled prompts in {', '.join(paths)}; {LEAST_PROMPTS} are needed"
        raise click.ClickException(f"{needed} (label more with: enricher trace label)" + "; or --force" * bool(prompts))
    if report:
        check_labels(prompts, packaged_table())
        if without := [row.place for row in prompts if not row.search_intent]:
            raise click.ClickException(f"{without[0]}: no search_intent; --report judges it, so every row needs one")
