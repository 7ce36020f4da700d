"""What readers keep up to date beside the traces: the index of words, the roll-ups, the measured coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage import rollups, search

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


def catch_up(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Bring all of it up to date, in short transactions; return how many rows still wait.

    ``db`` is in autocommit mode. Raises sqlite3.Error where the database cannot be written.
    """
    return max(rollups.catch_up(db, should_stop=should_stop), search.catch_up(db, should_stop=should_stop))
