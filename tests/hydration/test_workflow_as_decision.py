"""The workflow of a prompt is a decision like its task type: replayed, compared, counted, expected and filtered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from test_catalogue import INDEX, NAMES, PAINTING, catalogue

from storage.metrics import rollups
from storage.metrics.facets import facets
from storage.traces.filter_text import parse
from workbench.replay.corpus import opened

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FAILURE = "figure out why the memory server isn't returning results"
FENCE = "what happens if you zorkify the garden fence in the back?"
BY_DAY = "select value, prompts from prompts_by_day where facet = 'workflow'"
MINE = PAINTING.replace("zorkify", "memory server")


@pytest.fixture
def asked(account: Account) -> Account:
    """An account in the default mode whose rules chose a workflow for two prompts."""
    account.instruct("# Classification\n")
    account.compile()
    for at, prompt in enumerate((FAILURE, FENCE)):
        account.ask(prompt, session_id=f"s{at}")
    return account


def as_json(account: Account, *words: str, **changed: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(account.cli(*words, "--json", **changed))
    return found


@pytest.mark.slow
def test_an_edit_that_moves_a_workflow_is_counted_and_listed(asked: Account) -> None:
    assert as_json(asked, "replay")["changed"] == 0
    catalogue(asked, painting=MINE)

    found = as_json(asked, "replay")
    assert (found["changed"], found["by_kind"]) == (1, {"workflow": 1})
    (change,) = found["changes"]
    assert (change["before"]["workflow"], change["after"]["workflow"]) == ("debugging", "painting")

    said = asked.cli("replay")
    assert "workflow (1)" in said
    assert "debugging → painting" in said
    assert "debugging → painting" in asked.cli("compare", "recorded", str(asked.config / "instructions.md"))


def test_every_workflow_is_counted_and_one_without_a_prompt_is_listed(asked: Account) -> None:
    catalogue(asked, painting=PAINTING.replace("zorkify", "never said"))
    rows = [row for row in as_json(asked, "coverage")["rows"] if row["kind"] == "workflow"]
    fired = {row["name"]: (row["fired"], row["dead"]) for row in rows}

    assert fired["debugging"] == (1, False)
    assert fired["painting"] == (0, True)
    assert len(fired) == 14
    assert next(row for row in rows if row["name"] == "painting")["file"].endswith("config/workflows/painting.md")
    assert "painting" in asked.cli("coverage")


def test_prompts_are_selected_and_counted_by_workflow(asked: Account) -> None:
    (only,) = json.loads(asked.cli("trace", "list", "--where", "workflow:debugging", "--json"))
    assert only["prompt"] == FAILURE

    with opened(str(asked.state)) as corpus:
        rollups.catch_up(corpus.db)
        summed = facets(corpus.db, parse("")).by_field["workflow"]
        counted = facets(corpus.db, parse("memory")).by_field["workflow"]
        overall = dict(map(tuple, corpus.db.execute(BY_DAY)))
    assert {one.value: one.prompts for one in summed.values} == overall
    assert overall["debugging"] == 1
    assert [(one.value, one.prompts) for one in counted.values] == [("debugging", 1)]


def test_the_gate_holds_an_expected_workflow(asked: Account, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    trace = json.loads(asked.cli("trace", "list", "--where", "workflow:debugging", "--json"))[0]["id"]

    said = asked.cli("trace", "label", trace, "--workflow", "debugging", "--cases", str(cases))
    assert said == f"{trace}: workflow debugging, in {cases}\n"
    case = json.loads(cases.read_text())
    assert (case["verdict"], case["expected"]) == ("ok", {"workflow": "debugging"})
    assert as_json(asked, "replay", "--gate", "--cases", str(cases))["passed"]

    for name, text in (("instructions.md", NAMES), ("WORKFLOWS.md", INDEX), ("workflows/painting.md", MINE)):
        asked.write(asked.project / ".enricher" / name, text)
    said = asked.cli("replay", "--gate", "--cases", str(cases), exit_code=1)
    assert "workflow: expected debugging, got painting" in said


def test_a_workflow_that_the_rules_do_not_give_becomes_a_case_to_be_done(asked: Account, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    trace = asked.trace()["id"]
    asked.cli("trace", "label", trace, "docs", "--cases", str(cases))
    asked.cli("trace", "label", trace, "--workflow", "docs", "--cases", str(cases))

    case = json.loads(cases.read_text())
    assert (case["verdict"], case["expected"]) == ("class", {"task_type": "docs", "workflow": "docs"})
    assert "no workflow" in asked.cli("trace", "label", trace, "--workflow", "nothing", exit_code=2)


def test_an_approved_plan_has_its_workflow_in_the_case(account: Account, tmp_path: Path) -> None:
    account.env["ENRICHER_MODE"] = "hydrate"
    account.ask(FAILURE)
    cases = tmp_path / "cases.jsonl"
    account.cli("trace", "label", account.trace()["id"], "ok", "--cases", str(cases))

    assert json.loads(cases.read_text())["expected"]["workflow"] == "debugging"
