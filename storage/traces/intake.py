"""Import the records of prompts from the spool into the database, and keep the spool small while that is impossible.

The spool is the folder in which the hook leaves one file per prompt. A file is deleted only after the transaction that
imported it is on the disk, and importing it twice changes nothing. Any number of imports may therefore run at the same
time, or be killed at any point.

Traces that come from elsewhere than this installation's hook, such as a colleague's, are not in the spool; ``add``
inserts them.
"""

from __future__ import annotations

import json
import os
import sqlite3

from storage import traces
from storage.base import fast_stdlib, log, private, temporary_files
from storage.base.paced_writes import transaction
from storage.traces import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    Record = dict[str, tuple[list[str], traces.Rows]]
    from collections.abc import Sequence

    Tables = dict[str, traces.Rows]

LIMIT_FILES = 1_000  # with LIMIT_BYTES, the size to which ``make_room`` reduces the spool
LIMIT_BYTES = 64 * 1024 * 1024
LIMIT_REFUSED = 50  # invalid files that are kept for an inspection
LIMIT_VERSION_BYTES = 8 * 1024 * 1024
BATCH_FILES = 50  # files per transaction
UNACCEPTABLE = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.ProgrammingError, OverflowError, UnicodeEncodeError)
"""Errors caused by the content of the rows to insert, not by the state of the database."""
STORE_A_SOURCE = """
    insert into instructions_sources (hash, position, layer, path, text)
    values (:hash, :position, :layer, :path, :text) on conflict do nothing
"""
STORE_THE_VERSION = """
    insert into instructions_versions (hash, text, first_seen_at) values (:hash, :text, :first_seen_at)
    on conflict do nothing
"""
WHICH_OF_A_SESSION = "select id, origin, status, prompt_hmac from traces where session_id = :session_id"
WHICH_AT_A_MOMENT = "select id, prompt_hmac from traces where id >= :moment and id < :moment || 'g'"
IS_IT_THERE = "select 1 from traces where id = :id"


class Drained:
    """The result of ``drain``: the numbers of spool files that were imported, refused or left.

    ``taken`` files were imported. ``refused`` files were invalid and set aside. ``left`` files were written by a newer
    version of this program.
    """

    __slots__ = ("left", "refused", "taken")

    def __init__(self) -> None:
        self.taken = self.refused = self.left = 0


def drain(state_dir: str, db: sqlite3.Connection) -> Drained:
    """Import every file that waits in the spool into the database, then delete it; nothing is lost or imported twice.

    Raises sqlite3.Error if the database cannot be written; the files then remain.
    ``db`` must be in autocommit mode and have the current schema.
    """
    result = Drained()
    folder = f"{state_dir}/{spool.NAME}"
    names = spool.waiting(state_dir)
    db.execute("pragma synchronous = full")  # a file may be deleted only after its rows are on the disk
    _import_versions(f"{state_dir}/{spool.VERSIONS}", db)
    for start in range(0, len(names), BATCH_FILES):
        batch = [
            (name, tables) for name in names[start : start + BATCH_FILES] if (tables := _read(folder, name, result))
        ]
        _import_batch(db, batch, folder=folder, result=result)
    for name in (spool.NAME, spool.VERSIONS):
        temporary_files.sweep(f"{state_dir}/{name}")
    return result


def forget_marks(state_dir: str) -> None:
    """Delete the empty files that tell the hook which versions of the instructions the database contains.

    Call this when the database was lost: the hook then writes each version again when a prompt uses it.
    """
    for entry in _files(f"{state_dir}/{spool.VERSIONS}"):
        if _is_version(entry.name) and not _size(entry):
            private.removed(entry.path)


def _import_versions(folder: str, db: sqlite3.Connection) -> None:
    for entry in _files(folder):
        if not _is_version(entry.name) or not _size(entry):
            continue
        text = private.read_file(entry.path, LIMIT_VERSION_BYTES).decode("utf-8", "replace")
        identity, of_sources, _ = entry.name.partition(spool.SOURCES)
        if of_sources:
            db.executemany(STORE_A_SOURCE, _sources(identity, text))
        else:
            # The first prompt with this version wrote the file, perhaps long before this import.
            seen_at = fast_stdlib.in_utc(entry.stat().st_mtime)
            db.execute(STORE_THE_VERSION, {"hash": identity, "text": text, "first_seen_at": seen_at})
        private.write_file(entry.path, b"")  # the empty file tells the hook that the version is stored


def _is_version(name: str) -> bool:
    return name.removesuffix(spool.SOURCES).isalnum()


def _sources(identity: str, text: str) -> list[dict[str, object]]:
    """Return the database rows for the source files of a version of the instructions, which ``text`` lists as JSON.

    The list is empty if ``text`` is damaged, since nothing essential depends on these rows.
    """
    try:
        found = [(layer, path, content) for layer, path, content in json.loads(text)]
    except (ValueError, TypeError):
        return []
    return [
        {"hash": identity, "position": at, "layer": layer, "path": path, "text": content}
        for at, (layer, path, content) in enumerate(found)
    ]


def _size(entry: os.DirEntry[str]) -> int:
    """Return the size of a file; 0 if another process has renamed or removed it."""
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0


def _files(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda entry: entry.name)


def _read(folder: str, name: str, result: Drained) -> Record:
    try:
        content = private.read_file(f"{folder}/{name}", spool.LIMIT_FILE_BYTES + 1)
        tables = _parse(content)
    except FileNotFoundError:  # another process has imported it
        return {}
    except (OSError, ValueError, RecursionError):
        _refuse(folder, name, result)
        return {}
    result.left += not tables  # ``_parse`` returns no tables for a file of a newer version
    return tables


