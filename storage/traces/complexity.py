"""Store and read estimates of how much effort a task takes, and reports of agents that did a task in parallel.

The hook stores its own estimates with its traces; other programs use these functions (the specification "seed 002"
defines the data). A task is identified by ``trace_id``, the id of the trace (record) of its prompt, and deleting the
trace deletes its estimate and attempts. Nothing here starts an agent: an attempt is stored as an agent reports it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from storage import traces
from storage.base import fast_stdlib
from storage.base.paced_writes import transaction
from storage.traces import queries

if TYPE_CHECKING:
    import sqlite3

ESTIMATES, ATTEMPTS = "complexity_estimates", "parallel_attempts"
WHICH_ESTIMATE = f"select {', '.join(traces.TABLES[ESTIMATES])} from {ESTIMATES} where trace_id = :id"
WHICH_ATTEMPTS = f"select {', '.join(traces.TABLES[ATTEMPTS])} from {ATTEMPTS} where trace_id = :id order by position"
WHICH_POSITION = f"select coalesce(max(position) + 1, 0) from {ATTEMPTS} where trace_id = :id"
SET_ACTUALS = f"""
    update {ESTIMATES} set actual_tokens = :actual_tokens, actual_loc = :actual_loc, actual_files = :actual_files,
        actual_duration_minutes = :actual_duration_minutes, estimation_accuracy = :accuracy, updated_at = :now
    where trace_id = :id
"""
SIZES = ("tokens", "loc", "files", "duration_minutes")


@dataclass(frozen=True, slots=True)
class ComplexityEstimate:
    """The estimated and the actual effort of a task; a row of ``complexity_estimates``.

    Scores are from 0 to 100, confidence and accuracy from 0 to 1. Actual values are None until they are known.
    """

    trace_id: str
    estimated_tokens: int
    estimated_loc: int
    estimated_files: int
    estimated_duration_minutes: int
    overall_complexity_score: float
    heuristic_score: float
    llm_adjusted_score: float | None = None
    category: str = ""
    should_decompose: bool = False
    decomposition_reason: str = ""
    estimation_factors: dict[str, Any] = field(default_factory=dict)
    confidence: float = 0.0
    actual_tokens: int | None = None
    actual_loc: int | None = None
    actual_files: int | None = None
    actual_duration_minutes: int | None = None
    estimation_accuracy: float | None = None
    created_at: str = field(default_factory=fast_stdlib.utc_now)
    updated_at: str = field(default_factory=fast_stdlib.utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelAgentAttempt:
    """An agent's report about one attempt to do a task with two or more agents; a row of ``parallel_attempts``."""

    trace_id: str
    num_agents: int
    position: int = -1
    """The number of the attempt among those at the same task, counted from 0; -1 stands for the next free number."""
    agent_ids: list[str] = field(default_factory=list)
    subtask_ids: list[int] = field(default_factory=list)
    success: bool = False
    failure_reason: str = ""
    conflict_detected: bool = False
    conflict_details: str = ""
    total_duration_seconds: float | None = None
    sequential_estimate_seconds: float | None = None
    speedup_factor: float | None = None
    max_concurrent_agents: int | None = None
    total_token_usage: int | None = None
    failed_agent_count: int = 0
    parallelization_strategy: str = ""
    fallback_to_sequential: bool = False
    execution_metadata: dict[str, Any] = field(default_factory=dict)
    started_at: str = ""
    completed_at: str = ""
    created_at: str = field(default_factory=fast_stdlib.utc_now)


def insert_estimate(db: sqlite3.Connection, one: ComplexityEstimate) -> None:
    """Store an effort estimate, replacing an earlier one for the same trace.

    Raises sqlite3.IntegrityError if there is no such trace, or if the table does not allow a value.
    """
    with transaction(db):
        db.execute(f"delete from {ESTIMATES} where trace_id = :id", {"id": one.trace_id})
        _insert(db, ESTIMATES, asdict(one))


def insert_attempt(db: sqlite3.Connection, one: ParallelAgentAttempt) -> int:
    """Store a report about an attempt; return the attempt's number among all attempts at its task.

    Raises the same errors as ``insert_estimate``.
    """
    with transaction(db):
        position = one.position
        if position < 0:
            position = int(db.execute(WHICH_POSITION, {"id": one.trace_id}).fetchone()[0])
        _insert(db, ATTEMPTS, {**asdict(one), "position": position})
    return position


def estimate_of(db: sqlite3.Connection, trace_id: str) -> ComplexityEstimate | None:
    """Return the stored effort estimate for a trace; None if there is none."""
    row = db.execute(WHICH_ESTIMATE, {"id": trace_id}).fetchone()
    return ComplexityEstimate(**queries.readable(row)) if row else None


def attempts_at(db: sqlite3.Connection, trace_id: str) -> list[ParallelAgentAttempt]:
    """Return the stored reports about attempts at the task of the trace ``trace_id``, oldest first."""
    return [ParallelAgentAttempt(**queries.readable(row)) for row in db.execute(WHICH_ATTEMPTS, {"id": trace_id})]


def set_actuals(db: sqlite3.Connection, trace_id: str, **actual: int) -> float | None:
    """Store the actual effort of a task beside its estimate; return the accuracy of the estimate, from 0 to 1.

    The keywords are ``tokens``, ``loc`` (lines of code), ``files`` and ``duration_minutes``; any other raises
    TypeError. For each keyword, the smaller of the estimated and the actual value is divided by the larger one; the
    accuracy is the mean of these quotients. Without a stored estimate or without keywords, nothing is stored, and None
    is returned.
    """
    if unknown := actual.keys() - set(SIZES):
        raise TypeError(f"unknown sizes {', '.join(sorted(unknown))}; known: {', '.join(SIZES)}")
    found = estimate_of(db, trace_id)
    if found is None or not actual:
        return None
    pairs = [(value, getattr(found, f"estimated_{name}")) for name, value in actual.items()]
    # If both values are 0, the estimate was exact.
    accuracy = sum(min(pair) / max(*pair, 1) if any(pair) else 1.0 for pair in pairs) / len(pairs)
    values = {f"actual_{name}": actual.get(name) for name in SIZES}
    with transaction(db):
        db.execute(SET_ACTUALS, {**values, "accuracy": accuracy, "now": fast_stdlib.utc_now(), "id": trace_id})
    return accuracy


def _insert(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    columns = traces.TABLES[table]
    places = ", ".join("?" * len(columns))
    row = [json.dumps(value) if isinstance(value, dict | list) else value for value in map(values.__getitem__, columns)]
    db.execute(f"insert into {table} ({', '.join(columns)}) values ({places})", row)
