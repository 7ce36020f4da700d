"""Build the index of a project's files and keep it up to date.

The index is ``$ENRICHER_HOME/code/<hash of the project's id>.db``, an inverted index in SQLite: each row lists the
files that contain one term, as packed numbers. Adding these up takes a tenth of the time that ranking with SQLite's
FTS5 takes. Changed files go into small separate segments; after a large change, the whole index is rebuilt in a
temporary file. This module does not run in the hook, which only reads the index.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from enricher.sources import release_notes
from enricher.sources.code import FORMAT, database_file, file_ids, is_project, meta
from enricher.sources.code.indexing import history, listing, set_meta, ways
from enricher.sources.code.indexing.segments import FileContent, Segment
from storage.base import log, private, reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.project import Project

MOST_TOTAL_BYTES, MOST_CONTENT_FILES = 300_000_000, 60_000
"""Limits on the files that are read for a new index; of any further file only the path is indexed."""
MOST_SEGMENTS = 8
"""Maximum small segments before they are merged: a query reads each term once per segment."""
REBUILD_SHARE = 0.3
"""Share of changed files above which the index is rebuilt instead of updated."""

_SCHEMA = (
    """
create table meta (key text primary key, value text not null) without rowid;
create table files (id integer primary key, path text not null unique, stem text not null, kind integer not null,
    mtime_ns integer not null, size integer not null, digest text not null, recency real not null default 0);
create index files_by_stem on files (stem);
create table postings (term text not null, segment integer not null, content integer not null, path integer not null,
    defined integer not null, data blob not null);
create table imports (key text not null, file integer not null);
create table symbols (key text not null, file integer not null, line integer not null, name text not null);
create table commits (id integer primary key, sha text not null unique, at integer not null, subject text not null,
    files text not null, is_reverted integer not null, state integer not null default 0);
create index commits_by_time on commits (at);
create table name_changes (key integer not null, at integer not null, id integer not null, net integer not null,
    what integer not null, detail text not null, primary key (key, at, id)) without rowid;
create table file_changes (name text not null, at integer not null, id integer not null, before text not null,
    path text not null, primary key (name, at, id, before, path)) without rowid;
create table tags (name text primary key, at integer not null, sha text not null) without rowid;
"""
    + ways.SCHEMA
    + release_notes.SCHEMA
)
_INDICES = """
create unique index postings_by_term on postings (term, segment);
create index imports_by_key on imports (key);
create index imports_by_file on imports (file);
create index symbols_by_key on symbols (key, file);
create index symbols_by_file on symbols (file);
"""


@dataclass(slots=True)
class RefreshReport:
    """The result of an update of a project's index; ``problems`` describes what failed.

    ``state`` is "built", "updated", "fresh" (nothing had changed), "busy" (another process is updating the index) or
    "none" (the folder is not a project).
    """

    state: str
    files: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    bytes: int = 0
    problems: tuple[str, ...] = ()


def refresh(
    project: Project, state: str, *, rebuild: bool = False, progress: Callable[[int, int], None] | None = None
) -> RefreshReport:
    """Update the index of ``project`` from its files and its git history; only one process at a time does this.

    If git fails, the report and the log say so, and the update continues without git. Raises OSError if the
    index cannot be written.
    """
    started = time.perf_counter()
    if not is_project(project.root, project.git_dir):
        return RefreshReport("none", problems=("this folder is not a project: without git, it may hold any file",))
    path = database_file(state, project.id)
    private.make_directory(os.path.dirname(path))
    lock = private.open_file(f"{path}.lock", os.O_RDWR)
    try:
        try:
            os.lockf(lock, os.F_TLOCK, 0)
        except (BlockingIOError, PermissionError):  # POSIX allows both errors for a lock that another process holds
            return RefreshReport("busy")
        gc.disable()  # there are no reference cycles here, and a collection would scan very many objects
        try:
            report = _refresh(project, path, rebuild=rebuild, progress=progress)
        except sqlite3.DatabaseError as failure:  # the index is a cache: if it is damaged, it may be deleted
            if os.path.exists(path):
                os.unlink(path)
            report = _refresh(project, path, rebuild=True, progress=progress)
            report.problems += (f"the index was damaged and built anew: {failure}",)
    finally:
        gc.enable()
        os.close(lock)
    for problem in report.problems:
        log.append(state, stage="code", reason=f"{project.root}: {problem}")
    report.seconds = time.perf_counter() - started
    report.bytes = os.path.getsize(path) if os.path.exists(path) else 0
    return report


def _refresh(
    project: Project, path: str, *, rebuild: bool, progress: Callable[[int, int], None] | None
) -> RefreshReport:
    files, problem = listing.files_of(project.root, has_git=bool(project.git_dir))
    problems = [problem] if problem else []
    if not files and not problems:
        return _without_files(path)
    known = {} if rebuild else _known(path)
    past = history.GitHistory(project, path if known else "", problems)
    touched = [file for file in files if file.path not in known or not known[file.path].is_like(file)]
    present = {file.path for file in files}
    removed = [row.id for name, row in known.items() if name not in present]
    most = REBUILD_SHARE * max(len(known), 20)  # at least a few files, however small the project is
    changed = len(touched)
    if known and changed + len(removed) > most:
        # A checkout changes the times of many files; only changed contents are a reason to rebuild.
        changed = sum(not _is_same(project.root, file, known) for file in touched)
    if not known or changed + len(removed) > most:
        _build(project, path, files, past, kept=path if known else "", progress=progress)
        past.read_changes(path)
        return RefreshReport("built", files=len(files), changed=len(files), problems=tuple(problems))
    with closing(_open(path)) as db:
        done = _update(db, project.root, touched, known, removed)
        if touched or removed:
            set_meta(db, files=str(len(files)))
        done += past.write(db, [file.path for file in touched])
        done += ways.write(db, project.root, files) + release_notes.write(db, project.root, files)
        db.commit()
    done += past.read_changes(path)
    outcome = "updated" if done else "fresh"
    return RefreshReport(outcome, len(files), changed=done, removed=len(removed), problems=tuple(problems))


def _without_files(path: str) -> RefreshReport:
    """Delete the index of a project that has no files any more, so that no prompt wastes time on opening it."""
    if not os.path.exists(path):
        return RefreshReport("fresh")
    os.unlink(path)
    return RefreshReport("updated")


def _open(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=2.0, isolation_level=None)
    db.execute("pragma synchronous = off")  # the index is a cache and can be rebuilt after a crash
    db.execute("pragma cache_size = -64000")  # 64 MB; a positive number would count pages
    db.execute("begin immediate")
    return db


class _IndexedFile(NamedTuple):
    id: int
    mtime_ns: int
    size: int
    digest: str

    def is_like(self, file: listing.ListedFile) -> bool:
        return (self.mtime_ns, self.size) == (file.mtime_ns, file.size)


def _known(path: str) -> dict[str, _IndexedFile]:
    """Return the indexed files by path; empty if there is no index in this format."""
    if not os.path.isfile(path):
        return {}
    with closing(sqlite3.connect(reader.address(path), uri=True)) as db:
        try:
            if meta(db, "format") != FORMAT:
                return {}
        except sqlite3.OperationalError:
            return {}
        rows = db.execute("select path, id, mtime_ns, size, digest from files")
        return {name: _IndexedFile(*row) for name, *row in rows}


def _is_same(root: str, file: listing.ListedFile, known: dict[str, _IndexedFile]) -> bool:
    row = known.get(file.path)
    if not row or row.size != file.size or not row.digest:  # a file of which only the name is indexed has no digest
        return False
    return FileContent(root, file).digest == row.digest


def _build(
    project: Project,
    path: str,
    files: list[listing.ListedFile],
    past: history.GitHistory,
    *,
    kept: str,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Build a new index in a temporary file, then move it into place; copy the history from ``kept``, if given."""
    aside = f"{path}.{os.getpid():x}.tmp"
    os.close(private.open_file(aside, os.O_RDWR | os.O_TRUNC))  # SQLite would create it with the default permissions
    try:
        with closing(sqlite3.connect(aside, isolation_level=None)) as db:
            db.executescript("pragma journal_mode = off; pragma synchronous = off; pragma page_size = 8192;" + _SCHEMA)
            db.execute("begin")
            _write_segment(db, project.root, files, progress)
            # Creating the indices after all rows is faster; executescript commits the open transaction first.
            db.executescript(_INDICES)
            if kept:
                past.keep(db, kept)
            db.execute("begin")
            past.write(db, [file.path for file in files])
            ways.write(db, project.root, files)
            release_notes.write(db, project.root, files)
            set_meta(db, format=FORMAT, files=str(len(files)), next=str(len(files) + 1))
            db.execute("analyze")
            db.execute("commit")
        if progress:
            progress(len(files), len(files))
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.unlink(aside)


