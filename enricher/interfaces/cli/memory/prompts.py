"""``enricher prompts``: list and print the MCP prompts, as a client receives them."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from enricher.interfaces.cli.memory.resources import as_json_option, in_folder, opened
from enricher.interfaces.cli.output import Group


@click.group("prompts", cls=Group)
def prompts() -> None:
    """List and write the prompts that a client of the Model Context Protocol can get."""


@prompts.command("list")
@as_json_option
def list_prompts(as_json: bool) -> None:
    """List the prompts and what each takes."""
    from enricher.interfaces.library.prompts import PROMPTS

    if as_json:
        click.echo(json.dumps({"prompts": [asdict(one) for one in PROMPTS]}))
        return
    for one in PROMPTS:
        click.echo(f"{one.name}: {one.description}")
        for argument in one.arguments:
            values = f" ({', '.join(argument.choices)})" if argument.choices else ""
            click.echo(f"  {argument.name}{'' if argument.required else '?'}: {argument.description}{values}")


@prompts.command("get")
@click.argument("name")
@click.option("--arg", "given", multiple=True, metavar="NAME=VALUE", help="An argument of the prompt; repeatable.")
@in_folder
@as_json_option
def get_prompt(name: str, given: tuple[str, ...], cwd: str, as_json: bool) -> None:
    """Write the prompt NAME, with the memories that it brings."""
    from enricher.interfaces.library.prompts import get

    with opened(cwd) as library:
        text = get(name, dict(_pair(one) for one in given), library)
    click.echo(json.dumps({"name": name, "text": text}) if as_json else text, nl=as_json)


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise click.UsageError(f"--arg is {given!r}; write --arg name=value")
    return name.strip(), value
