"""SQL functions that our queries use in addition to SQLite's own, and the word search of the traces' table page.

Datasette's own search collects every match before it shows one. Here the index is read newest first and only as far
as needed, so a word that is in every prompt costs no more than a rare one.
"""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from datasette.filters import FilterArguments

from storage.metrics import rollups
from storage.traces import search

if TYPE_CHECKING:
    from datasette.utils.asgi import Request

LONGEST_VALUE_BYTES = 64 << 20
"""Most bytes in one value of a query; with SQLite's own limit of 10^9 a query could use up the server's memory."""
LONGEST_PATTERN_BYTES = 1_000
"""Longest pattern of LIKE or GLOB: a comparison costs its length times the prompt's, and cannot be interrupted."""
FORBIDDEN = frozenset(((sqlite3.SQLITE_PRAGMA, "database_list"), (sqlite3.SQLITE_FUNCTION, "fts3_tokenizer")))
"""Actions that reveal the path of the file or a memory address; denied, the first has no rows, the second no value."""
NOTHING = '""'
"""A phrase without words, which matches no prompt."""
PART = re.compile(r'"([^"]*)"?|(\S+)')
MOST_FOUND = 1_000
WHICH_HOLD_THE_WORDS = f"""id in (
    select trace_numbers.trace_id from trace_numbers where trace_numbers.number in (
        select rowid from prompts_fts where prompts_fts match :searched_words order by rowid desc limit {MOST_FOUND}
    )
)"""


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


def filtered(request: Request) -> FilterArguments:
    """Return the SQL condition for the words of ``?_search=``, with its description; no condition without words."""
    words = request.args.get("_search") or ""
    box = {"supports_search": True, "search": words}
    if not words:
        return FilterArguments([], extra_context=box)
    said = f'where the prompt holds "{words}", of the newest {MOST_FOUND:,} that do'
    return FilterArguments([WHICH_HOLD_THE_WORDS], {"searched_words": searched(words)}, [said], box)
