"""Read memories for the topic index, which finds out what subjects a project has memories about.

The index first reads when each memory was last changed, and then only the memories that are new or changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage.base import fast_stdlib
from storage.memory.memories import SHARED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

BATCH = 500

WHICH_COUNT = "project in (:project, :shared) and superseded_by = ''"
WHICH_VERSIONS = f"select id, updated_at from memories where {WHICH_COUNT}"
ALL_NOTES = f"select id, namespace, tags, content, updated_at from memories where {WHICH_COUNT} order by number"
NOTES_BY_ID = "select id, namespace, tags, content, updated_at from memories where id in ({}) order by number"


class Note:
    """A memory, reduced to the fields from which its topics are derived: namespace, tags and content."""

    __slots__ = ("changed_at", "content", "id", "namespace", "tags")

    def __init__(self, identity: str, namespace: str, tags: list[str], content: str, changed_at: str = "") -> None:
        self.id = identity
        self.namespace = namespace
        self.tags = tags
        self.content = content
        self.changed_at = changed_at


def versions(db: sqlite3.Connection, project: str) -> dict[str, str]:
    """Return when each memory of the project and each shared memory was last changed, keyed by the memory's id.

    Superseded memories are left out.
    """
    return dict(db.execute(WHICH_VERSIONS, _seen_by(project)))


def all_notes(db: sqlite3.Connection, project: str) -> Iterator[Note]:
    """Yield all memories of the project and all shared ones that are not superseded, oldest first."""
    cursor = db.cursor()
    cursor.row_factory = None  # plain tuples; there may be a hundred thousand
    return map(_note, cursor.execute(ALL_NOTES, _seen_by(project)))


def notes(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[Note]:
    """Yield the memories with these ids; unknown ids are skipped.

    They are read in batches; the memories of a batch come in the order in which they were stored.
    """
    wanted = list(ids)
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        yield from map(_note, db.execute(NOTES_BY_ID.format(",".join("?" * len(batch))), batch))


def _seen_by(project: str) -> dict[str, str]:
    return {"project": project, "shared": SHARED}


def _note(row: tuple[str, str, str, str, str]) -> Note:
    identity, namespace, tags, content, changed_at = row
    listed = fast_stdlib.loads(tags) if tags != "[]" else []
    texts = [str(tag) for tag in listed] if isinstance(listed, list) else []
    return Note(identity, namespace, texts, content, changed_at)
