"""The list of published snapshots of the history, so that data forgotten here can also be removed from them.

The file ``published`` has one line of JSON per snapshot, ``{"path", "at"}``, which is added before the snapshot is
written. The file is changed only under the lock beside it: a snapshot whose line got lost would never be cleaned.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.base import fast_stdlib, private, reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from storage.erasure.mentions import Mentions

NAME = "published"
LOCK = "published.lock"
LIMIT_BYTES = 1 << 20
IS_ANY_OLDER = "select 1 from traces where id < :id limit 1"
WHICH_ARE_IN_IT = "select 1 from traces where id in (select value from json_each(:ids)) limit 1"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A published file, and the time at which it was written (UTC)."""

    path: str
    at: str


def add(state_dir: str, path: str) -> None:
    """Add a snapshot to the list, before it is written; raises OSError if that fails."""
    private.make_directory(state_dir)
    with _locked(state_dir):
        descriptor = private.open_file(f"{state_dir}/{NAME}", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(
                descriptor, f"{json.dumps({'path': os.path.abspath(path), 'at': fast_stdlib.utc_now()})}\n".encode()
            )
        finally:
            os.close(descriptor)


def listed(state_dir: str) -> list[Snapshot]:
    """Return the listed snapshots, each path once with its latest time, sorted by time."""
    try:
        lines = private.read_file(f"{state_dir}/{NAME}", LIMIT_BYTES).splitlines()
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


def holds(snapshot: Snapshot, ids: Iterable[str], wanted: Mentions) -> bool:
    """Return whether a snapshot contains a trace or mentions a text; True if unsure. Raises OSError if it is gone."""
    if wanted.in_file(snapshot.path, is_database=True):
        return True
    return _finds(snapshot, WHICH_ARE_IN_IT, {"ids": json.dumps(list(ids))})


def goes_back_before(snapshot: Snapshot, trace_id: str) -> bool:
    """Return whether a snapshot contains an older trace than this one; True if unsure. Raises OSError if it is gone."""
    return _finds(snapshot, IS_ANY_OLDER, {"id": trace_id})


def _finds(snapshot: Snapshot, query: str, parameters: dict[str, str]) -> bool:
    os.stat(snapshot.path)  # SQLite reports a missing file like a damaged one, but only a damaged one is to be deleted
    try:
        address = f"{reader.address(snapshot.path)}&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(query, parameters).fetchone() is not None
    except sqlite3.Error:
        return True


def forget(state_dir: str, paths: Iterable[str]) -> None:
    """Remove snapshots from the list; raises OSError if that fails."""
    gone = set(paths)
    if not gone:
        return
    with _locked(state_dir):
        left = [one for one in listed(state_dir) if one.path not in gone]
        lines = "".join(f"{json.dumps({'path': one.path, 'at': one.at})}\n" for one in left)
        private.write_file(f"{state_dir}/{NAME}", lines.encode())


@contextlib.contextmanager
def _locked(state_dir: str) -> Iterator[None]:
    descriptor = private.open_file(f"{state_dir}/{LOCK}", os.O_RDWR)
    try:
        os.lockf(descriptor, os.F_LOCK, 0)
        yield
    finally:
        os.close(descriptor)
