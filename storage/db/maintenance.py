"""What takes the spool in and keeps the database small, in a process that nobody waits for.

It stays for a moment, because a prompt is often followed by another: who finds it
around starts nobody.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time

from storage.base import log, private, unfinished
from storage.db import database
from storage.state import detached, notices, sessions
from storage.traces import intake, spool

POSTPONED_S = 60.0
PERSISTENCE_S = 60.0
LINGER_S = 1.2
LOOK_EVERY_S = 0.05
VACUUM_PAGES = 200  # 30 ms for which others wait
HOUSEKEEPING, UNFINISHED = "housekeeping", "forgetting"
"""The stamp whose time says when pruning is due, and the note of a deletion that has begun."""
BETWEEN_HOUSEKEEPING_S = 86_400.0
FAILURES = (database.StorageError, sqlite3.Error, OSError, ImportError)


def main(state_dir: str) -> None:
    """Maintain as the only process that does, until nothing comes any more."""
    while (turn := detached.claim(state_dir)) >= 0:
        try:
            left = _persist(state_dir)
        finally:
            os.close(turn)
        # Who came while we held the turn relied on us to see what it left.
        if left < 0 or len(spool.waiting(state_dir)) <= left:
            return


def is_housekeeping_due(state_dir: str) -> bool:
    """Say whether old traces are to be looked for, or a deletion is to be ended; a new account has a day's grace."""
    try:
        rest = os.stat(f"{state_dir}/{HOUSEKEEPING}").st_mtime - time.time()
        is_due = not 0 < rest <= BETWEEN_HOUSEKEEPING_S  # a stamp from further off is one of a clock that went back
    except FileNotFoundError:
        os.close(private.open_file(f"{state_dir}/{HOUSEKEEPING}", os.O_RDWR))
        detached.postpone(state_dir, BETWEEN_HOUSEKEEPING_S, HOUSEKEEPING)
        is_due = False
    return is_due or os.path.exists(f"{state_dir}/{UNFINISHED}")


def maintain(state_dir: str) -> bool:
    """Create or migrate the database, take in the spool, shorten the WAL; say whether all went well.

    Never raises: what fails is logged, and the person is told where only they can help.
    """
    try:
        _maintain(state_dir)
    except FAILURES as failure:
        _give_up(state_dir, failure)
        return False
    return True


def _persist(state_dir: str) -> int:
    """Maintain, again and again while another process holds the database.

    Return how many traces are left for a later version, -1 where all are; what time
    alone will not mend is put off.
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
    """Take in what waits and what comes until nothing has come for so long; return how many traces are left."""
    left = _take_in(state_dir)
    until = time.monotonic() + linger_s
    while time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        if len(spool.waiting(state_dir)) > left:
            left = _take_in(state_dir)
            until = time.monotonic() + linger_s
    sessions.forget_old(state_dir)
    unfinished.sweep(state_dir)
    return left


def _take_in(state_dir: str) -> int:
    """Open the database each time: it may have been moved, removed or damaged since the last one."""
    with contextlib.closing(database.connect(state_dir)) as db:
        left = intake.drain(state_dir, db).left
        db.executescript(f"pragma incremental_vacuum({VACUUM_PAGES:d})")  # execute() ends it after a page
        _shorten_wal(db)
    return left


def _shorten_wal(db: sqlite3.Connection) -> None:
    """Write back beside the readers, then cut the file off only if nobody is in the way.

    Waiting for a reader would hold the writers' lock meanwhile.
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
    if isinstance(failure, database.NewerDatabaseError):
        notices.leave(state_dir, str(failure))
    with contextlib.suppress(OSError):
        intake.make_room(state_dir)
