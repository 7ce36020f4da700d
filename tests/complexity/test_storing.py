"""Estimates and parallel attempts in the database: through the API, with their limits, and gone with their trace."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from enricher.interfaces.compat.complexity import (
    ParallelAgentAttempt,
    TaskComplexityEstimator,
    as_row,
    attempts_at,
    estimate_of,
    insert_attempt,
    insert_estimate,
)
from storage.db import database
from storage.traces.complexity import set_actuals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator import Account

TASK = "1. add the sessions table\n2. document the flags\n3. write tests for the cart"


@pytest.fixture
def asked(account: Account) -> Account:
    """An account with one trace, and no estimate of it."""
    account.ask(TASK)
    account.rest()
    account.cli("trace", "list")
    return account


@pytest.fixture
def db(asked: Account) -> Iterator[sqlite3.Connection]:
    with closing(database.connect(str(asked.state))) as connection:
        yield connection


@pytest.fixture
def trace_id(db: sqlite3.Connection) -> str:
    return str(db.execute("select id from traces").fetchone()[0])


@pytest.mark.conformance("S2-1d", "S2-4b")
def test_an_estimate_comes_back_as_it_was_stored(db: sqlite3.Connection, trace_id: str) -> None:
    stored = as_row(TaskComplexityEstimator(ask=lambda _task: 70).estimate(TASK, task_id=trace_id))

    insert_estimate(db, stored)

    assert estimate_of(db, trace_id) == stored
    assert stored.llm_adjusted_score == 70


@pytest.mark.conformance("S2-1d")
def test_an_attempt_comes_back_as_it_was_stored(db: sqlite3.Connection, trace_id: str) -> None:
    attempt = ParallelAgentAttempt(
        trace_id=trace_id, num_agents=2, agent_ids=["a", "b"], subtask_ids=[1, 3], success=True,
        total_duration_seconds=60.5, sequential_estimate_seconds=100.0, speedup_factor=1.65,
        parallelization_strategy="by file", execution_metadata={"worktrees": 2},
    )  # fmt: skip

    positions = [insert_attempt(db, attempt), insert_attempt(db, attempt)]

    assert positions == [0, 1]
    assert attempts_at(db, trace_id) == [replace(attempt, position=0), replace(attempt, position=1)]


@pytest.mark.conformance("S2-1d")
@pytest.mark.parametrize(
    "wrong",
    [
        {"overall_complexity_score": 101}, {"overall_complexity_score": -1}, {"heuristic_score": 101},
        {"llm_adjusted_score": 101}, {"confidence": 1.1}, {"confidence": -0.1}, {"estimated_files": -1},
        {"trace_id": "nowhere"},
    ],
)  # fmt: skip
def test_an_estimate_outside_its_limits_is_refused(
    db: sqlite3.Connection, trace_id: str, wrong: dict[str, float]
) -> None:
    stored = as_row(TaskComplexityEstimator().estimate(TASK, task_id=trace_id))

    with pytest.raises(sqlite3.IntegrityError):
        insert_estimate(db, replace(stored, **wrong))  # type: ignore[arg-type]  # wrong on purpose
    assert estimate_of(db, trace_id) is None


@pytest.mark.conformance("S2-1d")
@pytest.mark.parametrize("wrong", [{"num_agents": 1}, {"failed_agent_count": 3}, {"trace_id": "nowhere"}])
def test_an_attempt_outside_its_limits_is_refused(db: sqlite3.Connection, trace_id: str, wrong: dict[str, int]) -> None:
    attempt = ParallelAgentAttempt(trace_id=trace_id, num_agents=2)

    with pytest.raises(sqlite3.IntegrityError):
        insert_attempt(db, replace(attempt, **wrong))  # type: ignore[arg-type]  # wrong on purpose
    assert attempts_at(db, trace_id) == []


def test_what_a_task_really_took_gives_an_accuracy(db: sqlite3.Connection, trace_id: str) -> None:
    stored = as_row(TaskComplexityEstimator().estimate(TASK, task_id=trace_id))
    insert_estimate(db, replace(stored, estimated_files=4, estimated_loc=100))

    assert set_actuals(db, trace_id, files=2, loc=100) == 0.75
    found = estimate_of(db, trace_id)
    assert found is not None
    assert (found.actual_files, found.actual_loc, found.actual_tokens, found.estimation_accuracy) == (
        2,
        100,
        None,
        0.75,
    )
    assert set_actuals(db, "nowhere", files=2) is None
    with pytest.raises(TypeError, match="unknown sizes hours"):
        set_actuals(db, trace_id, hours=1)


def test_forgetting_export_and_merge_know_both_tables(
    asked: Account, db: sqlite3.Connection, trace_id: str, account: Account
) -> None:
    insert_estimate(db, as_row(TaskComplexityEstimator().estimate(TASK, task_id=trace_id)))
    insert_attempt(db, ParallelAgentAttempt(trace_id=trace_id, num_agents=2, failure_reason="zebrafish"))
    db.close()

    exported = json.loads(asked.cli("trace", "export"))
    assert exported["complexity_estimates"][0]["confidence"] > 0
    assert exported["parallel_attempts"][0]["failure_reason"] == "zebrafish"

    other = type(account)(account.home.parent / "other")
    merged = json.loads(other.cli("trace", "merge", "--json", str(asked.state / "enricher.db")))
    assert merged
    copied = json.loads(other.cli("trace", "export"))
    assert copied["parallel_attempts"] == exported["parallel_attempts"]
    assert copied["complexity_estimates"] == exported["complexity_estimates"]

    asked.cli("trace", "forget", "--match", "zebrafish", "--yes")
    with closing(sqlite3.connect(asked.state / "enricher.db")) as left:
        for table in ("traces", "complexity_estimates", "parallel_attempts"):
            assert left.execute(f"select count(*) from {table}").fetchone() == (0,)
