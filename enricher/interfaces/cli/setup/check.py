"""``enricher check``: lint the instructions."""

from __future__ import annotations

import json
import os
import sys

import click

from enricher.interfaces.cli import options


@click.command("check", epilog="Example: enricher check --effective")
@click.argument("file", required=False, type=click.Path())
@click.option("--effective", is_flag=True, help="Show for every rule the file and line that define it.")
@options.as_json
@options.in_folder
def check(file: str | None, effective: bool, is_json: bool, cwd: str) -> None:
    """Check FILE, or all instructions that apply in the current folder; exit 1 if there are errors.

    A FILE that is one of the layers, or could be, is checked together with the layers below it; a FILE that holds
    all the instructions is checked alone.
    """
    if file and not os.path.exists(file):
        _refuse(file, is_json=is_json)
    from enricher.rules.layers import find_layers
    from enricher.rules.lint import check as check_layers
    from enricher.rules.lint import layers_to_check

    folder = os.path.abspath(cwd)
    layers = layers_to_check(file, folder) if file else find_layers(folder)
    compiled = check_layers(layers.instructions, layers.configuration)
    errors = [problem for problem in compiled.problems if problem.severity == "error"]
    if is_json:
        problems = [
            {"file": one.file, "line": one.line, "severity": one.severity, "message": one.message}
            for one in compiled.problems
        ]
        click.echo(json.dumps({"problems": problems, "effective": compiled.winners, "hash": compiled.hash}))
    else:
        for problem in compiled.problems:
            click.echo(str(problem))
        if effective:
            for rule, winner in sorted(compiled.winners.items()):
                click.echo(f"{rule}  {winner}")
        if layers.untrusted:
            click.echo(
                f"{layers.untrusted}/.enricher is not trusted, so it is not used; to trust it, run: enricher trust"
            )
        if not compiled.problems:
            click.echo(f"{len(compiled.rules)} rules, no problems ({', '.join(layers.files())})")
    sys.exit(1 if errors else 0)


def _refuse(file: str, *, is_json: bool) -> None:
    if is_json:
        problem = {"file": file, "line": 1, "severity": "error", "message": "no such file"}
        click.echo(json.dumps({"problems": [problem], "effective": {}, "hash": ""}))
    else:
        click.echo(f"{file}:1: error: no such file")
    sys.exit(1)
