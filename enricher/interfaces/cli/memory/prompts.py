"""``enricher prompts``: list and print the MCP prompts, as a client receives them."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.memory.resources import opened
from enricher.interfaces.cli.output import Group


@click.group("prompts", cls=Group, epilog="Example: enricher prompts list")
def prompts() -> None:
    """List and print the prompts that the MCP server (enricher mcp) offers."""


@prompts.command("list", epilog="Example: enricher prompts list")
@options.as_json
def list_prompts(is_json: bool) -> None:
    """List the prompts and the arguments of each."""
    from enricher.interfaces.library.prompts import PROMPTS

    if is_json:
        click.echo(json.dumps({"prompts": [asdict(one) for one in PROMPTS]}))
        return
    for one in PROMPTS:
        click.echo(f"{one.name}: {one.description}")
        for argument in one.arguments:
            values = f" ({', '.join(argument.choices)})" if argument.choices else ""
            click.echo(f"  {argument.name}{'' if argument.required else '?'}: {argument.description}{values}")


@prompts.command("get", epilog="Example: enricher prompts get recall_context --arg query='session cookie'")
@click.argument("name")
@click.option("--arg", "given", multiple=True, metavar="NAME=VALUE", help="An argument for the prompt; repeatable.")
@options.in_folder
@options.as_json
def get_prompt(name: str, given: tuple[str, ...], cwd: str, is_json: bool) -> None:
    """Print the prompt NAME, with the memories that it contains."""
    from enricher.interfaces.library.prompts import get

    with opened(cwd) as library:
        text = get(name, dict(_pair(one) for one in given), library)
    click.echo(json.dumps({"name": name, "text": text}) if is_json else text, nl=is_json)


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals:
        raise click.UsageError(f"--arg {given!r} has no value; write it as: --arg NAME=VALUE")
    return name.strip(), value
