"""The file of rules, and the engine that reads, applies and checks it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from enricher.structured.templates import StructuredPromptBuilder
from enricher.validation.rules import PromptRule, PromptRuleEngine, RuleFileError, packaged_file

DOMAINS = "code_generation documentation testing error_handling performance security parallel_agents".split()
RULE = {"id": "X_1", "name": "NO_X", "domain": "x", "severity": "low", "description": "No x.", "check": "manual_review"}


def edited(folder: Path, old: str, new: str) -> str:
    """Return a copy of the packaged rules in which one text is replaced."""
    file = folder / "rules.yaml"
    text = shutil.copyfile(packaged_file(), file).read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return str(file)


@pytest.mark.conformance("S2-1a", "S2-2a")
def test_the_packaged_rules_are_those_of_the_document_in_seven_domains() -> None:
    engine = PromptRuleEngine.load()
    severities = [rule.severity for rule in engine.rules]

    assert list(engine.domains) == DOMAINS
    assert len({rule.id for rule in engine.rules}) == Path(packaged_file()).read_text().count("- id: ") == 38
    assert [severities.count(name) for name in ("critical", "high", "medium", "low")] == [13, 13, 11, 1]


@pytest.mark.conformance("S2-2a")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("id: CODE_002", "id: CODE_001", "CODE_001 NO_HARDCODED_VALUES is there twice", id="twice"),
        pytest.param("severity: critical", "severity: awful", "severity 'awful' is unknown", id="severity"),
        pytest.param("      check: ast_check", "      check: guess", "check 'guess' is unknown", id="check"),
        pytest.param("validator: stubs", "validator: luck", "validator 'luck' is unknown", id="validator"),
        pytest.param("      name: NO_STUBS\n", "", "a rule needs name", id="missing"),
        pytest.param("      name: NO_STUBS", "      nmae: NO_STUBS", "a rule needs name", id="unknown field"),
        pytest.param("planning: [code_generation", "planning: [code_gen", "unknown domain 'code_gen'", id="domain"),
        pytest.param("domains:", "domains: {", "no YAML", id="no YAML"),
    ],
)
def test_a_fault_in_a_file_of_rules_is_told_with_line_and_remedy(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = edited(tmp_path, old, new)

    with pytest.raises(RuleFileError) as caught:
        PromptRuleEngine.load(file)

    assert said in str(caught.value) and "; " in str(caught.value)
    culprit = "id: CODE_001" if "needs name" in said else old
    line = Path(packaged_file()).read_text().partition(culprit)[0].count("\n") + 1
    assert str(caught.value).startswith(f"{file}:{line}:") or "no YAML" in said


@pytest.mark.conformance("S2-2b")
def test_a_prompt_gets_the_rules_of_the_domains_of_its_type() -> None:
    engine = PromptRuleEngine.load()
    ids = [rule["id"] for rule in engine.apply("validation")]

    assert [one for one in ids if one.startswith("CODE_")] == ids[:7] and ids[7:] == [
        f"TEST_00{n}" for n in range(1, 7)
    ]
    assert set(engine.apply("validation")[0]) == {"id", "name", "severity", "description"}
    assert {rule["id"].partition("_")[0] for rule in engine.apply("task_execution")} == {"CODE", "TEST", "DOC", "SEC"}
    assert {rule["id"].partition("_")[0] for rule in engine.apply("error_analysis")} == {"ERROR", "PERF"}
    assert engine.apply("decision") == []
    with pytest.raises(ValueError, match="no prompts of type 'poem'"):
        engine.apply("poem")


@pytest.mark.conformance("S2-M10")
def test_an_edited_description_reaches_the_prompt_without_a_change_of_code(tmp_path: Path) -> None:
    file = edited(tmp_path, "Every function that is delivered does its work.", "Finish each function.")

    build, engine = StructuredPromptBuilder().build_validation_prompt, PromptRuleEngine
    before, after = (build("x = 1", engine.load(path).apply("validation")) for path in ("", file))

    assert "Every function that is delivered does its work." in before
    assert before.replace("Every function that is delivered does its work.", "Finish each function.") == after


@pytest.mark.conformance("S2-2c")
def test_a_rule_round_trips_through_a_mapping() -> None:
    for rule in PromptRuleEngine.load().rules:
        assert PromptRule.from_dict(rule.to_dict()) == rule


@pytest.mark.conformance("S2-2c")
@pytest.mark.parametrize("name", ["id", "name", "domain", "severity", "description", "check"])
def test_a_rule_without_a_field_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"a rule needs {name}"):
        PromptRule.from_dict({key: value for key, value in RULE.items() if key != name})


@pytest.mark.conformance("S2-2g")
def test_the_engine_finds_a_stub_in_an_answer_of_a_model() -> None:
    answer = 'Here it is:\n\n```python\nimport os\n\ndef login(user):\n    """Log in."""\n    pass\n```\n\nDone.\n'

    (found,) = PromptRuleEngine.load().validate(answer, ["CODE_001"], file="auth.py")

    assert (found.rule_id, found.rule_name, found.severity, found.file, found.line) == (
        "CODE_001", "NO_STUBS", "critical", "auth.py", 6,
    )  # fmt: skip
    assert found.message and found.suggestion


def test_rules_are_named_by_id_as_object_and_as_they_are_applied() -> None:
    engine = PromptRuleEngine.load()
    code = "def f():\n    pass\n"

    for rules in (["no_stubs"], [engine.rule("CODE_001")], engine.apply("validation")[:1]):
        assert [one.rule_id for one in engine.validate(code, rules)] == ["CODE_001"]
    with pytest.raises(KeyError):
        engine.validate(code, ["CODE_999"])
