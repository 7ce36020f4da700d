"""Write to SQLite in steps, each a transaction of its own, followed by a pause in which other writers get the lock.

While SQLite waits for a lock, it retries after 1, 2, 5 … 100 ms, and whichever waiting writer happens to retry at the
right moment gets the lock. During one million writes without pauses, another writer waited 14 s; the longer the pause,
the likelier a retry succeeds.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

T = TypeVar("T")
Arguments = ParamSpec("Arguments")
REST = 0.5
"""Length of the pause as a fraction of the transaction's duration: one retry in three then finds the database free."""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the ``with`` block as one transaction, which is rolled back if the block raises an exception.

    ``db`` must be in autocommit mode. Raises sqlite3.Error and what the block raises.
    """
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    except BaseException:  # an interrupt, too
        db.rollback()
        raise


def in_turn(
    db: sqlite3.Connection, step: Callable[Arguments, T], *arguments: Arguments.args, **named: Arguments.kwargs
) -> T:
    """Call ``step`` in a transaction of its own, pause so that other writers get the lock, and return its result.

    ``db`` must be in autocommit mode. If this raises sqlite3.Error, or what ``step`` raises, nothing has been written.
    """
    with transaction(db):
        started = time.perf_counter()
        done = step(*arguments, **named)
    time.sleep((time.perf_counter() - started) * REST)
    return done
