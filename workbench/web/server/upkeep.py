"""Keep the sums, word index and rule coverage that the web pages need up to date while a live history is served.

The live history is the database of recorded prompts, to which hooks keep adding. A thread updates the sums and the word
index. A separate process measures the coverage (how often each rule fires), so that its computing does not slow down
the pages. The process reads a pipe from the server, so it ends when the server ends, even if the server is killed.
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

LOOK_EVERY_S = 2.0  # between two checks for changes; a new prompt may be missing on pages for so long
PATIENCE_MS = 250  # then the thread gives up, because the writes of hooks and commands come first
COMMAND = "from workbench.web.server.upkeep import main; main()"
NICENESS = 10  # a low priority: the measuring process computes for seconds, and nobody waits for it
AGAIN_S = 300.0  # after a failure, until the measuring process is started again


@contextlib.contextmanager
def maintained(state_dir: str, report: Callable[[str], None], *, every_s: float = LOOK_EVERY_S) -> Iterator[None]:
    """Keep the sums, word index and coverage of a live history up to date until the end of the ``with`` block.

    ``state_dir`` is the folder of the history; ``report`` is called with a text for each new error.
    """
    end = threading.Event()
    thread = threading.Thread(target=_keep_up, args=(state_dir, end, report, every_s), name="upkeep")
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _keep_up(state_dir: str, end: threading.Event, report: Callable[[str], None], every_s: float) -> None:
    reported = ""  # the last error, which is not reported again every two seconds
    with contextlib.closing(Measuring(state_dir)) as measuring:
        while not end.is_set():
            try:
                with contextlib.closing(database.connect(state_dir)) as db:
                    db.execute(f"pragma busy_timeout = {PATIENCE_MS:d}")
                    _update_until_end(db, measuring, end, every_s)
            except (database.StorageError, sqlite3.Error, OSError, MeasuringError) as failure:
                if not database.is_busy(failure) and str(failure) != reported:  # busy: the next try may succeed
                    reported = str(failure)
                    is_measuring = isinstance(failure, MeasuringError)
                    report(reported if is_measuring else f"sums and search are not up to date: {reported}")
            end.wait(every_s)


def _update_until_end(db: sqlite3.Connection, measuring: Measuring, end: threading.Event, every_s: float) -> None:
    """Update sums and word index whenever the database has changed, and start measuring; return once ``end`` is set."""
    done = None
    while not end.is_set():
        version = db.execute("pragma data_version").fetchone()[0]  # changes with every commit of another connection
        is_news = version != done and not catch_up(db, should_stop=end.is_set, with_coverage=False)
        if is_news or measuring.has_ended():
            measuring.look(db)
        done = version if is_news else done
        end.wait(every_s)


def catch_up(
    db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False, with_coverage: bool = True
) -> int:
    """Update sums, word index and coverage in short transactions; return the number of rows that are not in them yet.

    The work stops when ``should_stop``, called between transactions, returns True. ``db`` must be in autocommit mode.
    Coverage is measured last, if it is missing or outdated; this may take about ten seconds. Raises sqlite3.Error if
    the database cannot be written.
    """
    left = max(rollups.catch_up(db, should_stop=should_stop), search.catch_up(db, should_stop=should_stop))
    if with_coverage and not left and not should_stop():
        coverage_store.measure(db, should_stop=should_stop)
    return left


class MeasuringError(Exception):
    """Raised if the measuring process failed; the message has the last line of its error output."""


class Measuring:
    """A supervisor of the process that measures how often each rule fires; it starts the process when there is work.

    The process measures those versions of the rules whose figures are missing or outdated.
    """

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._process: subprocess.Popen[str] | None = None
        self._unknown: set[str] = set()
        self._not_before = 0.0

    def look(self, db: sqlite3.Connection) -> bool:
        """Start the process if a version of the rules has to be measured; return whether the process is running.

        Raises MeasuringError, once, if the previous process has failed.
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
        """Return whether the process has been started and has ended, and its result has not been read yet."""
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """Kill the process if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _take_answer(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        answer, errors = process.communicate()
        self._unknown |= set(answer.split())
        if process.returncode:
            self._not_before = time.monotonic() + AGAIN_S
            reason = errors.strip().rpartition("\n")[2] or f"ended with {process.returncode}"
            raise MeasuringError(f"coverage could not be measured: {reason}")


def main() -> None:
    """Measure rule coverage for the history in the folder ``argv[1]``, as a process of its own.

    Print the hashes of the versions of the rules that cannot be measured.
    """
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):  # Windows has no nice
        os.nice(NICENESS)
    with contextlib.closing(database.connect(sys.argv[1])) as db:
        print(*coverage_store.measure(db))


def _end_with_the_server() -> None:
    sys.stdin.read()  # returns when the server closes the pipe or ends
    os._exit(0)  # sys.exit would end this thread only
