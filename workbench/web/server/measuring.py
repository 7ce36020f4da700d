"""Measure coverage in a separate process, which leaves the server's interpreter to the pages.

The process ends with the server, however that ends: its standard input, a pipe from the server, is then closed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from workbench.web.reading import measured

if TYPE_CHECKING:
    import sqlite3

COMMAND = "from workbench.web.server.measuring import main; main()"
NICENESS = 10
AGAIN_S = 300.0
"""Seconds after a failure in which the process is not started again."""


class MeasuringError(Exception):
    """The process failed; the message is the last line of its output."""


class Measuring:
    """Starts and watches the process that measures the coverage of versions that are due."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._process: subprocess.Popen[str] | None = None
        self._unknown: set[str] = set()
        self._not_before = 0.0

    def look(self, db: sqlite3.Connection) -> bool:
        """Start the process if a version is due; return whether it runs. Raises MeasuringError once per failure."""
        if self._process is not None and self._process.poll() is None:
            return True
        self._take_answer()
        if time.monotonic() >= self._not_before and set(measured.due(db)) - self._unknown:
            # -P: do not import from a folder in the working directory that is named like one of our packages.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", COMMAND, self._state_dir],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                start_new_session=True,
            )  # fmt: skip
        return self._process is not None

    def has_ended(self) -> bool:
        """Return whether the process ran and has ended."""
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """Kill the process, finished or not."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _take_answer(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        answer, said = process.communicate()
        if process.returncode:
            self._not_before = time.monotonic() + AGAIN_S
            raise MeasuringError(said.strip().rpartition("\n")[2] or f"ended with {process.returncode}")
        self._unknown |= set(answer.split())


def main() -> None:
    """Measure the history in the folder ``argv[1]``, and print the hashes of versions that cannot be measured."""
    from storage.db import database

    threading.Thread(target=_end_with_the_server, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    with contextlib.closing(database.connect(sys.argv[1])) as db:
        print(*measured.measure(db))


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(0)
