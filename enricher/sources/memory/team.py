"""Import a team's memories: the notes in ``.enricher/memories/`` of a trusted project and of its packages.

They come with the repository, where pull requests are reviewed, so they count as reviewed. Notes that a ``git pull``
adds, changes or deletes are added, changed or deleted by the next import. Without trust nothing is imported, and
earlier imports are removed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.prompt import trust
from enricher.sources import git
from enricher.sources.memory import imports, notes
from enricher.sources.memory.reading import SourceReading
from storage.memory import memories

if TYPE_CHECKING:
    import sqlite3

    from enricher.prompt.project import Project
    from enricher.sources.memory.imports import State

ORIGIN = "team"
MOST_PACKAGES = 200


def folders(project: Project, state: State) -> list[str]:
    """Return the folders, among the project's root and its packages, that contain a team's memories."""
    _look_for_packages(project, state)
    candidates = [project.root, *(os.path.join(project.root, package) for package in state.packages)]
    return [one for one in candidates if os.path.isdir(os.path.join(one, trust.FOLDER, trust.MEMORIES))]


def stamp(trusted: list[str], project: Project) -> str:
    """Return a string that changes whenever the trusted folders or their memory files change; empty if none is trusted.

    Its first line is the project's root.
    """
    parts = [
        imports.stamp(imports.MemorySource("notes", os.path.join(one, trust.FOLDER, trust.MEMORIES)), project)
        for one in trusted
    ]
    return "\n".join([project.root, *trusted, *parts]) if trusted else ""


def requires_sync(project: Project, state: State, now: str) -> bool:
    """Return whether the team's memories in the database are outdated.

    ``now`` is the current stamp of the trusted folders, and ``state`` has the stamp of the last import. Memories that
    were imported from another clone of the project count as current as long as that clone exists and this one has none.
    """
    if now == state.team:
        return False
    owner = state.team.partition("\n")[0]  # the clone that the stored memories come from; the first line of a stamp
    return bool(now) or owner == project.root or not os.path.isdir(owner)


def sync(db: sqlite3.Connection, trusted: list[str], project: Project) -> SourceReading:
    """Replace the team's memories in the database with the notes in the ``trusted`` folders.

    If a note cannot be read, the memories that were imported from it earlier are kept.
    """
    reading = SourceReading()
    for folder in trusted:
        found = notes.read_folder(os.path.join(folder, trust.FOLDER, trust.MEMORIES), project, origin=ORIGIN)
        package = "" if folder == project.root else os.path.relpath(folder, project.root).replace(os.sep, "/")
        for memory in found.memories:
            memory.path_prefix = "/".join(filter(None, (package, memory.path_prefix)))
        reading.add(found)
    unread = set(reading.unread)
    with memories.transaction(db):
        earlier = memories.listing(db, project=project.id, origin=ORIGIN, limit=-1) if unread else []
        kept = [memory for memory in earlier if memory.source in unread]
        _, _, removed = memories.replace_all(db, project.id, ORIGIN, "", [*reading.memories, *kept])
        if removed:
            db.execute(memories.PURGE_THE_INDEX)
    return reading


def _look_for_packages(project: Project, state: State) -> None:
    """Store in ``state`` which packages of the project have memories, according to git.

    Git is asked only if its index has changed since these packages were last looked for.
    """
    if not project.git_dir:
        return
    index = imports.file_stamp(_index_of(project))
    if index == state.index:
        return
    pattern = f":(top,glob)**/{trust.FOLDER}/{trust.MEMORIES}/**"
    try:
        listed = git.ask(project.root, "ls-files", "-z", "--", pattern).decode(errors="surrogateescape")
    except git.GitError:
        return
    mark = f"/{trust.FOLDER}/{trust.MEMORIES}/"
    found = sorted({path.partition(mark)[0] for path in listed.split("\0") if mark in path})
    state.packages, state.index = found[:MOST_PACKAGES], index


def _index_of(project: Project) -> str:
    """Return the path of git's index of this work tree; a linked work tree has its own."""
    marker = os.path.join(project.root, ".git")
    if os.path.isdir(marker):
        return os.path.join(marker, "index")
    try:
        with open(marker, encoding="utf-8", errors="surrogateescape") as file:
            own = file.read(4096).partition("gitdir:")[2].strip()
    except OSError:
        return ""
    return os.path.join(project.root, own, "index")
