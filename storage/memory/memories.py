"""Store, list, count, change and delete memories, which are notes about projects, such as decisions and blockers.

``storage.memory.recall`` searches them. Memories with the same project, origin and key are the same memory, so that
repeating an import changes nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from storage.base import fast_stdlib, paced_writes, temporary_files
from storage.memory import memory_markers
from storage.memory.words import extra_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

NAMESPACES = (
    "decisions", "patterns", "learnings", "context", "tech-debt", "blockers", "progress", "apis", "config", "security",
    "performance", "testing",
)  # fmt: skip
ORIGINS = ("added", "captured", "team", "import:notes", "import:agents", "import:git", "import:jsonl")
DEFAULT_NAMESPACE = "context"
SHARED = memory_markers.SHARED
LONGEST_ID = 128
SHORT_SHA = 8

COLUMNS = (
    "id", "namespace", "content", "tags", "project", "path_prefix", "source", "origin", "key", "created_at",
    "updated_at", "reviewed", "superseded_by",
)  # fmt: skip
WHAT_IS_COMPARED = ("namespace", "content", "tags", "path_prefix", "source", "created_at", "superseded_by")

WHICH_IS_IT = f"select {', '.join(COLUMNS)} from memories where id = :id"
WHICH_IS_THE_SAME = f"""
    select {", ".join(COLUMNS)} from memories where project = :project and origin = :origin and key = :key
"""
WHOSE_ID_IS_IT = "select project, origin, key from memories where id = :id"
WHICH_MATCH = f"""
    select {", ".join(COLUMNS)} from memories
    where (:project = '' or project = :project)
      and (:namespace = '' or namespace = :namespace)
      and (:origin = '' or origin = :origin)
      and (:reviewed is null or reviewed = :reviewed)
      and (:after = '' or (created_at, id) < (select created_at, id from memories as last where last.id = :after))
    order by created_at desc, id desc limit :limit
"""
# Not «like», in which «_» and «%» in a path would be placeholders.
WHICH_CAME_FROM = """
    select key from memories where project = :project and origin = :origin and substr(source, 1, :length) = :prefix
"""
HOW_MANY_ARE_THEY = "select count(*), coalesce(sum(reviewed = 0), 0) from memories where project = :project"
APPROVE = "update memories set reviewed = 1 where id = :id and reviewed = 0"
FORGET = "delete from memories where id = :id"
FORGET_THE_SAME = "delete from memories where project = :project and origin = :origin and key = :key"
KEEP = f"""
    insert into memories ({", ".join(COLUMNS)}, words) values ({", ".join(":" + name for name in COLUMNS)}, :words)
"""
CHANGE = """
    update memories set namespace = :namespace, content = :content, tags = :tags, path_prefix = :path_prefix,
        source = :source, created_at = :created_at, updated_at = :updated_at,
        reviewed = max(reviewed, :reviewed), superseded_by = :superseded_by, words = :words
    where project = :project and origin = :origin and key = :key
"""
WHERE_IS_IT = "select file from pragma_database_list where name = 'main'"
# Without merging its segments, the full-text index would keep the words of deleted rows.
PURGE_THE_INDEX = "insert into memories_fts (memories_fts) values ('optimize')"
HOW_MANY_BY_NAMESPACE = """
    select namespace, count(*), sum(reviewed = 0) from memories
    where project in (select value from json_each(:projects)) or :projects = '[]'
    group by namespace order by namespace
"""
WHICH_PROJECTS = "select project, memories from memory_counts where memories > 0 order by memories desc, project"
WHICH_PROMPTS_GOT_IT = """
    select traces.id, traces.at, traces.host, traces.task_type, substr(traces.prompt, 1, 500)
    from trace_items cross join traces on traces.id = trace_items.trace_id
    where trace_items.channel = 'memory' and trace_items.ref = :ref and trace_items.kept
    order by trace_items.trace_id desc limit 50
