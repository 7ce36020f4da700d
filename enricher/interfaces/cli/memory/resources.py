"""``enricher resources``: show the content of ``enricher://`` URIs, as an MCP client receives it."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli.output import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.interfaces.library import Library

in_folder = click.option(
    "--cwd", default=".", type=click.Path(exists=True, file_okay=False), help="The project to look from."
)
as_json_option = click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")


@contextlib.contextmanager
def opened(cwd: str) -> Iterator[Library]:
    """Yield the library of a folder; turn its errors into one-sentence messages."""
    import os

    from enricher.interfaces.library import Library
    from enricher.interfaces.library.prompts import PromptError
    from enricher.interfaces.library.resources import UnknownMemoryError, UriError
    from storage.db.database import StorageError

    try:
        yield Library(os.path.abspath(cwd))
    except (StorageError, PromptError, UriError, UnknownMemoryError) as error:
        raise click.ClickException(str(error)) from error


@click.group("resources", cls=Group)
def resources() -> None:
    """List and read what a client of the Model Context Protocol can read."""


@resources.command("list")
@as_json_option
def list_resources(as_json: bool) -> None:
    """List the addresses and the forms of addresses."""
    from enricher.interfaces.library.resources import RESOURCES

    if as_json:
        rows = [{"uri": one.uri, "name": one.name, "description": one.description} for one in RESOURCES]
        click.echo(json.dumps({"resources": rows}))
        return
    for one in RESOURCES:
        click.echo(f"{one.uri:<28} {one.description}")


@resources.command("read")
@click.argument("uri")
@in_folder
@as_json_option
def read_resource(uri: str, cwd: str, as_json: bool) -> None:
    """Print what stands at URI; it is always JSON, --json puts it on one line."""
    from enricher.interfaces.library.resources import read

    with opened(cwd) as library:
        content = read(uri, library)
    click.echo(json.dumps(content, indent=None if as_json else 2))
