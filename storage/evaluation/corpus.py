"""Read recorded prompts, their scores and labels, for a replay, which evaluates the prompts under other rules.

Prompts are read newest first, one page at a time, and only the columns that a replay needs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from storage.traces.labels import IS_NEWEST
from storage.traces.selection import Selection
from storage.traces.trace_pages import ABOVE_ALL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    Scores = dict[str, dict[str, dict[str, int]]]


PAGE_ROWS = 500
WHICH_GUARDRAILS_WERE_SHOWN = "select guardrail_id from trace_guardrails where trace_id = :id order by position"
WHICH_ITEMS_WERE_KEPT = "select channel, ref from trace_items where trace_id = :id and kept order by position"
WHAT_WAS_SCORED = """
    select trace_id, facet, name, score from trace_scores where trace_id in (select value from json_each(:ids))
"""
WHICH_VERSIONS_ARE_NAMED = "select rules_hash, count(*), max(id) from traces where rules_hash <> '' group by rules_hash"
WHICH_VERSIONS_HAVE_SOURCES = """
    select hash, layer, path, text from instructions_sources order by hash, position
"""
NEWEST_LABELS_OF_TRACES = f"""
    select trace_id, verdict, task_type from labels
    where trace_id in (select value from json_each(:ids)) and {IS_NEWEST}
"""
WHEN_DID_EACH_VERSION_COME = """
    select traces.rules_hash, min(traces.id), min(traces.at) from traces
    where traces.rules_hash <> '' and traces.origin <> 'import' group by traces.rules_hash
"""
WHICH_VERSIONS_WERE_STORED = "select hash, first_seen_at from instructions_versions"
# One parameter with a list in JSON, because the number of parameters of a statement is limited.
THESE = "traces.id in (select value from json_each(:these))"


class RecordedPrompt(NamedTuple):
    """One recorded prompt; its fields are named like the columns of ``traces``.

    ``inputs`` is the JSON of everything else that the hook's decision depended on.
    """

    id: str
    at: str
    origin: str
    host: str
    session_id: str
    project: str
    cwd: str
    status: str
    prompt: str
    inputs: str
    rules_hash: str
    task_type: str
    confidence: float | None
    uncertain: int
    search_intent: str
    intent_confidence: float | None
    workflow: str
    approach: str
    output_text: str
    output_tokens: int

    @property
    def has_inputs(self) -> bool:
        """Return whether the prompt's inputs were stored, so that it can be evaluated again.

        With the setting ``log = hash`` they are not. Stored inputs always have the key ``settings``, so the JSON text
        is only searched for this key; parsing it would take far longer.
        """
        return '"settings"' in self.inputs


COLUMNS = RecordedPrompt._fields


def rows(db: sqlite3.Connection, selection: Selection, *, limit: int = 0) -> Iterator[list[RecordedPrompt]]:
    """Yield the selected prompts, newest first, in lists of up to PAGE_ROWS; ``limit`` 0 means no limit."""
    before, left = ABOVE_ALL, limit or -1  # -1: no limit
    columns = ", ".join(f"traces.{column}" for column in COLUMNS)
    query = f"""
        select {columns} from traces where ({selection.where}) and traces.id < :corpus_before
        order by traces.id desc limit :corpus_rows
    """
    while left:
        wanted = PAGE_ROWS if left < 0 else min(PAGE_ROWS, left)
        cursor = db.cursor()
        cursor.row_factory = None  # plain tuples take half the time
        found = cursor.execute(query, {**selection.parameters, "corpus_before": before, "corpus_rows": wanted})
        page = list(map(RecordedPrompt._make, found))
        if page:
            yield page
        if len(page) < wanted:
            return
        before, left = page[-1].id, left - len(page) if left > 0 else left


def count(db: sqlite3.Connection, selection: Selection) -> int:
    """Return the number of selected prompts."""
    query = f"select count(*) from traces where ({selection.where})"
    return int(db.execute(query, selection.parameters).fetchone()[0])


def guardrails(db: sqlite3.Connection, trace_id: str) -> tuple[str, ...]:
    """Return the ids of the guardrails in the text that was added to a prompt, in order."""
    return tuple(row[0] for row in db.execute(WHICH_GUARDRAILS_WERE_SHOWN, {"id": trace_id}))


def kept_items(db: sqlite3.Connection, trace_id: str) -> tuple[tuple[str, str], ...]:
    """Return the channel and the reference of each fact that was added to a prompt, in order.

    A reference is, for example, a file and a line.
    """
    return tuple((row[0], row[1]) for row in db.execute(WHICH_ITEMS_WERE_KEPT, {"id": trace_id}))


def scores(db: sqlite3.Connection, ids: Iterable[str]) -> Scores:
    """Return the scores that were recorded with the traces ``ids``.

    They are grouped by trace id, by facet (such as ``task_type``), and by the class that was scored.
    """
    found: Scores = {}
    cursor = db.cursor()
    cursor.row_factory = None
    for trace_id, facet, name, score in cursor.execute(WHAT_WAS_SCORED, {"ids": json.dumps(list(ids))}):
        found.setdefault(trace_id, {}).setdefault(facet, {})[name] = int(score)
    return found


def versions(db: sqlite3.Connection) -> list[tuple[str, int, str]]:
    """Return the versions of the rules that traces refer to, most recently used first.

    A version is described by its hash, its number of traces, and the id of its newest trace.
    """
    found = [(str(row[0]), int(row[1]), str(row[2])) for row in db.execute(WHICH_VERSIONS_ARE_NAMED)]
    return sorted(found, key=lambda one: one[2], reverse=True)


def all_sources(db: sqlite3.Connection) -> dict[str, list[tuple[str, str, str]]]:
    """Return the files from which each version of the rules was compiled, keyed by the hash of the version.

    A file is described by its layer, its path and its text. Versions whose files were not stored are left out.
    """
    found: dict[str, list[tuple[str, str, str]]] = {}
    for row in db.execute(WHICH_VERSIONS_HAVE_SOURCES):
        found.setdefault(row[0], []).append((row[1], row[2], row[3]))
    return found


def rows_of(db: sqlite3.Connection, ids: Iterable[str]) -> Iterator[RecordedPrompt]:
    """Yield the recorded prompts of the traces ``ids``, newest first, including prompts that tests sent."""
    for page in rows(db, Selection(THESE, {"these": json.dumps(list(ids))})):
        yield from page


def recorded_ids(db: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that belong to a recorded prompt."""
    query = f"select traces.id from traces where {THESE}"
    return {row[0] for row in db.execute(query, {"these": json.dumps(list(ids))})}


def labels_of(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the newest label of each trace in ``ids`` that has one, keyed by the trace's id.

    A label is the verdict and, if that is «class», the task type that a user called correct.
    """
    found = db.execute(NEWEST_LABELS_OF_TRACES, {"ids": json.dumps(list(ids))})
    return {trace_id: (verdict, task_type) for trace_id, verdict, task_type in found}


def versions_by_first_use(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the hash of every version of the rules and the time (UTC) of its first use, earliest first.

    If no prompt was evaluated under a version, the time is when the version was stored.
    """
    used = {row[0]: (row[1], row[2]) for row in db.execute(WHEN_DID_EACH_VERSION_COME)}
    stored = {row[0]: row[1] for row in db.execute(WHICH_VERSIONS_WERE_STORED)}
    times = {one: used[one][1] if one in used else at for one, at in stored.items()}
    times |= {one: at for one, (_first, at) in used.items()}
    return sorted(times.items(), key=lambda pair: (pair[1], used.get(pair[0], ("",))[0]))
