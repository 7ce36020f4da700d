"""The quality of an answer from 0 to 1 (seed 002, phase 5): 30 % schema, 30 % completeness, 40 % rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from enricher.structured.parsing import ParsedResponse

SCHEMA, COMPLETENESS, RULES = 0.3, 0.3, 0.4
DEDUCTIONS = {"critical": 0.10, "high": 0.05, "medium": 0.02, "low": 0.01}
GATE = 0.7
"""The quality from which an answer is good enough."""


class Quality(NamedTuple):
    """The three parts, and what they add up to."""

    schema: float
    completeness: float
    rules: float

    @property
    def total(self) -> float:
        """Return the sum, 0 to 1."""
        return round(self.schema + self.completeness + self.rules, 4)


def quality(parsed: ParsedResponse, violations: Iterable[Mapping[str, Any]] = ()) -> Quality:
    """Return the quality of an answer; ``violations`` (with their ``severity``) are those of its code or text.

    An answer without readable metadata is worth nothing: that no violation was found in it says nothing.
    """
    if not parsed.metadata:
        return Quality(0.0, 0.0, 0.0)
    required = parsed.required
    present = sum(name in parsed.data for name in required)
    deducted = sum(DEDUCTIONS[str(one["severity"])] for one in violations)
    return Quality(
        SCHEMA if parsed.is_valid else 0.0,
        COMPLETENESS * (present / len(required) if required else 1.0),
        max(0.0, RULES - deducted),
    )
