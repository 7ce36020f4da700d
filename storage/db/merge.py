"""Copy the traces (records of prompts) of another database into this one; the other database is only read.

A trace never changes after it is written. If both databases have a trace with the same id, the two are therefore either
identical or a conflict; a conflict is reported, and the trace in this database is left unchanged.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from storage import traces
from storage.base import reader
from storage.base.paced_writes import transaction
from storage.db import database
from storage.traces import intake, line_labels
from storage.traces.queries import CHILDREN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[traces.Value, ...]

PAGE = 200
"""Number of traces that are merged in one transaction."""
MOST_CONFLICTS = 1000  # number that ``conflicts`` lists at most; ``conflict_count`` counts all

COLUMNS = ", ".join(traces.TABLES["traces"])
WHICH_COME_NEXT = f"select {COLUMNS} from traces where id > :after order by id limit {PAGE:d}"
WHAT_IS_HERE = f"select {COLUMNS} from traces where id = :id"
HOW_MANY = "select count(*) from traces"
LABELS = {"labels": ("labelled_at", "verdict", "task_type"), "line_labels": line_labels.COLUMNS}
"""The tables with users' labels, and their columns; the first is the time, by which a trace's labels are sorted."""
WHICH_VERSIONS = "select hash, text, first_seen_at from instructions_versions"
IS_THE_VERSION_HERE = "select 1 from instructions_versions where hash = :hash"
WHICH_SOURCES = "select position, layer, path, text from instructions_sources where hash = :hash"
HAS_IT_SOURCES = "select 1 from instructions_sources where hash = :hash limit 1"


class MergeError(database.StorageError):
    """Raised if a database cannot be merged; the message names the file and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


@dataclass(slots=True)
class MergeResult:
    """The result of a merge: how many traces, labels and versions of the instructions it added, and its problems.

    ``same`` is the number of traces that were already present, and ``refused`` that of invalid ones. A conflict is a
    trace that differs from the one with the same id; ``conflicts`` lists the ids of at most MOST_CONFLICTS of them, and
    ``conflict_count`` counts them all.
    """

    path: str
    traces: int = 0
    same: int = 0
    refused: int = 0
    labels: int = 0
    versions: int = 0
    conflicts: list[str] = field(default_factory=list)
    conflict_count: int = 0


def merge(
    db: sqlite3.Connection,
    path: str,
    *,
    state_dir: str,
    is_dry: bool = False,
    advance: Callable[[int, int], None] | None = None,
) -> MergeResult:
    """Add the traces of the database at ``path``, with their details, labels and versions of the instructions.

    With ``is_dry``, nothing is written. ``advance`` is called with the number of traces checked so far and the total. A
    transaction adds at most ``PAGE`` traces. Memories, sessions, replays, experiments and measurements are not merged.
    Raises MergeError, or StorageError if this database cannot be written.
    """
    with _opened(path, state_dir) as other:
        this = _Merge(db, other, MergeResult(path), is_dry)
        this.take_versions()
        total, done, after = this.read(HOW_MANY)[0][0], 0, ""
        while page := this.read(WHICH_COME_NEXT, {"after": after}):
            after, done = str(page[-1][0]), done + len(page)
            this.take_page(page)
            if advance:
                advance(done, int(str(total)))
    return this.result


def broken_references(db: sqlite3.Connection) -> list[str]:
    """Return the names of the tables in which a row refers to a trace that does not exist."""
    tables = (*CHILDREN, *LABELS)
    return [table for table in tables if db.execute(f"pragma foreign_key_check({table})").fetchone()]


@contextlib.contextmanager
def _opened(path: str, state_dir: str) -> Iterator[sqlite3.Connection]:
    """Open another database for reading; if its schema is older than the current one, migrate a copy and open that."""
    version = _checked_version(path, state_dir)
    if version == traces.SCHEMA_VERSION:
        with contextlib.closing(_connected(path)) as other:
            yield other
        return
    # The copy is in the state folder, which is private; ``storage.erasure.copies`` removes what a killed merge leaves.
    with tempfile.TemporaryDirectory(prefix="merge-", dir=state_dir) as folder:
        copy = os.path.join(folder, traces.DATABASE)
        try:
            with contextlib.closing(_connected(path)) as old, contextlib.closing(sqlite3.connect(copy)) as new:
                old.backup(new)
            database.migrate(copy)
            other = _connected(copy)
        except sqlite3.Error as failure:
            raise MergeError(path, f"its copy cannot be brought to this schema: {failure}") from failure
        with contextlib.closing(other):
            yield other


def _checked_version(path: str, state_dir: str) -> int:
    if not os.path.isfile(path):
        raise MergeError(path, "there is no such file")
    if os.path.exists(own := os.path.join(state_dir, traces.DATABASE)) and os.path.samefile(path, own):
        raise MergeError(path, "this is the database that others are merged into; name another")
    with contextlib.closing(_connected(path)) as db:
        version = int(str(_read(db, "pragma user_version", path=path)[0][0]))
        is_ours = _read(db, "select 1 from sqlite_master where type = 'table' and name = 'traces'", path=path)
    if not version or not is_ours:  # another program's database usually has version 0
        raise MergeError(path, "no database of traces; a colleague's is $ENRICHER_HOME/enricher.db")
    if version < database.BASE_VERSION:
        raise MergeError(
            path,
            f"it has schema {version}, the oldest that this version of enricher can read is {database.BASE_VERSION}: "
            "ask for one that a newer version recorded",
        )
    if version > traces.SCHEMA_VERSION:
        raise MergeError(
            path, f"it has schema {version}, this version of enricher knows {traces.SCHEMA_VERSION}: upgrade it first"
        )
    return version


