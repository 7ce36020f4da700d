"""Recorded prompts by id, their labels, and the time when each version of the rules was first used; reads only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from storage.evaluation import corpus
from storage.traces.selection import Selection

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from storage.evaluation.corpus import Row

WHAT_WAS_SAID_OF_THEM = """
    select trace_id, verdict, task_type from labels
    where trace_id in (select value from json_each(:ids))
      and id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id)
"""
WHEN_DID_EACH_VERSION_COME = """
    select traces.rules_hash, min(traces.id), min(traces.at) from traces
    where traces.rules_hash <> '' and traces.origin <> 'import' group by traces.rules_hash
"""
WHICH_VERSIONS_WERE_STORED = "select hash, first_seen_at from instructions_versions"
THESE = "traces.id in (select value from json_each(:these))"


def rows_of(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[Row]:
    """Yield the recorded prompts of these traces, newest first, including those of tests."""
    for page in corpus.rows(db, Selection(THESE, {"these": json.dumps(list(ids))})):
        yield from page


def said(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the newest label by trace: verdict and, if that is «class», the task type."""
    found = db.execute(WHAT_WAS_SAID_OF_THEM, {"ids": json.dumps(list(ids))})
    return {trace_id: (verdict, task_type) for trace_id, verdict, task_type in found}


def versions_by_first_use(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return (hash, UTC time) of every version, oldest first: the time of first use, or of storage if never used."""
    used = {row[0]: (row[1], row[2]) for row in db.execute(WHEN_DID_EACH_VERSION_COME)}
    stored = {row[0]: row[1] for row in db.execute(WHICH_VERSIONS_WERE_STORED)}
    times = {one: used[one][1] if one in used else at for one, at in stored.items()}
    times |= {one: at for one, (_first, at) in used.items()}
    return sorted(times.items(), key=lambda pair: (pair[1], used.get(pair[0], ("",))[0]))
