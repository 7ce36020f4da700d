"""Import again, in a background process after a prompt, what has changed in a project's sources of memories.

Among them are the team's memories: the notes in ``.enricher/memories/`` of a trusted project and of its packages. They
come with the repository, where pull requests are reviewed, so they count as reviewed. Notes that a ``git pull`` adds,
changes or deletes are added, changed or deleted by the next import. Without trust nothing is imported, and earlier
imports are removed.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from enricher.prompt import trust
from enricher.sources import git
from enricher.sources.code.unindexed import git_index
from enricher.sources.memory import branch, imports, notes
from enricher.sources.memory.reading import SourceReading
from storage.base import log
from storage.memory import memories
from storage.state import notices

if TYPE_CHECKING:
    import sqlite3

    from enricher.prompt.project import Project
    from enricher.sources.memory.imports import State

IDLE_FACTOR = 50
"""Minimum pause between two checks for changes, as a multiple of the duration of the last check."""
ORIGIN = "team"
MOST_PACKAGES = 200


def refresh(project: Project, state_dir: str, *, at_once: bool = False) -> None:
    """Check the branches that the user trusts, and import again the sources and team memories that have changed.

    Failures are logged. Does nothing if the last check was only a short time ago, unless ``at_once`` is set.
    """
    state = imports.load(state_dir, project)
    begun = time.time()
    # The difference is negative if the clock was set back since the last check; then the check is made.
    if not at_once and 0 <= begun - state.checked_at < state.cost_s * IDLE_FACTOR:
        return
    before = (state.team, state.index, list(state.packages))
    is_changed = _refresh(project, state_dir, state)
    cost = time.time() - begun
    # A quick check that found nothing is not worth writing the record.
    if is_changed or before != (state.team, state.index, state.packages) or cost > 0.02:
        state.checked_at, state.cost_s = time.time(), 0.0 if is_changed else cost
        imports.save(state, state_dir)


def _refresh(project: Project, state_dir: str, state: State) -> bool:
    for folder in _with_folder(project, state, trust.FOLDER):
        if not branch.renew(folder) and (followed := branch.followed_by(folder)):
            _leave_notice(state_dir, f"{folder}/{trust.FOLDER} differs from {followed.name()} and")
    trusted = _trusted_folders(project, state, state_dir)
    stamp = _team_stamp(trusted, project)
    is_team_due = _is_team_due(project, state, stamp)
    imports.adopt_decisions(project, state)
    due = [source for source in state.sources if imports.is_changed(source, project)]
    if not due and not is_team_due:
        return False
    from storage.db import database  # loading it takes longer than a check that finds nothing

    with contextlib.closing(database.connect(state_dir)) as db:
        if is_team_due:
            reading = _sync_team(db, trusted, project)
            state.team = stamp
            _log(state_dir, reading.problems)
        for source in due:
            try:
                again = imports.MemorySource(source.kind, source.path)
                _log(state_dir, imports.take(db, again, project, state).problems)
            except imports.SourceError as failure:
                _log(state_dir, [str(failure)])
    return True


def _with_folder(project: Project, state: State, name: str) -> list[str]:
    """Return the folders, among the project's root and its packages, that contain a folder called ``name``."""
    candidates = [project.root, *(os.path.join(project.root, package) for package in state.packages)]
    return [one for one in candidates if os.path.isdir(os.path.join(one, name))]


def _trusted_folders(project: Project, state: State, state_dir: str) -> list[str]:
    """Return the folders whose memories are trusted; if only a folder's rules are trusted, leave the user a notice."""
    _look_for_packages(project, state)
    found = []
    for folder in _with_folder(project, state, f"{trust.FOLDER}/{trust.MEMORIES}"):
        if trust.is_trusted(folder, memories=True):
            found.append(folder)
        elif trust.is_trusted(folder):
            _leave_notice(state_dir, f"{folder}/{trust.FOLDER}/{trust.MEMORIES}")
    return found


def _leave_notice(state_dir: str, what: str) -> None:
    notices.add(state_dir, f"Prompt Enricher: {what} is not used until you have read it and run: enricher trust")


def _log(state_dir: str, problems: list[str]) -> None:
    for problem in problems[:20]:
        log.append(state_dir, stage="memory", reason=problem)


def _team_stamp(trusted: list[str], project: Project) -> str:
    """Return a string that changes whenever the trusted folders or their memory files change; empty if none is trusted.

    Its first line is the project's root.
    """
    parts = [
        imports.stamp(imports.MemorySource("notes", os.path.join(one, trust.FOLDER, trust.MEMORIES)), project)
        for one in trusted
    ]
    return "\n".join([project.root, *trusted, *parts]) if trusted else ""


def _is_team_due(project: Project, state: State, stamp: str) -> bool:
    """Return whether the team's memories in the database are outdated.

    Memories that were imported from another clone of the project count as current as long as that clone exists and this
    one has none.
    """
    if stamp == state.team:
        return False
    owner = state.team.partition("\n")[0]  # the clone that the stored memories come from
    return bool(stamp) or owner == project.root or not os.path.isdir(owner)


def _sync_team(db: sqlite3.Connection, trusted: list[str], project: Project) -> SourceReading:
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
    index = imports.file_stamp(git_index(project.root))
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
