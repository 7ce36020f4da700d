"""Import memories from a source into the database, record the source, and import it again when it has changed.

The record is one small JSON file per project. It lists the sources, each with a stamp from the last import: a text
that changes whenever the source does (made of file sizes and times, or the commit).
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.sources import git
from enricher.sources.memory import history, notes, reading
from enricher.sources.memory.reading import SourceReading
from storage import traces
from storage.base import fast_stdlib, private
from storage.memory import memories

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from enricher.prompt.project import Project
    from storage.memory.memories import Memory

    Tick = Callable[[int, int], None]

FOLDER = "imports"
DECISION_FOLDERS = (
    "docs/adr", "docs/adrs", "docs/decisions", "docs/architecture/decisions", "doc/adr", "doc/adrs", "doc/decisions",
    "adr", "adrs", "decisions",
)  # fmt: skip
LARGEST_STATE = 16 * 1024 * 1024
MOST_STAMPED = 100_000
"""Maximum files of a folder that are considered for its stamp (the text that changes with the folder)."""
MOST_KEYS = 50_000
"""Maximum keys that are recorded for a JSONL file; from a larger file, an import never removes memories."""
UNREADABLE = (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError)
"""Exceptions that reading a damaged state file may raise."""
NOWHERE = "\0"
"""A prefix that no source has; with it, ``replace_all`` adds and changes memories but removes none."""
ORIGINS = {"notes": "import:notes", "agents": "import:agents", "git": "import:git", "jsonl": "import:jsonl"}


class SourceError(Exception):
    """Raised if nothing can be imported from a path; the message explains why, or what can be imported."""


@dataclass(slots=True)
class MemorySource:
    """A source of memories: ``kind`` is notes, agents, git or jsonl; ``path`` is relative if it is in the project."""

    kind: str
    path: str
    stamp: str = ""
    keys: dict[str, list[str]] = field(default_factory=dict)
    """Keys of the imported memories by project; only for JSONL, whose memories do not name the file they come from."""


@dataclass(slots=True)
class ImportReport:
    """The result of an import: how many memories it added, changed, left unchanged and removed, and any messages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        return f"{self.added} added, {self.changed} changed, {self.unchanged} unchanged, {self.removed} removed"


@dataclass(slots=True)
class State:
    """The import record of a project: its sources, and what was found when they were last imported.

    ``team`` is the stamp of the team's memories at their last import. ``packages`` are the folders below the project
    that have such memories, and ``index`` is the stamp of git's index when these folders were last searched for.
    ``database`` is the inode of the database that received the imports; if there is another database now, the stamps
    are ignored. ``loaded`` are the sources that were in the record when it was read; any further ones in the file were
    added by another process since then. ``cost_s`` is the duration of the last check for changes. ``is_adopted`` means
    that the project's decision records have once been made sources without being asked for.
    """

    path: str
    sources: list[MemorySource] = field(default_factory=list)
    team: str = ""
    index: str = ""
    packages: list[str] = field(default_factory=list)
    database: int = 0
    loaded: list[tuple[str, str]] = field(default_factory=list)
    checked_at: float = 0.0
    cost_s: float = 0.0
    is_adopted: bool = False


def load(state_dir: str, project: Project) -> State:
    """Return the project's import record; an empty one if the file is missing or damaged."""
    name = fast_stdlib.keyed_hash(b"imports", project.id.encode(errors="replace"))
    state = State(f"{state_dir}/{FOLDER}/{name}.json", database=_database(state_dir))
    with contextlib.suppress(*UNREADABLE):
        stored = json.loads(private.read_file(state.path, LARGEST_STATE))
        state.sources = _sources(stored)
        state.loaded = [(one.kind, one.path) for one in state.sources]
        state.is_adopted = bool(stored.get("is_adopted"))
        state.packages, state.index = [str(one) for one in stored["packages"]], str(stored["index"])
        state.checked_at, state.cost_s = float(stored["checked_at"]), float(stored["cost_s"])
        if stored["database"] == state.database:
            state.team = str(stored["team"])
        else:  # another database lacks what was imported into the former one
            forget_stamps(state)
    return state


def _sources(stored: dict[str, Any]) -> list[MemorySource]:
    return [MemorySource(**one) for one in stored["sources"] if one["kind"] in ORIGINS]


def forget_stamps(state: State) -> None:
    """Delete the stamps of the last import, so that the next check considers every source changed and imports it."""
    state.team = ""
    state.checked_at = 0.0
    for source in state.sources:
        source.stamp, source.keys = "", {}


