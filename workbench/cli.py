"""The workbench's commands; ``enricher`` finds them through its entry points."""

from __future__ import annotations

import json
import sys

import click

from enricher.home import state_dir


@click.command("replay")
@click.option("--verify", is_flag=True, required=True, help="With the recorded rules and inputs of every trace.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as one object.")
def replay(verify: bool, as_json: bool) -> None:
    """Run recorded prompts again; exit 1 if a text does not come out as it was recorded."""
    del verify
    from storage.database import StorageError
    from workbench.replay import verify as verify_traces

    try:
        outcome = verify_traces(state_dir())
    except StorageError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"same": outcome.same, "differing": outcome.differing, "left_out": outcome.left_out}))
    else:
        click.echo(f"{outcome.same} texts came out byte for byte as recorded, {len(outcome.differing)} did not")
        for reason, count in sorted(outcome.left_out.items()):
            click.echo(f"{count} left out: {reason}")
        for trace_id in outcome.differing:
            click.echo(f"differs: {trace_id}  (enricher explain --trace {trace_id})")
    sys.exit(1 if outcome.differing else 0)


@click.command("tune")
@click.argument("labelled", type=click.Path(exists=True, dir_okay=False))
@click.option("--instructions", type=click.Path(exists=True, dir_okay=False), help="The file to tune; else ours.")
@click.option("--also", multiple=True, type=click.Path(exists=True, dir_okay=False), help="More prompts to fit.")
@click.option("--report", is_flag=True, help="The accuracy on left-out repositories in place of a diff.")
def tune(labelled: str, instructions: str | None, also: tuple[str, ...], report: bool) -> None:
    """Propose weights from labelled prompts, as a diff of the instructions."""
    try:
        from workbench import accuracy
        from workbench.tune import TuningError, propose
    except ImportError as error:
        raise click.ClickException(f"{error}; tuning needs numpy: pip install numpy") from error
    from enricher.rules.layers import packaged_file

    if report:
        click.echo(accuracy.report(accuracy.leave_repositories_out([labelled], also=also)))
        return
    try:
        click.echo(propose(labelled, instructions or packaged_file(), also=also), nl=False)
    except TuningError as error:
        raise click.ClickException(str(error)) from error
