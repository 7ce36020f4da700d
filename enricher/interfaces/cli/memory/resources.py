"""``enricher resources``: show the content of ``enricher://`` URIs, as an MCP client receives it."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.interfaces.library import Library


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


@click.group("resources", cls=Group, epilog="Example: enricher resources list")
def resources() -> None:
    """List and read the resources that the MCP server (enricher mcp) offers."""


@resources.command("list", epilog="Example: enricher resources list")
@options.as_json
def list_resources(is_json: bool) -> None:
    """List the URIs of the resources, and what is in each."""
    from enricher.interfaces.library.resources import RESOURCES

    if is_json:
        rows = [{"uri": one.uri, "name": one.name, "description": one.description} for one in RESOURCES]
        click.echo(json.dumps({"resources": rows}))
        return
    for one in RESOURCES:
        click.echo(f"{one.uri:<28} {one.description}")


@resources.command("read", epilog="Example: enricher resources read enricher://topics")
@click.argument("uri")
@options.in_folder
@options.as_json
def read_resource(uri: str, cwd: str, is_json: bool) -> None:
    """Print the content of the resource at URI as indented JSON, or on one line with --json."""
    from enricher.interfaces.library.resources import read

    with opened(cwd) as library:
        content = read(uri, library)
    click.echo(json.dumps(content, indent=None if is_json else 2))
