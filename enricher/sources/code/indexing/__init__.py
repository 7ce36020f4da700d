"""Build the index of a project's files and keep it up to date; this package does not run in the hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def set_meta(db: sqlite3.Connection, **values: str) -> None:
    """Store values in the table ``meta`` of an index; ``enricher.sources.code.meta`` reads them."""
    db.executemany("insert or replace into meta values (?, ?)", values.items())
