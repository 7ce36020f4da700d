"""Limit stored data by age and size: delete the oldest traces, then old versions of the rules that nothing needs.

A trace is the record of one prompt. The user's memories, test cases made from labels, and exported files are not traces
and are kept. A limit of 0 means no limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage import traces
from storage.base import private
from storage.erasure import trace_rows
from storage.traces import queries, spool
from storage.traces.trace_pages import ABOVE_ALL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from storage.erasure.mentions import Mentions

DAY_S = 86_400
PAGE_TRACES = 1_000
ALWAYS_KEPT = 1_000
"""Number of traces that are kept even above the limit in megabytes.

The memories in the same database may exceed that limit alone.
"""
YOUNG_S = 86_400
"""Age in seconds up to which a version of the instructions is kept: traces that refer to it may not be stored yet."""

HOW_MANY = "select count(*) from traces"
WHICH_IS_OLDEST = "select at from traces order by id limit 1"
WHICH_ARE_OLDEST = "select id from traces order by id limit :limit"
WHICH_COMES_NEXT = "select id from traces where id > :id order by id limit 1"
WHICH_ARE_OLDER = "select id from traces where id < :id order by id"
WHICH_VERSIONS_NOBODY_NAMES = """
    select hash, first_seen_at from (
        select hash, first_seen_at from instructions_versions
        union select hash, '' from instructions_sources where hash not in (select hash from instructions_versions)
    )
    where hash not in (select rules_hash from traces)
      and hash not in (select base_hash from replays) and hash not in (select candidate_hash from replays)
      and hash not in (select value from json_each(:in_use))
"""
TEXTS_OF_VERSIONS = "select hash, text from instructions_versions union all select hash, text from instructions_sources"
FORGET_THE_SOURCES = "delete from instructions_sources where hash = :hash"
FORGET_WHAT_WAS_MEASURED = "delete from coverage_measured where rules_hash = :hash"
FORGET_THE_VERSION = "delete from instructions_versions where hash = :hash"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on the stored traces: their age in days, their number, and the database's megabytes; 0 means no limit."""

    days: float = 0.0
    rows: int = 0
    mb: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.days or self.rows or self.mb)

    def in_words(self) -> str:
        """Return the limits in words, such as "at most 90 days and 500 MB", or "everything" if there is no limit."""
        limits = [
            *([f"{self.days:g} days"] if self.days else []),
            *([f"{self.rows:,} prompts"] if self.rows else []),
            *([f"{self.mb:g} MB"] if self.mb else []),
        ]
        return "at most " + " and ".join(limits) if limits else "everything"


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """How much the database contains: the number of traces, the time of the oldest trace, and the bytes in use."""

    traces: int
    since: str
    used_bytes: int


