"""Delete traces so that nothing can be recovered from rows, the full-text index, freed pages or the write-ahead log.

Two facts about SQLite 3.40 matter here: an FTS5 index keeps the words of a deleted row until all its segments are
merged, and the write-ahead log keeps whole old pages until it is truncated. All work is done in transactions of a few
hundredths of a second and may be interrupted at any point: running it again completes it.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from storage import traces
from storage.base.paced_writes import in_turn
from storage.db import database
from storage.metrics import rollups

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from storage.erasure.mentions import Mentions

    Advance = Callable[[int, int], None]

BATCH_TRACES = 200  # so few, like the pages below, that a transaction takes some hundredths of a second
MERGED_PAGES = 256
VACUUMED_PAGES = 500
LOOK_AGAIN_S = 0.05
CACHE_KB = 65_536
SHORTEST_QUOTE_CHARS = 24
"""From this length in characters on, a prompt counts as quoted if it occurs within another text.

A shorter one counts only if the whole text is equal, because "yes" occurs in many texts.
"""

WHICH_OF_THE_SESSION = "select id from traces where session_id = :session_id order by id desc"
WHICH_TRACES_MENTION_IT = """
    select id from traces where mentions(
        prompt, output_text, inputs, approach, error, memory_context, topics, workflow, skip_reason, cwd, project,
        session_id)
    union select trace_id from trace_items where mentions(ref, text, why)
    union select trace_id from rule_violations where mentions(file, message, suggestion, resolution_notes)
    union select trace_id from line_labels where mentions(because, rule)
    union select trace_id from trace_channels where mentions(fallback, model)
    union select trace_id from complexity_estimates where mentions(decomposition_reason, estimation_factors)
    union select trace_id from parallel_attempts where mentions(
        failure_reason, conflict_details, agent_ids, subtask_ids, parallelization_strategy, execution_metadata)
    union select trace_id from sessions where mentions(session_id, ref)
    union select trace_id from replay_results where mentions(before, after, cause)
    order by 1 desc
"""
WHICH_ARE_THERE = "select id from traces where id in (select value from json_each(:ids)) order by id desc"
WHAT_IS_TO_BE_FORGOTTEN = """
    select id, at, session_id, cwd, prompt, rules_hash, status from traces
    where id in (select value from json_each(:ids)) order by id desc
"""
WHICH_CAME_LATER_IN_THE_SESSION = """
    select id, inputs, output_text from traces where session_id = :session_id and id > :id and session_id <> ''
"""
WHICH_SESSIONS_GO_ON = """
    select distinct session_id from traces
    where session_id in (select value from json_each(:sessions)) and id not in (select value from json_each(:ids))
"""
INJECTED_ITEMS = """
    select session_id, kind, ref from sessions
    where session_id in (select value from json_each(:sessions)) and trace_id in (select value from json_each(:ids))
"""
WHICH_MEMORIES_MENTION_IT = "select id from memories where mentions(content, tags, source)"
WHICH_MEMORIES_WERE_ASKED_FOR = """
    select distinct memories.id from memories join traces on memories.project = traces.project
    where traces.id in (select value from json_each(:ids)) and memories.origin = 'captured'
      and instr(traces.prompt, memories.content) > 0
"""

TAKE_THE_WORDS_OUT = """
    insert into prompts_fts (prompts_fts, rowid, prompt)
    select 'delete', trace_numbers.number, traces.prompt
    from trace_numbers join traces on traces.id = trace_numbers.trace_id
    where trace_numbers.trace_id in (select value from json_each(:ids))
"""
"""FTS5 does not store the texts: to remove the words of a row, it must be given the old text."""
DELETE_ITEMS_OF_TRACES = """
    delete from sessions where (session_id, trace_id) in
        (select session_id, id from traces where id in (select value from json_each(:ids)))
"""
FORGET_THE_ANSWERS_OF_EXPERIMENTS = """
    delete from experiment_results
    where experiment_id in (select id from experiments) and prompt_id in (select value from json_each(:ids))
