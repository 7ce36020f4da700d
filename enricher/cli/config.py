"""``enricher config show``: every setting, its value, and the source that won."""

from __future__ import annotations

import json
import os

import click

from enricher.cli.output import Group
from enricher.home import config_dir, state_dir
from enricher.settings import DEFAULTS, named_in, with_environment


@click.group("config", cls=Group)
def config() -> None:
    """Show the settings and where they come from."""


@config.command("show")
@click.option("--json", "as_json", is_flag=True, help="One object: key → value, with the warnings.")
@click.option("--cwd", default=".", type=click.Path(exists=True, file_okay=False), help="The project to look from.")
def show(as_json: bool, cwd: str) -> None:
    """Print every key with its value and source; a value that cannot be read is a warning."""
    from enricher.rules.configuration import read_configuration
    from enricher.rules.layers import find_layers

    from_files: dict[str, str] = {}
    settings = dict(DEFAULTS)
    warnings: list[str] = []
    for layer in find_layers(os.path.abspath(cwd)).configuration:
        found, problems = read_configuration(layer.path)
        settings |= found
        from_files |= dict.fromkeys(found, layer.path)
        warnings += [str(problem) for problem in problems]
    settings, problems_in_environment = with_environment(settings, os.environ)
    sources = from_files | {key: f"${name}" for name, key in named_in(os.environ)}
    warnings += [f"${name}: {message}" for name, message in problems_in_environment]
    folders = {"config": config_dir(), "state": state_dir()}
    if as_json:
        found_out = {"folders": folders, "settings": settings, "sources": sources, "warnings": warnings}
        click.echo(json.dumps(found_out, sort_keys=True))
        return
    for name, folder in folders.items():
        click.echo(f"{name} folder: {folder}")
    for key in sorted(settings):
        click.echo(f"{key} = {json.dumps(settings[key])}  ({sources.get(key, 'default')})")
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
