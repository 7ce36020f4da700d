"""Keep an empty marker file for each project with memories, so that the hook knows when to open the database.

To find out, the hook makes a single ``stat`` call per project. The marker files correspond to the table
``memory_counts``; every process that connects to the database or stores memories updates them.
"""

from __future__ import annotations

import os

from storage.base import private
from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

NAME = "remembers"
SHARED = "shared"
WHICH_HAVE_SOME = "select project from memory_counts where memories > 0"


def has_memories(state_dir: str, project: str) -> bool:
    """Return whether the project has memories or there are shared ones; if not, there is no need to search."""
    return any(os.path.exists(f"{state_dir}/{NAME}/{_name(one)}") for one in (project, SHARED))


def note(db: Connection, state_dir: str) -> None:
    """Create and remove marker files so that they match the database; raises OSError if they cannot be written."""
    folder = f"{state_dir}/{NAME}"
    wanted = {_name(row[0]) for row in db.execute(WHICH_HAVE_SOME)}
    try:
        there = set(os.listdir(folder))
    except FileNotFoundError:
        there = set()
    if wanted - there:
        private.make_directory(folder)
    for name in wanted - there:
        os.close(private.open_file(f"{folder}/{name}", os.O_WRONLY))
    for name in there - wanted:
        private.removed(f"{folder}/{name}")  # unless another process was faster


def _name(project: str) -> str:
    return keyed_hash(b"remembers", project.encode(errors="replace"))[:16]
