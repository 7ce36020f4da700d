"""Write a snapshot: a database file with what the web pages need and nothing else, which may be shown to others.

It is built table by table in one transaction, with the schema of the original. ``VACUUM INTO`` would copy everything
first, and rows that are deleted afterwards may remain in free pages and index blocks. Here, data that are not published
are never in the file.

SnapshotError                   an error for the user; the message is shown without a traceback
├── NotASnapshotError           the file with the name of the snapshot is not a snapshot
└── InterruptedSnapshotError    the user asked to stop; the unfinished snapshot has been deleted
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage import traces
from storage.base import fast_stdlib, private, reader
from storage.erasure import copies
from storage.metrics import rollups
from storage.state import key
from storage.traces import search
from workbench.web.reading import reasons
from workbench.web.reading.history import WHAT_WAS_PUBLISHED, Publication
from workbench.web.snapshot import columns
from workbench.web.snapshot.disclosure import Anonymizer, last_part
from workbench.web.snapshot.identity import of_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Advance = Callable[[str, int, int], None]

BATCH_ROWS = 5_000  # prompts that are copied between two reports of the progress
STEPS_BETWEEN_LOOKS = 20_000  # of SQLite's virtual machine, between two questions whether to stop
CACHE_KB = 65_536
HOW_IS_IT_MADE = """
    select sql from source.sqlite_master
    where type = :type and tbl_name in (select value from json_each(:tables)) and sql is not null order by rowid
"""
WHICH_VIEWS = "select name, sql from source.sqlite_master where type = 'view' order by rowid"
WHICH_COLUMNS = "select name from pragma_table_info(:table, 'source')"
NOTHING_IS_SUMMED_UP = "insert into main.rolled_up (up_to, trace_id) values (0, '')"  # the only row of this table
WHICH_SESSIONS = "select distinct session_id from source.traces where session_id <> ''"
WHICH_FOLDERS = "select distinct cwd from source.traces where cwd <> ''"
WHICH_FILES = "select path from source.instructions_sources union select file from source.rule_coverage"
WHICH_ROW_IS_LAST = "select coalesce(max(rowid), 0) from source.traces"
TAKE_THE_NUMBERS = """
    insert into main.trace_numbers select number, trace_id from source.trace_numbers
    where trace_id in (select id from main.traces) order by number
"""
INDEX_THE_WORDS = "insert into prompts_fts (prompts_fts) values ('rebuild')"
CREATE_PUBLISHED = """
    create table published (at text not null, text text not null, prompts integer not null, since text not null,
                            until text not null)
"""
INSERT_PUBLISHED = """
    insert into published select :at, :text, count(*), coalesce(min(at), ''), coalesce(max(at), '') from traces
"""
WHICH_WERE_DELETED = "select count(*) from main.traces where id not in (select {id} from source.traces)"
WHAT_WOULD_BE_SHOWN = """
    select count(*), count(distinct nullif(project, '')), count(distinct nullif(cwd, '')),
           count(distinct nullif(session_id, '')), coalesce(min(at), ''), coalesce(max(at), ''),
           (select count(*) from trace_items where kept = 1 and channel = 'memory')
    from traces where origin <> 'test'
"""


class SnapshotError(Exception):
    """Raised if a snapshot cannot be written or read; the user sees the message instead of a traceback."""


class NotASnapshotError(SnapshotError):
    """Raised if the file that should be a snapshot is missing, is not a snapshot, or has another schema version."""


class InterruptedSnapshotError(SnapshotError):
    """Raised if the user asked to stop the writing; the unfinished snapshot has been deleted."""


@dataclass(frozen=True, slots=True)
class Revealed:
    """Counts of what a snapshot with full texts would show (prompts, projects and so on), and the period of time.

    ``memories`` is the number of recorded memories that were added to prompts.
    """

    prompts: int
    projects: int
    folders: int
    sessions: int
    since: str
    until: str
    memories: int


def revealed(db: sqlite3.Connection) -> Revealed:
    """Count what a snapshot with full texts would show, so that the user can decide about it."""
    return Revealed(*db.execute(WHAT_WOULD_BE_SHOWN).fetchone())


def read(path: str) -> Publication:
    """Return the description that is stored in the snapshot ``path``, such as when it was written.

    Raises NotASnapshotError if the file is missing, is not a snapshot, or has another schema version.
    """
    if not os.path.exists(path):
        raise NotASnapshotError(f"there is no file {path}; write it with enricher publish --snapshot {path}")
    try:
        with contextlib.closing(reader.open_reader(path)) as db:
            row = db.execute(WHAT_WAS_PUBLISHED).fetchone()
            version = int(db.execute("pragma user_version").fetchone()[0])
    except (reader.ReaderError, sqlite3.Error) as failure:
        raise NotASnapshotError(f"{path} is no snapshot: {failure}") from failure
    if row is None:
        raise NotASnapshotError(f"{path} is no snapshot: it does not say what it holds")
    if version != traces.SCHEMA_VERSION:
        raise NotASnapshotError(
            f"{path} has schema {version}, this version of enricher shows {traces.SCHEMA_VERSION}: "
            f"write it anew with enricher publish --snapshot {path}"
        )
    return Publication(*row)


def may_be_written(path: str) -> None:
    """Raise SnapshotError if a snapshot must not be written to ``path``.

    That is so if the folder does not exist, or if there is already a file of this name that is not a snapshot.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise SnapshotError(f"{folder} is no folder: make it first, or name another file")
    if not os.path.lexists(path):
        return
    try:
        with contextlib.closing(reader.open_reader(path)) as db:
            db.execute(WHAT_WAS_PUBLISHED).fetchone()
    except (reader.ReaderError, sqlite3.Error) as failure:
        raise NotASnapshotError(
            f"{path} is there and is no snapshot; it stays as it is: name another file"
        ) from failure