def save(state: State, state_dir: str) -> None:
    """Write the import record, including sources that another process added in the meantime; raises OSError."""
    state.database = _database(state_dir)
    with contextlib.suppress(*UNREADABLE):
        there = {
            (one.kind, one.path): one for one in _sources(json.loads(private.read_file(state.path, LARGEST_STATE)))
        }
        ours = {*state.loaded, *((one.kind, one.path) for one in state.sources)}
        state.sources += [source for name, source in there.items() if name not in ours]
    private.make_directory(os.path.dirname(state.path))
    value = {name: kept for name, kept in asdict(state).items() if name not in ("path", "loaded")}
    private.write_file(state.path, json.dumps(value).encode())


def _database(state_dir: str) -> int:
    try:
        return os.stat(f"{state_dir}/{traces.DATABASE}").st_ino
    except OSError:
        return 0


def source_at(path: str, project: Project) -> MemorySource:
    """Return the source for a path that the user named, with the kind that the path suggests; raises SourceError."""
    if notes.leads_out(path, project):
        raise SourceError(notes.refusal(path))
    name = notes.named(path, project)
    # If the name is not UTF-8, ``named`` has put backslashes in it.
    if "\\" in name and not os.path.exists(os.path.join(project.root, name)):
        raise SourceError(f"{name}: its name is not valid UTF-8; rename it, or import the folder above it")
    if os.path.isdir(path):
        return MemorySource("notes", "." if name == project.root else name)
    if not os.path.exists(path):
        raise SourceError(f"{path}: no such file or folder")
    if not os.path.isfile(path):
        raise SourceError(f"{path}: neither a file nor a folder")
    if os.path.basename(path) in notes.AGENT_FILES:
        return MemorySource("agents", name)
    if path.lower().endswith(notes.ENDINGS):
        return MemorySource("notes", name)
    if path.lower().endswith((".jsonl", ".ndjson")) or _begins_with_an_object(path):
        return MemorySource("jsonl", name)
    raise SourceError(f"{path}: give a folder of Markdown notes, a Markdown file, or a .jsonl file of {reading.SHAPE}")


def _begins_with_an_object(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")  # without the mark of UTF-8
    except OSError:
        return False


def adopt_decisions(project: Project, state: State) -> None:
    """Make the project's folders of decision records sources, once, as if the user had imported them.

    Their files were agreed on by the people who work there, and an agent does not read them by itself.
    """
    known = {source.path for source in state.sources}
    found = [] if state.is_adopted else [one for one in _decision_folders(project) if one.path not in known]
    state.sources += found
    state.is_adopted = state.is_adopted or bool(found)


def _decision_folders(project: Project) -> list[MemorySource]:
    folders = [one for one in DECISION_FOLDERS if os.path.isdir(os.path.join(project.root, one))]
    return [MemorySource("notes", one) for one in folders]


def sources_in(project: Project) -> list[MemorySource]:
    """Return the importable sources of a project: decision records, agents' instructions, the git history."""
    found = _decision_folders(project)
    found += [
        MemorySource("agents", name) for name in notes.AGENT_FILES if os.path.isfile(os.path.join(project.root, name))
    ]
    return found + ([MemorySource("git", ".")] if project.git_dir else [])


def take(
    db: sqlite3.Connection, source: MemorySource, project: Project, state: State, *, tick: Tick | None = None
) -> ImportReport:
    """Import the source into the database and record it in ``state``; raises SourceError, sqlite3.Error."""
    source.stamp = stamp(source, project)
    try:
        reading = _read(source, project, tick)
    except git.GitError as failure:
        raise SourceError(f"{project.root}: {failure}") from failure
    except OSError as failure:
        raise SourceError(f"{failure.filename or source.path}: {failure.strerror or failure}") from failure
    known = next((one for one in state.sources if (one.kind, one.path) == (source.kind, source.path)), None)
    outcome = _sync_lines(db, source, known, reading) if source.kind == "jsonl" else _sync(db, source, project, reading)
    outcome.problems, outcome.remarks = reading.problems, reading.remarks
    state.sources = [*(one for one in state.sources if one is not known), source]
    return outcome


def is_changed(source: MemorySource, project: Project) -> bool:
    """Return whether a recorded source has changed since its last import; a deleted source counts as unchanged."""
    now = stamp(source, project) if os.path.exists(_absolute(source, project)) else ""
    return bool(now) and now != source.stamp


def stamp(source: MemorySource, project: Project) -> str:
    """Return a string that changes whenever the source does: a hash of file sizes and times, or for git the commit."""
    path = _absolute(source, project)
    if source.kind == "git":
        with contextlib.suppress(git.GitError):
            return git.ask(path, "rev-parse", "HEAD").decode("ascii", "replace").strip()
        return ""
    parts = [file_stamp(path)]
    if os.path.isdir(path) and not notes.leads_out(path, project):
        for here, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if name[0] != "." and name not in notes.SKIPPED_FOLDERS)
            parts += [
                file_stamp(os.path.join(here, name)) for name in sorted(files) if name.lower().endswith(notes.ENDINGS)
            ]
            if len(parts) > MOST_STAMPED:
                break
    return fast_stdlib.keyed_hash(b"stamp", "\n".join(parts).encode(errors="surrogateescape"))


