"""Send one HTTP/1.1 request without encryption, for example to a model on this machine.

A channel has only 150 ms, and importing ``http.client`` takes a good part of them; encrypted endpoints still need it.
"""

from __future__ import annotations

import time
from _socket import SOCK_STREAM, getaddrinfo, socket  # ``socket`` itself loads selectors, enum and io

PIECE = 64 * 1024
LARGEST_HEAD = 64 * 1024
END_OF_HEAD = b"\r\n\r\n"


class HttpError(Exception):
    """The answer is no complete HTTP response."""


class Response:
    """A response; the names in ``headers`` are in lower case."""

    __slots__ = ("content", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content


def post(
    host: str,
    port: int,
    path: str,
    *,
    headers: dict[str, str],
    body: bytes,
    until: float,
    largest: int,
    proxy: tuple[str, int] | None = None,
) -> Response:
    """Send a request and return its response, of at most ``largest`` bytes, before ``until`` (``time.monotonic``).

    ``proxy`` is the address of the proxy that forwards the request. Raises OSError (TimeoutError when the time is up)
    and HttpError.
    """
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    named = {"host": authority, "connection": "close", "content-length": str(len(body)), **headers}
    target = f"http://{authority}{path}" if proxy else path  # RFC 9112, section 3.2.2
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    connection = _connect(*(proxy or (host, port)), until)
    try:
        connection.settimeout(_left(until))
        connection.sendall("\r\n".join(lines).encode() + END_OF_HEAD + body)
        return _response(_Stream(connection, until, largest))
    finally:
        connection.close()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect(host: str, port: int, until: float) -> socket:
    """Return a connection to the first address of the host that accepts one."""
    failure: OSError = OSError(f"no address for {host}")
    for family, kind, protocol, _name, address in getaddrinfo(host, port, 0, SOCK_STREAM):
        connection = socket(family, kind, protocol)
        try:
            connection.settimeout(_left(until))
            connection.connect(address)
        except OSError as refused:
            connection.close()
            failure = refused
        else:
            return connection
    raise failure


class _Stream:
    """The bytes of a response, read as they are needed."""

    def __init__(self, connection: socket, until: float, largest: int) -> None:
        self.connection, self.until = connection, until
        self.received = b""
        self.left = largest + LARGEST_HEAD

    def more(self) -> bool:
        """Receive another piece; return whether there was one."""
        self.connection.settimeout(_left(self.until))
        piece = self.connection.recv(PIECE)
        self.left -= len(piece)
        if self.left < 0:
            raise HttpError("the answer is too large")
        self.received += piece
        return bool(piece)

    def until_mark(self, mark: bytes) -> bytes:
        while mark not in self.received:
            if not self.more():
                raise HttpError("the connection was closed within the answer")
        found, _, self.received = self.received.partition(mark)
        return found

    def exactly(self, count: int) -> bytes:
        while len(self.received) < count:
            if not self.more():
                raise HttpError("the connection was closed within the answer")
        found, self.received = self.received[:count], self.received[count:]
        return found

    def rest(self) -> bytes:
        while self.more():
            pass
        return self.received


def _response(stream: _Stream) -> Response:
    try:
        first, *lines = stream.until_mark(END_OF_HEAD).decode("latin-1").split("\r\n")
        version, status = first.split(" ", 2)[:2]
        if not version.startswith("HTTP/1."):
            raise HttpError(f"no HTTP response: {first[:40]!r}")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return Response(int(status), headers, _body(stream, headers))
    except ValueError as failure:
        raise HttpError(f"no HTTP response: {failure!r:.60}") from None


def _body(stream: _Stream, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int(stream.until_mark(b"\r\n").partition(b";")[0], 16):
            parts.append(stream.exactly(size))
            stream.exactly(2)
        return b"".join(parts)
    if "content-length" in headers:
        return stream.exactly(int(headers["content-length"]))
    return stream.rest()
