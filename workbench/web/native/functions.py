"""SQL functions that our queries use in addition to SQLite's own."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime

from storage.metrics import rollups
from storage.traces import search

LONGEST_VALUE_BYTES = 64 << 20
"""Most bytes in one value of a query; with SQLite's own limit of 10^9 a query could use up the server's memory."""
LONGEST_PATTERN_BYTES = 1_000
"""Longest pattern of LIKE or GLOB: a comparison costs its length times the prompt's, and cannot be interrupted."""
FORBIDDEN = frozenset(((sqlite3.SQLITE_PRAGMA, "database_list"), (sqlite3.SQLITE_FUNCTION, "fts3_tokenizer")))
"""Actions that reveal the path of the file or a memory address; denied, the first has no rows, the second no value."""
NOTHING = '""'
"""A phrase without words, which matches no prompt."""
PART = re.compile(r'"([^"]*)"?|(\S+)')


def add_to(connection: sqlite3.Connection) -> None:
    """Add ``middle_ms(bucket)``, ``day_of(trace_id)`` and ``searched(words)`` to a Datasette connection."""
    connection.create_function("middle_ms", 1, _middle_ms, deterministic=True)
    connection.create_function("day_of", 1, day_of, deterministic=True)
    connection.create_function("searched", 1, searched, deterministic=True)


def keep_in_bounds(connection: sqlite3.Connection) -> None:
    """Forbid SQL functions and pragmas that reveal facts of the machine, and limit the length of values."""
    connection.set_authorizer(_allowed)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN_BYTES)


def _allowed(action: int, first: str | None, second: str | None, *_where: str | None) -> int:
    named = second if action == sqlite3.SQLITE_FUNCTION else first
    return sqlite3.SQLITE_IGNORE if (action, (named or "").lower()) in FORBIDDEN else sqlite3.SQLITE_OK


def searched(words: object) -> str:
    """Return the full-text query for words that a user typed; without words, a query that matches nothing.

    Words are matched whole, at a hundredth of the cost of prefixes; ``word*`` matches a prefix.
    """
    parts = (found[1] or found[2] or "" for found in PART.finditer(str(words or "")))
    return " ".join(_phrase(part) for part in parts if search.TOKEN.search(part)) or NOTHING


def _phrase(part: str) -> str:
    return f'"{" ".join(search.TOKEN.findall(part))}"{"*" * part.endswith("*")}'


def day_of(trace_id: object) -> str | None:
    """Return the UTC day on which a trace began, None if its id does not begin with a time."""
    try:
        return datetime.fromtimestamp(int(str(trace_id)[: search.TIME_DIGITS], 16) / 1e6, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _middle_ms(bucket: int | None) -> float | None:
    return None if bucket is None else rollups.middle_ms(bucket)