def write(
    state_dir: str,
    path: str,
    *,
    text: str = columns.REDACTED,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Advance = lambda _step, _done, _total: None,
) -> Publication:
    """Write a snapshot of the prompts recorded in ``state_dir``, completely or not at all; return its description.

    ``text`` is how texts are treated, one of ``columns.TEXTS``. ``advance`` is called with the name of a table or step,
    the number of rows done, and their total. The database must exist and have this release's schema. Raises
    InterruptedSnapshotError if ``should_stop`` returns True, another SnapshotError if the snapshot cannot or must not
    be written, and OSError or sqlite3.Error if a file cannot be read or written.
    """
    path = os.path.abspath(path)
    may_be_written(path)
    # In the same folder, because os.replace works within one file system only.
    aside = f"{os.path.dirname(path)}/.{os.path.basename(path)}-{os.urandom(4).hex()}.tmp"
    copies.add_snapshot(state_dir, aside)  # first, so that forgetting a prompt finds the file if this process is killed
    try:
        os.close(private.open_file(aside, os.O_RDWR | os.O_EXCL))
        with _attached(aside, f"{state_dir}/{traces.DATABASE}", should_stop) as db:
            _build(db, key.load(state_dir), text=text, advance=advance)
            _explain(db, f"{state_dir}/{traces.DATABASE}", text, should_stop, advance)
            publication = _sum_up(db, text=text, advance=advance)
            copies.add_snapshot(state_dir, path)  # likewise, before the file has this name
            if db.execute(WHICH_WERE_DELETED.format(id=columns.expressions("traces", text)["id"])).fetchone()[0]:
                raise SnapshotError("prompts were deleted meanwhile, and would be in the snapshot: run it again")
        _to_disk(aside)
        os.replace(aside, path)
    except sqlite3.Error as failure:
        if should_stop():
            raise InterruptedSnapshotError("interrupted: no snapshot was written") from failure
        if failure.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise SnapshotError(f"the disk is full: {path} was not written") from failure
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        copies.forget_snapshots(state_dir, [aside])
    return publication


@contextlib.contextmanager
def _attached(aside: str, source: str, should_stop: Callable[[], bool]) -> Iterator[sqlite3.Connection]:
    """Yield a connection to ``aside``, the new, unfinished file, with the original database attached for reading.

    The attached database is named ``source``. Queries stop with an error when ``should_stop`` returns True.
    """
    with contextlib.closing(sqlite3.connect(aside, uri=True, isolation_level=None)) as db:
        db.set_progress_handler(should_stop, STEPS_BETWEEN_LOOKS)
        # Nothing needs to survive a crash: an unfinished file is deleted, and the next try begins anew.
        for setting in ("journal_mode = off", "synchronous = off", f"cache_size = {-CACHE_KB:d}"):
            db.execute(f"pragma {setting}")
        db.execute("attach :source as source", {"source": reader.address(source)})
        yield db


def _build(db: sqlite3.Connection, secret: bytes, *, text: str, advance: Advance) -> None:
    """Create the tables of the snapshot and copy all data to publish, in one transaction.

    ``secret`` is the account's key, from which pseudonyms are made.
    """
    db.execute("begin")
    sessions = [str(row[0]) for row in db.execute(WHICH_SESSIONS)]
    _add_sql_functions(db, Anonymizer(of_this_machine().with_folders(_folders(db)), secret, sessions))
    _make(db, "table")
    db.execute(NOTHING_IS_SUMMED_UP)
    _copy_traces(db, text, advance)
    for table in columns.COLUMNS:
        if table != "traces":
            advance(table, 0, 0)
            db.execute(_copying(db, table, text))
    advance("index", 0, 0)
    _make(db, "index")
    _make_views(db)
    db.execute(CREATE_PUBLISHED)
    db.execute(INSERT_PUBLISHED, {"at": fast_stdlib.utc_now(), "text": text})
    if text != columns.HASH:  # without texts there are no words to search
        db.execute(TAKE_THE_NUMBERS)
        db.execute(INDEX_THE_WORDS)
    db.execute(f"pragma main.user_version = {traces.SCHEMA_VERSION:d}")
    db.execute("commit")


