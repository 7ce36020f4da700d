"""Open the database for all programs except the hook: create or migrate it if needed, import waiting traces.

StorageError          the database cannot be used; the message is for the user
├── NewerDatabaseError     a newer version of this program wrote the database; it is left unchanged
├── OlderDatabaseError     the database is older than the oldest schema that can be migrated; it is left unchanged
└── DatabaseInUseError     another process did not release the database in time
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time

from storage import traces
from storage.base import log, private, reader
from storage.memory import memory_markers
from storage.state import notices, screen_version
from storage.state.detached import find_libraries
from storage.traces import intake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_VERSION = 26
"""The number of the schema in ``schema.sql``; an older database cannot be migrated."""
LOCK = "database.lock"
PATIENCE_S = 10.0  # for a lock that another process holds
JOURNAL_LIMIT_BYTES = 4 * 1024 * 1024
"""Size to which SQLite truncates its write-ahead log, which would never shrink otherwise.

One reader that hung let it grow to 362 MB.
"""
BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
ONE_THREAD = threading.Lock()
"""Lets one thread at a time lock the lock file.

``lockf`` locks belong to a process, so a second thread would also get the lock, and release it for both.
"""


class StorageError(Exception):
    """Raised if the database cannot be used; the message is for the user, who should not see a traceback."""


class NewerDatabaseError(StorageError):
    """Raised if a newer version of this program wrote the database, which is then left unchanged."""

    def __init__(self, path: str, *, version: int) -> None:
        super().__init__(
            f"{path} has schema {version}, this version of enricher knows {traces.SCHEMA_VERSION}: "
            "upgrade prompt-enricher, or set ENRICHER_HOME to another directory"
        )
        self.path, self.version = path, version


class OlderDatabaseError(StorageError):
    """Raised if the database is older than the oldest schema that can be migrated; it is then left unchanged."""

    def __init__(self, path: str, *, version: int) -> None:
        super().__init__(
            f"{path} has schema {version}, the oldest that this version of enricher can read is {BASE_VERSION}: "
            "move the file away to start a new history, or set ENRICHER_HOME to another directory"
        )
        self.path, self.version = path, version


class DatabaseInUseError(StorageError):
    """Raised if another process did not release the database in time."""


def connect(state_dir: str) -> sqlite3.Connection:
    """Return a connection to the database, migrated to the current schema, with all waiting traces imported.

    A damaged database is moved aside and replaced by a new one, and the user is notified. Raises StorageError.
    """
    with storage_errors(state_dir), _os_errors_as_storage_errors(state_dir):
        try:
            return _connect(state_dir)
        except sqlite3.DatabaseError as failure:
            if not reader.is_damage(failure):
                raise
        set_aside(state_dir)
        return _connect(state_dir)


@contextlib.contextmanager
def storage_errors(state_dir: str) -> Iterator[None]:
    """Convert errors of the database in the ``with`` block to a StorageError; move a damaged database aside.

    An OSError is not converted: while the database is open, only the caller's own code can raise one.
    """
    try:
        yield
    except sqlite3.DatabaseError as failure:
        with _os_errors_as_storage_errors(state_dir):
            aside = set_aside(state_dir) if reader.is_damage(failure) else ""
        if aside:
            raise StorageError(f"the trace database was damaged and is now {aside}; a new one starts") from failure
        raise StorageError(f"{state_dir}/{traces.DATABASE} cannot be used: {failure}") from failure


@contextlib.contextmanager
def opened(state_dir: str) -> Iterator[sqlite3.Connection]:
    """Connect to the database for a ``with`` block, then close it; all errors of the database become a StorageError."""
    with storage_errors(state_dir), contextlib.closing(connect(state_dir)) as db:
        yield db


@contextlib.contextmanager
def _os_errors_as_storage_errors(state_dir: str) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        raise StorageError(f"{state_dir} cannot be used: {failure.strerror or failure}") from failure


def is_busy(failure: BaseException | None) -> bool:
    """Return whether the operation failed only because another process locked the database; a retry may succeed."""
    if isinstance(failure, StorageError):
        return isinstance(failure, DatabaseInUseError) or is_busy(failure.__cause__)
    return getattr(failure, "sqlite_errorcode", 0) & 0xFF in BUSY_CODES  # without the bits of extended codes


def set_aside(state_dir: str) -> str:
    """Move a damaged database aside and return its new name; empty if there is no damaged database."""
    path = f"{state_dir}/{traces.DATABASE}"
    with _locked(state_dir):
        if not os.path.exists(path) or _is_sound(path):
            return ""
        aside = f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
        for suffix in ("-shm", "-wal", ""):  # the database last: an interrupted move is repeated while it is there
            with contextlib.suppress(FileNotFoundError):
                os.rename(path + suffix, aside + suffix)
        intake.forget_marks(state_dir)
    text = f"The trace database was damaged. It was moved to {aside}; a new one has been started."
    log.append(state_dir, stage="database", reason=text)
    notices.add(state_dir, text)
    return aside


def _connect(state_dir: str) -> sqlite3.Connection:
    private.make_directory(state_dir)
    path = f"{state_dir}/{traces.DATABASE}"
    _prepare(state_dir, path)
    db = _open(path)
    db.row_factory = sqlite3.Row
    try:
        intake.drain(state_dir, db)
        memory_markers.note(db, state_dir)
    except BaseException:
        db.close()
        raise
    return db


def _open(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
    db.execute("pragma foreign_keys = on")  # otherwise, SQLite ignores ``references`` and ``on delete cascade``
    db.execute("pragma secure_delete = on")  # overwrites deleted rows with zeros
    db.execute(f"pragma journal_size_limit = {JOURNAL_LIMIT_BYTES:d}")
    return db


def _prepare(state_dir: str, path: str) -> None:
    if _version(path) == traces.SCHEMA_VERSION:
        return
    with _locked(state_dir):
        version = _version(path)  # again, because another process may have changed it before the lock was ours
        if version > traces.SCHEMA_VERSION:
            raise NewerDatabaseError(path, version=version)
        if version < 0:
            intake.forget_marks(state_dir)
            _create(path)
            screen_version.note_a_new_account(state_dir)
        elif version < BASE_VERSION:
            raise OlderDatabaseError(path, version=version)
        elif version < traces.SCHEMA_VERSION:
            migrate(path)


def is_current(state_dir: str) -> bool:
    """Return whether the database exists, can be read, and has the schema of this release; nothing is written."""
    try:
        with contextlib.closing(reader.open_reader(f"{state_dir}/{traces.DATABASE}")) as db:
            return bool(db.execute("pragma user_version").fetchone()[0] == traces.SCHEMA_VERSION)
    except (reader.ReaderError, sqlite3.Error):
        return False


def _version(path: str) -> int:
    """Return the schema version of the database at ``path``; -1 if the file is missing or empty."""
    if not os.path.exists(path) or os.stat(path).st_size == 0:
        return -1
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_S)) as db:
        return int(db.execute("pragma user_version").fetchone()[0])


def _create(path: str) -> None:
    """Create the database under a temporary name and rename it, so that a hook sees either the complete file or none.

    It is switched to write-ahead logging before it is renamed: if several processes did so to the same new file, some
    would fail, however long they wait.
    """
    for leftover in (f"{path}.new", f"{path}.new-wal", f"{path}.new-shm", f"{path}-wal", f"{path}-shm"):
        private.removed(leftover)
    os.close(private.open_file(f"{path}.new", os.O_RDWR))
    with contextlib.closing(_open(f"{path}.new")) as db:
        db.execute("pragma auto_vacuum = incremental")  # has no effect once WAL is on or a table exists
        db.execute("pragma journal_mode = wal")
        _apply_migrations(db)
    os.replace(f"{path}.new", path)


def migrate(path: str) -> None:
    """Migrate an older database to the current schema; no other process may be using it."""
    with contextlib.closing(_open(path)) as db:
        _apply_migrations(db)


def _apply_migrations(db: sqlite3.Connection) -> None:
    find_libraries()  # ``migrations`` imports sqlite-utils, which the hook's background process cannot find yet
    from storage.db import migrations

    migrations.apply(db)


def _is_sound(path: str) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_S)) as db:
            return bool(db.execute("pragma integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as failure:
        return not reader.is_damage(failure)


@contextlib.contextmanager
def _locked(state_dir: str) -> Iterator[None]:
    """Run the ``with`` block under a lock that only one thread of one process can hold; a dead process releases it."""
    with ONE_THREAD:
        descriptor = private.open_file(f"{state_dir}/{LOCK}", os.O_RDWR)
        try:
            if not private.lock(descriptor, patience_s=PATIENCE_S):
                raise DatabaseInUseError(f"another process has been preparing {state_dir} for too long")
            yield
        finally:
            os.close(descriptor)