def _write_segment(
    db: sqlite3.Connection,
    root: str,
    files: list[listing.ListedFile],
    progress: Callable[[int, int], None] | None,
) -> None:
    segment = Segment(db, 0)
    budget = MOST_TOTAL_BYTES
    for number, file in enumerate(files, 1):
        content = FileContent(root, file, reads=budget > 0 and number <= MOST_CONTENT_FILES)
        budget -= len(content.text)
        segment.add(content, identity=number)
        if progress and not number % 50:
            progress(number, len(files))
    segment.write()


def _update(
    db: sqlite3.Connection,
    root: str,
    touched: list[listing.ListedFile],
    known: dict[str, _IndexedFile],
    removed: list[int],
) -> int:
    """Index the changed files into a new segment, delete the removed files, and return the number of changed files."""
    gone = list(removed)
    fresh: list[FileContent] = []
    for file in touched:
        row = known.get(file.path)
        content = FileContent(root, file)
        if row and row.digest and content.digest == row.digest:  # touched, but not changed
            db.execute("update files set mtime_ns = ? where id = ?", (file.mtime_ns, row.id))
            continue
        if row:
            gone.append(row.id)
        fresh.append(content)
    for column in ("files where id", "symbols where file", "imports where file"):
        db.executemany(f"delete from {column} = ?", [(identity,) for identity in gone])
    if fresh:
        first = int(meta(db, "next"))
        segment = Segment(db, db.execute("select max(segment) + 1 from postings").fetchone()[0] or 1)
        for number, content in enumerate(fresh):
            segment.add(content, identity=first + number)
        segment.write()
        set_meta(db, next=str(first + len(fresh)))
        if segment.number > MOST_SEGMENTS:
            _merge(db)
    return len(fresh)


def _merge(db: sqlite3.Connection) -> None:
    """Merge all small segments into one, and leave out deleted files."""
    alive = {row[0] for row in db.execute("select id from files")}
    merged = Segment(db, 1)
    for term, *counts, data in db.execute("select term, content, path, defined, data from postings where segment > 0"):
        identities = file_ids(data, sum(counts))
        impacts = data[4 * sum(counts) :]
        at = 0
        for field, count in enumerate(counts):
            for number in range(at, at + count):
                if identities[number] in alive:
                    merged.fields[field][term].append(identities[number] << 8 | impacts[number])
            at += count
    db.execute("delete from postings where segment > 0")
    merged.write()
