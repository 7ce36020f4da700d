"""What the threads of the Traces screen do: read the list in pieces and post them.

Nothing here touches a widget; every message carries the run that it belongs to.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from storage import windows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from storage.selection import Selection
    from storage.windows import Line

    Post = Callable[[Message], object]

FIRST_LINES = 60
"""More than most terminals show; a rare selection need not wait for a whole page."""
TELL_EVERY_S = 0.05
MOST_ARRIVALS = 1_000


@dataclass
class FirstLines(Message):
    """The list begins with these; ``row`` is the number of the row that was written last."""

    run: int
    lines: list[Line]
    row: int
    is_whole: bool


@dataclass
class Length(Message):
    """So many rows are known; ``marks`` are the ids of the last rows of the pages."""

    run: int
    rows: int
    marks: list[str]
    is_final: bool


@dataclass
class Page(Message):
    """A page of the list."""

    run: int
    number: int
    lines: list[Line]


@dataclass
class Arrived(Message):
    """Written since, oldest first; ``fresh`` are lines that were there, as they are now."""

    run: int
    lines: list[Line]
    row: int
    fresh: list[Line]


def read_list(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, sort: str) -> None:
    """Post the first lines as soon as they are found, then where every further page ends."""
    row = windows.newest(db)
    if sort != "newest":
        post(FirstLines(run, windows.ranking(db, which, by=sort), row, is_whole=True))
        return
    lines: list[Line] = []
    for line in windows.stream(db, which):
        lines.append(line)
        if len(lines) == FIRST_LINES:
            post(FirstLines(run, lines[:], row, is_whole=False))
    is_whole = len(lines) < windows.PAGE_ROWS
    post(FirstLines(run, lines, row, is_whole=is_whole))
    if not is_whole:
        _find_pages(db, post, run=run, which=which, behind=lines[-1].id)


def _find_pages(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, behind: str) -> None:
    marks, told_at = [behind], time.monotonic()
    for mark in windows.marks(db, which, behind=behind):
        marks.append(mark)
        if time.monotonic() - told_at > TELL_EVERY_S:
            told_at = time.monotonic()
            post(Length(run, len(marks) * windows.PAGE_ROWS, marks[:], is_final=False))
    rows = len(marks) * windows.PAGE_ROWS + windows.rest(db, which, behind=marks[-1])
    post(Length(run, rows, marks, is_final=True))


def read_pages(
    db: sqlite3.Connection, post: Post, *, run: int, which: Selection, wanted: tuple[tuple[int, str], ...]
) -> None:
    """Post pages by number; each begins behind its key."""
    for number, before in wanted:
        post(Page(run, number, windows.page(db, which, before=before)))


def read_news(
    db: sqlite3.Connection,
    post: Post,
    *,
    run: int,
    which: Selection,
    row: int,
    seen: tuple[tuple[int, str], ...],
    head: int,
) -> None:
    """Post what was written after ``row``, then what is in sight as it is now: the ``head`` newest lines and pages."""
    newest = windows.newest(db)
    lines = windows.written_since(db, which, after=row, limit=MOST_ARRIVALS + 1) if newest > row else []
    fresh = windows.page(db, which, limit=min(windows.PAGE_ROWS, head)) if head else []
    post(Arrived(run, lines, newest, fresh))
    read_pages(db, post, run=run, which=which, wanted=seen)
