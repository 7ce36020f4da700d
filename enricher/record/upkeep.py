"""Start the background work after a prompt: update the database, the project's code index and its memories.

A prompt only starts the updates. They run in detached processes, and the next prompt
uses their results.
"""

from __future__ import annotations

import os

from enricher.settings import EMBEDDING
from storage.base.fast_stdlib import keyed_hash
from storage.state import detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.project import Project

VECTORS_S = 20.0
"""Seconds for fetching the vectors of new memories; those still missing are fetched after the next prompts."""
REST_S = 20.0
"""Minimum seconds between two updates of the same project: the upkeep costs several times as much as the prompt."""


def start(state: str, project: Project, *, is_wanted: bool = True, has_index: bool = True) -> None:
    """Start the background work: always the import of the spool, and the project's upkeep if ``is_wanted``.

    Without ``has_index`` (channel ``code`` off), no file of the project is read for the code index.
    """
    detached.start(state, detached.MAINTENANCE, lambda: _maintain(state))
    if is_wanted and project.root:
        mark = stamp(project)
        detached.start(state, mark, lambda: _maintain_project(state, project, mark, has_index=has_index))


def stamp(project: Project) -> str:
    """Return the name of the lock file that lets only one process at a time update a work tree."""
    return f"upkeep/{keyed_hash(b'upkeep', project.root.encode(errors='surrogateescape'))}"


def _maintain(state: str) -> None:
    from storage.db import maintenance
    from storage.state.late import FOLDER

    if os.path.exists(f"{state}/{FOLDER}"):
        from enricher.record import late

        late.drop_unclaimed(state)
    maintenance.main(state)
    if not maintenance.is_housekeeping_due(state):
        return
    try:
        from enricher.erasure import forgetting

        forgetting.run_retention(state)
    except Exception as failure:
        _note(state, "enricher.erasure.forgetting", failure)


def _maintain_project(state: str, project: Project, mark: str, *, has_index: bool) -> None:
    turn = detached.claim(state, mark)
    if turn < 0:
        return
    try:
        _bundle_modules(state)  # first: it regards the modules that are loaded now as those that a prompt needs
        refresh(state, project, has_index=has_index)
    finally:
        detached.postpone(state, REST_S, mark)
        os.close(turn)


def _bundle_modules(state: str) -> None:
    from enricher import bundle

    try:
        bundle.refresh()
    except Exception as failure:
        _note(state, "enricher.bundle", failure)


def refresh(state: str, project: Project, *, has_index: bool = True) -> None:
    """Update all stored data about a project; log a failed update and go on with the others."""
    detached.find_libraries()
    try:
        from enricher.rules.sources import store_packaged

        store_packaged(state)
    except Exception as failure:
        _note(state, "enricher.rules.sources", failure)
    for name in ("enricher.sources.memory", *(["enricher.sources.code.indexing.index"] if has_index else [])):
        try:
            __import__(name, fromlist=["refresh"]).refresh(project, state)
        except Exception as failure:
            _note(state, name, failure)
    if os.environ.get(EMBEDDING):
        try:
            _complete_vectors(state, project)
        except Exception as failure:
            _note(state, "enricher.model.embedding", failure)


def _complete_vectors(state: str, project: Project) -> None:
    """Fetch the vectors of new memories, so that the next prompts and searches can use them."""
    from contextlib import closing

    from enricher.rules import cache
    from enricher.settings import has_vectors, with_environment
    from storage.memory.memory_markers import has_memories

    settings, _problems = with_environment(cache.load(project.root)[0].body["settings"], os.environ)
    if not has_vectors(settings, os.environ) or not has_memories(state, project.id):
        return
    from enricher.model import embedding
    from storage.db import database

    with closing(database.connect(state)) as db:
        embedding.complete(db, project.id, settings, state=state, within_s=VECTORS_S)


def _note(state: str, name: str, failure: Exception) -> None:
    from storage.base import log

    log.append(state, stage=f"upkeep of {name}", reason=f"{type(failure).__name__}: {failure}")
