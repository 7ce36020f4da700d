"""``enricher mcp``: serve the memory to a client of the Model Context Protocol."""

from __future__ import annotations

import importlib.util

import click

from enricher.interfaces.cli import options
from enricher.interfaces.cli.memory.library import opened

DEFAULT_PORT = 8740  # not 8765, where `enricher publish` starts to look for a free port
PARTS_OF_THE_SDK = ("mcp", "mcp_types")
MISSING = "the MCP server needs the Python package mcp, version 2 or newer; install it with: pip install 'mcp>=2'"


def is_sdk_installed() -> bool:
    """Return whether the MCP SDK is installed, without which the server cannot start."""
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
        library.build()
        server = build_server(library)
    if not over_http:
        serve_stdio(server)
        return
    token = _token()
    try:
        serve_http(server, port, token)
    except OSError as error:
        raise click.ClickException(
            f"port {port} cannot be used: {error.strerror}; choose another with --port"
        ) from error


def _token() -> str:
    from enricher.home import state_dir
    from enricher.interfaces.mcp import token

    try:
        known, is_new = token.load(state_dir())
    except token.TokenError as error:
        raise click.ClickException(str(error)) from error
    if is_new:
        click.echo(f"Token (shown only once, stored in {state_dir()}/{token.NAME}): {known}", err=True)
        click.echo("Clients must send it with each request in this header: Authorization: Bearer TOKEN", err=True)
    return known
