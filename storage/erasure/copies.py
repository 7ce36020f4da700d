"""Delete other copies of prompts: damaged databases that were moved aside, abandoned copies, code indices, snapshots.

A damaged database cannot be edited, and a snapshot (a database file that a user published) is served as an immutable
file. So any of these files that contains what a user wants forgotten is deleted as a whole.

The file ``published`` lists the snapshots: one line of JSON each, ``{"path", "at"}``, added before the snapshot is
written. It is changed only while the lock file beside it is locked, because a snapshot whose line got lost would never
be deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from storage import traces
from storage.base import fast_stdlib, private, reader
from storage.erasure.mentions import PIECE_BYTES
from storage.erasure.target import seconds
from storage.traces import spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from storage.erasure.mentions import Mentions
    from storage.erasure.target import ErasureTarget

ABANDONED_S = 3600  # a folder of a merge that was not changed for so long is left from one that was interrupted
ASIDE = f"{traces.DATABASE}.corrupt-"
COPIES = "merge-"
"""Beginning of the names of folders in which ``storage.db.merge`` keeps a temporary copy of another database."""
CODE_INDICES = "code"
ID_DIGITS = 24
# More than 24 digits in a row may be an id with a digit before or behind it, as in the bytes of a database's page.
RUN_OF_DIGITS = re.compile(rb"[0-9a-f]{24,}")
PUBLISHED = "published"
PUBLISHED_LOCK = "published.lock"
MOST_LISTED_BYTES = 1 << 20
IS_ANY_OLDER = "select 1 from traces where id < :id limit 1"
WHICH_ARE_IN_IT = "select 1 from traces where id in (select value from json_each(:ids)) limit 1"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The path of a published database file, and the time (UTC) at which it was about to be written."""

    path: str
    at: str


def clean(state_dir: str, gone: ErasureTarget) -> list[str]:
    """Delete the databases, code indices and snapshots that contain something in ``gone``; return messages about them.

    ``gone`` is what a user wants forgotten. Raises OSError.
    """
    messages = _clean_databases(state_dir, gone)
    return messages + _remove_snapshots(state_dir, lambda one: _snapshot_holds(one, gone.ids, gone.mentions))


def clean_by_age(state_dir: str, older_than: float) -> list[str]:
    """Delete moved-aside databases, refused spool files and snapshots from before a time (in seconds since 1970).

    Return messages about the deleted databases and snapshots.
    """
    messages = [
        f"{path} removed"
        for path in _databases_aside(state_dir)
        if modified(path) < older_than and private.removed(path)
    ]
    for path in files(f"{state_dir}/{spool.NAME}/{spool.REFUSED}"):
        if modified(path) < older_than:
            private.removed(path)
    old = [one for one in listed_snapshots(state_dir) if seconds(one.at) < older_than]
    messages += [f"the snapshot {one.path} removed" for one in old if private.removed(one.path)]
    if old:
        forget_snapshots(state_dir, [one.path for one in old])
    return messages


def outdated(state_dir: str, older_than: float, *, before: str) -> list[str]:
    """Return the paths of databases and snapshots that ``clean_by_age`` and ``clean_snapshots_before`` would delete.

    ``older_than`` is the argument for the former, ``before`` the trace id for the latter.
    """
    aside = [path for path in _files_aside(state_dir) if modified(path) < older_than]
    old = [one.path for one in listed_snapshots(state_dir) if _is_outdated(one, older_than, before)]
    return [*aside, *old]


def _is_outdated(one: Snapshot, older_than: float, before: str) -> bool:
    try:
        return _goes_back_before(one, before) or seconds(one.at) < older_than
    except OSError:  # the file is gone
        return False


def holds(path: str, gone: ErasureTarget, *, is_database: bool) -> bool:
    """Return whether a file contains one of the texts or trace ids in ``gone``; False if it cannot be read."""
    try:
        if gone.mentions.in_file(path, is_database=is_database):
            return True
        with open(path, "rb") as file:
            return _contains_id(file.read, gone.ids)
    except OSError:
        return False


def mentions(path: str, gone: ErasureTarget) -> bool:
    """Return whether a file contains one of the texts in ``gone``, ignoring trace ids; False if it cannot be read."""
    try:
        return gone.mentions.in_file(path)
    except OSError:
        return False


def files(folder: str) -> list[str]:
    """Return the regular files in a folder, sorted; empty if the folder is missing."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def modified(path: str) -> float:
    """Return the modification time of a file, or the current time if it is gone."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def _clean_databases(state_dir: str, gone: ErasureTarget) -> list[str]:
    """Delete moved-aside databases and code indices that contain something in ``gone``; return messages about them.

    A code index is searched only for the texts in ``gone``, not for trace ids.
    """
    messages = []
    for path in _databases_aside(state_dir):
        # A log is gone already if its database has been deleted.
        if os.path.exists(path) and holds(path, gone, is_database=True):
            messages.append(f"{_remove_database(path)} held some of it, and was removed")
    for path in files(f"{state_dir}/{CODE_INDICES}"):
        if os.path.exists(path) and not path.endswith("-shm") and mentions(path, gone):
            _remove_database(path)
            messages.append("an index of code held it; it is built anew from the project's files as they are then")
    return messages


def _remove_database(path: str) -> str:
    """Delete the database that ``path`` is, or whose log ``path`` is, with all its files; return its path."""
    stem = path.removesuffix("-wal")
    for end in ("-wal", "-shm", ""):
        private.removed(stem + end)
    return stem


