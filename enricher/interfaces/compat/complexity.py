"""Estimate how complex a task is: a Python API with the names of the specification (seed 002, phases 1, 4 and 5B).

``TaskComplexityEstimator`` makes the estimates. The functions from ``storage.traces.complexity`` store and read
estimates, and also records of attempts to do a task with parallel agents. Nothing here starts an agent: the
specification itself deprecated the coordinator that would have done so (phase 5B).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enricher.complexity.estimate import Estimate, estimate
from enricher.complexity.parts import CycleError, levels
from enricher.home import root_dir
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named_files import compiled_thresholds
from storage.base import fast_stdlib
from storage.traces.complexity import (
    ParallelAttempt,
    StoredEstimate,
    attempts_at,
    estimate_of,
    insert_attempt,
    insert_estimate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = [
    "ComplexityEstimate", "CycleError", "ParallelAgentAttempt", "TaskComplexityEstimator", "ThresholdsError",
    "attempts_at", "estimate_of", "insert_attempt", "insert_estimate", "parallel_groups",
]  # fmt: skip

ParallelAgentAttempt = ParallelAttempt


class ThresholdsError(ValueError):
    """Raised if a file of thresholds cannot be used; the message gives file, line and remedy for each mistake."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ComplexityEstimate:
    """The estimated complexity of a task, with the field names of the specification (seed 002).

    ``suggests_decomposition`` only suggests splitting the task; the agent decides.
    """

    task_id: str
    estimated_tokens: int
    estimated_loc: int
    estimated_files: int
    complexity_score: float
    category: str
    suggests_decomposition: bool
    suggestion_confidence: float
    suggested_subtasks: list[str]
    suggested_parallel_groups: list[list[int]]
    estimated_duration_minutes: int
    suggestion_rationale: str
    heuristic_score: float
    llm_score: float | None
    fallback_reason: str
    """Why ``complexity_score`` does not include a model's score; empty if it does."""
    estimation_factors: dict[str, Any] = field(default_factory=dict)
    timestamp: str = field(default_factory=fast_stdlib.utc_now)

    @staticmethod
    def of(found: Estimate) -> ComplexityEstimate:
        """Convert ``found``, an estimate in the form that the hook uses, to the field names of the specification."""
        return ComplexityEstimate(
            task_id=found.task_id,
            estimated_tokens=found.tokens,
            estimated_loc=found.lines,
            estimated_files=found.files,
            complexity_score=found.score,
            category=found.category,
            suggests_decomposition=found.should_split,
            suggestion_confidence=found.confidence,
            suggested_subtasks=[part.text for part in found.parts],
            suggested_parallel_groups=found.groups,
            estimated_duration_minutes=found.minutes,
            suggestion_rationale=found.rationale,
            heuristic_score=found.heuristic,
            llm_score=found.model,
            fallback_reason=found.reason,
            estimation_factors=found.factors,
        )

    def stored(self) -> StoredEstimate:
        """Return the estimate as the row to store for the recorded prompt (trace) with the id ``task_id``."""
        return StoredEstimate(
            trace_id=self.task_id,
            estimated_tokens=self.estimated_tokens,
            estimated_loc=self.estimated_loc,
            estimated_files=self.estimated_files,
            estimated_duration_minutes=self.estimated_duration_minutes,
            overall_complexity_score=self.complexity_score,
            heuristic_score=self.heuristic_score,
            llm_adjusted_score=self.llm_score,
            category=self.category,
            should_decompose=self.suggests_decomposition,
            decomposition_reason=self.suggestion_rationale,
            estimation_factors=self.estimation_factors,
            confidence=self.suggestion_confidence,
            created_at=self.timestamp,
            updated_at=self.timestamp,
        )


class TaskComplexityEstimator:
    """Estimates the complexity of tasks by the thresholds in a YAML file, and by a model if ``ask`` is given.

    ``ask`` gets the task's text and returns a score of 0 to 100 or a mapping with a ``complexity``; if it fails, only
    the heuristic score is used, and ``fallback_reason`` has the reason. Raises ThresholdsError for an unusable file.
    """

    def __init__(self, config_path: str = "", *, ask: Callable[[str], object] | None = None) -> None:
        self.thresholds = load_thresholds(config_path)
        self._ask = ask

    def estimate(self, task: str, *, task_id: str | int = "", task_type: str = "") -> ComplexityEstimate:
        """Return the estimate of a task; its ``task_type`` may affect the result, and ``task_id`` is copied into it."""
        found = estimate(task, self.thresholds, task_type=task_type, task_id=str(task_id), ask=self._ask)
        return ComplexityEstimate.of(found)


def load_thresholds(path: str = "") -> dict[str, Any]:
    """Return the compiled thresholds of a YAML file, by default the packaged one; raises ThresholdsError."""
    path = path or os.path.join(root_dir(), "instructions", "complexity_thresholds.yaml")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise ThresholdsError([Problem(path, 1, "error", f"cannot be read: {failure}; name a YAML file")]) from failure
    body, problems = compiled_thresholds(path, text)
    if problems:
        raise ThresholdsError(problems)
    return body


def parallel_groups(graph: Mapping[int, Collection[int]]) -> list[list[int]]:
    """Return the parts of a task as groups to be done one after the other, each group's parts at the same time.

    ``graph`` maps each part to the parts that it waits for. Raises CycleError for parts that wait for each other, and
    KeyError for an unknown part.
    """
    return levels(graph)
