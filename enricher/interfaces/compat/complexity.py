"""Estimate how complex a task is: a Python API with the names of the specification (seed 002, phases 1, 4 and 5B).

``TaskComplexityEstimator`` makes the estimates. The functions from ``storage.traces.complexity`` store and read
estimates, and also records of attempts to do a task with parallel agents. Nothing here starts an agent: the
specification itself deprecated the coordinator that would have done so (phase 5B).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enricher.complexity.estimate import Estimate, estimate
from enricher.complexity.parts import CycleError, levels
from enricher.home import root_dir
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named_files import compiled_thresholds
from storage.traces.complexity import (
    ComplexityEstimate,
    ParallelAgentAttempt,
    attempts_at,
    estimate_of,
    insert_attempt,
    insert_estimate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = [
    "ComplexityEstimate", "CycleError", "ParallelAgentAttempt", "TaskComplexityEstimator", "ThresholdsError", "as_row",
    "attempts_at", "estimate_of", "insert_attempt", "insert_estimate", "load_thresholds", "parallel_groups",
]  # fmt: skip


class ThresholdsError(ValueError):
    """Raised if a file of thresholds cannot be used; the message gives file, line and remedy for each mistake."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class TaskComplexityEstimator:
    """Estimates the complexity of tasks by the thresholds in a YAML file, and by a model if ``ask`` is given.

    ``ask`` gets the task's text and returns a score of 0 to 100 or a mapping with a ``complexity``; if it fails, only
    the heuristic score is used, and the estimate's ``reason`` says why. Raises ThresholdsError for an unusable file.
    """

    def __init__(self, config_path: str = "", *, ask: Callable[[str], object] | None = None) -> None:
        self.thresholds = load_thresholds(config_path)
        self._ask = ask

    def estimate(self, task: str, *, task_id: str | int = "", task_type: str = "") -> Estimate:
        """Return the estimate of a task; its ``task_type`` may affect the result, and ``task_id`` is copied into it.

        An estimate is a suggestion; the agent decides whether to split the task.
        """
        return estimate(task, self.thresholds, task_type=task_type, task_id=str(task_id), ask=self._ask)


def as_row(found: Estimate) -> ComplexityEstimate:
    """Return the estimate as the row to store for the recorded prompt (trace) with the id ``found.task_id``."""
    return ComplexityEstimate(found.task_id, *found.row())


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
