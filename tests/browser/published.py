"""The real ``enricher publish`` over a state folder, as a process of its own on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ENTRY = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[0] = 'enricher'; "
    "from enricher.interfaces.cli import main; main()"
)
PATIENCE_S = 60
HOME = "/-/enricher"


def free_port() -> int:
    """Return a port of the loopback that nobody has at the moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def published(
    state: Path | str, *words: str, password: str = "", patience_s: float = PATIENCE_S, output: Path | None = None
) -> Iterator[str]:
    """Serve the history of a state folder; the value is the address without a slash at its end.

    ``output`` is the file that the command's output is written to. Raises RuntimeError with what the command wrote
    where it ends or does not answer.
    """
    port = free_port()
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), "publish", "--port", str(port), *words]
    env = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    env |= {"ENRICHER_HOME": str(state)} | ({"ENRICHER_PUBLISH_PASSWORD": password} if password else {})
    with output.open("w+b") if output else tempfile.TemporaryFile() as said:
        server = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            address = f"http://127.0.0.1:{port}"
            if not _answers(server, address, patience_s):
                said.seek(0)
                raise RuntimeError(f"enricher publish does not answer at {address}: {said.read().decode()}")
            yield address
        finally:
            server.terminate()
            server.wait()


def _answers(server: subprocess.Popen[bytes], address: str, patience_s: float) -> bool:
    until = time.monotonic() + patience_s
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}{HOME}", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.05)
        else:
            return True
    return False
