"""Read what the Memories screen shows, in its threads: memories, matches of a search, and prompts with a memory.

Nothing here touches a widget.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.memory import memories, recall

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from storage.memory.memories import Memory, Shelf

MOST_LISTED = 500
MOST_PROJECTS = 20
"""A search for words in all projects covers only this many of them, those with the most memories."""


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """The conditions that a listed memory must meet; an empty field, including ``projects``, is no restriction."""

    projects: tuple[str, ...] = ()
    words: str = ""
    namespace: str = ""
    is_unreviewed: bool = False

    def takes(self, one: Memory) -> bool:
        """Return whether ``one`` has the wanted namespace and review state.

        Words and projects are not checked here, but by the query that finds the memories.
        """
        return self.namespace in ("", one.namespace) and not (self.is_unreviewed and one.reviewed)


@dataclass(frozen=True, slots=True)
class MemoryList:
    """The memories that match the filter ``wanted``.

    ``memories`` has at most ``MOST_LISTED`` of them, and ``shelves`` the number of memories in each namespace.
    """

    wanted: MemoryFilter
    memories: list[Memory]
    shelves: list[Shelf]
    other_projects: int
    """Number of memories in projects that the filter excludes."""


def memory_list(db: sqlite3.Connection, wanted: MemoryFilter) -> MemoryList:
    """Return the memories that match ``wanted``.

    If it contains search words, the best matches come first; otherwise unreviewed memories come before reviewed ones,
    and newer ones before older ones.
    """
    found = _search(db, wanted) if wanted.words.strip() else _listing(db, wanted)
    every = memories.projects(db)
    elsewhere = sum(count for project, count in every if wanted.projects and project not in wanted.projects)
    return MemoryList(wanted, found, memories.shelves(db, wanted.projects), elsewhere)


def _listing(db: sqlite3.Connection, wanted: MemoryFilter) -> list[Memory]:
    found: list[Memory] = []
    for is_reviewed in (False,) if wanted.is_unreviewed else (False, True):
        own = [
            one
            for project in wanted.projects or ("",)
            for one in memories.listing(
                db,
                project=project,
                namespace=wanted.namespace,
                reviewed=is_reviewed,
                limit=MOST_LISTED,
            )
        ]
        found += sorted(own, key=lambda one: (one.created_at, one.id), reverse=True)
    return found[:MOST_LISTED]


def _search(db: sqlite3.Connection, wanted: MemoryFilter) -> list[Memory]:
    # Every search finds the shared memories, too, so a search in the first project is enough.
    with _plain_rows(db):
        every = [project for project, _count in memories.projects(db)]
        hits = {
            hit.id: hit.score
            for project in wanted.projects[:1] or every[:MOST_PROJECTS]
            for hit in recall.search(db, wanted.words, project=project, limit=MOST_LISTED)
        }
        best = sorted(hits, key=lambda one: (-hits[one], one))[:MOST_LISTED]
        found = [memories.get(db, one) for one in best]
    return [one for one in found if one is not None and wanted.takes(one)]


@contextlib.contextmanager
def _plain_rows(db: sqlite3.Connection) -> Iterator[None]:
    """Make the connection return rows as tuples, which ``recall`` expects, until the ``with`` block ends."""
    factory, db.row_factory = db.row_factory, None
    try:
        yield
    finally:
        db.row_factory = factory
