"""The workbench in a browser: textual-serve on the loopback interface, behind a token.

Only the address that ``enricher workbench --web`` prints holds the token. The first request with it sets a cookie,
which the page's own requests (its script, its websocket) send. Every other request is refused before textual-serve
sees it, so that no process is started for it.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK = "127.0.0.1"
COOKIE = "enricher-workbench"
HEADERS = {"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-store"}


class BrowserApp(Server):
    """Serves a command that starts a Textual app, to those who know the token."""

    def __init__(self, command: str, port: int) -> None:
        """Listen on the port, 0 for a free one; raises OSError or OverflowError if it cannot be used."""
        self._socket = socket.create_server((LOOPBACK, port))
        super().__init__(command, host=LOOPBACK, port=self._socket.getsockname()[1], title="Prompt Enricher")
        self._token = secrets.token_urlsafe(32)

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"{self.public_url}/?token={self._token}"

    async def _make_app(self) -> web.Application:
        app: web.Application = await super()._make_app()
        app.middlewares.append(self._guard)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing yet: nobody is answered before ``serve`` says so."""

    def serve(self, debug: bool = False) -> None:
        """Serve until interrupted; no log of requests, which would hold the token."""
        del debug
        web.run_app(self._make_app(), sock=self._socket, access_log=None, print=self._announce)

    def _announce(self, _text: str) -> None:
        print(f"The workbench is at {self.address}")
        print("Whoever has this address reads your prompts. Ctrl+C ends it.", flush=True)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse other host names, pages of other origins, and whoever has not the token."""
        if request.host != f"{LOOPBACK}:{self.port}":
            return web.Response(status=421, text="This server answers only to the address that it printed.\n")
        if request.headers.get("Origin", self.public_url) != self.public_url:
            return web.Response(status=403, text="Another page must not use the workbench.\n")
        if self._is_token(request.query.get("token", "")) and request.path == "/":
            moved = web.Response(status=303, headers={"Location": f"{self.public_url}/", **HEADERS})
            moved.set_cookie(f"{COOKIE}-{self.port}", self._token, httponly=True, samesite="Strict", path="/")
            return moved
        if not self._is_token(request.cookies.get(f"{COOKIE}-{self.port}", "")):
            return web.Response(status=401, text="Open the address with the token that enricher workbench printed.\n")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update(HEADERS)
        return answer

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())
