"""Open database connections for the app's threads, and notice every commit within hundredths of a second.

A connection is used by one thread only, in one ``with`` block. So if the database is replaced or restored, the next
block simply opens the new one.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

from storage import traces
from storage.db import database
from storage.metrics import rollups
from storage.traces import intake, search, spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POLL_S = 0.02
"""Seconds between two checks for commits; a check takes microseconds, and finds a commit after 10 ms (median)."""
PATIENCE_S = 2.0  # how long a statement waits while another process writes
AGAIN_S = 1.0
"""Seconds to wait before trying again to open a database that could not be opened."""
QUIET_S = 1.0
"""Seconds without a commit after which the roll-ups (stored sums of traces) and the word index are updated."""
STEP_EVERY_S = 0.1  # between two steps of an update, hooks can write
STEP_PATIENCE_MS = 20
"""Milliseconds that an update step waits for another process's write; then it gives up and is tried again later."""

_ONE_AT_A_TIME = threading.Lock()


@contextlib.contextmanager
def open_database(state_dir: str, *, drain: bool = True) -> Iterator[sqlite3.Connection]:
    """Yield a connection that can read all data and write labels; raises ``storage.db.database.StorageError``.

    The database is created or migrated if needed. With ``drain`` false, the traces that hooks have spooled (written to
    files for later) are not stored in it first, which is faster.
    """
    with database.storage_errors(state_dir):
        # database.connect drains the spool, so a block that need not see the newest prompts opens the file directly.
        db = _whole(state_dir) if drain or not database.is_current(state_dir) else _connect(state_dir)
        with contextlib.closing(db):
            yield db


def _whole(state_dir: str) -> sqlite3.Connection:
    """Open the database, and create or migrate it if necessary, while other threads wait.

    Other threads have to wait because the file lock of the database excludes only other processes.
    """
    with _ONE_AT_A_TIME:
        return database.connect(state_dir)


def _connect(state_dir: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"{state_dir}/{traces.DATABASE}", timeout=PATIENCE_S, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("pragma foreign_keys = on")  # off by default in SQLite
    db.execute("pragma secure_delete = on")  # else the text of a forgotten memory stays in free pages
    return db


class Watcher:
    """An object that notices changes of the database, and moves traces that hooks have spooled into it.

    ``look`` is cheap enough to be called fifty times a second: it needs a few ``stat`` calls and one ``pragma
    data_version``, which SQLite answers from shared memory.
    """

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._path = f"{state_dir}/{traces.DATABASE}"
        self._db: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        """The device and inode numbers of the file that was opened last."""
        self._version = 0
        self.databases = 0
        """How many database files were opened so far: one more each time the file was replaced or created anew."""

    def close(self) -> None:
        """Close the connection."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def look(self) -> bool:
        """Move spooled traces into the database, and return whether the database has changed since the last call.

        Raises ``StorageError``.
        """
        with database.storage_errors(self._state_dir):
            is_replaced = self._reopen()
            db = self._db
            if db is None:
                return is_replaced
            taken = self._drain_spool(db)
            version = int(db.execute("pragma data_version").fetchone()[0])
            is_changed, self._version = version != self._version, version
            return is_replaced or taken or is_changed

    def catch_up(self) -> bool:
        """Add a batch of traces to the roll-ups (stored sums) or, if these are complete, to the word index.

        Return whether more traces may be waiting. The commits of this method do not count as changes for ``look``. If
        another process is writing, nothing is added and the result is True, so that the caller tries again. Raises
        ``StorageError``.
        """
        if self._db is None:
            return False
        with database.storage_errors(self._state_dir), _hurried(self._db):
            try:
                return _one_batch(self._db)
            except sqlite3.OperationalError as failure:
                return database.is_busy(failure)

    def _reopen(self) -> bool:
        found = _identity(self._path)
        if self._db is not None and found is not None and found == self._seen:
            return False
        self.close()
        self._db = _whole(self._state_dir)
        former, self._seen = self._seen, _identity(self._path)
        self._version = int(self._db.execute("pragma data_version").fetchone()[0])
        is_new = found is None or self._seen != former  # None: a new file may have the inode number of the old one
        self.databases += is_new
        return True

    def _drain_spool(self, db: sqlite3.Connection) -> bool:
        """Move spooled traces into the database, and return whether there were any.

        The caller needs to know, because ``data_version`` does not change with the writes of this connection.
        """
        if not spool.waiting(self._state_dir):
            return False
        return intake.drain(self._state_dir, db).taken > 0


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def _hurried(db: sqlite3.Connection) -> Iterator[None]:
    patience_ms = db.execute("pragma busy_timeout").fetchone()[0]
    db.execute(f"pragma busy_timeout = {STEP_PATIENCE_MS:d}")
    try:
        yield
    finally:
        db.execute(f"pragma busy_timeout = {patience_ms:d}")


def _one_batch(db: sqlite3.Connection) -> bool:
    for catch_up in (rollups.catch_up, search.catch_up):
        stops = iter((False,))  # continue before the first batch, stop before the second
        before = db.total_changes
        if catch_up(db, should_stop=lambda stops=stops: next(stops, True)):  # type: ignore[misc]  # bound per iteration
            return True
        if db.total_changes > before:  # that was the last batch of the roll-ups; the word index comes in a later step
            return True
    return False


def watch(
    state_dir: str,
    *,
    changed: Callable[[int], None],
    troubled: Callable[[str], None],
    is_over: Callable[[], bool],
    is_busy: Callable[[], bool] = lambda: False,
) -> None:
    """Watch the database until ``is_over`` returns true, and report its commits and errors.

    ``changed`` is called after every commit, with the number of database files opened so far; if it grew, everything
    that was read before is invalid. ``troubled`` is called with each error, and with an empty string when the error no
    longer occurs. While there are no commits and ``is_busy`` returns false, the roll-ups (stored sums of traces) and
    the word index are updated in small steps.
    """
    watcher = Watcher(state_dir)
    reported = ""
    due_at = time.monotonic() + QUIET_S
    with contextlib.closing(watcher):
        while not is_over():
            try:
                is_new = watcher.look()
                due_at = _keep_up(watcher, due_at, is_new=is_new, is_busy=is_busy)
                trouble = ""
            except (database.StorageError, OSError) as failure:
                watcher.close()  # the next call of look opens the database that exists then
                is_new, trouble = False, str(failure)
            if trouble != reported:
                troubled(trouble)
                reported = trouble
            if is_new:
                changed(watcher.databases)
            time.sleep(AGAIN_S if trouble else POLL_S)


def _keep_up(watcher: Watcher, due_at: float, *, is_new: bool, is_busy: Callable[[], bool]) -> float:
    """Update the roll-ups (stored sums) or the word index by one step if ``due_at`` has passed.

    Return the time at which the next step is due: soon if more rows are waiting or there was a commit, otherwise
    infinity, which means not before the next commit.
    """
    now = time.monotonic()
    if is_new:
        return now + QUIET_S
    if now < due_at:
        return due_at
    if is_busy():
        return now + STEP_EVERY_S
    return time.monotonic() + STEP_EVERY_S if watcher.catch_up() else math.inf
