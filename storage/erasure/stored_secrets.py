"""Redact secrets in all text columns of rows that are already stored; in JSON, each string is redacted separately.

The names of tables and columns come from the database's schema, so that new tables are included. Identifiers, stored
sums, vectors, and versions of the instructions (the files with the rules, which a user wrote, and which a replay
compares byte by byte) are not redacted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from storage.base import fast_stdlib
from storage.base.paced_writes import in_turn
from storage.erasure import trace_rows
from storage.memory import memories
from storage.memory.words import extra_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    Redact = Callable[[str], str]
    Advance = Callable[[int, int], None]

SKIPPED_TABLES = frozenset(
    """
    instructions_versions instructions_sources prompts_by_class prompts_by_day latencies_by_day latencies_overall
    rolled_up memory_counts trace_numbers memory_vectors content_vectors
    """.split()
)
IDENTIFIERS = frozenset(
    """
    id at trace_id session_id prompt_id replay_id experiment_id host origin status kind prompt_hmac rules_hash base_hash
    candidate_hash hash created_at updated_at labelled_at key number position resolved_at text_hash
    """.split()
)
NAMED_BY_RULES = frozenset(("settings", "skills"))
"""Keys of a recorded JSON document whose values are not redacted, because no user typed them in a prompt."""
BATCH_ROWS = 500
# Without virtual tables and FTS5's index tables: their texts are copies of those in the other tables.
WHICH_TABLES = """
    select name from sqlite_master where type = 'table' and sql not like 'create virtual%'
      and name not like 'sqlite_%' and name not like '%\\_fts\\_%' escape '\\' order by name
"""
FORGET_HASHES_OF_LINES = """
    update line_labels set text_hash = '' where trace_id in (select value from json_each(:ids))
"""
"""The hashes of redacted lines are emptied, because anybody who guesses a secret could use them to check the guess."""
PUT_THE_WORDS_BACK = """
    insert into prompts_fts (rowid, prompt) select trace_numbers.number, traces.prompt
    from trace_numbers join traces on traces.id = trace_numbers.trace_id
    where trace_numbers.trace_id in (select value from json_each(:ids))
"""


def redact_rows(
    db: sqlite3.Connection, redact: Redact, *, is_dry: bool = False, advance: Advance | None
) -> dict[str, int]:
    """Redact all stored texts with ``redact``; return the number of changed rows by table.

    With ``is_dry``, the rows are only counted. ``advance`` is called with the number of tables done and the total.
    ``db`` must be in autocommit mode. The caller must run ``trace_rows.scrub`` afterwards. Raises sqlite3.Error.
    """
    tables = [name for (name,) in db.execute(WHICH_TABLES) if name not in SKIPPED_TABLES]
    counts: dict[str, int] = {}
    for number, table in enumerate(tables):
        changed = _redact_table(db, table, redact, is_dry=is_dry)
        if changed:
            counts[table] = changed
        if advance:
            advance(number + 1, len(tables))
    if counts.get("traces") and not is_dry:
        in_turn(db, db.execute, trace_rows.FORGET_WHAT_WAS_MEASURED)
    if counts.get("memories") and not is_dry:
        in_turn(db, db.execute, memories.PURGE_THE_INDEX)
    return counts


def _redact_table(db: sqlite3.Connection, table: str, redact: Redact, *, is_dry: bool) -> int:
    columns = [(row[1], str(row[2]).lower(), int(row[5])) for row in db.execute(f"pragma table_info({table})")]
    keys = [name for name, _kind, place in columns if place]
    texts = [name for name, kind, _place in columns if kind == "text" and name not in IDENTIFIERS]
    texts = [name for name in texts if (table, name) != ("memories", "words")]  # ``_reindex`` derives the words anew
    if not texts:
        return 0
    wanted = list(dict.fromkeys([*keys, *texts]))
    changes: list[tuple[dict[str, object], dict[str, Any]]] = []
    for row in db.execute(f"select {', '.join(wanted)} from {table}"):
        fields = dict(zip(wanted, row, strict=True))
        changed = {name: redacted for name in texts if (redacted := _redacted(fields[name], redact)) != fields[name]}
        if changed:
            changes.append((changed, {name: fields[name] for name in keys}))
    for start in range(0, 0 if is_dry else len(changes), BATCH_ROWS):
        in_turn(db, _write, db, table, changes[start : start + BATCH_ROWS])
    return len(changes)


def _write(db: sqlite3.Connection, table: str, changes: list[tuple[dict[str, object], dict[str, Any]]]) -> None:
    ids = {"ids": json.dumps([key["id"] for changed, key in changes if table == "traces" and "prompt" in changed])}
    db.execute(trace_rows.TAKE_THE_WORDS_OUT, ids)
    for changed, key in changes:
        setting = ", ".join(f"{name} = :new_{name}" for name in changed)
        where = " and ".join(f"{name} = :{name}" for name in key)
        values = {**key, **{f"new_{name}": value for name, value in changed.items()}}
        # «or replace», because the keys of two rows may become equal if they differ only by a secret.
        db.execute(f"update or replace {table} set {setting} where {where}", values)
        if table == "memories":
            _reindex(db, key)
    db.execute(PUT_THE_WORDS_BACK, ids)
    if table == "traces":
        answers = [key["id"] for changed, key in changes if "output_text" in changed]
        db.execute(FORGET_HASHES_OF_LINES, {"ids": json.dumps(answers)})


def _reindex(db: sqlite3.Connection, key: dict[str, Any]) -> None:
    content, tags, written = db.execute(
        "select content, tags, created_at from memories where number = :number", key
    ).fetchone()
    words = extra_words(" ".join([content, *json.loads(tags)]), written=written)
    db.execute("update memories set words = :words where number = :number", {**key, "words": words})


def _redacted(value: object, redact: Redact) -> object:
    if not isinstance(value, str) or not value:
        return value
    if value[0] in "{[":
        try:
            document = json.loads(value)
        except (ValueError, RecursionError):
            return redact(value)
        redacted = _redacted_document(document, redact)
        return value if redacted == document else fast_stdlib.dumps(redacted)
    return redact(value)


def _redacted_document(value: object, redact: Redact) -> object:
    if isinstance(value, dict):
        return {key: one if key in NAMED_BY_RULES else _redacted_document(one, redact) for key, one in value.items()}
    if isinstance(value, list):
        return [_redacted_document(one, redact) for one in value]
    return redact(value) if isinstance(value, str) else value
