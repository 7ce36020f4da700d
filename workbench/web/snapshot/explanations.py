"""Store in a snapshot the sentences that explain the results of its newest prompts.

A snapshot contains neither rules nor inputs, so these sentences cannot be computed later.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING

from enricher.interfaces.api import recorded_rules
from storage.base import reader
from storage.traces import queries
from workbench.web.reading import reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from enricher.rules.cache import Rules

MOST_EXPLAINED = 10_000
"""Only this many of the newest prompts are explained, because each must be evaluated again, which takes time."""
MOST_VERSIONS = 8
"""Number of versions of the rules that are kept compiled in memory."""
WHICH_TO_EXPLAIN = """
    select id, status, skip_reason, rules_hash, task_type, prompt, inputs from traces
    where origin <> 'test' order by id desc limit :most
"""
CREATE_EXPLANATIONS = "create table explanations (trace_id text primary key, sentences text not null) without rowid"
INSERT_EXPLANATION = """
    insert or ignore into explanations
    select :trace_id, iif(:is_full, :sentences, anonymized_json(:sentences))
    where :trace_id in (select id from main.traces)
"""
PROMPTS_BETWEEN_LOOKS = 100


def store(db: sqlite3.Connection, source: str, *, is_full: bool, goes_on: Callable[[int], bool]) -> None:
    """Explain the newest prompts of the database ``source``, and store the sentences in the snapshot ``db``.

    They are anonymised unless ``is_full``, with the SQL function ``anonymized_json``, which ``db`` must have. Now and
    then ``goes_on`` is called with the number of prompts done so far; the work stops if it returns False.
    """
    db.execute("begin")
    db.execute(CREATE_EXPLANATIONS)
    with contextlib.closing(sqlite3.connect(reader.address(source), uri=True)) as history:
        history.row_factory = sqlite3.Row
        for done, (trace_id, found) in enumerate(_explained(history)):
            if done % PROMPTS_BETWEEN_LOOKS == 0 and not goes_on(done):
                break
            if found:
                values = {"trace_id": trace_id, "sentences": found.to_json(), "is_full": is_full}
                db.execute(INSERT_EXPLANATION, values)
    db.execute("commit")


def _explained(history: sqlite3.Connection) -> Iterator[tuple[str, reasons.Reasons | None]]:
    """Yield the id and the sentences of each prompt to explain; they are None if they cannot be computed."""

    @lru_cache(MOST_VERSIONS)
    def rules_of(identity: str) -> Rules | None:
        stored = queries.instructions(history, identity)
        try:
            return recorded_rules(identity, stored) if stored else None
        except ValueError:
            return None

    for row in history.execute(WHICH_TO_EXPLAIN, {"most": MOST_EXPLAINED}):
        rules = rules_of(row["rules_hash"])
        try:
            inputs = json.loads(row["inputs"])
        except ValueError:
            continue
        yield row["id"], reasons.computed(history, {**dict(row), "inputs": inputs}, rules) if rules else None