"""
WHICH_COUNT = "project in (:project, :shared) and superseded_by = ''"
WHEN_DID_THEY_CHANGE = f"select id, updated_at from memories where {WHICH_COUNT}"
ALL_NOTES = f"select id, namespace, tags, content, updated_at from memories where {WHICH_COUNT} order by number"
NOTES_BY_ID = "select id, namespace, tags, content, updated_at from memories where id in ({}) order by number"
BATCH_NOTES = 500  # ids in one query, each of which is a parameter; older versions of SQLite allow 999


@dataclass(slots=True, kw_only=True, eq=False)
class Memory:
    """A memory: one note about a project.

    ``project`` is a ``Project.id``, or ``shared`` for a memory of all projects. ``path_prefix`` is the folder of a
    monorepo that the memory is about, empty for the whole project. ``source`` is a path in the project, ``git:<sha>``,
    a URL or empty. ``origin``, one of ``ORIGINS``, says how the memory was stored. ``key`` identifies it among those
    with the same project and origin; by default, it is a hash of the content. ``created_at`` is when the content was
    decided or written. ``reviewed`` means that a user approved it.
    """

    content: str = field(kw_only=False)
    project: str
    namespace: str = DEFAULT_NAMESPACE
    tags: Sequence[str] = ()
    path_prefix: str = ""
    source: str = ""
    origin: str = "added"
    key: str = ""
    created_at: str = ""
    updated_at: str = ""
    reviewed: bool = True
    superseded_by: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        self.tags = list(self.tags)
        self.key = self.key or fast_stdlib.keyed_hash(b"memory", self.content.encode(errors="replace"))

    def to_json(self) -> dict[str, object]:
        """Return the memory as a dictionary of its columns, for lists and exports."""
        return {name: getattr(self, name) for name in COLUMNS}


def add(db: sqlite3.Connection, memory: Memory) -> str:
    """Store a memory, or update the one with the same project, origin and key; return its id.

    An approved memory stays approved. Raises ValueError for an unknown namespace.
    """
    with transaction(db):
        return _put(db, memory)[0]


def get(db: sqlite3.Connection, memory_id: str) -> Memory | None:
    """Return the memory with this id; None if there is none."""
    row = db.execute(WHICH_IS_IT, {"id": _storable(memory_id)}).fetchone()
    return _memory(row) if row else None


def listing(
    db: sqlite3.Connection,
    *,
    project: str = "",
    namespace: str = "",
    origin: str = "",
    reviewed: bool | None = None,
    limit: int = 50,
    after: str = "",
) -> list[Memory]:
    """Return up to ``limit`` memories that match all filters, newest first; an empty string matches every memory.

    ``reviewed`` selects approved or unapproved memories, None both. ``after`` is the last memory id of the previous
    page.
    """
    asked = {
        "project": project, "namespace": namespace, "origin": origin, "reviewed": reviewed, "limit": limit,
        "after": after,
    }  # fmt: skip
    return [_memory(row) for row in db.execute(WHICH_MATCH, asked)]


def count(db: sqlite3.Connection, project: str) -> tuple[int, int]:
    """Return how many memories a project has, and how many of them are not approved yet."""
    every, waiting = db.execute(HOW_MANY_ARE_THEY, {"project": project}).fetchone()
    return int(every), int(waiting)


def forget(db: sqlite3.Connection, ids: Iterable[str]) -> int:
    """Delete the memories ``ids``, also from the full-text index and from temporary files; return how many existed.

    The caller must run ``trace_rows.make_final`` afterwards, which removes deleted rows from the database file.
    """
    with transaction(db):
        gone = sum(db.execute(FORGET, {"id": _storable(one)}).rowcount for one in ids)
        if gone:
            db.execute(PURGE_THE_INDEX)
    if gone:
        temporary_files.erase(_folder(db))
    return gone


def approve(db: sqlite3.Connection, memory_id: str) -> bool:
    """Mark a memory as approved by the user; return whether it was not approved before."""
    return db.execute(APPROVE, {"id": _storable(memory_id)}).rowcount > 0


def replace_all(
    db: sqlite3.Connection, project: str, origin: str, source_prefix: str, memories: Iterable[Memory]
) -> tuple[int, int, int]:
    """Make ``memories`` the only ones of ``project`` with this origin and a source beginning with ``source_prefix``.

    Other memories of that kind are deleted, and unchanged ones are not written, all in one transaction. Return how many
    memories were added, changed and removed.
    """
    outcomes = {"added": 0, "changed": 0, "same": 0}
    with transaction(db):
        asked = {"project": project, "origin": origin, "prefix": source_prefix, "length": len(source_prefix)}
        old = {row[0] for row in db.execute(WHICH_CAME_FROM, asked)}
        for memory in memories:
            memory.project, memory.origin = project, origin
            outcomes[_put(db, memory)[1]] += 1
            old.discard(memory.key)
        for key in old:
            db.execute(FORGET_THE_SAME, {"project": project, "origin": origin, "key": key})
    return outcomes["added"], outcomes["changed"], len(old)


def short_source(source: str) -> str:
    """Return a memory's source as it is displayed: a commit with its short hash, any other source unchanged."""
    return source[: len("git:") + SHORT_SHA] if source.startswith("git:") else source


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the ``with`` block as one transaction, or as part of the transaction that is already open."""
    if db.in_transaction:
        yield
        return
    with paced_writes.transaction(db):
        yield
    # Only after the commit: a marker must not announce a memory whose transaction can still fail.
    memory_markers.note(db, _folder(db))


def _folder(db: sqlite3.Connection) -> str:
    return os.path.dirname(str(db.execute(WHERE_IS_IT).fetchone()[0]))


def _put(db: sqlite3.Connection, memory: Memory) -> tuple[str, str]:
    if memory.namespace not in NAMESPACES:
        raise ValueError(f"no namespace {memory.namespace!r}: one of {', '.join(NAMESPACES)}")
    row = _row(memory)
    found = db.execute(WHICH_IS_THE_SAME, row).fetchone()
    if found is None:
        memory.id = row["id"] = _free_id(db, memory)
        row["created_at"] = row["created_at"] or row["updated_at"]
        db.execute(KEEP, row)
        return memory.id, "added"
    known = dict(zip(COLUMNS, found, strict=True))
    memory.id = known["id"]
    row["created_at"] = row["created_at"] or known["created_at"]
    is_same = all(known[name] == row[name] for name in WHAT_IS_COMPARED) and known["reviewed"] >= row["reviewed"]
    if not is_same:
        db.execute(CHANGE, row)
    return memory.id, "same" if is_same else "changed"


def _row(memory: Memory) -> dict[str, object]:
    row = {name: getattr(memory, name) for name in COLUMNS}
    row["tags"] = fast_stdlib.dumps(memory.tags)
    row["reviewed"] = int(memory.reviewed)
    row["updated_at"] = memory.updated_at or fast_stdlib.utc_now()
    row["words"] = extra_words(" ".join([memory.content, *memory.tags]), written=memory.created_at)
    return {name: _storable(value) if isinstance(value, str) else value for name, value in row.items()}


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode() if not text.isascii() else text


def _free_id(db: sqlite3.Connection, memory: Memory) -> str:
    """Return an unused id for a memory: its own, or else one made from project, origin and key; raises ValueError."""
    wanted = memory.id[:LONGEST_ID]
    for attempt in range(100):
        named = "\0".join([memory.project, memory.origin, memory.key, str(attempt)])
        own = wanted or "m-" + fast_stdlib.keyed_hash(b"memory", named.encode(errors="replace"))[:10]
        if db.execute(WHOSE_ID_IS_IT, {"id": own}).fetchone() is None:
            return own
        wanted = ""  # the memory's own id is taken
    raise ValueError(f"no free id for {memory.key!r}")


def _memory(row: Iterable[object]) -> Memory:
    fields: dict[str, object] = dict(zip(COLUMNS, row, strict=True))
    tags = fast_stdlib.loads(str(fields.pop("tags")))
    content = str(fields.pop("content"))
    reviewed = bool(fields.pop("reviewed"))
    texts = {name: str(value) for name, value in fields.items()}
    return Memory(content, tags=tags if isinstance(tags, list) else [], reviewed=reviewed, **texts)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The number of memories in one namespace, such as ``decisions``, and how many of them no user has approved."""

    namespace: str
    memories: int
    unreviewed: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A recorded prompt to which a memory was added."""

    id: str
    at: str
    host: str
    task_type: str
    prompt: str


def shelves(db: sqlite3.Connection, projects: Sequence[str] = ()) -> list[Shelf]:
    """Return the number of memories in each namespace, for ``projects`` only, or for all projects if it is empty."""
    rows = db.execute(HOW_MANY_BY_NAMESPACE, {"projects": json.dumps(list(projects))})
    return [Shelf(*row) for row in rows]


def projects(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return each project that has memories, with the number of its memories, largest number first."""
    return [(str(project), int(count)) for project, count in db.execute(WHICH_PROJECTS)]


