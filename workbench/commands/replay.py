"""``enricher replay``: recorded prompts again, under their own rules or other ones."""

from __future__ import annotations

import json
import sys

import click

from enricher.home import state_dir


@click.command("replay")
@click.option("--verify", is_flag=True, help="With the recorded rules and inputs of every trace; the only way so far.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as one object.")
def replay(verify: bool, as_json: bool) -> None:
    """Run recorded prompts again; exit 1 if a text does not come out as it was recorded."""
    del verify
    from storage.database import StorageError
    from workbench.fidelity import verify as verify_traces

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
