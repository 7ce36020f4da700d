"""Read SQLite without importing the ``sqlite3`` package, for a process that must answer within milliseconds.

``import sqlite3`` loads ``datetime``, ``collections`` and ``functools``, which cost a cold process more than opening
the database and running a query. The C module ``_sqlite3`` needs only one function of all these. If loading it directly
fails, the public module is used; tests run both.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from types import ModuleType

BUSY_S = 0.05
"""Seconds to wait for a lock on the database, for which the user's prompt has to wait, too.

They were enough in a test in which 16 other processes wrote.
"""
STEPS_BETWEEN_LOOKS = 2_000  # instructions of SQLite's virtual machine, some hundredths of a millisecond
DAMAGE_CODES = (11, 26)
"""The error codes SQLITE_CORRUPT (the file is damaged) and SQLITE_NOTADB (it is not a database)."""


class ReaderError(OSError):
    """Raised if the database cannot be opened or read."""


def _driver() -> ModuleType:
    """Return the C module ``_sqlite3``, loaded without importing ``functools`` unless that is imported already."""
    if "functools" in sys.modules:
        import _sqlite3

        return _sqlite3
    try:
        # ``_sqlite3`` imports ``functools`` for ``lru_cache``, which caches the statements of a connection. The last
        # argument of the wrapper is the class of ``cache_info()``, which nobody calls here.
        from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

        stand_in = type(sys)("functools")
        stand_in.lru_cache = lambda size=128, typed=False: lambda call: _lru_cache_wrapper(call, size, typed, tuple)  # type: ignore[attr-defined]
        sys.modules["functools"] = stand_in
        try:
            import _sqlite3
        finally:
            del sys.modules["functools"]
        _sqlite3.connect(":memory:").execute("select 1").fetchall()  # tries out the cache of statements
    except (ImportError, AttributeError, TypeError):
        import sqlite3

        return sqlite3
    return _sqlite3


def open_reader(path: str, *, until: float = 0.0) -> Connection:
    """Return a read-only connection to the database at ``path``; its rows are tuples.

    A query that is still running when ``time.perf_counter()`` passes ``until`` fails (0: no limit). Raises ReaderError
    if there is no such database; queries on the connection raise the exceptions that ``failures()`` returns.
    """
    connection = _connected(path, "ro", "query_only = 1")  # mode=ro alone would allow writes to temporary tables
    if until:
        connection.set_progress_handler(lambda: time.perf_counter() > until, STEPS_BETWEEN_LOOKS)
    return connection


def open_writer(path: str) -> Connection:
    """Return a connection in autocommit mode to an existing database, for writing data whose loss does no harm.

    Its statements fail while another process writes. Raises ReaderError if there is no such database.
    """
    return _connected(path, "rw", "synchronous = normal", "secure_delete = on")  # normal: does not wait for the disk


def _connected(path: str, mode: str, *pragmas: str) -> Connection:
    if not os.path.isfile(path):  # SQLite would block on opening a pipe, and no alarm interrupts that
        raise ReaderError(f"{path}: {'not a file' if os.path.exists(path) else 'no such file'}")
    driver = _driver()
    try:
        connection: Connection = driver.connect(address(path, mode), timeout=BUSY_S, uri=True, isolation_level=None)
        for pragma in pragmas:
            connection.execute(f"pragma {pragma}")
    except driver.Error as failure:
        raise ReaderError(f"{path}: {failure}") from failure
    return connection


def address(path: str, mode: str = "ro") -> str:
    """Return the URI that makes SQLite open ``path`` in this mode, read-only by default."""
    # "%" is replaced first, because the others introduce it; ``urllib`` would do this, but is slow to import.
    return f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode={mode}"


def is_damage(failure: Exception) -> bool:
    """Return whether an error of SQLite means that the file is damaged, not busy, interrupted or unreachable."""
    return getattr(failure, "sqlite_errorcode", 0) & 0xFF in DAMAGE_CODES  # without the bits of extended codes


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions to catch around a query on a connection of this module.

    The result is empty until the first connection is opened.
    """
    driver = sys.modules.get("_sqlite3")
    return (driver.Error,) if driver else ()
