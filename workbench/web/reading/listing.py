"""List the traces that match a filter page by page: each page starts after a key, never at an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.traces import search, selection, windows

if TYPE_CHECKING:
    import sqlite3

    from storage.traces.selection import Selection
    from storage.traces.windows import Line

PAGE_ROWS = 50
SORTS = ("newest", *windows.RANKINGS)


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of rows; ``older`` and ``newer`` are the keys after which the neighbouring pages begin, else None.

    ``newer`` is ``ABOVE_ALL`` if that page is the first. ``words`` are the search words.
    """

    lines: list[Line]
    older: str | None
    newer: str | None
    words: tuple[str, ...]


def listing(db: sqlite3.Connection, text: str, *, sort: str, before: str, limit: int = PAGE_ROWS) -> Listing:
    """Return a page of the filter's matches; raises storage.traces.selection.SelectionError.

    A sort order other than by time lists only the first ``windows.LONGEST_RANKING`` rows.
    """
    which = search.with_index(selection.parse(text), db)
    if sort in windows.RANKINGS:
        return _ranked(windows.ranking(db, which, by=sort), before=before, limit=limit, words=which.words)
    lines = windows.page(db, which, before=before or windows.ABOVE_ALL, limit=limit + 1)
    return Listing(
        lines[:limit],
        lines[limit - 1].id if len(lines) > limit else None,
        _newer(db, which, lines, limit) if before else None,
        which.words,
    )


def _newer(db: sqlite3.Connection, which: Selection, lines: list[Line], limit: int) -> str:
    return windows.newer(db, which, than=lines[0].id, limit=limit) if lines else windows.ABOVE_ALL


def _ranked(lines: list[Line], *, before: str, limit: int, words: tuple[str, ...]) -> Listing:
    start = next((place + 1 for place, line in enumerate(lines) if line.id == before), 0)
    newer = None
    if start:
        newer = lines[start - limit - 1].id if start > limit else windows.ABOVE_ALL
    older = lines[start + limit - 1].id if len(lines) > start + limit else None
    return Listing(lines[start : start + limit], older, newer, words)