def _files_aside(state_dir: str) -> list[str]:
    found = [path for path in files(state_dir) if os.path.basename(path).startswith(ASIDE)]
    return [path for path in found if not path.endswith("-shm")]  # the lock file has no texts


def _databases_aside(state_dir: str) -> list[str]:
    """Return the paths of moved-aside databases, after deleting the copies that interrupted merges left."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(state_dir)):
            is_copy = entry.name.startswith(COPIES) and entry.is_dir(follow_symlinks=False)
            if is_copy and time.time() - entry.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(entry.path, ignore_errors=True)
    return _files_aside(state_dir)


def clean_snapshots_before(state_dir: str, trace_id: str) -> list[str]:
    """Delete the snapshots that contain a trace older than ``trace_id``; return messages about them. Raises OSError."""
    return _remove_snapshots(state_dir, lambda one: _goes_back_before(one, trace_id))


def _remove_snapshots(state_dir: str, holds_any: Callable[[Snapshot], bool]) -> list[str]:
    messages, done = [], []
    for snapshot in listed_snapshots(state_dir):
        try:
            if not holds_any(snapshot):
                continue
            os.unlink(snapshot.path)
            messages.append(
                f"the snapshot {snapshot.path} held some of it, and was removed: end what serves it, publish again"
            )
        except FileNotFoundError:
            messages.append(
                f"the snapshot {snapshot.path} is not there any more; if you keep a copy, delete it yourself"
            )
        done.append(snapshot.path)
    forget_snapshots(state_dir, done)
    return messages


def _contains_id(read: Callable[[int], bytes], ids: frozenset[str]) -> bool:
    """Return whether the content, which ``read`` returns piece by piece, contains one of the trace ids.

    Most ids have 24 hexadecimal digits; these are all searched for in one pass, and the other ids one by one.
    """
    usual = {one.encode() for one in ids if len(one) == ID_DIGITS}
    others = [one.encode() for one in ids if len(one) != ID_DIGITS]
    before = b""
    while piece := read(PIECE_BYTES):
        content = before + piece
        if any(one in content for one in others) or not usual.isdisjoint(_ids_in(content)):
            return True
        before = content[-256:]  # an id may be split between two pieces
    return False


def _ids_in(content: bytes) -> Iterator[bytes]:
    for run in RUN_OF_DIGITS.finditer(content):
        digits = run[0]
        yield from (digits[at : at + ID_DIGITS] for at in range(len(digits) - ID_DIGITS + 1))


def add_snapshot(state_dir: str, path: str) -> None:
    """Add the path of a snapshot to the list of snapshots before the snapshot is written.

    Raises OSError if that fails.
    """
    private.make_directory(state_dir)
    with _locked(state_dir):
        descriptor = private.open_file(f"{state_dir}/{PUBLISHED}", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, _line(Snapshot(os.path.abspath(path), fast_stdlib.utc_now())))
        finally:
            os.close(descriptor)


def listed_snapshots(state_dir: str) -> list[Snapshot]:
    """Return all snapshots in the list, each path once with its latest time, sorted by time."""
    try:
        lines = private.read_file(f"{state_dir}/{PUBLISHED}", MOST_LISTED_BYTES).splitlines()
    except OSError:
        return []
    found: dict[str, Snapshot] = {}
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            value = json.loads(line)
            one = Snapshot(str(value["path"]), str(value["at"]))
            found.pop(one.path, None)  # so that a temporary file is checked before the file it is renamed to
            found[one.path] = one
    return list(found.values())


def _snapshot_holds(snapshot: Snapshot, ids: Iterable[str], wanted: Mentions) -> bool:
    if wanted.in_file(snapshot.path, is_database=True):
        return True
    return _finds(snapshot, WHICH_ARE_IN_IT, {"ids": json.dumps(list(ids))})


def _goes_back_before(snapshot: Snapshot, trace_id: str) -> bool:
    return _finds(snapshot, IS_ANY_OLDER, {"id": trace_id})


def _finds(snapshot: Snapshot, query: str, parameters: dict[str, str]) -> bool:
    """Return whether a query finds a row in a snapshot; True if the snapshot cannot be read as a database.

    Raises OSError if the file is missing.
    """
    os.stat(snapshot.path)  # SQLite reports a missing file like a damaged one, but only a damaged one is to be deleted
    try:
        address = f"{reader.address(snapshot.path)}&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(query, parameters).fetchone() is not None
    except sqlite3.Error:
        return True


def forget_snapshots(state_dir: str, paths: Iterable[str]) -> None:
    """Remove snapshots from the list of snapshots, without deleting them; raises OSError if that fails."""
    gone = set(paths)
    if not gone:
        return
    with _locked(state_dir):
        left = [one for one in listed_snapshots(state_dir) if one.path not in gone]
        private.write_file(f"{state_dir}/{PUBLISHED}", b"".join(map(_line, left)))


def _line(one: Snapshot) -> bytes:
    return f"{json.dumps(asdict(one))}\n".encode()


@contextlib.contextmanager
def _locked(state_dir: str) -> Iterator[None]:
    descriptor = private.open_file(f"{state_dir}/{PUBLISHED_LOCK}", os.O_RDWR)
    try:
        os.lockf(descriptor, os.F_LOCK, 0)
        yield
    finally:
        os.close(descriptor)
