"""Explain, for the page of a prompt, why the hook gave the prompt its classes and what the hook left out.

The sentences are those that ``enricher explain`` prints. They are computed from the rules and inputs that were recorded
with the prompt. A snapshot contains neither, so the sentences are stored in it when it is written (``store``). If none
are stored for a prompt, only the class that came second is named, from the recorded points.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from enricher.interfaces.api import recorded_rules
from enricher.interfaces.explanation import FACETS, ExplanationError, nearest, of_record
from storage.base import reader
from storage.traces import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from enricher.classify import Rules
    from enricher.interfaces.explanation import Explanation

    Row = dict[str, Any]

MOST_SENTENCES = 40
MOST_EXPLAINED = 10_000  # newest prompts of a snapshot: each must be evaluated again, which takes time
MOST_VERSIONS = 8  # of the rules, which are kept compiled in memory
WHICH_TO_EXPLAIN = """
    select id, status, skip_reason, rules_hash, task_type, prompt, inputs from traces
    where origin <> 'test' order by id desc limit :most
"""
CREATE_EXPLANATIONS = "create table explanations (trace_id text primary key, sentences text not null) without rowid"
# The last line leaves out prompts that came after the snapshot's own were copied.
INSERT_EXPLANATION = """
    insert or ignore into explanations
    select :trace_id, iif(:is_full, :sentences, anonymized_json(:sentences))
    where :trace_id in (select id from main.traces)
"""
PROMPTS_BETWEEN_LOOKS = 100
WHAT_WAS_STORED = "select sentences from explanations where trace_id = :id"


@dataclass(frozen=True, slots=True)
class Reasons:
    """The sentences that explain what the hook did with a prompt.

    ``nearest`` has a sentence on the class that came second, for task type and for search intent. ``certainty`` is
    about the confidence in the task type, ``left_out`` about lines that were not added to the prompt, and ``silence``
    about the guardrail or approach that was nearly added.
    """

    nearest: dict[str, str]
    certainty: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    silence: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the sentences as a JSON list of four lists, for ``from_json``."""
        nearest_ones = [self.nearest[facet] for facet in FACETS]
        return json.dumps([nearest_ones, self.certainty, self.left_out, self.silence], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Reasons:
        """Read the sentences from the JSON text that ``to_json`` has returned."""
        nearest_ones, *others = json.loads(text)
        return cls(dict(zip(FACETS, nearest_ones, strict=True)), *map(tuple, others))


def of_shown(db: sqlite3.Connection, trace: Row) -> Reasons:
    """Return the sentences that explain a prompt of the live history or of a snapshot.

    ``trace`` is its record, as ``queries.show`` returns it.
    """
    with suppress(sqlite3.OperationalError):  # only a snapshot has the table
        if row := db.execute(WHAT_WAS_STORED, {"id": trace["id"]}).fetchone():
            return Reasons.from_json(row[0])
    return computed(db, trace) or _by_points(trace)


def computed(db: sqlite3.Connection, trace: Row, rules: Rules | None = None) -> Reasons | None:
    """Evaluate a prompt again with its recorded rules and inputs, and return the sentences that explain its result.

    Callers that already have the recorded rules can pass them as ``rules``. Return None if rules or inputs are missing,
    or if they lead to another task type than the recorded one.
    """
    try:
        found = of_record(db, trace, rules=rules) if trace["prompt"] else None
    except (ExplanationError, LookupError, TypeError, ValueError, AttributeError):
        return None  # its inputs were not recorded, or are damaged
    if found is None or found.enrichment.classification.task_type != trace["task_type"]:
        return None  # recorded by another release: the sentences would explain another result
    return _explained(found)


def _explained(found: Explanation) -> Reasons:
    thresholds = "; ".join(found.thresholds())
    return Reasons(
        {facet: found.nearest(facet) for facet in FACETS},
        tuple(filter(None, (found.doubts(), thresholds and f"thresholds: {thresholds}"))),
        tuple(found.left_out()[:MOST_SENTENCES]),
        tuple(filter(None, (found.nearest_rule(),))),
    )


def _by_points(trace: Row) -> Reasons:
    """Explain a prompt by its recorded points alone: which task type and which search intent came second."""
    by_facet = {}
    for facet in FACETS:
        own = [(one["name"], one["score"]) for one in trace["scores"] if one["facet"] == facet and one["score"]]
        by_facet[facet] = nearest(sorted(own, key=lambda pair: (-pair[1], pair[0] != trace[facet])))
    return Reasons(by_facet)


def store(db: sqlite3.Connection, source: str, *, is_full: bool, goes_on: Callable[[int], bool]) -> None:
    """Compute the sentences for the newest prompts of the database ``source``, and store them in the snapshot ``db``.

    Unless ``is_full`` is true, the SQL function ``anonymized_json``, which ``db`` must have, anonymises the sentences.
    ``goes_on`` is called repeatedly with the number of prompts done so far; the work stops if it returns False.
    """
    db.execute("begin")
    db.execute(CREATE_EXPLANATIONS)
    with closing(sqlite3.connect(reader.address(source), uri=True)) as history:
        history.row_factory = sqlite3.Row
        for done, (trace_id, found) in enumerate(_computed(history)):
            if done % PROMPTS_BETWEEN_LOOKS == 0 and not goes_on(done):
                break
            if found:
                values = {"trace_id": trace_id, "sentences": found.to_json(), "is_full": is_full}
                db.execute(INSERT_EXPLANATION, values)
    db.execute("commit")


def _computed(history: sqlite3.Connection) -> Iterator[tuple[str, Reasons | None]]:
    """Yield the id of each prompt to explain, and the sentences that explain it, or None if they cannot be computed."""

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
        yield row["id"], computed(history, {**dict(row), "inputs": inputs}, rules) if rules else None
