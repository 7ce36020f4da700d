"""The functions that our questions use in SQL beside SQLite's own."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime

from storage.metrics import rollups
from storage.traces import search

LONGEST_VALUE_BYTES = 64 << 20
"""What one value of a query may take; a thousand million as SQLite has it would be the memory of a server."""
LONGEST_PATTERN_BYTES = 1_000
"""A pattern of LIKE or GLOB: one comparison costs its length times that of the prompt, and cannot be interrupted."""
FORBIDDEN = frozenset(((sqlite3.SQLITE_PRAGMA, "database_list"), (sqlite3.SQLITE_FUNCTION, "fts3_tokenizer")))
"""What tells where the file lies, or an address in memory; the first has no rows then, the second no value."""
NOTHING = '""'
"""A phrase of no words, which no prompt holds."""
PART = re.compile(r'"([^"]*)"?|(\S+)')


def add_to(connection: sqlite3.Connection) -> None:
    """Add ``middle_ms(bucket)``, ``day_of(trace_id)`` and ``searched(words)`` to a connection of Datasette's."""
    connection.create_function("middle_ms", 1, _middle_ms, deterministic=True)
    connection.create_function("day_of", 1, day_of, deterministic=True)
    connection.create_function("searched", 1, searched, deterministic=True)


def keep_in_bounds(connection: sqlite3.Connection) -> None:
    """Have queries of readers tell nothing of the machine, nor build huge values."""
    connection.set_authorizer(_allowed)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN_BYTES)


def _allowed(action: int, first: str | None, second: str | None, *_where: str | None) -> int:
    named = second if action == sqlite3.SQLITE_FUNCTION else first
    return sqlite3.SQLITE_IGNORE if (action, (named or "").lower()) in FORBIDDEN else sqlite3.SQLITE_OK


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
