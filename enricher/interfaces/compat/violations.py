"""Store and read violations of code rules, under the names of the specification (seed 002).

A ``task_id`` is the id of a recorded prompt (trace).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from storage.traces import violations
from storage.traces.violations import StoredViolation

if TYPE_CHECKING:
    import sqlite3

    from enricher.validation.rules import Violation

__all__ = ["PromptRuleViolation"]
_DETAILS = ("file", "line", "message", "suggestion", "guardrails")


@dataclass(frozen=True, slots=True)
class PromptRuleViolation:
    """One place where code that an agent wrote for a task breaks a rule."""

    task_id: str
    rule_id: str
    rule_name: str
    rule_domain: str
    severity: str
    violation_details: dict[str, str | int] = field(default_factory=dict)
    resolved: bool = False
    resolution_notes: str = ""
    created_at: str = ""
    resolved_at: str = ""

    @classmethod
    def of(cls, task_id: str, found: Violation) -> PromptRuleViolation:
        """Return ``found``, a violation in the code for the task ``task_id``, with the specification's field names."""
        details: dict[str, str | int] = {
            "file": found.file,
            "line": found.line,
            "message": found.message,
            "suggestion": found.suggestion,
        }
        return cls(task_id, found.rule_id, found.rule_name, found.rule_domain, found.severity, details)

    def insert(self, db: sqlite3.Connection) -> None:
        """Add the violation to those of its task; raises sqlite3.IntegrityError for a value that is not allowed."""
        details = {"file": "", "line": 1, "message": "", "suggestion": "", **self.violation_details}
        known = {name: value for name, value in asdict(self).items() if name not in ("task_id", "violation_details")}
        added = StoredViolation(**known, **details)  # type: ignore[arg-type]  # the details are a JSON object
        violations.store(db, self.task_id, [*violations.of_trace(db, self.task_id), added])

    @classmethod
    def select(cls, db: sqlite3.Connection, task_id: str) -> list[PromptRuleViolation]:
        """Return the violations of a task, in the order in which they were added."""
        return [cls._from(task_id, asdict(row)) for row in violations.of_trace(db, task_id)]

    @classmethod
    def _from(cls, task_id: str, row: dict[str, object]) -> PromptRuleViolation:
        details = {name: row.pop(name) for name in _DETAILS}
        given = {name: value for name, value in details.items() if value not in ("", None)}  # those that were inserted
        return cls(task_id, violation_details=given, **row)  # type: ignore[arg-type]  # columns of the same names
