"""Define the types of a language model's answers, generate their schemas, and rate the quality of an answer.

The types are pydantic classes. ``enricher template schemas`` prints their schemas as the text of
``instructions/response_schemas.yaml``; a test keeps that file up to date. Seed 002 specifies five of the types;
``classification``, ``enrichment`` and ``hydration`` (a plan) are our own.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, Field

from enricher.home import root_dir
from enricher.structured.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from enricher.structured.parsing import ParsedResponse, Schema

FILE = "response_schemas.yaml"
VERSION = 1
Share = Annotated[float, Field(ge=0, le=1, json_schema_extra={"scale": 100})]
"""A share from 0 to 1; an answer may also give it in percent, as a number up to 100."""
Odds = Annotated[float, Field(ge=0, le=1, json_schema_extra={"clamp": True})]
"""A probability from 0 to 1; a number outside this range is moved to its nearer end (seed 001, task 5.3)."""
Line = Annotated[str, Field(max_length=500)]
Text = Annotated[str, Field(max_length=4000)]
Effort = Annotated[float, Field(ge=0, le=100, json_schema_extra={"clamp": True})]
Score = Annotated[int, Field(ge=0, le=100)]

SCHEMA_SHARE, COMPLETENESS_SHARE, RULES_SHARE = 0.3, 0.3, 0.4
"""The most that an answer's quality gains by following its schema, having all required fields, breaking no rules.

The three add up to 1 (seed 002, phase 5).
"""
DEDUCTIONS = {"critical": 0.10, "high": 0.05, "medium": 0.02, "low": 0.01}


class ReportedViolation(BaseModel):
    """A place in code or text that breaks a rule."""

    rule_id: str
    file: str = ""
    line: Annotated[int, Field(ge=0)] = 0
    severity: Literal["critical", "high", "medium", "low"]
    message: Line
    suggestion: Line = ""


class Validation(BaseModel):
    """A model's answer that says whether code follows the rules."""

    is_valid: bool
    quality_score: Share
    violations: Annotated[list[ReportedViolation], Field(json_schema_extra={"aliases": ["issues"]})] = []
    suggestions: list[Line] = []


class TaskExecution(BaseModel):
    """A model's answer that reports on a task that it carried out."""

    status: Literal["completed", "partial", "failed", "blocked"]
    files_modified: list[str]
    execution_summary: Text
    violations: list[ReportedViolation] = []


class ErrorAnalysis(BaseModel):
    """A model's answer that says why an error occurred and how to recover from it."""

    error_category: str
    root_cause: Text
    is_recoverable: bool
    recovery_strategy: Text
    confidence: Share = 0.0


class Decision(BaseModel):
    """A model's answer that chooses one of several options."""

    decision: Line
    reasoning: Text
    confidence: Share
    alternatives: list[Line] = []


class Subtask(BaseModel):
    """A part of a planned task."""

    id: Annotated[int, Field(ge=1)]
    title: Line
    depends_on: list[int] = []


class Planning(BaseModel):
    """A model's answer that says how hard a task is, and into which parts it can be divided."""

    complexity_estimate: Score
    should_decompose: bool
    execution_strategy: Literal["sequential", "parallel"]
    subtasks: list[Subtask] = []
    confidence: Share = 0.0


class ClassificationAnswer(BaseModel):
    """A model's answer that classifies a prompt by search intent and task type."""

    intent_type: str
    confidence: Odds
    topics: list[Line] = []
    task_type: str = ""
    task_confidence: Odds = 0.0
    complexity: Effort = 0


class EnrichmentAnswer(BaseModel):
    """The JSON part of a model's answer whose text is to be added to the user's prompt.

    It says whether this text is relevant to the prompt.
    """

    is_relevant: bool


class PlannedStep(BaseModel):
    """A step of a plan; the ``evidence`` of a checkpoint is what will show that the steps before it are done."""

    action: Line
    is_checkpoint: bool = False
    evidence: Line = ""