def file_stamp(path: str) -> str:
    """Return a file's path, size, time and inode as one string, without opening the file.

    If the file does not exist, the string consists of the path and "-".
    """
    try:
        seen = os.stat(path)
    except OSError:
        return f"{path}\0-"
    return f"{path}\0{seen.st_size}\0{seen.st_mtime_ns}\0{seen.st_ino}"


def _absolute(source: MemorySource, project: Project) -> str:
    return os.path.normpath(os.path.join(project.root, source.path))


def _read(source: MemorySource, project: Project, tick: Tick | None) -> SourceReading:
    path = _absolute(source, project)
    if notes.leads_out(path, project):
        return SourceReading(remarks=[notes.refusal(path)])
    if source.kind == "git":
        return history.read_history(path, project, tick=tick)
    if source.kind == "jsonl":
        return reading.read_lines(path, project, tick=tick)
    if os.path.isdir(path):
        return notes.read_folder(path, project, tick=tick)
    return notes.read_note(path, project, dates=notes.first_dates(path, project))


def _sync(db: sqlite3.Connection, source: MemorySource, project: Project, reading: SourceReading) -> ImportReport:
    """Replace the source's memories in the database with those just read, in one transaction.

    Earlier memories from files that could not be read this time are kept.
    """
    is_folder = os.path.isdir(_absolute(source, project))
    # The slash keeps docs/adr from being the beginning of docs/adr-old.
    prefix = "git:" if source.kind == "git" else "" if source.path == "." else source.path + "/" * is_folder
    unread = set(reading.unread)
    with memories.transaction(db):
        others = [
            memory
            for memory in _from(db, project, ORIGINS[source.kind], prefix)
            if memory.source in unread
            or (not is_folder and memory.source != source.path)
            or (not prefix and os.path.isabs(memory.source))  # from a folder outside of the project
        ]
        wanted = list({memory.key: memory for memory in (*reading.memories, *others)}.values())
        added, changed, removed = memories.replace_all(db, project.id, ORIGINS[source.kind], prefix, wanted)
        if removed:
            db.execute(memories.PURGE_THE_INDEX)
    return ImportReport(added, changed, len(wanted) - len(others) - added - changed, removed)


def _from(db: sqlite3.Connection, project: Project, origin: str, prefix: str) -> list[Memory]:
    if origin == "import:git":  # a history is always read as a whole
        return []
    found = memories.listing(db, project=project.id, origin=origin, limit=-1)  # -1: all of them, as in SQLite
    return [memory for memory in found if memory.source.startswith(prefix)]


def _sync_lines(
    db: sqlite3.Connection, source: MemorySource, known: MemorySource | None, reading: SourceReading
) -> ImportReport:
    """Add and change the memories of a JSONL file, and remove those that only an earlier version of it contained.

    ``known`` is the record of the last import, or None if there was none. Nothing is removed if any line is unreadable,
    because that line may contain the memory that seems to be missing.
    """
    outcome = ImportReport()
    by_project: dict[str, list[Memory]] = {}
    for memory in reading.memories:
        by_project.setdefault(memory.project, []).append(memory)
    earlier = {(project, key) for project, keys in (known.keys if known else {}).items() for key in keys}
    now = {(memory.project, memory.key) for memory in reading.memories}
    gone = set() if reading.problems else earlier - now
    remembered = (now | earlier) - gone
    if len(remembered) <= MOST_KEYS:
        for project, key in sorted(remembered):
            source.keys.setdefault(project, []).append(key)
    with memories.transaction(db):
        for project, own in by_project.items():
            added, changed, _ = memories.replace_all(db, project, "import:jsonl", NOWHERE, own)
            outcome.added += added
            outcome.changed += changed
            outcome.unchanged += len(own) - added - changed
        rows = [{"project": project, "origin": "import:jsonl", "key": key} for project, key in gone]
        outcome.removed = sum(db.execute(memories.FORGET_THE_SAME, row).rowcount for row in rows)
        if outcome.removed:
            db.execute(memories.PURGE_THE_INDEX)
    return outcome