"""
FORGET_THE_CASES_OF_EXPERIMENTS = """
    update experiments set plan = json_set(plan, '$.cases', (
        select json_group_array(json(value)) from json_each(plan, '$.cases')
        where json_extract(value, '$[0]') not in (select value from json_each(:ids))
    ))
    where exists (
        select 1 from json_each(plan, '$.cases')
        where json_extract(value, '$[0]') in (select value from json_each(:ids))
    )
"""
"""``cases`` are the prompts of an experiment; each case consists of the id, the session and a hash of a prompt."""
FORGET_WHAT_WAS_MEASURED = "delete from coverage_measured"
"""Coverage (how often each rule applied) names clusters of prompts by words from them, without naming the traces.

So all of it is deleted; it is computed again when needed.
"""
FORGET_THE_VECTORS = "delete from content_vectors"
"""A vector reveals something about its text, but not which prompt the text came from.

So all vectors are deleted; they are computed again when needed.
"""
FORGET_THE_TRACES = "delete from traces where id in (select value from json_each(:ids))"
FORGET_BEFORE_THE_TRACES = (
    TAKE_THE_WORDS_OUT,
    DELETE_ITEMS_OF_TRACES,
    FORGET_THE_ANSWERS_OF_EXPERIMENTS,
    FORGET_THE_CASES_OF_EXPERIMENTS,
)
DELETE_ITEMS_OF_SESSIONS = """
    delete from sessions where session_id in (select value from json_each(:sessions))
"""
FORGET_WHAT_MENTIONS_IT = (
    "delete from replays where mentions(base, candidate, selection, diff, figures)",
    "delete from experiment_results where mentions(text, prompt_id, fault)",
    "delete from experiments where mentions(question, arms, report, plan)",
    "delete from sessions where mentions(session_id, ref)",
    """
    delete from coverage_measured where rules_hash in (
        select rules_hash from rule_coverage where mentions(rule, name, label, file)
    )
    """,
)
START_MERGING = "insert into prompts_fts (prompts_fts, rank) values ('merge', :pages)"


class StillReadError(database.DatabaseInUseError):
    """Raised if the write-ahead log cannot be truncated because another program keeps reading from it."""


def of_session(db: sqlite3.Connection, session_id: str) -> list[str]:
    """Return the ids of a session's traces, newest first."""
    return [row[0] for row in db.execute(WHICH_OF_THE_SESSION, {"session_id": traces.short(session_id)})]


def mentioning(db: sqlite3.Connection, wanted: Mentions) -> list[str]:
    """Return the ids of the traces that contain one of the texts in ``wanted``, newest first.

    Rows of other tables that refer to a trace, such as its facts and labels, are searched as part of it.
    """
    _add_sql_function(db, wanted)
    return [row[0] for row in db.execute(WHICH_TRACES_MENTION_IT)]


def memories_mentioning(db: sqlite3.Connection, wanted: Mentions) -> list[str]:
    """Return the ids of the memories (notes about a project) that contain one of the texts in ``wanted``."""
    _add_sql_function(db, wanted)
    return [row[0] for row in db.execute(WHICH_MEMORIES_MENTION_IT)]


def memories_asked_for(db: sqlite3.Connection, ids: Iterable[str]) -> list[str]:
    """Return the ids of the memories that were stored because prompts of the traces ``ids`` asked to remember them."""
    return [row[0] for row in db.execute(WHICH_MEMORIES_WERE_ASKED_FOR, _as_parameters(ids))]


def quoting(db: sqlite3.Connection, ids: Sequence[str]) -> list[str]:
    """Return the ids of later traces in which the prompt of a trace in ``ids`` is quoted, newest first.

    Only traces of the same session are searched.
    """
    found: set[str] = set()
    for row in described(db, ids):
        if row["prompt"].strip():
            asked = {"session_id": row["session_id"], "id": row["id"]}
            later = db.execute(WHICH_CAME_LATER_IN_THE_SESSION, asked)
            found |= {own for own, inputs, conversation in later if _quotes(inputs, conversation, row["prompt"])}
    return sorted(found - set(ids), reverse=True)


