"""Answers of a model in the form of seed 002: read, checked by a schema, and worth something."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from enricher.structured.parsing import parse
from enricher.structured.responses import (
    FILE,
    TYPES,
    Quality,
    StructuredResponseParser,
    dump,
    packaged_schemas,
    quality,
    schema_of,
)

if TYPE_CHECKING:
    from simulator import Account

ROOT = Path(__file__).parents[2]
VIOLATION = {
    "rule_id": "CODE_001", "file": "auth.py", "line": 2, "severity": "critical",
    "message": "Function contains only a TODO comment", "suggestion": "Implement it",
}  # fmt: skip
VALID: dict[str, Any] = {"is_valid": False, "quality_score": 45, "violations": [VIOLATION]}
DECISION = {"decision": "SQLite", "reasoning": "One file.", "confidence": 0.8}
EXPLANATION = "[Natural language explanation]"
PARSER = StructuredResponseParser()


def answer(metadata: object = VALID, content: str = EXPLANATION) -> str:
    return f"<METADATA>\n{json.dumps(metadata, indent=2)}\n</METADATA>\n\n<CONTENT>\n{content}\n</CONTENT>\n"


@pytest.mark.conformance("S2-R1", "S2-R2", "S2-R3")
def test_the_example_of_the_document_is_valid() -> None:
    parsed = PARSER.parse(answer(), "validation")

    assert (parsed.is_valid, parsed.problems, parsed.notes) == (True, [], [])
    assert parsed.metadata == VALID
    assert parsed.data == {"is_valid": False, "quality_score": 0.45, "violations": [VIOLATION]}
    assert parsed.content == EXPLANATION


@pytest.mark.conformance("S2-R1")
@pytest.mark.parametrize(
    "text",
    [
        answer().lower().replace("[natural language explanation]", EXPLANATION).replace("code_001", "CODE_001"),
        answer().replace("<METADATA>\n", "<METADATA>\n```json\n").replace("\n</METADATA>", "\n```\n</METADATA>"),
        f"Sure!\n{answer()}",
        f"İİİİ\n{answer()}",  # "İ".lower() has two characters
        answer().replace("</METADATA>", ""),
        answer().replace("</CONTENT>", ""),
        f"```json\n{json.dumps(VALID)}\n```\n{EXPLANATION}".replace("```json\n", "").replace("\n```", ""),
        json.dumps({**VALID, "content": EXPLANATION}),
        json.dumps({"issues": [VIOLATION], **{k: v for k, v in VALID.items() if k != "violations"}}) + EXPLANATION,
        f"{{not json}} {answer()}",
    ],
)
def test_other_forms_are_read_too(text: str) -> None:
    parsed = PARSER.parse(text, "validation")

    assert parsed.is_valid, parsed.problems
    assert parsed.data["violations"][0]["rule_id"] == "CODE_001"
    assert parsed.content == EXPLANATION


@pytest.mark.conformance("S2-3b", "S2-M7", "S2-P2")
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"is_valid": None}, "is_valid: is required, but missing"),
        ({"is_valid": 1}, "is_valid: 1 is not true or false"),
        ({"is_valid": "true"}, "is_valid: 'true' is not true or false"),
        ({"quality_score": True}, "quality_score: true is not a number"),
        ({"quality_score": "0.5"}, "quality_score: '0.5' is not a number"),
        ({"quality_score": 101}, "quality_score: 101 is above 1"),
        ({"quality_score": -1}, "quality_score: -1 is below 0"),
        ({"violations": "none"}, "violations: 'none' is not a list"),
        ({"violations": ["none"]}, "violations[0]: 'none' is not an object"),
        ({"violations": [{**VIOLATION, "severity": "fatal"}]},
         "violations[0].severity: 'fatal' is none of critical, high, medium, low"),
        ({"violations": [VIOLATION, {**VIOLATION, "line": "2"}]}, "violations[1].line: '2' is not a whole number"),
        ({"violations": [{**VIOLATION, "line": 2.5}]}, "violations[0].line: 2.5 is not a whole number"),
        ({"violations": [{**VIOLATION, "message": "x" * 501}]},
         "violations[0].message: has 501 characters; at most 500 are allowed"),
        ({"suggestions": ["a", 5]}, "suggestions[1]: 5 is not a text"),
        ({"schema_version": 99}, "schema_version: 99 cannot be read; this release reads 1"),
    ],
)  # fmt: skip
def test_each_mistake_is_exactly_one_problem(changed: dict[str, Any], problem: str) -> None:
    parsed = PARSER.parse(answer({**VALID, **changed}), "validation")

    assert parsed.problems == [problem]
    assert not parsed.is_valid


@pytest.mark.conformance("S2-M8")
def test_only_valid_fields_are_passed_on() -> None:
    wrong = {**VIOLATION, "severity": "fatal"}
    given = {"is_valid": 1, "quality_score": -1, "violations": [wrong, VIOLATION], "unheard_of": 1}
    parsed = PARSER.parse(answer(given), "validation")

    assert parsed.data == {"violations": [VIOLATION]}


@pytest.mark.conformance("S2-P2")
def test_an_answer_of_an_older_version_is_read_if_the_schema_accepts_it() -> None:
    schema = {**packaged_schemas()["decision"], "version": 2}
    old = answer({**DECISION, "schema_version": 1})

    assert parse(old, schema).problems == ["schema_version: 1 cannot be read; this release reads 2"]
    assert parse(old, {**schema, "accepts": [1]}).is_valid
    assert parse(answer(DECISION), schema).is_valid  # without a version it is of the current one


@pytest.mark.conformance("S2-M3", "S2-5c")
def test_a_thousand_malformed_answers_are_reported_without_an_exception() -> None:
    chance, whole, invalid = random.Random(11), answer(), 0
    for _ in range(1000):
        pieces = list(whole)
        for _ in range(chance.randint(1, 25)):
            at = chance.randrange(len(pieces))
            pieces[at : at + chance.randint(0, 30)] = chance.choice(["", "{", "}", '"', "<", "\ud800", "9", "\0", "[]"])
        parsed = PARSER.parse("".join(pieces), "validation")
        assert parsed.is_valid is not bool(parsed.problems)
        assert 0 <= quality(parsed).total <= 1
        invalid += not parsed.is_valid
    assert 500 < invalid < 1000


@pytest.mark.parametrize("text", ["", "{" * 9000, "<METADATA>", "<CONTENT>", "[1]", "null", "<METADATA>{}</METADATA>"])
def test_an_answer_without_an_object_is_worth_nothing(text: str) -> None:
    parsed = PARSER.parse(text, "validation")

    assert not parsed.is_valid
    assert quality(parsed).total == 0


@pytest.mark.conformance("S2-5a", "S2-5c")
@pytest.mark.parametrize(
    ("metadata", "violations", "total"),
    [
        (VALID, [], 1.0),
        (VALID, [VIOLATION], 0.9),
        (VALID, [{"severity": severity} for severity in ("high", "medium", "low")], 0.92),
        (VALID, [VIOLATION] * 9, 0.6),
        ({"is_valid": True}, [], 0.55),
        ({"unheard_of": True}, [], 0.4),
    ],
)
def test_quality_is_schema_completeness_and_rules(
    metadata: dict[str, Any], violations: list[dict[str, Any]], total: float
) -> None:
    assert quality(PARSER.parse(answer(metadata), "validation"), violations).total == total


@pytest.mark.conformance("S2-5c")
def test_garbage_is_below_every_answer() -> None:
    assert quality(PARSER.parse("I could not do it, sorry.", "validation")) == Quality(0, 0, 0)


@pytest.mark.conformance("S2-1b", "S2-P3")
def test_the_schemas_are_those_of_the_typed_models(account: Account) -> None:
    stored = (ROOT / "instructions" / FILE).read_text()

    assert list(yaml.safe_load(stored))[:5] == [
        "task_execution",
        "validation",
        "error_analysis",
        "decision",
        "planning",
    ]
    assert account.cli("template", "schemas") == stored == dump()
    assert all(packaged_schemas()[name] == schema_of(model) for name, model in TYPES.items())


@pytest.mark.conformance("S2-5a")
def test_the_command_tells_what_is_wrong_with_an_answer_and_what_it_is_worth(account: Account) -> None:
    good = json.loads(account.cli("template", "read", "decision", "--json", given=answer(DECISION)))
    bad = account.cli("template", "read", "decision", given=answer({"decision": 1}), exit_code=1)

    assert (good["is_valid"], good["metadata"], good["quality"]["total"]) == (True, DECISION, 1.0)
    assert "problem: decision: 1 is not a text\n" in bad
    assert bad.endswith("not valid; quality 0.40 of 1\n")
