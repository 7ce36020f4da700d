"""Search, list and add the memories of one project, for the command line and the MCP server.

A project sees its own memories and the ``shared`` ones (ruling R28).
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from enricher.home import state_dir
from enricher.interfaces.library.topics import TopicIndexService
from enricher.prompt.project import identify
from enricher.prompt.redaction import redact
from storage.base import log
from storage.db import database
from storage.memory import memories

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from storage.memory.recall import Hit


class Library:
    """The memories that one project can use; every call sees what other processes wrote before it.

    Each method raises ``storage.db.database.StorageError`` if the database cannot be used.
    """

    def __init__(self, cwd: str = "", *, state: str = "") -> None:
        self.project = identify(cwd)
        self.cwd = cwd or self.project.root
        self.state = state or state_dir()
        self._index = TopicIndexService()
        self._versions: dict[str, str] = {}
        self._lock = threading.Lock()  # held while the index and the versions in it are brought up to date together

    def topics(self) -> TopicIndexService:
        """Return the index of topics, after updating it from the database."""
        with self._lock, self._opened() as db:
            self._refresh(db)
        return self._index

    def build(self) -> None:
        """Rebuild the topic index and log the duration."""
        with self._lock, self._opened() as db:
            began = time.perf_counter()
            self._build(db)
            spent_ms = round((time.perf_counter() - began) * 1000, 1)
        counted = f"{self._index.memory_count} memories, {len(self._index)} topics"
        log.append(self.state, stage="topics", reason=f"topic index built in {spent_ms} ms: {counted}", level="INFO")

    def memory(self, identity: str) -> memories.Memory | None:
        """Return the memory with the id ``identity``; None if there is none, or if it belongs to another project."""
        with self._opened() as db:
            found = memories.get(db, identity)
        return found if found and found.project in (self.project.id, memories.SHARED) else None

    def about(self, topic: str) -> list[memories.Memory]:
        """Return the memories of a topic: the reviewed ones before the others, each group with the newest first."""
        ids = self.topics().get(topic)
        with self._opened() as db:
            found = [memory for one in ids if (memory := memories.get(db, one))]
        return sorted(found, key=lambda one: (one.reviewed, one.created_at, one.id), reverse=True)

    def search(
        self, query: str, *, namespace: str = "", limit: int = 20, weights: Mapping[str, float] | None = None
    ) -> list[Hit]:
        """Return the memories that match ``query``, best first; if ``namespace`` is given, only those in it.

        ``weights`` maps namespaces to factors by which the scores of their memories are multiplied.
        """
        from enricher.interfaces.compat import vectors

        with self._opened() as db:
            return vectors.search(
                db,
                query,
                project=self.project,
                state=self.state,
                cwd=self.cwd,
                namespace=namespace,
                limit=limit,
                weights=weights,
            )

    def add(self, content: str, *, namespace: str, tags: list[str]) -> memories.Memory:
        """Store a memory for this project, with secrets removed. It ranks lower until a user approves it."""
        memory = memories.Memory(
            redact(content)[0],
            project=self.project.id,
            namespace=namespace,
            tags=[redact(tag)[0] for tag in tags],
            origin="added",
            reviewed=False,
        )
        with self._opened() as db:
            memories.add(db, memory)
            return memories.get(db, memory.id) or memory

    def _refresh(self, db: sqlite3.Connection) -> None:
        if self._index.last_refresh is None:
            self._build(db)
            return
        now = memories.change_times(db, self.project.id)
        for gone in self._versions.keys() - now.keys():
            self._index.remove(gone)
        changed = [identity for identity, at in now.items() if self._versions.get(identity) != at]
        for note in memories.notes(db, changed):
            self._index.add(note)
        self._versions = now

    def _build(self, db: sqlite3.Connection) -> None:
        versions: dict[str, str] = {}

        def noted() -> Iterator[memories.Note]:
            for note in memories.all_notes(db, self.project.id):
                versions[note.id] = note.changed_at
                yield note

        self._index.build(noted())
        self._versions = versions

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(database.connect(self.state)) as db, database.storage_errors(self.state):
            yield db
