"""Serve one client on stdin and stdout, or several over HTTP on the loopback address."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from enricher.interfaces.mcp.token import guarded

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
SECONDS_TO_FINISH = 2


def serve_stdio(server: Server[Any]) -> None:
    """Serve until stdin ends or an interrupt arrives; write nothing but the protocol to stdout."""
    _quiet()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # otherwise the thread that waits for stdin would block the exit
    anyio.run(_serve_stdio, server)


async def _serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def serve_http(server: Server[Any], port: int, token: str) -> None:
    """Serve streamable HTTP on the loopback address until interrupted; port 0 means any free port.

    A request without the token is refused, as is one whose Host or Origin names another machine: this
    prevents DNS rebinding, by which a web page could read the memory. Raises OSError if the port is in use.
    """
    import uvicorn

    _quiet()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen()
        bound = listening.getsockname()[1]
        app = server.streamable_http_app(streamable_http_path=PATH, transport_security=_own_names(bound))
        config = uvicorn.Config(guarded(app, token), log_level="warning", timeout_graceful_shutdown=SECONDS_TO_FINISH)
        print(f"listening on http://{LOOPBACK}:{bound}{PATH}", file=sys.stderr, flush=True)
        uvicorn.Server(config).run(sockets=[listening])


def _own_names(port: int) -> TransportSecuritySettings:
    hosts = [f"{name}:{port}" for name in (LOOPBACK, "localhost")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])


def _quiet() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
