"""Keep the full-text index of prompts up to date, and let selections of traces that contain words use it.

Programs that read the database update the index, in transactions so short that no hook has to wait. Traces are indexed
in the order in which they were written, so that a binary search finds the last indexed one. A trace's row number in the
index is the time in its id in microseconds, or the next free number: ``order by rowid desc`` yields the newest first.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from storage.base.paced_writes import in_turn
from storage.traces.trace_pages import last_row

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from storage.traces.selection import Selection

BATCH_ROWS = 500
TIME_DIGITS = 14  # of a trace's id: the time in microseconds, in hexadecimal
TOKEN = re.compile(r"\w+")

IS_THE_ROW_IN = """
    select trace_numbers.number is not null from traces left join trace_numbers on trace_numbers.trace_id = traces.id
    where traces.rowid >= :row order by traces.rowid limit 1
"""
WHICH_COME_NEXT = """
    select traces.rowid as row, traces.id as id, traces.prompt as prompt from traces
    where traces.rowid > :row order by traces.rowid limit :limit
"""
NUMBER_THE_TRACE = """
    insert into trace_numbers (number, trace_id) values (:number, :id)
"""
IS_THE_NUMBER_TAKEN = "select 1 from trace_numbers where number = :number"
IS_THE_TRACE_NUMBERED = "select 1 from trace_numbers where trace_id = :id"
INDEX_THE_PROMPT = "insert into prompts_fts (rowid, prompt) values (:number, :prompt)"


def waiting(db: sqlite3.Connection) -> int:
    """Return how many traces are not in the index yet.

    Traces that were deleted before they were indexed may be included, because the number is a difference of row ids.
    """
    last = last_row(db)
    return last - _indexed_up_to(db, last)


def catch_up(db: sqlite3.Connection, *, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Add the missing prompts to the index, one batch per transaction; return how many remain.

    Stop early if ``should_stop`` returns True before a batch. ``db`` must be in autocommit mode. Raises sqlite3.Error
    if the database cannot be written.
    """
    last = last_row(db)
    row = _indexed_up_to(db, last)
    while row < last and not should_stop():
        batch = db.execute(WHICH_COME_NEXT, {"row": row, "limit": BATCH_ROWS}).fetchall()
        if not batch:
            break
        missing = [(str(trace_id), str(prompt)) for _row, trace_id, prompt in batch]
        in_turn(db, _index_batch, db, missing)
        row = int(batch[-1][0])
    return max(0, last - row)


def with_index(which: Selection, db: sqlite3.Connection) -> Selection:
    """Return ``which``, prepared to use the full-text index if it has words to search for and the index is complete.

    The index finds a text only at the beginning of a word. Without the index, every prompt is searched, and the text is
    found anywhere in a word.
    """
    match = expression(which.words)
    return replace(which, match="" if waiting(db) else match) if match else which


def expression(words: tuple[str, ...]) -> str:
    """Return the expression of SQLite's FTS5 for prompts that contain all of these texts.

    Each text is searched for as a phrase, whose last word may be the beginning of a word. The expression is empty if
    one of the texts contains no word.
    """
    phrases = [TOKEN.findall(text) for text in words]
    # Quotes make a phrase of the words, and the star lets the last one be a beginning; words cannot contain quotes.
    return " ".join('"' + " ".join(phrase) + '"*' for phrase in phrases if phrase) if all(phrases) else ""


def _indexed_up_to(db: sqlite3.Connection, last: int) -> int:
    """Return the largest row id up to which all traces are indexed, found by binary search; 0 if none is indexed."""
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        found = db.execute(IS_THE_ROW_IN, {"row": middle}).fetchone()
        if found is None or found[0]:  # None: all rows from there on were deleted
            low = middle
        else:
            high = middle - 1
    return low


def _index_batch(db: sqlite3.Connection, batch: list[tuple[str, str]]) -> None:
    for trace_id, prompt in batch:
        if db.execute(IS_THE_TRACE_NUMBERED, {"id": trace_id}).fetchone():
            continue  # another process has just indexed it
        number = _number(db, trace_id)
        db.execute(NUMBER_THE_TRACE, {"number": number, "id": trace_id})
        db.execute(INDEX_THE_PROMPT, {"number": number, "prompt": prompt})


def _number(db: sqlite3.Connection, trace_id: str) -> int:
    try:
        number = int(trace_id[:TIME_DIGITS], 16)
    except ValueError:  # an id that another program made; it sorts before all of ours
        number = 0
    while db.execute(IS_THE_NUMBER_TAKEN, {"number": number}).fetchone():
        number += 1
    return number
