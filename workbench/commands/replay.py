"""``enricher replay``: recorded prompts again, under their own rules or other ones."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from enricher.home import state_dir
from workbench.commands.gate_options import gate_options, run_gate


@click.command("replay")
@click.option("--verify", is_flag=True, help="With the recorded rules and inputs of every trace; the only way so far.")
@click.option("--base", default="", metavar="REV", help="With --gate: what this git revision held is the base.")
@click.option("--instructions", default="", metavar="FILE", help="With --gate: this file in place of all layers.")
@gate_options
@click.option("--json", "as_json", is_flag=True, help="The outcome as one object.")
def replay(verify: bool, base: str, instructions: str, gate: bool, as_json: bool, **gated: Any) -> None:
    """Run recorded prompts again; exit 1 if a text does not come out as it was recorded, or the gate is closed."""
    del verify
    if gate:
        run_gate(base=base, instructions=instructions, is_json=as_json, **gated)
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
