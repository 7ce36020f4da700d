"""Locate and open a project's code index, which tells the hook in milliseconds where a name is defined and used.

``enricher.sources.code.indexing`` builds the index in the background.
"""

from __future__ import annotations

import os

from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

SOURCE, TEST, DOC, CONFIG, EXAMPLE, VENDORED, GENERATED, TEMPLATE, TRANSLATION, STUB = range(10)
"""Kinds of files, as the index stores them; a template is text for a page, a stub (``.pyi``) only declares names."""
OF_THE_PROGRAM = (SOURCE, TEMPLATE, STUB)
FORMAT = "13"
"""Format number, written into each index; an index in another format is not read, and the next update rebuilds it."""


def database_file(state: str, project: str) -> str:
    """Return the path of the index file of the project with the id ``project``."""
    return f"{state}/code/{keyed_hash(b'code', project.encode(errors='surrogateescape'))[:20]}.db"


def open_index(state: str, project: str, is_late: Callable[[], bool]) -> Connection | None:
    """Open the index of the project with the id ``project`` for reading; None if there is none in the current format.

    A query is interrupted once ``is_late()`` is true. A damaged file is deleted; the background work after this prompt
    then builds a new one. Raises ``ReaderError`` or an exception of the database (``storage.base.reader.failures``).
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


def file_ids(data: bytes, count: int) -> memoryview[int]:
    """Return the first ``count`` ids of files in a row of postings, whose data begin with four bytes for each file."""
    return memoryview(data)[: 4 * count].cast("I")


def stem_of(path: str) -> str:
    """Return the name by which code refers to a file: its file name in lower case, without the ending.

    A file such as ``__init__.py`` or ``index.js`` is referred to by the name of its folder.
    """
    folder, _, name = path.lower().rpartition("/")
    bare = name.partition(".")[0] or name
    return folder.rpartition("/")[2] or bare if bare in ("__init__", "index", "mod", "__main__") else bare


def clone(git_dir: str) -> str:
    """Return a hash that identifies a clone; clones of a repository share an index but may be at different commits."""
    return keyed_hash(b"clone", git_dir.encode(errors="surrogateescape"))


def is_project(root: str, git_dir: str) -> bool:
    """Return whether a folder is a project: a repository, or any folder other than a home or a shared folder."""
    if git_dir:
        return True
    # Without git, a shared or home folder may contain every file of the machine.
    shared = {"", "/", "/tmp", "/var/tmp", "/home", "/root", "/Users", os.environ.get("TMPDIR", "").rstrip("/")}
    return root not in shared and root != os.path.realpath(os.path.expanduser("~"))