def held(db: sqlite3.Connection) -> StoredAmount:
    """Return how much the database contains now."""
    size, pages, free = (
        db.execute(f"pragma {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    oldest = db.execute(WHICH_IS_OLDEST).fetchone()
    # Free pages do not count: they are used for new rows or given back later.
    return StoredAmount(db.execute(HOW_MANY).fetchone()[0], oldest[0] if oldest else "", (pages - free) * size)


def surplus(db: sqlite3.Connection, bounds: Bounds) -> list[str]:
    """Return the ids of the traces to delete so that the limits hold, oldest first.

    For the limit in megabytes, their number is estimated; ``prune`` therefore measures again after each deletion.
    """
    found = _too_old(db, bounds)
    state = held(db)
    count = max(
        state.traces - bounds.rows if bounds.rows else 0,
        _too_large(state, bounds) if bounds.mb else 0,
    )
    return found if len(found) >= count else [row[0] for row in db.execute(WHICH_ARE_OLDEST, {"limit": count})]


def prune(db: sqlite3.Connection, bounds: Bounds, *, advance: trace_rows.Advance | None = None) -> int:
    """Delete the oldest traces until the limits in ``bounds`` hold; return how many were deleted.

    ``advance`` is passed to ``trace_rows.delete``. The caller must run ``trace_rows.scrub`` afterwards.
    """
    gone = 0
    # Several rounds are needed, because the size of a trace is only estimated from the average.
    while ids := surplus(db, bounds):
        gone += trace_rows.delete(db, ids, advance=advance)
    return gone


def oldest(db: sqlite3.Connection, *, after: str = "") -> str:
    """Return the id of the oldest trace with an id greater than ``after``.

    If there is no such trace, return ABOVE_ALL, which is greater than any id.
    """
    found = db.execute(WHICH_COMES_NEXT, {"id": after}).fetchone()
    return str(found[0]) if found else ABOVE_ALL


def prune_versions(
    db: sqlite3.Connection,
    state_dir: str,
    *,
    in_use: Iterable[str],
    wanted: Mentions | None = None,
    is_dry: bool = False,
) -> int:
    """Delete the versions of the instructions that are no longer needed; return how many.

    The instructions are the files with the rules. A version is kept if a trace or a stored replay refers to it, or if
    its hash is in ``in_use``, because the hook would use it for a prompt today. A version less than a day old is kept,
    too, unless it contains one of the texts in ``wanted``. With ``is_dry``, versions are only counted.
    """
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - YOUNG_S))
    unnamed = dict(db.execute(WHICH_VERSIONS_NOBODY_NAMES, {"in_use": json.dumps(list(in_use))}).fetchall())
    mentioning = {one for one, text in db.execute(TEXTS_OF_VERSIONS) if wanted.in_text(text)} if wanted else set()
    old = [one for one, seen in unnamed.items() if seen < since or one in mentioning]
    for one in old if not is_dry else ():
        # The marker file first: a prompt that needs the version again then stores it again.
        for name in (one, f"{one}{spool.SOURCES}"):
            private.removed(f"{state_dir}/{spool.VERSIONS}/{name}")
        for query in (FORGET_THE_SOURCES, FORGET_WHAT_WAS_MEASURED, FORGET_THE_VERSION):
            db.execute(query, {"hash": one})
    return len(old)


def versions_mentioning(db: sqlite3.Connection, wanted: Mentions) -> int:
    """Return how many versions of the instructions (the files with the rules) contain a text in ``wanted``."""
    return len({one for one, text in db.execute(TEXTS_OF_VERSIONS) if wanted.in_text(text)})


def sizes(state_dir: str) -> dict[str, int]:
    """Return the bytes used by each kind of file in ``state_dir`` that grows, keyed by a name such as "database"."""
    return {
        "database": _size(state_dir, traces.DATABASE, f"{traces.DATABASE}-wal"),
        "moved-aside databases": sum(
            _size(state_dir, name) for name in _names(state_dir) if name.startswith(f"{traces.DATABASE}.corrupt-")
        ),
        "spool": _size(state_dir, spool.NAME),
        "versions": _size(state_dir, spool.VERSIONS),
        "rules": _size(state_dir, "rules"),
        "code indices": _size(state_dir, "code"),
        "log": _size(state_dir, "log", "log.1"),
    }


def _too_old(db: sqlite3.Connection, bounds: Bounds) -> list[str]:
    if not bounds.days:
        return []
    return [row[0] for row in db.execute(WHICH_ARE_OLDER, {"id": queries.first_id(time.time() - bounds.days * DAY_S)})]


def _too_large(state: StoredAmount, bounds: Bounds) -> int:
    """Estimate from the average size how many traces to delete so that the limit in megabytes holds."""
    excess, left = state.used_bytes - bounds.mb * 1e6, state.traces
    if excess <= 0 or left <= ALWAYS_KEPT:
        return 0
    likely = int(excess / (state.used_bytes / left)) + 1
    # At least one in a hundred, because near the limit, small estimates would take many rounds.
    return min(max(likely, min(PAGE_TRACES, left // 100 + 1)), left - ALWAYS_KEPT)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _size(state_dir: str, *names: str) -> int:
    total = 0
    for name in names:
        path = f"{state_dir}/{name}"
        if os.path.isdir(path):
            total += sum(_size(path, inner) for inner in _names(path))
        else:
            with contextlib.suppress(OSError):
                total += os.lstat(path).st_size
    return total
