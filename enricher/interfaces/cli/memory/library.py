"""``enricher mcp``: serve memories to MCP clients; ``topics``, ``resources``, ``prompts``: print what is served."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import CommandGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.interfaces.library import Library

MOST_SHOWN = 40
LONGEST_PREVIEW = 200

DEFAULT_PORT = 8740  # not 8765, where `enricher publish` starts to look for a free port
PARTS_OF_THE_SDK = ("mcp", "mcp_types")  # mcp_types exists from version 2 on
MISSING = "the MCP server needs the Python package mcp, version 2 or newer; install it with: pip install 'mcp>=2'"


@contextlib.contextmanager
def opened(cwd: str) -> Iterator[Library]:
    """Yield the ``Library`` of the project in ``cwd``; show errors that it raises as messages instead of tracebacks."""
    from enricher.interfaces.library import Library
    from enricher.interfaces.library.prompts import PromptError
    from enricher.interfaces.library.resources import UnknownMemoryError
    from enricher.sources.uris import UriError
    from storage.db.database import StorageError

    try:
        yield Library(os.path.abspath(cwd))
    except (StorageError, PromptError, UriError, UnknownMemoryError) as error:
        raise click.ClickException(str(error)) from error


@click.group("resources", cls=CommandGroup, epilog="Example: enricher resources list")
def resources() -> None:
    """List and read the resources that the MCP server (enricher mcp) offers."""


@resources.command("list", epilog="Example: enricher resources list")
@options.as_json
def list_resources(is_json: bool) -> None:
    """List the URIs of the resources, and what is in each."""
    from enricher.interfaces.library.resources import RESOURCES

    if is_json:
        click.echo(json.dumps({"resources": [asdict(one) for one in RESOURCES]}))
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


@click.group("prompts", cls=CommandGroup, epilog="Example: enricher prompts list")
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


@click.command("topics", epilog="Example: enricher topics")
@click.argument("topic", required=False)
@options.in_folder
@options.as_json
def topics(topic: str | None, cwd: str, is_json: bool) -> None:
    """List the topics of the project's memory, or the memories of one TOPIC."""
    from enricher.interfaces.library.resources import read
    from enricher.sources.uris import TOPICS_URI, topic_uri

    with opened(cwd) as library:
        content = read(topic_uri(topic) if topic and topic.strip() else TOPICS_URI, library)
    if is_json:
        click.echo(json.dumps(content))
    elif "topic" in content:
        _print_topic(content)
    else:
        _print_topics(content)


def _print_topics(content: dict[str, Any]) -> None:
    if not content["topics"]:
        click.echo("no topics: this project has no memories yet; add one with: enricher memory add TEXT")
    for one in content["topics"][:MOST_SHOWN]:
        click.echo(f"{one['memory_count']:>6}  {one['name']:<30} {', '.join(one['namespaces'])}")
    if content["total"] > MOST_SHOWN:
        click.echo(f"and {content['total'] - MOST_SHOWN} more; --json prints {content['count']} of them")


def _print_topic(content: dict[str, Any]) -> None:
    from enricher.prompt.text import harmless

    if not content["memories"]:
        click.echo(f"no memory has the topic {content['topic']}; to list the topics, run: enricher topics")
        return
    for one in content["memories"]:
        click.echo(f"{one['id']}  {one['namespace']}  {one['created_at'][:10]}  {harmless(one['source'], longest=80)}")
        click.echo(f"  {harmless(one['content'], longest=LONGEST_PREVIEW)}")
    related = ", ".join(one["name"] for one in content["related_topics"])
    click.echo(f"related topics: {related}" if related else "no related topics")


def is_sdk_installed() -> bool:
    """Return whether the MCP SDK is installed; the MCP server needs it."""
    return all(importlib.util.find_spec(part) for part in PARTS_OF_THE_SDK)


@click.command("mcp", epilog="Example: enricher mcp --http --port 0")
@click.option(
    "--http", "over_http", is_flag=True, help="Serve over HTTP, on this machine only, instead of stdin and stdout."
)
@click.option(
    "--port",
    default=DEFAULT_PORT,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port for --http; 0: any free one.",
)
@options.in_folder
def mcp(over_http: bool, port: int, cwd: str) -> None:
    """Serve this project's memory, topics and explanations over the Model Context Protocol.

    It serves on stdin and stdout until stdin ends, or with --http on 127.0.0.1 until it is interrupted. Each request
    over HTTP must carry the token in $ENRICHER_HOME/mcp-token, which is generated and printed at the first start.
    """
    if not is_sdk_installed():
        raise click.ClickException(MISSING)
    from enricher.interfaces.mcp.server import build_server, serve_http, serve_stdio

    with opened(cwd) as library:
        library.build()  # before the first request, and so that a broken database is reported at the start
        server = build_server(library)
    if not over_http:
        serve_stdio(server)
        return
    token = _token()
    try:
        serve_http(server, port, token)
    except OSError as error:
        reason = f"port {port} cannot be used: {error.strerror}; choose another with --port"
        raise click.ClickException(reason) from error


def _token() -> str:
    from enricher.home import state_dir
    from enricher.interfaces.mcp import server

    try:
        known, is_new = server.load_token(state_dir())
    except server.TokenError as error:
        raise click.ClickException(str(error)) from error
    if is_new:
        click.echo(f"Token (shown only once, stored in {state_dir()}/{server.TOKEN_FILE}): {known}", err=True)
        click.echo("Clients must send it with each request in this header: Authorization: Bearer TOKEN", err=True)
    return known
