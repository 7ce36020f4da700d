"""Import recorded prompts from the spool into the database and keep the database small, in a background process.

The spool is the folder in which the hook leaves one file (a trace) per prompt. After each trace, the process waits
LINGER_S seconds for the next, because a prompt is often followed by another: a hook that finds the process running
does not start a new one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time

from storage.base import log, private, temporary_files
from storage.db import database
from storage.state import detached, notices, sessions
from storage.traces import intake, spool

POSTPONED_S = 60.0  # until the next attempt after a failure
PERSISTENCE_S = 60.0  # for which a locked database is tried again and again
LINGER_S = 1.2
LOOK_EVERY_S = 0.05
VACUUM_PAGES = 200  # other processes wait for these 30 ms
HOUSEKEEPING, UNFINISHED = "housekeeping", "forgetting"
"""Names of two files: the first says by its modification time when to delete old traces next.

The second exists while a deletion is unfinished.
"""
BETWEEN_HOUSEKEEPING_S = 86_400.0
FAILURES = (database.StorageError, sqlite3.Error, OSError, ImportError)


def main(state_dir: str) -> None:
    """Import traces and maintain the database until no more arrive; return at once if another process is doing so."""
    while (turn := detached.claim(state_dir)) >= 0:
        try:
            left = _persist(state_dir)
        finally:
            os.close(turn)
        # A hook that came while we held the lock relied on us to import its trace.
        if left < 0 or len(spool.waiting(state_dir)) <= left:
            return


def is_housekeeping_due(state_dir: str) -> bool:
    """Return whether it is time to delete old traces, or whether an earlier deletion is still incomplete.

    The first call in a new installation schedules the first deletion of old traces for a later day.
    """
    try:
        rest = os.stat(f"{state_dir}/{HOUSEKEEPING}").st_mtime - time.time()
        is_due = not 0 < rest <= BETWEEN_HOUSEKEEPING_S  # a time further ahead means that the clock was set back
    except FileNotFoundError:
        os.close(private.open_file(f"{state_dir}/{HOUSEKEEPING}", os.O_RDWR))
        detached.postpone(state_dir, BETWEEN_HOUSEKEEPING_S, HOUSEKEEPING)
        is_due = False
    return is_due or os.path.exists(f"{state_dir}/{UNFINISHED}")


def maintain(state_dir: str) -> bool:
    """Create or migrate the database, import the spool, truncate the write-ahead log; return whether all succeeded.

    Never raises: failures are logged, and the user is notified only if they must act.
    """
    try:
        _maintain(state_dir)
    except FAILURES as failure:
        _give_up(state_dir, failure)
        return False
    return True


def _persist(state_dir: str) -> int:
    """Maintain the database, retrying while another process locks it; return what ``_import_spool`` returns.

    After a failure, return -1; after any failure but a locked database, the next maintenance is postponed.
    """
    until = time.monotonic() + PERSISTENCE_S
    while True:
        try:
            return _maintain(state_dir, linger_s=LINGER_S)
        except FAILURES as failure:
            is_busy = database.is_busy(failure)
            if is_busy and time.monotonic() < until:
                time.sleep(LOOK_EVERY_S)
                continue
            _give_up(state_dir, failure)
            if not is_busy:
                detached.postpone(state_dir, POSTPONED_S)
            return -1


def _maintain(state_dir: str, *, linger_s: float = 0.0) -> int:
    """Import waiting traces until none has come for ``linger_s``; return what ``_import_spool`` returns."""
    left = _import_spool(state_dir)
    until = time.monotonic() + linger_s
    while time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        if len(spool.waiting(state_dir)) > left:
            left = _import_spool(state_dir)
            until = time.monotonic() + linger_s
    sessions.forget_old(state_dir)
    temporary_files.sweep(state_dir)
    return left


def _import_spool(state_dir: str) -> int:
    """Import the spool, free some pages of the database, truncate the write-ahead log.

    Return how many traces stay in the spool because only a newer version of the program can import them. The database
    is opened on each call, because it may have been moved, removed or damaged in the meantime.
    """
    with contextlib.closing(database.connect(state_dir)) as db:
        left = intake.drain(state_dir, db).left
        db.executescript(f"pragma incremental_vacuum({VACUUM_PAGES:d})")  # execute() would stop after one page
        _shorten_wal(db)
    return left


def _shorten_wal(db: sqlite3.Connection) -> None:
    """Write the write-ahead log back to the database, then truncate it unless another process is using it.

    Waiting until no reader uses it would block writers.
    """
    db.execute("pragma wal_checkpoint(passive)").fetchall()
    db.execute("pragma busy_timeout = 0")
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def _give_up(state_dir: str, failure: BaseException) -> None:
    is_said_in_words = isinstance(failure, database.StorageError)
    log.append(
        state_dir,
        stage="maintenance",
        reason=str(failure) if is_said_in_words else f"{type(failure).__name__}: {failure}",
    )
    if isinstance(failure, (database.NewerDatabaseError, database.OlderDatabaseError)):
        notices.add(state_dir, str(failure))
    with contextlib.suppress(OSError):
        intake.make_room(state_dir)
