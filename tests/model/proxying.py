"""A loopback proxy for tests: it forwards requests, or opens tunnels, to one address whatever host they name.

A tunnel ends in the proxy, which has the certificate of the host: the server behind it speaks no TLS.
"""

from __future__ import annotations

import select
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = "model.example"
"""The only host that the proxy and the certificate know; no name server does."""


class LoopbackProxy(ThreadingHTTPServer):
    """Sends everything on to ``target``, an address of this machine; ``status`` other than 200 refuses everything."""

    daemon_threads = True

    def __init__(self, target: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.status = 200
        self.tls: ssl.SSLContext | None = None
        """Needed for tunnels."""
        self.requests: list[tuple[str, str, str]] = []
        """Method, target and ``proxy-authorization`` of each request."""

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackProxy

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the base class)
        pass

    def _is_refused(self) -> bool:
        self.server.requests.append((self.command, self.path, self.headers.get("proxy-authorization", "")))
        if self.server.status != 200:
            self.send_error(self.server.status)
        return self.server.status != 200

    def do_CONNECT(self) -> None:
        if self._is_refused():
            return
        assert self.server.tls
        self.send_response(200)
        self.end_headers()
        with (
            self.server.tls.wrap_socket(self.connection, server_side=True) as tunnel,
            socket.create_connection(self.server.target) as onward,
        ):
            _copy_both_ways(tunnel, onward)
        self.close_connection = True

    def do_POST(self) -> None:
        if self._is_refused():
            return
        path = self.path.removeprefix(f"http://{HOST}:80")
        body = self.rfile.read(int(self.headers["content-length"]))
        head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items() if not name.startswith("proxy-"))
        with socket.create_connection(self.server.target) as onward:
            onward.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
            while piece := onward.recv(65536):
                self.wfile.write(piece)


def _copy_both_ways(one: socket.socket, other: socket.socket) -> None:
    while True:
        for ready in select.select([one, other], [], [], 20)[0]:
            piece = ready.recv(65536)
            if not piece:
                return
            (other if ready is one else one).sendall(piece)


@contextmanager
def proxying(target: tuple[str, int]) -> Iterator[LoopbackProxy]:
    """Serve a proxy on a free port until the block ends."""
    server = LoopbackProxy(target)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certified(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return what a server needs to be HOST, and the file of its certificate, which signed itself."""
    file, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(key), "-out", str(file)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return context, file
