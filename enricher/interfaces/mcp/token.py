"""The token that every HTTP request to ``enricher mcp --http`` must carry.

Every account on the machine can connect to a loopback port; only the owner of the state folder can read the token.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import stat
from typing import TYPE_CHECKING

from storage.base import private

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAME = "mcp-token"
RANDOM_BYTES = 32
SHORTEST = 32
"""Minimum characters; a shorter token was truncated or written by hand."""
LONGEST = 1024
REFUSAL = b"This server asks for its token: Authorization: Bearer TOKEN (see docs/mcp.md).\n"


class TokenError(Exception):
    """The token file cannot be used; the message names the file and the remedy."""


def load(state_dir: str) -> tuple[str, bool]:
    """Return the token and whether it was newly created; raises TokenError."""
    path = f"{state_dir}/{NAME}"
    try:
        is_new = not os.path.lexists(path) and _make(state_dir, path)
        return _read(path), is_new
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or error}; make it a file that only you can read") from error


def _make(state_dir: str, path: str) -> bool:
    """Write a new token, unless another process has just done so; return whether this process wrote it."""
    private.make_directory(state_dir)
    aside = private.write_aside(path, secrets.token_urlsafe(RANDOM_BYTES).encode())
    try:
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)  # unlike a rename, a link never replaces the token of another process
            return True
        return False
    finally:
        os.unlink(aside)


def _read(path: str) -> str:
    content = private.read_file(path, LONGEST)
    status = os.lstat(path)
    again = f"delete {path} and start again: a new token is made"
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise TokenError(f"{path} is not yours alone, so others may know the token; {again}")
    token = content.strip()
    if len(token) < SHORTEST or not token.isascii():
        raise TokenError(f"{path}:1: no token of {SHORTEST} characters or more; {again}")
    return token.decode("ascii")


def guarded(app: App, token: str) -> App:
    """Wrap the application so that a request without the token gets 401 and does not reach it."""
    expected = token.encode("ascii")

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and _is_carried(scope, expected)):
            await app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send)

    return answer


def _is_carried(scope: Scope, expected: bytes) -> bool:
    given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    scheme, _blank, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
    return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), expected)


async def _refuse(send: Send) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(REFUSAL)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": REFUSAL})
