"""Search a project's files by all words of a query, after building or updating the index. Not on the hook's path.

Used by the command line and other programs; the hook only reads an existing index.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from enricher.prompt.project import identify
from enricher.prompt.wording.query import read
from enricher.sources.code import database_file, is_project
from enricher.sources.code.certainty import weigh_certainty
from enricher.sources.code.indexing import index
from enricher.sources.code.ranking import Ranking, rank
from storage.base import reader

if TYPE_CHECKING:
    from enricher.prompt.project import Project
    from enricher.sources.code.indexing.index import RefreshReport

FRESH_S = 60.0
"""Seconds during which this process treats an index as fresh after it has checked all files."""

_looked: dict[str, tuple[str, float]] = {}


def ensure(cwd: str, state: str) -> tuple[Project, RefreshReport | None]:
    """Update the index of the project around ``cwd``, unless this process did so within the last FRESH_S.

    Clones of one project share an index, so a search in another clone updates it again. Raises OSError
    if it cannot be written.
    """
    project = identify(cwd)
    if not os.path.isdir(project.root):
        raise NotADirectoryError(f"{cwd} is no folder")
    root, looked_at = _looked.get(project.id, ("", 0.0))
    if root == project.root and time.monotonic() - looked_at < FRESH_S:
        return project, None
    report = index.refresh(project, state)
    _looked[project.id] = (project.root, time.monotonic())
    return project, report


def search(query: str, *, cwd: str, state: str, limit: int = 10) -> Ranking:
    """Return the files of the project around ``cwd`` that match ``query``, best first, each with its certainty."""
    project, _report = ensure(cwd, state)
    path = database_file(state, project.id)
    if not os.path.isfile(path):
        if is_project(project.root, project.git_dir):
            return Ranking()
        raise FileNotFoundError(f"{project.root} is no project: it has no git, and holds everything")
    with closing(sqlite3.connect(reader.address(path), uri=True, timeout=5.0)) as db:
        ranking = rank(db, read(query), limit=limit, root=project.root)
    weigh_certainty(ranking)
    return ranking