def _explain(db: sqlite3.Connection, source: str, text: str, should_stop: Callable[[], bool], advance: Advance) -> None:
    """Store sentences in the snapshot that explain the results of the newest prompts."""
    total = min(reasons.MOST_EXPLAINED, int(db.execute("select count(*) from main.traces").fetchone()[0]))

    def goes_on(done: int) -> bool:
        advance("explanations", done, total)
        return not should_stop()

    reasons.store(db, source, is_full=text == columns.FULL, goes_on=goes_on)
    if should_stop():
        raise InterruptedSnapshotError("interrupted: no snapshot was written")


def _folders(db: sqlite3.Connection) -> Iterator[str]:
    """Yield the folders that may identify someone: those of prompts, of instructions files, and of the history."""
    yield from (str(row[0]) for row in db.execute(WHICH_FOLDERS))
    yield from (re.sub(r"[\\/][^\\/]*$", "", str(row[0])) for row in db.execute(WHICH_FILES))
    yield from (os.path.dirname(row[2]) for row in db.execute("pragma database_list") if row[1] == "source")


def _sum_up(db: sqlite3.Connection, *, text: str, advance: Advance) -> Publication:
    """Compute the sums for the published prompts, index their words, and return the description of the snapshot."""
    total = rollups.waiting(db)

    def advance_sums() -> bool:
        advance("sums", total - rollups.waiting(db), total)
        return False

    rollups.catch_up(db, should_stop=advance_sums)
    if text != columns.HASH:
        search.catch_up(db)
    db.execute("analyze main")  # statistics for SQLite's query planner, which readers cannot add
    return Publication(*db.execute(WHAT_WAS_PUBLISHED).fetchone())


def _add_sql_functions(db: sqlite3.Connection, anonymizer: Anonymizer) -> None:
    for name, places, function in (
        ("anonymized", 1, anonymizer.anonymize), ("anonymized_json", 1, anonymizer.anonymize_json),
        ("shifted", 2, anonymizer.shifted), ("pseudonym", 2, anonymizer.pseudonym), ("topics", 2, anonymizer.topics),
        ("chosen", 1, anonymizer.chosen), ("bare", 1, anonymizer.bare), ("clusters", 2, anonymizer.clusters),
        ("last_part", 1, last_part),
    ):  # fmt: skip
        db.create_function(name, places, function, deterministic=True)


def _make(db: sqlite3.Connection, kind: str) -> None:
    """Create the tables of the snapshot, or their indexes if ``kind`` is "index", as in the original database."""
    tables = (*columns.COLUMNS, *columns.BUILT)
    for (statement,) in db.execute(HOW_IS_IT_MADE, {"type": kind, "tables": json.dumps(tables)}).fetchall():
        db.execute(statement)


def _make_views(db: sqlite3.Connection) -> None:
    """Create those views of the original database that need only published tables."""
    for name, statement in db.execute(WHICH_VIEWS).fetchall():
        db.execute(statement)
        try:  # limit 0: compiling the query is enough to find a missing table
            db.execute(f'select 1 from main."{name}" limit 0')
        except sqlite3.OperationalError:
            db.execute(f'drop view main."{name}"')


def _copy_traces(db: sqlite3.Connection, text: str, advance: Advance) -> None:
    last = int(db.execute(WHICH_ROW_IS_LAST).fetchone()[0])
    copying = f"{_copying(db, 'traces', text)} and source.traces.rowid > :after and source.traces.rowid <= :upto"
    for after in range(0, last, BATCH_ROWS):
        db.execute(f"{copying} order by source.traces.rowid", {"after": after, "upto": after + BATCH_ROWS})
        advance("traces", min(after + BATCH_ROWS, last), last)


def _copying(db: sqlite3.Connection, table: str, text: str) -> str:
    """Return the SQL that copies a table's rows; raises SnapshotError unless ``columns`` lists exactly its columns."""
    shown = columns.expressions(table, text)
    if unknown := {row[0] for row in db.execute(WHICH_COLUMNS, {"table": table})} ^ set(shown):
        raise SnapshotError(f"{table}: it is not decided whether {', '.join(sorted(unknown))} may be published")
    names, values = ", ".join(f'"{name}"' for name in shown), ", ".join(shown.values())
    return f"insert into main.{table} ({names}) select {values} from source.{table} where {columns.rows(table, text)}"


def _to_disk(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
