"""``enricher mcp`` as a process of its own, over HTTP."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from simulator import ENTRY, ROOT

from enricher.interfaces.cli.memory.library import is_sdk_installed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator import Account

needs_sdk = pytest.mark.skipif(not is_sdk_installed(), reason="the SDK of the Model Context Protocol is not installed")


def command(*options: str) -> list[str]:
    """Return what starts the server."""
    return [sys.executable, "-I", "-c", ENTRY, str(ROOT), "mcp", *options]


def authorization(account: Account) -> dict[str, str]:
    """Return the header that a client of this account sends."""
    return {"Authorization": f"Bearer {(account.state / 'mcp-token').read_text()}"}


@contextmanager
def served(account: Account) -> Iterator[int]:
    """Serve over HTTP and hand out the port; end it as a person does, with an interrupt."""
    with subprocess.Popen(
        command("--http", "--port", "0"), env=account.env, cwd=account.project, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            while said.startswith(("Token ", "Clients ")):
                said = server.stderr.readline()
            assert said.startswith("listening on http://127.0.0.1:"), said + server.stderr.read()
            yield int(said.rpartition(":")[2].partition("/")[0])
        finally:
            server.send_signal(signal.SIGINT)
            rest = server.stderr.read() if server.stderr else ""
            server.wait(30)
    assert "Traceback" not in rest