class HydrationAnswer(BaseModel):
    """The part of a plan that a model writes: the intent and the steps.

    The workflow and the guardrails of the plan are chosen by the rules.
    """

    intent: Line
    steps: list[PlannedStep]


TYPES: dict[str, type[BaseModel]] = {
    "task_execution": TaskExecution,
    "validation": Validation,
    "error_analysis": ErrorAnalysis,
    "decision": Decision,
    "planning": Planning,
    "classification": ClassificationAnswer,
    "enrichment": EnrichmentAnswer,
    "hydration": HydrationAnswer,
}


SCHEMA_KEYS = ("type", "enum", "minimum", "maximum", "maxLength", "aliases", "scale", "clamp")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of the type of answer ``model``, in the form that ``enricher.structured.parsing`` reads."""
    whole = model.model_json_schema()
    return {"version": VERSION, **_plain(whole, whole.get("$defs", {}))}


def _plain(field: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema with its references resolved, and without the keys that the parser does not use."""
    if "$ref" in field:  # pydantic defines a nested class once, under "$defs"
        field = defs[field["$ref"].rpartition("/")[2]]
    plain = {key: field[key] for key in SCHEMA_KEYS if key in field}
    if plain["type"] == "object":
        plain["required"] = field.get("required", [])
        plain["properties"] = {name: _plain(one, defs) for name, one in field["properties"].items()}
    if plain["type"] == "array":
        plain["items"] = _plain(field["items"], defs)
    return plain


def dump() -> str:
    """Return the text of ``response_schemas.yaml``, generated from the types of answers."""
    head = "# What a model's answer of each type has to contain. Written by: enricher template schemas\n"
    schemas = {name: schema_of(model) for name, model in TYPES.items()}
    return head + yaml.safe_dump(schemas, sort_keys=False, width=110)  # unsorted: in the order of the classes' fields


@lru_cache(maxsize=1)
def packaged_schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas in the packaged ``response_schemas.yaml``, by the type of answer."""
    with open(os.path.join(root_dir(), "instructions", FILE), encoding="utf-8") as file:
        schemas: dict[str, dict[str, Any]] = yaml.safe_load(file)
    return schemas


class Quality(NamedTuple):
    """The quality of a model's answer: how well it follows the schema, has the required fields, and obeys the rules."""

    schema: float
    completeness: float
    rules: float

    @property
    def total(self) -> float:
        """Return the sum of the three parts, from 0 to 1."""
        return round(self.schema + self.completeness + self.rules, 4)  # 0.4 - 0.1 leaves 0.30000000000000004


def quality(parsed: ParsedResponse, violations: Iterable[Mapping[str, Any]] = ()) -> Quality:
    """Return the quality of an answer; ``violations`` are the rules that it breaks, each with its ``severity``.

    An answer without readable metadata (its JSON part) has the quality 0, because no violation could be found in it.
    """
    if not parsed.metadata:
        return Quality(0.0, 0.0, 0.0)
    required = parsed.required
    present = sum(name in parsed.data for name in required)
    deducted = sum(DEDUCTIONS[str(one["severity"])] for one in violations)
    return Quality(
        SCHEMA_SHARE if parsed.is_valid else 0.0,
        COMPLETENESS_SHARE * (present / len(required) if required else 1.0),
        max(0.0, RULES_SHARE - deducted),
    )


class StructuredResponseParser:
    """A parser for answers of the types in ``response_schemas.yaml`` (specified in seed 002, phase 3)."""

    def __init__(self, schemas: Mapping[str, Schema] | None = None) -> None:
        """Use ``schemas``, which maps each type of answer to its schema; by default, those of the package."""
        self.schemas = packaged_schemas() if schemas is None else schemas

    def parse(self, text: str, response_type: str) -> ParsedResponse:
        """Parse an answer, whatever it contains; raises KeyError only if there is no schema for ``response_type``."""
        return parse(text, self.schemas[response_type])
