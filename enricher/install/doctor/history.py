"""Summarize the stored traces for the doctor: volume, last prompts, failures."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field

from enricher.home import state_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

RECENT_PROMPTS = 200


@dataclass(slots=True)
class History:
    """A summary of the stored traces; ``fault`` is the reason if they cannot be read."""

    path: str
    prompts: int = 0
    size_mb: float = 0.0
    lost: int = 0
    fault: str = ""
    traces: int = 0
    since: str = ""
    is_unfinished: bool = False
    is_screened: bool = True
    sizes: dict[str, int] = field(default_factory=dict)
    last_seen: dict[str, str] = field(default_factory=dict)
    failures: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Per client: the number of failed prompts, of recent prompts, and the last error."""


def read_history() -> History:
    """Return the summary; counts are 0 for a user without any recorded prompt."""
    from storage import traces
    from storage.db import database, maintenance
    from storage.erasure import retention
    from storage.state import screened
    from storage.traces import spool

    folder = state_dir()
    history = History(os.path.join(folder, traces.DATABASE), lost=spool.dropped(folder) + spool.refused(folder))
    if not (os.path.exists(history.path) or spool.waiting(folder)):
        return history
    try:
        with closing(database.connect(folder)) as db:
            _fill(history, db)
    except database.StorageError as error:
        history.fault = str(error)
    history.sizes = retention.sizes(folder)
    history.is_unfinished = os.path.exists(os.path.join(folder, maintenance.UNFINISHED))
    history.is_screened = screened.version(folder) >= screened.VERSION
    ends = [history.path + end for end in ("", "-wal")]
    history.size_mb = sum(os.path.getsize(path) for path in ends if os.path.exists(path)) / 1e6
    return history


def _fill(history: History, db: sqlite3.Connection) -> None:
    from storage.erasure import retention
    from storage.traces import queries

    state = retention.held(db)
    history.traces, history.since = state.traces, state.since
    stats = queries.stats(db, queries.Filter(origin="hook"))
    history.prompts, history.last_seen = stats.prompts, stats.last_seen
    for host in history.last_seen:
        recent = queries.matching(db, queries.Filter(host=host, origin="hook"), limit=RECENT_PROMPTS)
        failed = [str(row["error"]) for row in recent if row["status"] == "error"]
        if failed:
            history.failures[host] = (len(failed), len(recent), failed[0])
