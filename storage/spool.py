"""Where traces wait while the database cannot be written: one file each, bounded, private.

A file is named by its trace's id, so that names sort by time, and by the trace's status,
so that making room needs to open none. It stays until the transaction that took it in is
on the disk; taking it in again changes nothing. So any number of drains may run, and die,
at any point.
"""

from __future__ import annotations

import os

from storage import lean, private, traces

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    Record = dict[str, tuple[list[str], traces.Rows]]

NAME = "spool"
REFUSED = "refused"
LIMIT_FILES = 1_000
LIMIT_BYTES = 64 * 1024 * 1024
LIMIT_FILE_BYTES = 8 * 1024 * 1024
LIMIT_REFUSED = 50
BATCH_FILES = 50
ABANDONED_S = 60

# What is dropped first when there is no room, least useful first.
USEFULNESS = ("skipped", "silent", "shadow", "partial", "ok", "error", "reset")


class Drained:
    """What one drain did: traces taken in, files refused, files left for a newer version."""

    __slots__ = ("left", "refused", "taken")

    def __init__(self) -> None:
        self.taken = self.refused = self.left = 0


def put(state_dir: str, record_id: str, *, status: str, tables: dict[str, traces.Rows]) -> None:
    """Keep the rows as one file, dropping less useful files where there is no room.

    Raises OSError where nothing can be written, ValueError for rows beyond all measure.
    """
    named = {table: [traces.TABLES[table], rows] for table, rows in tables.items() if rows}
    content = lean.dumps({"v": traces.SCHEMA_VERSION, "tables": named}).encode()
    if len(content) > LIMIT_FILE_BYTES:
        raise ValueError(f"{len(content)} bytes are no trace")
    folder = f"{state_dir}/{NAME}"
    private.make_directory(folder)
    private.write_file(f"{folder}/{_file_name(record_id, status)}", content)
    _make_room(folder)


def waiting(state_dir: str) -> list[str]:
    """Return the names of the files that wait, oldest first."""
    try:
        return sorted(name for name in os.listdir(f"{state_dir}/{NAME}") if _is_record(name))
    except (OSError, ValueError):
        return []


def dropped(state_dir: str) -> int:
    """Return how many traces were ever dropped for want of room."""
    try:
        return os.stat(f"{state_dir}/{NAME}/.dropped").st_size
    except OSError:
        return 0


def refused(state_dir: str) -> int:
    """Return how many files lie aside because they were no traces."""
    try:
        return len(os.listdir(f"{state_dir}/{NAME}/{REFUSED}"))
    except OSError:
        return 0


def drain(state_dir: str, db: sqlite3.Connection) -> Drained:
    """Take everything that waits into the database, then unlink it; nothing is lost or taken twice.

    Raises sqlite3.Error where the database cannot be written; all files are still there then.
    ``db`` is in autocommit mode and of this schema.
    """
    result = Drained()
    folder = f"{state_dir}/{NAME}"
    names = waiting(state_dir)
    if names:
        db.execute("pragma synchronous = full")  # what is unlinked must be on the disk
    for start in range(0, len(names), BATCH_FILES):
        batch = [
            (name, tables) for name in names[start : start + BATCH_FILES] if (tables := _read(folder, name, result))
        ]
        _take_in(db, batch, folder=folder, result=result)
    _sweep(folder)
    return result


def peek(state_dir: str, *, limit: int) -> list[Record]:
    """Return the rows of the newest waiting records without taking them in."""
    folder = f"{state_dir}/{NAME}"
    found = []
    for name in waiting(state_dir)[-limit:]:
        try:
            found.append(_parse(private.read_file(f"{folder}/{name}", LIMIT_FILE_BYTES)))
        except (OSError, ValueError, RecursionError):  # the drain judges it; a peek passes by
            continue
    return [tables for tables in found if tables]


