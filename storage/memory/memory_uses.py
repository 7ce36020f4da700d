"""Figures about memories: how many there are of each kind, and which prompts they were injected into."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

HOW_MANY_BY_NAMESPACE = """
    select namespace, count(*), sum(reviewed = 0) from memories
    where project in (select value from json_each(:projects)) or :projects = '[]'
    group by namespace order by namespace
"""
WHICH_PROJECTS = "select project, memories from memory_counts where memories > 0 order by memories desc, project"
WHICH_PROMPTS_WERE_TOLD = """
    select traces.id, traces.at, traces.host, traces.task_type, substr(traces.prompt, 1, 500)
    from trace_items cross join traces on traces.id = trace_items.trace_id
    where trace_items.channel = 'memory' and trace_items.ref = :ref and trace_items.kept
    order by trace_items.trace_id desc limit :limit
"""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The memories of a namespace: their number, and how many of these are not approved yet."""

    namespace: str
    memories: int
    unreviewed: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A prompt into which a memory was injected."""

    id: str
    at: str
    host: str
    task_type: str
    prompt: str


def shelves(db: sqlite3.Connection, projects: Sequence[str] = ()) -> list[Shelf]:
    """Count the memories of the given projects, or of all if none is given."""
    rows = db.execute(HOW_MANY_BY_NAMESPACE, {"projects": json.dumps(list(projects))})
    return [Shelf(*row) for row in rows]


def projects(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the projects with memories and their number, largest first."""
    return [(str(project), int(count)) for project, count in db.execute(WHICH_PROJECTS)]


def told(db: sqlite3.Connection, memory_id: str, *, limit: int = 50) -> list[MemoryUse]:
    """Return the newest prompts into which this memory was injected, newest first."""
    return [MemoryUse(*row) for row in db.execute(WHICH_PROMPTS_WERE_TOLD, {"ref": memory_id, "limit": limit})]