def _connected(path: str) -> sqlite3.Connection:
    """Return a read-only connection to the database at ``path``; raises MergeError if it cannot be read.

    If SQLite cannot create its lock file beside the database, the file is opened on the assumption that nobody else
    changes it.
    """
    address = reader.address(os.path.abspath(path))
    try:
        try:
            return _working_connection(address)
        except sqlite3.OperationalError:
            return _working_connection(f"{address}&immutable=1")
    except sqlite3.Error as failure:
        raise MergeError(path, f"it cannot be read: {failure}") from failure


def _working_connection(address: str) -> sqlite3.Connection:
    db = sqlite3.connect(address, uri=True, timeout=database.PATIENCE_S)
    try:  # connecting opens the database file only; the first statement opens the log and the lock file, too
        db.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _read(
    other: sqlite3.Connection, query: str, named: dict[str, traces.Value] | None = None, *, path: str
) -> list[Row]:
    try:
        return other.execute(query, named or {}).fetchall()
    except (sqlite3.Error, OverflowError) as failure:
        raise MergeError(path, f"it cannot be read: {failure}; ask for a new copy") from failure


@dataclass(frozen=True, slots=True)
class _Merge:
    """A merge that is under way: the two databases, its options and its result."""

    db: sqlite3.Connection
    other: sqlite3.Connection
    result: MergeResult
    is_dry: bool

    def read(self, query: str, named: dict[str, traces.Value] | None = None) -> list[Row]:
        return _read(self.other, query, named, path=self.result.path)

    def take_versions(self) -> None:
        for identity, text, seen in self.read(WHICH_VERSIONS):
            if not all(isinstance(value, str) for value in (identity, text, seen)):
                continue
            sources = self.read(WHICH_SOURCES, {"hash": identity})
            is_here = self.db.execute(IS_THE_VERSION_HERE, {"hash": identity}).fetchone()
            self.result.versions += not is_here
            # This database may lack the files of a version, if they could not be stored; the other one may have them.
            if self.is_dry or (is_here and self.db.execute(HAS_IT_SOURCES, {"hash": identity}).fetchone()):
                continue
            with transaction(self.db):
                self.db.execute(intake.STORE_THE_VERSION, {"hash": identity, "text": text, "first_seen_at": seen})
                for position, layer, source, content in sources:
                    row = {"hash": identity, "position": position, "layer": layer, "path": source, "text": content}
                    self.db.execute(intake.STORE_A_SOURCE, row)

    def take_page(self, page: list[Row]) -> None:
        batch: list[dict[str, traces.Rows]] = []
        shared: list[str] = []
        for row in page:
            identity = str(row[0])
            here = self.db.execute(WHAT_IS_HERE, {"id": identity}).fetchone()
            if here is not None and tuple(here) != row:
                self._note_conflict(identity)
                continue
            self.result.same += here is not None
            if here is None:
                batch.append(self._with_children(row))
            shared.append(identity)
        sound = [tables for tables in batch if _is_plain(tables)]
        added, refused = (len(sound), 0) if self.is_dry else intake.add(self.db, sound)
        self.result.traces += added
        self.result.refused += refused + len(batch) - len(sound)
        for table in LABELS:
            self._take_labels(table, shared)

    def _note_conflict(self, identity: str) -> None:
        self.result.conflict_count += 1
        if len(self.result.conflicts) < MOST_CONFLICTS:
            self.result.conflicts.append(identity)

    def _with_children(self, row: Row) -> dict[str, traces.Rows]:
        tables: dict[str, traces.Rows] = {"traces": [row]}
        for table in CHILDREN:
            columns = ", ".join(traces.TABLES[table])
            tables[table] = self.read(f"select {columns} from {table} where trace_id = :id", {"id": row[0]})
        return tables

    def _take_labels(self, table: str, identities: list[str]) -> None:
        """Copy the labels of the traces ``identities`` that this database lacks from the other one.

        A trace's labels are then stored again in chronological order, because its newest label counts.
        """
        columns = ", ".join(LABELS[table])
        query = f"select {columns} from {table} where trace_id = :id order by id"
        read = {identity: self.read(query, {"id": identity}) for identity in identities}
        if not any(read.values()):
            return
        insert = f"insert into {table} (trace_id, {columns}) values (?{', ?' * len(LABELS[table])})"
        with transaction(self.db):
            for identity, theirs in read.items():
                ours = [tuple(label) for label in self.db.execute(query, {"id": identity})]
                new = [label for label in dict.fromkeys(theirs) if label not in ours and _is_label(table, label)]
                # The trace may have been deleted since it was compared, or refused by the database.
                is_here = self.is_dry or self.db.execute(intake.IS_IT_THERE, {"id": identity}).fetchone()
                if not new or not is_here:
                    continue
                self.result.labels += len(new)
                if not self.is_dry:
                    self.db.execute(f"delete from {table} where trace_id = :id", {"id": identity})
                    ordered = sorted([*ours, *new], key=lambda label: str(label[0]))
                    self.db.executemany(insert, [(identity, *label) for label in ordered])


def _is_plain(tables: dict[str, traces.Rows]) -> bool:
    """Return whether all values in the rows of ``tables`` are texts, numbers or None.

    A database from elsewhere may have bytes in any column.
    """
    return not any(isinstance(value, bytes) for rows in tables.values() for row in rows for value in row)


def _is_label(table: str, label: Row) -> bool:
    if table == "line_labels":
        return line_labels.is_sound(label)
    _at, verdict, task_type = label
    is_known = verdict in ("ok", "wrong", "class") and (verdict == "class") == bool(task_type)
    return is_known and all(isinstance(value, str) for value in label)