def _parse(content: bytes) -> Record:
    value = fast_stdlib.loads(content.decode())
    if not isinstance(value, dict) or not isinstance(value.get("v"), int) or not isinstance(value.get("tables"), dict):
        raise ValueError("no record of a trace")
    if value["v"] > traces.SCHEMA_VERSION:
        return {}
    tables = {table: _rows(table, named) for table, named in value["tables"].items()}
    if not tables:
        raise ValueError("a record of nothing")
    return tables


def _rows(table: str, named: object) -> tuple[list[str], traces.Rows]:
    if not isinstance(named, list) or len(named) != 2 or not all(isinstance(part, list) for part in named):
        raise ValueError(f"no rows of {table}")
    columns, rows = named
    known = traces.LATE_COLUMNS if table == traces.LATE else traces.TABLES.get(table, ())
    is_in_order = table != traces.LATE or columns == list(known)  # ADD_LATE numbers its parameters
    if not columns or not is_in_order or not all(column in known for column in columns):
        raise ValueError(f"{table} has no such columns")
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        raise ValueError(f"ragged rows of {table}")
    return columns, rows


def _import_batch(db: sqlite3.Connection, batch: list[tuple[str, Record]], *, folder: str, result: Drained) -> None:
    """Import a batch of spool files in one transaction.

    If the database rejects the rows of any file, import the files one by one.
    """
    try:
        with transaction(db):
            for _name, tables in batch:
                for table, (columns, rows) in tables.items():
                    db.executemany(traces.insertion(table, columns), rows)
    except UNACCEPTABLE:
        if len(batch) == 1:
            _refuse(folder, batch[0][0], result)
            return
        for single in batch:
            _import_batch(db, [single], folder=folder, result=result)
        return
    result.taken += sum(private.removed(f"{folder}/{name}") for name, _tables in batch)


def _refuse(folder: str, name: str, result: Drained) -> None:
    aside = f"{folder}/{spool.REFUSED}"
    private.make_directory(aside)
    try:
        os.rename(f"{folder}/{name}", f"{aside}/{name}")
    except FileNotFoundError:
        return
    result.refused += 1
    log.append(os.path.dirname(folder), stage="spool", reason=f"{name!a} is no trace; moved to {spool.REFUSED}")
    for surplus in sorted(os.listdir(aside))[:-LIMIT_REFUSED]:
        if os.path.isfile(f"{aside}/{surplus}"):
            os.unlink(f"{aside}/{surplus}")


def make_room(state_dir: str) -> None:
    """Delete the least useful trace files until the spool is within its limits, and count them in ``.dropped``."""
    folder = f"{state_dir}/{spool.NAME}"
    sizes = {name: os.lstat(f"{folder}/{name}").st_size for name in spool.waiting(state_dir)}
    surplus_files, surplus_bytes = len(sizes) - LIMIT_FILES, sum(sizes.values()) - LIMIT_BYTES
    for name in sorted(sizes, key=_usefulness):
        if surplus_files <= 0 and surplus_bytes <= 0:
            return
        _drop(folder, name)
        surplus_files -= 1
        surplus_bytes -= sizes[name]


def _usefulness(name: str) -> tuple[int, str]:
    status = name.split(".")[1] if name.count(".") == 2 else ""
    # A file that the hook did not name is dropped first; among equals, the oldest.
    return (spool.USEFULNESS.index(status) if status in spool.USEFULNESS else -1, name)


def _drop(folder: str, name: str) -> None:
    try:
        os.unlink(f"{folder}/{name}")
    except FileNotFoundError:  # another process imported it, or dropped and counted it
        return
    tally = private.open_file(f"{folder}/.dropped", os.O_WRONLY | os.O_APPEND)
    os.write(tally, b".")  # the file's length is the count, so adding one needs neither reading nor a lock
    os.close(tally)


def of_a_session(db: sqlite3.Connection, session_id: str) -> list[sqlite3.Row]:
    """Return ``id``, ``origin``, ``status`` and ``prompt_hmac`` of each trace of a session.

    ``session_id`` must be in its stored form, which ``traces.short`` returns.
    """
    return db.execute(WHICH_OF_A_SESSION, {"session_id": session_id}).fetchall()


def at_a_moment(db: sqlite3.Connection, moment: str) -> list[tuple[str, str]]:
    """Return the id and the ``prompt_hmac`` of each trace that began at ``moment``.

    ``moment`` is a time in microseconds as 14 hex digits, with which the ids of these traces begin.
    """
    return [(row[0], row[1]) for row in db.execute(WHICH_AT_A_MOMENT, {"moment": moment})]


def add(db: sqlite3.Connection, batch: Sequence[Tables]) -> tuple[int, int]:
    """Insert the traces that the database does not have yet; return how many were added and how many were rejected.

    Each element of ``batch`` contains the rows of one trace by table, parent tables first, with values in the order of
    ``traces.TABLES``. They are inserted in one transaction, or one by one if the database rejects any of them. Raises
    sqlite3.Error if the database cannot be written.
    """
    try:
        with transaction(db):
            added = sum(_put(db, tables) for tables in batch)
    except UNACCEPTABLE:
        if len(batch) == 1:
            return 0, 1
        counts = [add(db, [single]) for single in batch]
        return sum(one for one, _ in counts), sum(refused for _, refused in counts)
    return added, 0


def _put(db: sqlite3.Connection, tables: Tables) -> bool:
    if db.execute(IS_IT_THERE, {"id": tables["traces"][0][0]}).fetchone():
        return False
    for table, rows in tables.items():
        if rows:
            db.executemany(traces.insertion(table, traces.TABLES[table]), rows)
    return True
