"""Keep a live history up to date while it is served: sums and word index in a thread, coverage in a process.

Coverage is how often each rule fires. Its process leaves the server's interpreter to the pages. It ends with the
server, even if the server is killed, because its standard input, a pipe from the server, is closed then.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from storage.db import database
from storage.metrics import rollups
from storage.traces import search
from workbench.web.reading import coverage_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_EVERY_S = 2.0
"""Seconds between two checks for new data, each of one pragma; the pages may be behind the hook by this much."""
PATIENCE_MS = 250
"""Milliseconds that the thread waits for other writers, because hooks and commands have priority."""
COMMAND = "from workbench.web.server.upkeep import main; main()"
NICENESS = 10
"""A lower priority than the hook and the pages: a measurement takes seconds of computing, and nobody waits for it."""
AGAIN_S = 300.0
"""Seconds after a failure before the process is started again."""


@contextlib.contextmanager
def maintained(state_dir: str, report: Callable[[str], None], *, every_s: float = LOOK_EVERY_S) -> Iterator[None]:
    """Keep sums, word index and coverage up to date during a block; call ``report`` with the text of each error."""
    end = threading.Event()
    thread = threading.Thread(target=_keep_up, args=(state_dir, end, report, every_s), name="upkeep")
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _keep_up(state_dir: str, end: threading.Event, report: Callable[[str], None], every_s: float) -> None:
    reported = ""
    with contextlib.closing(Measuring(state_dir)) as measuring:
        while not end.is_set():
            try:
                with contextlib.closing(database.connect(state_dir)) as db:
                    db.execute(f"pragma busy_timeout = {PATIENCE_MS:d}")
                    _update_until_end(db, measuring, end, every_s)
            except (database.StorageError, sqlite3.Error, OSError, MeasuringError) as failure:
                if not database.is_busy(failure) and str(failure) != reported:
                    reported = str(failure)
                    report(f"sums, search and coverage are not up to date: {reported}")
            end.wait(every_s)


def _update_until_end(db: sqlite3.Connection, measuring: Measuring, end: threading.Event, every_s: float) -> None:
    """Update the sums and the index after each write, and start measuring; return once ``end`` is set."""
    done = None
    while not end.is_set():
        version = db.execute("pragma data_version").fetchone()[0]
        is_news = version != done and not catch_up(db, should_stop=end.is_set, with_coverage=False)
        if is_news or measuring.has_ended():
            measuring.look(db)
        done = version if is_news else done
        end.wait(every_s)


def catch_up(
    db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False, with_coverage: bool = True
) -> int:
    """Update roll-ups, word index and coverage in short transactions; return how many rows are still to be processed.

    ``db`` is in autocommit mode. Coverage is measured last, if it is due, which may take some ten seconds. Raises
    sqlite3.Error if the database cannot be written.
    """
    left = max(rollups.catch_up(db, should_stop=should_stop), search.catch_up(db, should_stop=should_stop))
    if with_coverage and not left and not should_stop():
        coverage_store.measure(db, should_stop=should_stop)
    return left


class MeasuringError(Exception):
    """The measuring process failed; the message is the last line of its error output."""


class Measuring:
    """Starts and watches the process that measures the coverage of versions whose figures are missing or outdated."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._process: subprocess.Popen[str] | None = None
        self._unknown: set[str] = set()
        self._not_before = 0.0

    def look(self, db: sqlite3.Connection) -> bool:
        """Start the process if a version is due; return whether it is running.

        Raises MeasuringError once for each failure.
        """
        if self._process is not None and self._process.poll() is None:
            return True
        self._take_answer()
        if time.monotonic() >= self._not_before and set(coverage_store.due(db)) - self._unknown:
            # -P: do not import from a folder in the working directory that has the name of one of our packages.
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
        answer, errors = process.communicate()
        if process.returncode:
            self._not_before = time.monotonic() + AGAIN_S
            raise MeasuringError(errors.strip().rpartition("\n")[2] or f"ended with {process.returncode}")
        self._unknown |= set(answer.split())


def main() -> None:
    """Measure the history in the folder ``argv[1]``, and print the hashes of the versions that cannot be measured."""
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):  # Windows has no nice
        os.nice(NICENESS)
    with contextlib.closing(database.connect(sys.argv[1])) as db:
        print(*coverage_store.measure(db))


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(0)
