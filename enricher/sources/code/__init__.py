"""Locate and open a project's code index, which tells the hook in milliseconds where a name is defined and used.

``enricher.sources.code.indexing`` builds the index in the background.
"""

from __future__ import annotations

import os

from storage.base import private
from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized
    from sqlite3 import Connection

SOURCE, TEST, DOC, CONFIG, EXAMPLE, VENDORED, GENERATED, TEMPLATE, TRANSLATION, STUB = range(10)
"""Kinds of files, as stored in the index; a template is text for a page, a stub (``.pyi``) only declares names."""
OF_THE_PROGRAM = (SOURCE, TEMPLATE, STUB)
FORMAT = "33"
"""Format number, written into each index; an index in another format is not read, and the next update rebuilds it."""
OWN_VERSION = "(this project)"
"""The name under which the index stores where a project states its own version; no dependency is called so."""
DEFINING = (SOURCE, TEMPLATE, TEST, STUB, CONFIG, EXAMPLE)
"""Kinds of files whose definitions count, the likeliest first."""
USING = (SOURCE, TEMPLATE, CONFIG)
BY_IMPORTANCE = (SOURCE, TEMPLATE, CONFIG, STUB, TEST, EXAMPLE, DOC, GENERATED, TRANSLATION, VENDORED)
ONE_TEST, NEW, TASK = "one-test", "new ", "task "
"""Names of actions in the index: running a single test, adding a thing ("new exporter"), a task ("task update deps").

The last two are the beginnings of names, for things and for the project's own tasks that are none of the usual actions.
"""
MOST_READ_BYTES = 600_000
"""Maximum bytes of a file whose text is indexed, and is read for a prompt; of a larger file, only its path is known."""


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
        written_as = meta(db, "format")
    except reader.failures() as failure:
        db.close()
        if reader.is_damage(failure):
            os.unlink(path)
        raise
    if written_as != FORMAT:
        db.close()
        return None
    return db


def meta(db: Connection, key: str) -> str:
    """Return the value stored under ``key`` in the table ``meta`` of an index; empty if there is none."""
    (value,) = db.execute("select value from meta where key = ?", (key,)).fetchone() or ("",)
    return str(value)


def marks(values: Sized) -> str:
    """Return an SQL placeholder for each of the values: "?,?,?"."""
    return ",".join("?" * len(values))


def file_ids(data: bytes, count: int) -> memoryview[int]:
    """Return the first ``count`` file ids in a row of postings, whose data begin with four bytes for each file."""
    return memoryview(data)[: 4 * count].cast("I")


def files_with(db: Connection, term: str) -> Iterator[memoryview[int]]:
    """Yield, for each segment of an index, the ids of the files whose text contains ``term``."""
    for count, data in db.execute("select content, data from postings where term = ? and content > 0", (term,)):
        yield file_ids(data, count)


def count_with(db: Connection, term: str) -> int:
    """Return the number of indexed files whose text contains ``term``; deleted files may still count."""
    (count,) = db.execute("select sum(content) from postings where term = ?", (term,)).fetchone()
    return int(count or 0)


def read_file(root: str, path: str) -> str:
    """Return the beginning of a project file; empty if it cannot be read or is a link that leads out of the project."""
    full = f"{root}/{path}"
    try:
        real = os.path.realpath(full)
        if real != full and not real.startswith(f"{root}/"):
            return ""
        return private.read_file(full, MOST_READ_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return ""


def bare_name(path: str) -> str:
    """Return the name of a file without its folder and endings."""
    return path.rpartition("/")[2].partition(".")[0]


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