def _file_name(record_id: str, status: str) -> str:
    fit = record_id.isascii() and record_id.isalnum()
    own = record_id if fit else lean.keyed_hash(b"", record_id.encode())
    return f"{own}.{status if status in USEFULNESS else 'error'}.json"


def _is_record(name: str) -> bool:
    return not name.startswith(".") and name != REFUSED


def _make_room(folder: str) -> None:
    sizes = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_record(entry.name):
                sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
    surplus_files, surplus_bytes = len(sizes) - LIMIT_FILES, sum(sizes.values()) - LIMIT_BYTES
    for name in sorted(sizes, key=_usefulness):
        if surplus_files <= 0 and surplus_bytes <= 0:
            return
        _drop(folder, name)
        surplus_files -= 1
        surplus_bytes -= sizes[name]


def _usefulness(name: str) -> tuple[int, str]:
    status = name.split(".")[1] if name.count(".") == 2 else ""
    return (USEFULNESS.index(status) if status in USEFULNESS else -1, name)


def _drop(folder: str, name: str) -> None:
    try:
        os.unlink(f"{folder}/{name}")
    except FileNotFoundError:  # taken in, or dropped and counted, by another process
        return
    tally = private.open_file(f"{folder}/.dropped", os.O_WRONLY | os.O_APPEND)
    os.write(tally, b".")  # the length of the file is the count: no reading, no lock
    os.close(tally)


def _read(folder: str, name: str, result: Drained) -> Record:
    try:
        content = private.read_file(f"{folder}/{name}", LIMIT_FILE_BYTES + 1)
        tables = _parse(content)
    except FileNotFoundError:  # another drain was faster
        return {}
    except (OSError, ValueError, RecursionError):
        _refuse(folder, name, result)
        return {}
    result.left += not tables
    return tables


def _parse(content: bytes) -> Record:
    value = lean.loads(content.decode())
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
    if not columns or not all(column in traces.TABLES.get(table, ()) for column in columns):
        raise ValueError(f"{table} has no such columns")
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        raise ValueError(f"ragged rows of {table}")
    return columns, rows


def _take_in(db: sqlite3.Connection, batch: list[tuple[str, Record]], *, folder: str, result: Drained) -> None:
    """Take the batch in by one transaction, or one by one if a record in it is not acceptable."""
    from sqlite3 import DataError, IntegrityError, ProgrammingError

    db.execute("begin immediate")
    try:
        for _name, tables in batch:
            for table, (columns, rows) in tables.items():
                db.executemany(traces.insertion(table, columns), rows)
        db.execute("commit")
    except (DataError, IntegrityError, ProgrammingError, OverflowError):
        db.rollback()
        if len(batch) == 1:
            _refuse(folder, batch[0][0], result)
            return
        for single in batch:
            _take_in(db, [single], folder=folder, result=result)
        return
    except BaseException:
        db.rollback()
        raise
    result.taken += sum(_unlinked(f"{folder}/{name}") for name, _tables in batch)


def _unlinked(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def _refuse(folder: str, name: str, result: Drained) -> None:
    from storage import log

    aside = f"{folder}/{REFUSED}"
    private.make_directory(aside)
    try:
        os.rename(f"{folder}/{name}", f"{aside}/{name}")
    except FileNotFoundError:
        return
    result.refused += 1
    log.append(os.path.dirname(folder), stage="spool", reason=f"{name!a} is no trace; moved to {REFUSED}")
    for surplus in sorted(os.listdir(aside))[:-LIMIT_REFUSED]:
        if os.path.isfile(f"{aside}/{surplus}"):
            os.unlink(f"{aside}/{surplus}")


def _sweep(folder: str) -> None:
    """Remove what processes left half written when they were killed."""
    import time

    try:
        asides = [name for name in os.listdir(folder) if name.endswith(".tmp")]
    except FileNotFoundError:
        return
    for name in asides:
        path = f"{folder}/{name}"
        if os.path.exists(path) and abs(time.time() - os.stat(path).st_mtime) > ABANDONED_S:
            _unlinked(path)
