"""Collect what ``enricher doctor`` reports about the code index, memories, channels, the log and recorded prompts."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from enricher.home import state_dir
from enricher.prompt.project import identify
from storage.base import reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from enricher.prompt.project import Project

RECENT_PROMPTS = 200  # of each client, from which its share of failures is computed
RECENT_BYTES = 64 * 1024  # at the end of the log, several hundred records
RECENT_S = 24 * 3600
UPKEEP_STAGES = ("upkeep", "code", "memory", "vectors", "maintenance", "channel")
"""How the stage of a log entry begins if the entry is about background work or a failed context channel."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(slots=True)
class StoredHistory:
    """A summary of the recorded prompts (traces); ``fault`` says why they cannot be read, and is empty if they can."""

    path: str
    prompts: int = 0
    lost: int = 0
    fault: str = ""
    traces: int = 0
    since: str = ""
    is_unfinished: bool = False
    is_screened: bool = True
    sizes: dict[str, int] = field(default_factory=dict)
    last_seen: dict[str, str] = field(default_factory=dict)
    failures: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """For each client, the number of failed prompts, the number of recent prompts, and the last error."""


def read_history() -> StoredHistory:
    """Return a summary of the recorded prompts; all counts are 0 if there are none."""
    from enricher.erasure import forgetting
    from storage import traces
    from storage.db import database
    from storage.erasure import retention
    from storage.state import screen_version
    from storage.traces import spool

    folder = state_dir()
    history = StoredHistory(os.path.join(folder, traces.DATABASE), lost=spool.dropped(folder) + spool.refused(folder))
    if not (os.path.exists(history.path) or spool.waiting(folder)):
        return history
    try:
        with closing(database.connect(folder)) as db:
            _fill(history, db)
    except database.StorageError as error:
        history.fault = str(error)
    history.sizes = retention.sizes(folder)
    history.is_unfinished = forgetting.is_unfinished(folder)
    history.is_screened = screen_version.version(folder) >= screen_version.VERSION
    return history


def _fill(history: StoredHistory, db: sqlite3.Connection) -> None:
    from storage.erasure import retention
    from storage.traces import queries
    from storage.traces.selection import Selection

    state = retention.held(db)
    history.traces, history.since = state.traces, state.since
    stats = queries.stats(db)
    history.prompts, history.last_seen = stats.prompts, stats.last_seen
    for host in history.last_seen:
        of_host = Selection("host = :host and origin = 'hook'", {"host": host})
        recent = queries.matching(db, of_host, limit=RECENT_PROMPTS)
        failed = [str(row["error"]) for row in recent if row["status"] == "error"]
        if failed:
            history.failures[host] = (len(failed), len(recent), failed[0])


def index_of(cwd: str) -> tuple[str, str]:
    """Return a description of the code index of the project in ``cwd``, and what to do about it.

    The second string is empty if nothing is wrong with the index.
    """
    from enricher.sources.code import database_file, is_project

    project = identify(cwd)
    if not is_project(project.root, project.git_dir):
        return f"none for {cwd}: not a project, without git it may hold any file", "run this in a project"
    path = database_file(state_dir(), project.id)
    if not os.path.isfile(path):
        return f"none yet for {project.root}", "the first prompt builds it; or run `enricher code index`"
    try:
        with closing(sqlite3.connect(reader.address(path), uri=True, timeout=1.0)) as db:
            files = db.execute("select value from meta where key = 'files'").fetchone()[0]
    except (sqlite3.Error, TypeError) as failure:  # TypeError: the table has no such row
        return f"{path} cannot be read: {failure}", "run `enricher code index --rebuild`"
    state = os.stat(path)
    return f"{files} files of {project.root}, {_age(state.st_mtime)} old, {path} ({state.st_size / 1e6:.1f} MB)", ""


def memories_of(cwd: str) -> tuple[str, str]:
    """Return a text with the number of memories of the project in ``cwd``, and which command to run next, if any."""
    from storage import traces
    from storage.db import database
    from storage.memory import memories

    own, shared, waiting = 0, 0, 0
    if os.path.exists(os.path.join(state_dir(), traces.DATABASE)):
        project = identify(cwd)
        with closing(database.connect(state_dir())) as db:
            own, waiting = memories.count(db, project.id)
            shared, _waiting = memories.count(db, memories.SHARED)
    counts = f"{own} of this project" + (f", {shared} shared" if shared else "")
    if waiting:
        return f"{counts}; {waiting} not reviewed", "run `enricher memory review`"
    return counts, "" if own or shared else "run `enricher memory import`"


def switched_off(rules: list[dict[str, Any]], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of each context channel that is switched off, with the reason.

    A channel that the rules do not declare is included only if its endpoint is configured.
    """
    from enricher.context import UNDECLARED
    from enricher.context.gathering import off_reason

    for rule in rules:
        if rule.get("handler") == UNDECLARED and not os.environ.get(rule["endpoint"]):
            continue  # nobody has asked for it
        if reason := off_reason(rule, settings):
            yield rule["name"], reason


def upkeep_faults(project: Project) -> list[str]:
    """Return the last failure of each kind of background work that was logged for the project in the last 24 hours."""
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - RECENT_S))
    found: dict[str, str] = {}
    for record in _log_records():
        stage, reason = str(record.get("stage", "")), str(record.get("reason", ""))
        if record.get("level") != "WARNING" or str(record.get("at", "")) < since or not stage.startswith(UPKEEP_STAGES):
            continue
        if reason.startswith("/") and not reason.startswith(f"{project.root}: "):
            continue  # a failure in another project
        found[stage] = f"{stage}, {_age(_moment(record))} ago: {reason}"  # the log's last record of a stage wins
    return list(found.values())


def _log_records() -> Iterator[dict[str, Any]]:
    from storage.base import log

    try:
        with open(os.path.join(state_dir(), log.NAME), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - RECENT_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # the first line may be truncated
            continue
        if isinstance(record, dict):
            yield record


def _moment(record: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(record.get("at"))).timestamp()
    except ValueError:
        return 0.0


def _age(moment: float) -> str:
    seconds = max(0, int(time.time() - moment))
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{seconds // size} {unit}"
