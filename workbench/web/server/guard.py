"""Protect the served record of prompts: check each request's host name and password, and add security headers.

The protection is set up in the plugin's configuration, so that it also works in a plain ``datasette serve``. If nothing
is configured there, no request is checked:

    plugins:
      enricher:
        allowed_hosts: [history.example.org]        # in addition to localhost, 127.0.0.1 and [::1]
        password_env: ENRICHER_PUBLISH_PASSWORD     # the environment variable with the password
        home: true                                  # show our home page at /
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    Scope = dict[str, Any]
    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
SHORTEST_PASSWORD = 12
OURS = "/-/enricher"
# Datasette's own pages that are not shown, because they reveal folders of the machine.
SHOWS_THE_MACHINE = frozenset(f"/-/{name}{end}" for name in ("databases", "threads") for end in ("", ".json"))
# data: and 'unsafe-inline': Datasette's pages have icons and styles inside.
POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; script-src "
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# A name, or an IPv6 address in brackets, without the dot that may end a full name, and without its port.
NAME_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:@/]*?)\.?(?::[0-9]*)?")
STATIC = ("/-/static/", "/-/static-plugins/")
KEPT = (b"cache-control", b"private, max-age=31536000, immutable")
"""The caching header for static files that have a hash of the content, or a version, in their address."""
VERSIONED = re.compile(r"-\d+\.\d+\.\d+[.-][^/]*$")  # such as codemirror-5.57.0.min.js


class ConfigurationError(ValueError):
    """Raised if the plugin's configuration has malformed host names, or if the password is missing or too short."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The conditions that a request must satisfy, and the paths under which the pages are served.

    If ``hosts`` is None, any host name is accepted; if ``password`` is empty, none is needed. ``is_home`` says whether
    our home page is shown at ``/``, and ``base`` is the path under which all pages are served.
    """

    hosts: frozenset[str] | None = None
    password: bytes = b""
    is_home: bool = False
    base: str = "/"

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str]:
        """Return the HTTP status and message with which to refuse a request with these headers; status 0 accepts it."""
        known = {name.lower(): value for name, value in headers}
        # Any site can have its name resolved to this machine, and would then read the history in the user's browser.
        host = _name(known.get(b"host", b"").decode("latin-1"))
        if self.hosts is not None and host not in self.hosts:
            return 421, f"This server does not answer to the name {host or '(none)'}; whoever runs it can allow it.\n"
        if self.password and not _is_right(known.get(b"authorization", b""), self.password):
            return 401, "A password is needed: any user name and the password, or Authorization: Bearer PASSWORD.\n"
        return 0, ""

    def without_prefix(self, path: str) -> str:
        """Return a path without ``base``, the prefix under which the pages are served."""
        if self.base != "/" and path.startswith(self.base):
            return "/" + path[len(self.base) :]
        return "/" if path == self.base.rstrip("/") else path

    def served_path(self, path: str) -> str:
        """Return the path of the page that answers a request for ``path``.

        It differs from ``path`` only if ``is_home``: ``/`` is answered by our home page, and ``/-/`` by Datasette's
        home page.
        """
        inner = self.without_prefix(path)
        if not self.is_home or inner not in ("/", "/-/"):
            return path
        return self.base + (OURS if inner == "/" else "/").lstrip("/")


def configured(config: dict[str, Any] | None, *, base: str) -> Guard | None:
    """Return the guard that the plugin's configuration describes; None if the configuration asks for no protection.

    ``base`` is the path under which the pages are served. Raises ConfigurationError if the host names are not a list of
    names, or if the password is missing or too short.
    """
    settings = {name: value for name, value in (config or {}).items() if value}
    if not settings.keys() & {"allowed_hosts", "password_env", "home"}:
        return None
    named = settings.get("allowed_hosts")
    if named is not None and (not isinstance(named, list) or not all(isinstance(one, str) for one in named)):
        raise ConfigurationError("enricher: allowed_hosts is a list of names, like [history.example.org]")
    hosts = LOOPBACK | {_name(one) for one in named} if named else None
    password = b""
    if variable := str(settings.get("password_env", "")):
        password = os.environ.get(variable, "").encode()
        if len(password) < SHORTEST_PASSWORD:
            raise ConfigurationError(
                f"enricher: the variable {variable} has to hold a password of {SHORTEST_PASSWORD} bytes or more"
            )
    return Guard(hosts, password, bool(settings.get("home")), base)


def guarded(app: App, guard: Guard) -> App:
    """Return an ASGI application that refuses requests that ``guard`` does not accept, and passes others to ``app``."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket: no page uses one
            return
        send = _with_headers(send, *_added(guard, scope))
        status, sentence = guard.refusal(scope["headers"])
        if not status and guard.without_prefix(scope["path"]) in SHOWS_THE_MACHINE:
            status, sentence = 404, "This page of Datasette describes the machine; it is not shown here.\n"
        if not status and not scope["path"].startswith("/"):
            status, sentence = 400, "An address begins with a slash.\n"
        if status:
            await _refuse(send, status, sentence)
            return
        shown = guard.served_path(scope["path"])
        if shown != scope["path"]:
            scope = {**scope, "path": shown, "raw_path": shown.encode("ascii")}  # Datasette prefers the raw path
        await app(scope, receive, send)

    return answer


def _name(host: str) -> str:
    """Return the host name of a Host header, without the port and with brackets around an IPv6 address.

    A malformed header is returned in lower case; since no accepted name is malformed, its request is refused.
    """
    host = host.strip().lower()
    if host.count(":") > 1 and not host.startswith("["):  # an IPv6 address, as the system lists its own ones
        host = f"[{host}]"
    found = NAME_AND_PORT.fullmatch(host)
    return found[1] if found else host


def _is_right(authorization: bytes, password: bytes) -> bool:
    scheme, _blank, given = authorization.strip().partition(b" ")
    if scheme.lower() == b"basic":
        try:
            given = base64.b64decode(given.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() == b"bearer":
        given = given.strip()
    else:
        return False
    return hmac.compare_digest(given, password)  # its time does not tell how much of a wrong password is right


def _policy(guard: Guard, path: str) -> bytes:
    """Return the Content-Security-Policy for a page.

    On our own pages, it allows no scripts; on Datasette's pages, it allows the inline scripts that they need.
    """
    inner = guard.without_prefix(path)
    is_ours = inner == OURS or inner.startswith(f"{OURS}/") or (guard.is_home and inner == "/")
    return (POLICY + ("'none'" if is_ours else "'self' 'unsafe-inline'")).encode()


def _added(guard: Guard, scope: Scope) -> Iterable[tuple[bytes, bytes]]:
    yield b"content-security-policy", _policy(guard, scope["path"])
    path = guard.without_prefix(scope["path"])
    if path.startswith(STATIC) and (scope.get("query_string") or VERSIONED.search(path)):
        yield KEPT


def _with_headers(send: Send, *added: tuple[bytes, bytes]) -> Send:
    async def sent(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            # An error is not kept: the file may be there after an update.
            more = [*HEADERS, *(one for one in added if message["status"] < 400 or one is not KEPT)]
            names = {name for name, _value in more}
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in names]
            message = {**message, "headers": [*kept, *more]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, sentence: str) -> None:
    from datasette.utils.asgi import Response

    headers = {"content-length": str(len(sentence.encode())), "cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = 'Basic realm="Prompt history", charset="UTF-8"'
    await Response.text(sentence, status=status, headers=headers).asgi_send(send)
