"""The project's files as an index that answers a prompt in milliseconds: built off the hook's path, read on it.

This module gives the path of a project's index file.
"""

from __future__ import annotations

import os

from storage.base.lean import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

FORMAT = "5"


def database_file(state: str, project: str) -> str:
    """Return the file of the index of the project of that id."""
    return f"{state}/code/{keyed_hash(b'code', project.encode(errors='surrogateescape'))[:20]}.db"


def open_index(state: str, project: str, is_late: Callable[[], bool]) -> Connection | None:
    """Open a project's index for reading; ``project`` is its id. Return None if there is no index in this format yet.

    A query is interrupted once ``is_late()`` is true. A damaged file is deleted; the work behind this prompt then
    builds a new one. Raises ``ReaderError`` and what queries raise (``storage.base.reader.failures``).
    """
    path = database_file(state, project)
    if not os.path.exists(path):
        return None
    from storage.base import reader

    db = reader.open_reader(path)
    try:
        db.set_progress_handler(is_late, reader.STEPS_BETWEEN_LOOKS)
        (written_as,) = db.execute("select value from meta where key = 'format'").fetchone() or ("",)
    except reader.failures() as failure:
        db.close()
        if reader.is_damage(failure):
            os.unlink(path)
        raise
    if written_as != FORMAT:
        db.close()
        return None
    return db


def clone(git_dir: str) -> str:
    """Return what tells one clone from another: they share an index, but not what is committed."""
    return keyed_hash(b"clone", git_dir.encode(errors="surrogateescape"))


def is_project(root: str, git_dir: str) -> bool:
    """Say whether a folder is one project: a repository, or at least none that holds everybody's files."""
    if git_dir:
        return True
    shared = {"", "/", "/tmp", "/var/tmp", "/home", "/root", "/Users", os.environ.get("TMPDIR", "").rstrip("/")}
    return root not in shared and root != os.path.realpath(os.path.expanduser("~"))