def described(db: sqlite3.Connection, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return a description of each trace in ``ids`` that exists, newest first.

    A description has the keys ``id``, ``at``, ``session_id``, ``cwd``, ``prompt``, ``rules_hash`` and ``status``.
    """
    return [dict(row) for row in db.execute(WHAT_IS_TO_BE_FORGOTTEN, _as_parameters(ids))]


def sessions_that_end(db: sqlite3.Connection, sessions: Iterable[str], ids: Iterable[str]) -> set[str]:
    """Return which of ``sessions`` will have no trace left once the traces ``ids`` are deleted."""
    wanted = set(sessions) - {""}
    named = {"sessions": json.dumps(sorted(wanted)), **_as_parameters(ids)}
    return wanted - {row[0] for row in db.execute(WHICH_SESSIONS_GO_ON, named)}


def injected_items(db: sqlite3.Connection, sessions: Iterable[str], ids: Iterable[str]) -> dict[str, set[str]]:
    """Return, for each of ``sessions``, what was added to the prompts of the traces ``ids``.

    Each fact, guardrail or other item is named as ``kind:ref``, such as ``guardrail:H3``.
    """
    found: dict[str, set[str]] = {}
    for session, kind, ref in db.execute(
        INJECTED_ITEMS, {"sessions": json.dumps(sorted(sessions)), **_as_parameters(ids)}
    ):
        found.setdefault(session, set()).add(f"{kind}:{ref}")
    return found


def delete(db: sqlite3.Connection, ids: Sequence[str], *, advance: Advance | None = None) -> int:
    """Delete the traces ``ids`` and all rows that refer to them, one batch per transaction; return how many existed.

    ``advance`` is called with the number of traces processed so far and the total. ``db`` must be in autocommit mode.
    The caller must run ``scrub`` afterwards. Raises sqlite3.Error.
    """
    _prepare(db)
    gone = 0
    for start in range(0, len(ids), BATCH_TRACES):
        gone += in_turn(db, _delete, db, ids[start : start + BATCH_TRACES])
        if advance:
            advance(min(start + BATCH_TRACES, len(ids)), len(ids))
    return gone


def _delete(db: sqlite3.Connection, ids: Sequence[str]) -> int:
    rollups.take_back(db, ids)  # reads the rows, so before they are deleted
    for query in FORGET_BEFORE_THE_TRACES:
        db.execute(query, _as_parameters(ids))
    gone = db.execute(FORGET_THE_TRACES, _as_parameters(ids)).rowcount
    if gone:
        rollups.step_back(db)
        db.execute(FORGET_WHAT_WAS_MEASURED)
        db.execute(FORGET_THE_VECTORS)
    return gone


def delete_related(db: sqlite3.Connection, *, sessions: Iterable[str], wanted: Mentions) -> None:
    """Delete the records of the items shown in ``sessions``, and all rows that contain one of the texts in ``wanted``.

    Such rows are replays, experiments and their results, items shown in any session, and stored coverage (how often
    each rule applied). Traces are not deleted.
    """
    named = {"sessions": json.dumps(sorted(sessions))}
    in_turn(db, db.execute, DELETE_ITEMS_OF_SESSIONS, named)
    if wanted:
        _add_sql_function(db, wanted)
        for query in FORGET_WHAT_MENTIONS_IT:
            in_turn(db, db.execute, query)


def existing(db: sqlite3.Connection, ids: Iterable[str]) -> list[str]:
    """Return those of the ids whose trace is still in the database."""
    return [row[0] for row in db.execute(WHICH_ARE_THERE, _as_parameters(ids))]


def scrub(db: sqlite3.Connection) -> None:
    """Remove the words of deleted texts from the full-text index and from the database file.

    Raises StillReadError if another program keeps reading from the write-ahead log, and sqlite3.Error if nothing can be
    written.
    """
    _prepare(db)
    _merge_the_index(db)
    make_final(db)


def make_final(db: sqlite3.Connection) -> None:
    """Remove deleted rows from the database file: release its freed pages and truncate the write-ahead log.

    The log would otherwise still contain old pages with these rows. Raises the same errors as ``scrub``.
    """
    while db.execute("pragma freelist_count").fetchone()[0]:
        db.executescript(f"pragma incremental_vacuum({VACUUMED_PAGES:d})")  # execute() would stop after one page
    _truncate_log(db)


def _prepare(db: sqlite3.Connection) -> None:
    """Make a long deletion faster: do not wait for the disk after each transaction, and enlarge the page cache.

    The last transactions are lost if the computer crashes; running the deletion again repeats them.
    """
    db.execute("pragma synchronous = normal")
    db.execute(f"pragma cache_size = {-CACHE_KB:d}")  # old traces are scattered over the indices; this halves the time


def _merge_the_index(db: sqlite3.Connection) -> None:
    """Merge all segments of the full-text index into one, a few pages per transaction."""
    db.execute(START_MERGING, {"pages": -MERGED_PAGES})  # negative: all segments, not only equal ones
    while True:
        before = db.total_changes
        db.execute(START_MERGING, {"pages": MERGED_PAGES})
        if db.total_changes - before < 2:  # how FTS5 reports that nothing was left to merge
            return


def _truncate_log(db: sqlite3.Connection) -> None:
    """Truncate the write-ahead log; retry while others read it, and raise StillReadError if that takes too long."""
    give_up_at = time.monotonic() + database.PATIENCE_S
    patience_ms = db.execute("pragma busy_timeout").fetchone()[0]
    db.execute("pragma busy_timeout = 0")  # while a checkpoint itself waits, nobody can write
    try:
        while db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]:
            if time.monotonic() > give_up_at:
                raise StillReadError(
                    "deleted, but another program keeps what was deleted in the write-ahead log: close the workbench "
                    "and other readers of the database, then run the same command again (the upkeep behind the next "
                    "prompts tries it, too)"
                )
            time.sleep(LOOK_AGAIN_S)
    finally:
        db.execute(f"pragma busy_timeout = {patience_ms:d}")


def _add_sql_function(db: sqlite3.Connection, wanted: Mentions) -> None:
    """Add ``mentions`` to SQL, which is true if one of its arguments, any number of them, contains a wanted text."""
    db.create_function("mentions", -1, lambda *texts: any(map(wanted.in_text, texts)), deterministic=True)


def _as_parameters(ids: Iterable[str]) -> dict[str, str]:
    return {"ids": json.dumps(list(ids))}


def _quotes(inputs: str, conversation: str, prompt: str) -> bool:
    """Return whether a trace quotes ``prompt``, an earlier prompt of its session.

    ``inputs`` is the JSON of what the hook read for that trace, and ``conversation`` is the text that the hook added.
    Recorded conversations contain only the beginning of a prompt, with blanks instead of line breaks.
    """
    whole = _flat(prompt)
    try:
        texts = [_flat(text) for text in _texts(json.loads(inputs))]
    except (ValueError, RecursionError):
        texts = []
    if len(whole) >= SHORTEST_QUOTE_CHARS and any(whole in text for text in (*texts, _flat(conversation))):
        return True
    stems = (text.removesuffix("…").rstrip() for text in texts)
    return any(
        stem == whole or (len(stem) >= SHORTEST_QUOTE_CHARS and (whole.startswith(stem) or stem in whole))
        for stem in stems
    )


def _texts(value: object) -> list[str]:
    """Return all strings in a recorded JSON value, except those of settings and skills, which the user did not type."""
    if isinstance(value, dict):
        return [text for key, one in value.items() if key not in ("settings", "skills") for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
