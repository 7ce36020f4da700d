"""Serve the workbench to browsers on this machine that know a secret token (``enricher workbench --web``).

textual-serve runs the app once for each visitor and has no access control of its own. Therefore the printed address
contains a token, the first request exchanges it for a cookie, and all requests without the cookie are refused. To
prevent DNS rebinding, requests that name another host or come from a page of another host are refused, too.
"""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import sys
from typing import TYPE_CHECKING

import click
from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from aiohttp.typedefs import Middleware

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK = "127.0.0.1"
COOKIE = "enricher_workbench"
START = "import sys; from enricher.interfaces.cli import main; main()"
# The address with the token must not be sent to other sites, framed by them, or cached.
HEADERS = {"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-store"}
REFUSED = "Open the address that `enricher workbench --web` printed; it holds the token.\n"


class WorkbenchServer(Server):
    """Serves ``enricher workbench OPTIONS`` to browsers on the loopback interface, at a free port."""

    def __init__(self, options: Sequence[str]) -> None:
        command = shlex.join([sys.executable, "-c", START, "workbench", *options])
        # The port must be chosen here, because textual-serve derives the address of the app from it.
        super().__init__(command, host=LOOPBACK, port=_free_port(), title="Prompt Enricher")
        self.token = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """Return the address to open in the browser, including the token."""
        return f"{self.public_url}/?token={self.token}"

    def run(self) -> None:
        """Serve until ctrl+c, and print the address once the port is open.

        Requests are not logged, because one of them contains the token.
        """
        text = f"the workbench is at {self.address}\nctrl+c ends it"
        web.run_app(
            self._make_app(), host=self.host, port=self.port, access_log=None, print=lambda _text: click.echo(text)
        )

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing; ``run`` prints the address once the port is open."""

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._checked())
        return app

    def _checked(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            own = self.public_url.partition("://")[2]
            if request.host != own or request.headers.get("Origin", self.public_url) != self.public_url:
                return web.Response(status=403, text=REFUSED)
            if request.path == "/" and self._is_token(request.query.get("token", "")):
                # The redirect removes the token from the address bar.
                answer = web.Response(status=303, headers={"Location": "/", **HEADERS})
                answer.set_cookie(COOKIE, self.token, httponly=True, samesite="Strict")
                return answer
            if not self._is_token(request.cookies.get(COOKIE, "")):
                return web.Response(status=403, text=REFUSED)
            found = await handler(request)
            if not found.prepared:  # the headers of a websocket are already sent
                found.headers.update(HEADERS)
            return found

        return check

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())  # bytes, because texts may only be ASCII


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
