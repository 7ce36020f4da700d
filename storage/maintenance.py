"""What is due now and then, in a process that nobody waits for: schema, spool, write-ahead log."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time

from storage import database, detached, log, notices, sessions, spool

RETRY_S = 60.0
LINGER_S = detached.PAUSE_S + 0.2
LOOK_EVERY_S = 0.05
VACUUM_PAGES = 200  # 30 ms: hooks that wait meanwhile are not yet turned away


def maintain(state_dir: str) -> bool:
    """Create or migrate the database, take in the spool, shorten the WAL; say whether all went well.

    Never raises: what fails is logged, and the person is told where only they can help.
    """
    try:
        with contextlib.closing(database.connect(state_dir)) as db:
            _linger(state_dir, db)
            db.execute(f"pragma incremental_vacuum({VACUUM_PAGES:d})").fetchall()
            _shorten_wal(db)
    except database.NewerDatabaseError as refusal:
        notices.leave(state_dir, str(refusal))
        return _failed(state_dir, str(refusal))
    except (database.StorageError, sqlite3.Error, OSError, ImportError) as failure:
        return _failed(state_dir, f"{type(failure).__name__}: {failure}")
    sessions.forget_old(state_dir)
    return True


def _linger(state_dir: str, db: sqlite3.Connection) -> None:
    """Take in what comes next too: the hook starts nobody while one of us may be around."""
    until = time.monotonic() + LINGER_S
    while time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        if spool.waiting(state_dir):
            spool.drain(state_dir, db)


def main(state_dir: str) -> None:
    """Run as the detached process that ``detached.start`` starts."""
    os.closerange(3, 256)  # whatever else the host let its hook inherit
    os.chdir("/")
    if not maintain(state_dir):
        detached.postpone(state_dir, RETRY_S)


def _shorten_wal(db: sqlite3.Connection) -> None:
    """Write back beside the readers, then cut the file off only if nobody is in the way.

    Waiting for a reader would hold the writers' lock meanwhile.
    """
    db.execute("pragma wal_checkpoint(passive)").fetchall()
    db.execute("pragma busy_timeout = 0")
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def _failed(state_dir: str, reason: str) -> bool:
    log.append(state_dir, stage="maintenance", reason=reason)
    return False
