"""The workflow catalogue: shipped files, a user's own, hot reload, and what ``enricher check`` reports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT
from test_plans import planned

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

INSTRUCTIONS = ROOT / "instructions"
NAMES = "# Output\n\n## Workflows\n```yaml\nfile: WORKFLOWS.md\n```\n"
PAINTING = """---
id: painting
title: Painting
description: Something gets another colour.
quality_gate: Looked at
commit_required: true
modifies_files: true
guardrails: [verify_before_complete]
triggers:
  - {any: [repaint, zorkify], weight: 30}
steps:
  - {do: ["Choose the brush: {object}"], now: Choosing}
  - {do: ["Look at it"], now: Looking, checkpoint: true, evidence: a picture}
---

Prose.
"""
INDEX = "# Mine\n\n- [painting](workflows/painting.md): colours\n"
PROMPT = "zorkify the garden fence in the back"


def catalogue(account: Account, index: str = INDEX, **files: str) -> Path:
    """Write a user's own catalogue and compile it."""
    account.instruct(NAMES)
    file = account.write("config/WORKFLOWS.md", index)
    for name, text in files.items():
        account.write(f"config/workflows/{name}.md", text)
    account.compile()
    return file


def checked(account: Account) -> str:
    return account.cli("check", str(account.config / "instructions.md"), exit_code=1)


@pytest.fixture
def hydrated(account: Account) -> Account:
    account.env["ENRICHER_MODE"] = "hydrate"
    return account


@pytest.mark.conformance("Y10")
def test_a_workflow_of_the_user_is_chosen_until_its_line_is_removed(hydrated: Account) -> None:
    index = catalogue(hydrated, painting=PAINTING)
    plan = planned(hydrated, PROMPT)
    assert (plan.workflow, plan.gate) == ("painting", "Looked at")
    assert plan.steps[0] == "Step 1: Choose the brush: zorkify the garden fence in the back"

    index.write_text("# Mine\n")
    hydrated.compile()
    assert planned(hydrated, PROMPT).workflow != "painting"


def test_an_edit_of_a_workflow_changes_the_next_plan(hydrated: Account) -> None:
    catalogue(hydrated, painting=PAINTING)
    assert planned(hydrated, PROMPT).gate == "Looked at"

    hydrated.write("config/workflows/painting.md", PAINTING.replace("Looked at", "Dry"))

    assert planned(hydrated, PROMPT).gate == "Dry"


def test_a_workflow_of_the_user_replaces_ours_with_the_same_id(hydrated: Account) -> None:
    own = PAINTING.replace("id: painting", "id: debugging")
    catalogue(hydrated, INDEX.replace("painting", "debugging"), debugging=own)

    assert planned(hydrated, PROMPT).workflow == "debugging"
    assert planned(hydrated, PROMPT).gate == "Looked at"


def test_a_workflow_can_be_switched_off(hydrated: Account) -> None:
    hydrated.instruct("# Output\n\n## Workflow: debugging\n```yaml\ndisabled: true\n```\n")
    hydrated.compile()

    assert planned(hydrated, "figure out why the memory server isn't returning results").workflow != "debugging"


@pytest.mark.conformance("Y11")
def test_an_id_without_a_file_is_reported_and_the_others_stay_in_use(hydrated: Account) -> None:
    catalogue(hydrated, INDEX + "- [ghost](workflows/ghost.md): nothing\n", painting=PAINTING)

    assert re.search(r"WORKFLOWS.md:4: error: workflow 'ghost' has no file workflows/ghost.md", checked(hydrated))
    assert planned(hydrated, PROMPT).workflow == "painting"
    assert any("'ghost' has no file" in record["reason"] for record in hydrated.log())


@pytest.mark.conformance("Y41")
def test_every_workflow_that_is_no_question_has_a_checkpoint(hydrated: Account) -> None:
    catalogue(hydrated, painting=PAINTING.replace(", checkpoint: true, evidence: a picture", ""))

    assert "workflow 'painting' changes files without a checkpoint" in checked(hydrated)


@pytest.mark.parametrize(
    ("index", "old", "new", "message"),
    [
        pytest.param("", "{object}", "{objekt}", "unknown placeholder '{objekt}'", id="placeholder"),
        pytest.param("", "modifies_files: true", "bases: [nobody]", "the base 'nobody' is no workflow", id="base"),
        pytest.param("", "[verify_before_complete]", "[hurry]", "guardrail 'hurry' is in no catalogue", id="guardrail"),
        pytest.param("", "quality_gate: Looked at\n", "", "'quality_gate' is missing", id="gate"),
        pytest.param("", "zorkify], weight: 30", "zorkify], wait: 30", "unknown key 'wait'", id="signal"),
        pytest.param("", "id: painting", "id: drawing", "the id is 'drawing', but the file is painting.md", id="id"),
        pytest.param("\n## Tree\n\nSee `nothing`.\n", "", "", "names 'nothing', which is no workflow", id="tree"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_its_place(account: Account, index: str, old: str, new: str, message: str) -> None:
    catalogue(account, INDEX + index, painting=PAINTING.replace(old, new) if old else PAINTING)

    assert message in checked(account)


def test_what_the_tree_or_the_index_leaves_out_is_a_warning(account: Account) -> None:
    file = catalogue(account, INDEX + "\n## Tree\n\nUse `debugging`.\n", painting=PAINTING, stray=PAINTING)
    said = account.cli("check", str(account.config / "instructions.md"))

    assert f"{file}:3: warning: the decision tree does not lead to workflow 'painting'" in said
    assert "has no line for 'stray'" in said


def test_two_workflows_with_the_same_triggers_are_an_error(account: Account) -> None:
    drawing = PAINTING.replace("id: painting", "id: drawing")
    catalogue(account, INDEX + INDEX.replace("painting", "drawing"), painting=PAINTING, drawing=drawing)

    assert "workflows 'painting' and 'drawing' have the same triggers" in checked(account)


def test_a_base_lends_its_steps(hydrated: Account) -> None:
    own = PAINTING.replace("modifies_files: true", "modifies_files: true\nbases: [simple-question]")
    own = own.replace("steps:\n", "steps:\n  - {use: simple-question}\n")
    catalogue(hydrated, painting=own)

    assert planned(hydrated, PROMPT).steps[0].startswith("Step 1: Answer the question")


@pytest.mark.conformance("Y04")
def test_every_plan_has_a_workflow_of_the_index(hydrated: Account) -> None:
    for prompt in ("zorkify", "asdf qwer", "42", "and the other thing?", "make it nicer", "go on with the third point"):
        text = hydrated.ask_patiently(prompt).context
        found = re.search(r"^\*\*Workflow\*\*: (\S+) \(", text, re.MULTILINE)
        assert not text or (found and (INSTRUCTIONS / "workflows" / f"{found[1]}.md").exists())
