"""``enricher check``: lint the instructions."""

from __future__ import annotations

import json
import os
import sys

import click


@click.command("check")
@click.argument("file", required=False, type=click.Path())
@click.option("--effective", is_flag=True, help="Name the file and line that won for every rule.")
@click.option("--json", "as_json", is_flag=True, help="Problems and winners as one object.")
@click.option("--cwd", default=".", type=click.Path(exists=True, file_okay=False), help="The project to look from.")
def check(file: str | None, effective: bool, as_json: bool, cwd: str) -> None:
    """Lint FILE, or the layers that speak in this folder; exit 1 if there are errors.

    FILE is read as the layer that it is or would be, or alone if it is complete.
    """
    if file and not os.path.exists(file):
        _refuse(file, as_json=as_json)
    from enricher.rules.checks.lint import check as check_layers
    from enricher.rules.checks.lint import layers_to_check
    from enricher.rules.layers import find_layers

    folder = os.path.abspath(cwd)
    layers = layers_to_check(file, folder) if file else find_layers(folder)
    compiled = check_layers(layers.instructions, layers.configuration)
    errors = [problem for problem in compiled.problems if problem.severity == "error"]
    if as_json:
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
            click.echo(f"{layers.untrusted}/.enricher is not trusted, so it takes no part (enricher trust)")
        if not compiled.problems:
            click.echo(f"{len(compiled.rules)} rules, no problems ({', '.join(layers.files())})")
    sys.exit(1 if errors else 0)


def _refuse(file: str, *, as_json: bool) -> None:
    if as_json:
        problem = {"file": file, "line": 1, "severity": "error", "message": "no such file"}
        click.echo(json.dumps({"problems": [problem], "effective": {}, "hash": ""}))
    else:
        click.echo(f"{file}:1: error: no such file")
    sys.exit(1)
