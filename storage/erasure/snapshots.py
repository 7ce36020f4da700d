"""Which snapshots of the history the product has written, so that what is forgotten here is forgotten there.

The file ``published`` holds a line of JSON for each: ``{"path", "at"}``. Whoever writes a snapshot notes it first.
Who changes the file holds the lock beside it: a note that is lost is a snapshot that nobody forgets.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.base import lean, private, reader

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
    """A file that was written at that time (UTC)."""

    path: str
    at: str


def note(state_dir: str, path: str) -> None:
    """Note that a snapshot is about to be written there; raises OSError where that cannot be kept."""
    private.make_directory(state_dir)
    with _locked(state_dir):
        descriptor = private.open_file(f"{state_dir}/{NAME}", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, f"{json.dumps({'path': os.path.abspath(path), 'at': lean.utc_now()})}\n".encode())
        finally:
            os.close(descriptor)


def noted(state_dir: str) -> list[Snapshot]:
    """Return the snapshots that were noted, each path once with its last time, in the order of these."""
    try:
        lines = private.read_file(f"{state_dir}/{NAME}", LIMIT_BYTES).splitlines()
    except OSError:
        return []
    found: dict[str, Snapshot] = {}
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            value = json.loads(line)
            one = Snapshot(str(value["path"]), str(value["at"]))
            found.pop(one.path, None)  # what is written aside is looked at before what it becomes
            found[one.path] = one
    return list(found.values())


def holds(snapshot: Snapshot, ids: Iterable[str], wanted: Mentions) -> bool:
    """Say whether one of the traces, or of the texts, is in it; in doubt, yes. Raises OSError where it is gone."""
    if wanted.in_file(snapshot.path, is_database=True):
        return True
    os.stat(snapshot.path)
    try:
        address = f"{reader.address(snapshot.path)}&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(WHICH_ARE_IN_IT, {"ids": json.dumps(list(ids))}).fetchone() is not None
    except sqlite3.Error:
        return True


def goes_back_before(snapshot: Snapshot, trace_id: str) -> bool:
    """Say whether it holds a trace older than that one; in doubt, yes. Raises OSError where it is gone."""
    os.stat(snapshot.path)
    try:
        address = f"{reader.address(snapshot.path)}&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(IS_ANY_OLDER, {"id": trace_id}).fetchone() is not None
    except sqlite3.Error:
        return True


def forget(state_dir: str, paths: Iterable[str]) -> None:
    """Take snapshots off the list; raises OSError."""
    gone = set(paths)
    if not gone:
        return
    with _locked(state_dir):
        left = [one for one in noted(state_dir) if one.path not in gone]
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
