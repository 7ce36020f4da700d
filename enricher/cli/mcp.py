"""``enricher mcp``: serve the memory to a client of the Model Context Protocol."""

from __future__ import annotations

import importlib.util

import click

from enricher.cli.resources import in_folder, opened

DEFAULT_PORT = 8740  # not 8765, from which on `enricher publish` looks for a free one
PARTS_OF_THE_SDK = ("mcp", "mcp_types")
MISSING = "the SDK of the Model Context Protocol, version 2 or newer, is not installed; pip install 'mcp>=2'"


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve streamable HTTP on this machine instead of stdio.")
@click.option(
    "--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535), help="With --http; 0: any."
)
@in_folder
def mcp(over_http: bool, port: int, cwd: str) -> None:
    """Serve this project's memory, topics and explanations over the Model Context Protocol.

    On stdin and stdout until stdin ends, or with --http on 127.0.0.1 until interrupted. Every program of this
    machine can reach the latter; without a client that needs HTTP, stdio is the private way.
    """
    if not all(importlib.util.find_spec(part) for part in PARTS_OF_THE_SDK):
        raise click.ClickException(MISSING)
    from enricher.mcp.server import build_server
    from enricher.mcp.serving import serve_http, serve_stdio

    with opened(cwd) as library:
        library.build()
        server = build_server(library)
    if not over_http:
        serve_stdio(server)
        return
    try:
        serve_http(server, port)
    except OSError as error:
        raise click.ClickException(f"port {port} cannot be used: {error.strerror}; name another with --port") from error