def uses(db: sqlite3.Connection, memory_id: str) -> list[MemoryUse]:
    """Return the newest prompts to which this memory was added, at most fifty."""
    return [MemoryUse(*row) for row in db.execute(WHICH_PROMPTS_GOT_IT, {"ref": memory_id})]


class Note:
    """A memory, reduced to the fields from which its topics are derived: namespace, tags and content."""

    __slots__ = ("changed_at", "content", "id", "namespace", "tags")

    def __init__(self, identity: str, namespace: str, tags: list[str], content: str, changed_at: str = "") -> None:
        self.id = identity
        self.namespace = namespace
        self.tags = tags
        self.content = content
        self.changed_at = changed_at


def change_times(db: sqlite3.Connection, project: str) -> dict[str, str]:
    """Return when each memory of the project and each shared memory was last changed, keyed by the memory's id.

    Superseded memories are left out.
    """
    return dict(db.execute(WHEN_DID_THEY_CHANGE, {"project": project, "shared": SHARED}))


def all_notes(db: sqlite3.Connection, project: str) -> Iterator[Note]:
    """Yield all memories of the project and all shared ones that are not superseded, oldest first."""
    cursor = db.cursor()
    cursor.row_factory = None  # plain tuples; there may be a hundred thousand
    return map(_note, cursor.execute(ALL_NOTES, {"project": project, "shared": SHARED}))


def notes(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[Note]:
    """Yield the memories with these ids; unknown ids are skipped.

    They are read in batches; the memories of a batch come in the order in which they were stored.
    """
    wanted = list(ids)
    for start in range(0, len(wanted), BATCH_NOTES):
        batch = wanted[start : start + BATCH_NOTES]
        yield from map(_note, db.execute(NOTES_BY_ID.format(",".join("?" * len(batch))), batch))


def _note(row: tuple[str, str, str, str, str]) -> Note:
    identity, namespace, tags, content, changed_at = row
    listed = fast_stdlib.loads(tags) if tags != "[]" else []
    texts = [str(tag) for tag in listed] if isinstance(listed, list) else []
    return Note(identity, namespace, texts, content, changed_at)
