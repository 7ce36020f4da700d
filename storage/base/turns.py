"""Writing in turns: a step is a transaction of its own, with a rest behind it in which others get theirs.

SQLite lets waiting writers look again after 1, 2, 5 … 100 ms, in no order. Beside a million rows written without a
rest one of them waited 14 s; the longer the rest, the sooner one that looks finds the database free.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

T = TypeVar("T")
REST = 0.5
"""Of the time that the transaction took: one look in three finds the database free."""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do all of it or nothing; ``db`` is in autocommit mode. Raises what the block raises, and sqlite3.Error."""
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    except BaseException:
        db.rollback()
        raise


def in_turn(db: sqlite3.Connection, step: Callable[[], T]) -> T:
    """Return what the step returns, run in a transaction of its own; then rest.

    ``db`` is in autocommit mode. Raises what the step raises, with nothing written, and sqlite3.Error.
    """
    with transaction(db):
        started = time.perf_counter()
        done = step()
    time.sleep((time.perf_counter() - started) * REST)
    return done
