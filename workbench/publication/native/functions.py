"""The functions that our questions use in SQL beside SQLite's own."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from storage import rollups, search

if TYPE_CHECKING:
    import sqlite3

NOTHING = '""'
"""A phrase of no words, which no prompt holds."""
PART = re.compile(r'"([^"]*)"?|(\S+)')


def add_to(connection: sqlite3.Connection) -> None:
    """Add ``middle_ms(bucket)``, ``day_of(trace_id)`` and ``searched(words)`` to a connection of Datasette's."""
    connection.create_function("middle_ms", 1, _middle_ms, deterministic=True)
    connection.create_function("day_of", 1, day_of, deterministic=True)
    connection.create_function("searched", 1, searched, deterministic=True)


def searched(words: object) -> str:
    """Return what the index of words is asked for words as people type them; of none, nothing is found.

    Words are meant whole, which costs a hundredth of their beginnings; ``word*`` means a beginning.
    """
    parts = (found[1] or found[2] or "" for found in PART.finditer(str(words or "")))
    return " ".join(_phrase(part) for part in parts if search.TOKEN.search(part)) or NOTHING


def _phrase(part: str) -> str:
    return f'"{" ".join(search.TOKEN.findall(part))}"{"*" * part.endswith("*")}'


def day_of(trace_id: object) -> str | None:
    """Return the UTC day on which a trace began, None where its id is another program's."""
    try:
        return datetime.fromtimestamp(int(str(trace_id)[: search.TIME_DIGITS], 16) / 1e6, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _middle_ms(bucket: int | None) -> float | None:
    return None if bucket is None else rollups.middle_ms(bucket)
