"""Import memories from files, git histories and a team's notes, and update them in the background after prompts."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enricher.prompt.project import Project
    from enricher.sources.memory.imports import State

IDLE_FACTOR = 50
"""Minimum pause between two checks for changes, as a multiple of the duration of the last check."""


def refresh(project: Project, state_dir: str, *, at_once: bool = False) -> None:
    """Check the branches that the user trusts, and import again the sources and team memories that have changed.

    Runs in a background process that no prompt waits for; failures are logged. Does nothing if the last check was only
    a short time ago, unless ``at_once`` is set.
    """
    from enricher.sources.memory import imports

    state = imports.load(state_dir, project)
    begun = time.time()
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
    from enricher.sources.memory import branch, imports, team

    for folder in folders_with_layer(project, state):
        if not branch.renew(folder) and (followed := branch.followed_by(folder)):
            _leave_notice(state_dir, f"{folder}/.enricher differs from {followed.name()} and")
    trusted = trusted_folders(project, state, state_dir)
    stamp = team.stamp(trusted, project)
    is_team_due = team.requires_sync(project, state, stamp)
    imports.adopt_decisions(project, state)
    due = [source for source in state.sources if imports.is_changed(source, project)]
    if not due and not is_team_due:
        return False
    from storage.db import database

    with contextlib.closing(database.connect(state_dir)) as db:
        if is_team_due:
            reading = team.sync(db, trusted, project)
            state.team = stamp
            _log(state_dir, reading.problems)
        for source in due:
            try:
                again = imports.MemorySource(source.kind, source.path)
                _log(state_dir, imports.take(db, again, project, state).problems)
            except imports.SourceError as failure:
                _log(state_dir, [str(failure)])
    return True


def folders_with_layer(project: Project, state: State) -> list[str]:
    """Return the folders, among the project's root and its packages, that contain an ``.enricher`` folder."""
    import os

    from enricher.prompt import trust

    candidates = [project.root, *(os.path.join(project.root, package) for package in state.packages)]
    return [one for one in candidates if os.path.isdir(os.path.join(one, trust.FOLDER))]


def trusted_folders(project: Project, state: State, state_dir: str) -> list[str]:
    """Return the folders whose memories are trusted; if only a folder's rules are trusted, leave the user a notice."""
    from enricher.prompt import trust
    from enricher.sources.memory import team

    found = []
    for folder in team.folders(project, state):
        if trust.are_memories_trusted(folder):
            found.append(folder)
        elif trust.is_trusted(folder):
            _leave_notice(state_dir, f"{folder}/{trust.FOLDER}/{trust.MEMORIES}")
    return found


def _leave_notice(state_dir: str, what: str) -> None:
    from storage.state import notices

    notices.add(state_dir, f"Prompt Enricher: {what} is not used until you have read it and run: enricher trust")


def _log(state_dir: str, problems: list[str]) -> None:
    from storage.base import log

    for problem in problems[:20]:
        log.append(state_dir, stage="memory", reason=problem)
