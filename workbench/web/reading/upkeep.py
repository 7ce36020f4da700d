"""Update the data that pages read in addition to the traces: roll-ups, word index, measured coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage.metrics import rollups
from storage.traces import search

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


def catch_up(
    db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False, with_coverage: bool = True
) -> int:
    """Update roll-ups, word index and coverage in short transactions; return the number of rows still to be processed.

    ``db`` is in autocommit mode. Coverage is measured last, if it is due, which may take some ten seconds. Raises
    sqlite3.Error if the database cannot be written.
    """
    left = max(rollups.catch_up(db, should_stop=should_stop), search.catch_up(db, should_stop=should_stop))
    if with_coverage and not left and not should_stop():
        from workbench.web.reading import measured

        measured.measure(db, should_stop=should_stop)
    return left
