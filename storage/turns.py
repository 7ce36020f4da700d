"""Writing in turns: a step is a transaction of its own, with a rest behind it in which others get theirs.

SQLite lets waiting writers look again after 1, 2, 5 … 100 ms, in no order. Beside a million rows written without a
rest one of them waited 14 s; the longer the rest, the sooner one that looks finds the database free.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

T = TypeVar("T")
REST = 0.5
"""Of the time that the transaction took: one look in three finds the database free."""


def in_turn(db: sqlite3.Connection, step: Callable[[], T]) -> T:
    """Return what the step returns, run in a transaction of its own; then rest.

    ``db`` is in autocommit mode. Raises what the step raises, with nothing written, and sqlite3.Error.
    """
    db.execute("begin immediate")
    started = time.perf_counter()
    try:
        done = step()
        db.execute("commit")
    except BaseException:
        db.rollback()
        raise
    time.sleep((time.perf_counter() - started) * REST)
    return done
