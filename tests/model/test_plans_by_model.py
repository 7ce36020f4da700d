"""Plans whose intent and steps a model wrote, through the real hook and a loopback server."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from serving import anthropic_environment, serving

from enricher.hosts import claude
from storage.db import database
from storage.traces import queries
from workbench.tui.panes.trace_text import trace_text
from workbench.views.outcomes import describe_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import ModelServer
    from simulator import Account

PROMPT = "refactor load_rates in rates/table.py so that it reads the file"
INTENT = "Refactor load_rates in rates/table.py so that the rates come from the file at the path"
CHECK = {"action": "Run the tests of rates/table.py", "is_checkpoint": True, "evidence": "all of them pass"}
GOOD = [
    {"action": "Read load_rates in rates/table.py and what calls it"},
    {"action": "Read the rates from the file in rates/table.py"},
]
INVENTED = [
    {"action": "Update rates/loader.py to match"},
    {"action": "Call parse_rate_file for each line"},
    {"action": "Run `npm test` in the project"},
    {"action": "Compare with https://example.org/rates"},
    {"action": "Execute npm publish afterwards"},
]
SLOWEST_S = 15
PROJECT = {
    "Makefile": "test:\n\tpython -m pytest -q\n",
    "rates/__init__.py": "",
    "rates/table.py": "def load_rates(path):\n    return {'eur': 1}\n",
    "tests/test_table.py": "from rates.table import load_rates\n\n\ndef test_load():\n    assert load_rates('x')\n",
}


class Plan:
    """The parts of a plan, read from its text."""

    def __init__(self, text: str) -> None:
        self.intent = re.findall(r"^\*\*Intent\*\*: (.*)$", text, re.MULTILINE)[0]
        self.workflow = re.findall(r"^\*\*Workflow\*\*: ([a-z-]+) ", text, re.MULTILINE)[0]
        self.context = text.partition("### Relevant Context")[2].partition("###")[0]
        self.steps = re.findall(r'^  \{content: "(.*)", status: "pending", activeForm: "', text, re.MULTILINE)


def planned(account: Account, prompt: str) -> Plan:
    return Plan(account.ask_patiently(prompt).context)


def answer_with(steps: list[dict[str, Any]], **changed: object) -> str:
    return json.dumps({"intent": INTENT, "steps": steps} | changed)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with serving() as server:
        server.reply = answer_with([*GOOD, CHECK])
        yield server


@pytest.fixture
def advised(account: Account, model_server: ModelServer) -> Iterator[Account]:
    """An account in the mode ``hydrate`` with a model that has time for its answer, in an indexed project."""
    account.env |= anthropic_environment(model_server)
    account.env |= {
        "ENRICHER_MODE": "hydrate",
        "ENRICHER_MODEL_PLAN_TIMEOUT_MS": "10000",
        "ENRICHER_MODEL_TASK_TYPE": "never",
        "ENRICHER_SEARCH_INTENT_USE_LLM": "0",
    }
    for path, text in PROJECT.items():
        account.write(account.project / path, text)
    subprocess.run(["git", "init", "-q", str(account.project)], check=True)
    account.cli("code", "index")
    yield account
    account.rest()


def recorded(account: Account) -> dict[str, Any]:
    model: dict[str, Any] = account.trace()["inputs"]["hydration"]["model"]
    return model


def test_intent_and_steps_come_from_the_model_and_the_rest_from_the_workflow(
    advised: Account, model_server: ModelServer
) -> None:
    plan = planned(advised, PROMPT)

    assert plan.intent == INTENT
    assert plan.workflow == "refactor"
    assert plan.steps[:3] == [
        f"Step 1: {GOOD[0]['action']}",
        f"Step 2: {GOOD[1]['action']}",
        f"CHECKPOINT: {CHECK['action']} \u2014 evidence: {CHECK['evidence']}",
    ]
    assert plan.steps[3].startswith("Step 3: Commit")
    assert len(model_server.calls) == 1
    assert "### TodoWrite Plan" in model_server.calls[0].prompt_text
    assert recorded(advised)["status"] == "ok"


def test_command_app_and_page_show_the_workflow_with_its_reason_and_the_models_part(advised: Account) -> None:
    planned(advised, PROMPT)
    trace = advised.trace()
    shown = " ".join(advised.cli("trace", "show", trace["id"]).split())
    with contextlib.closing(database.connect(str(advised.state))) as db:
        row = queries.show(db, trace["id"])
    in_app = trace_text({**row, "label_history": (), "sources": {}}, width=300).plain

    assert "plan by a model test-model: ok" in shown
    assert INTENT in shown
    assert describe_plan(row)[0].startswith("refactor: refactor ")
    assert describe_plan(row)[1].startswith("intent and steps, asked of test-model: ok")
    assert "refactor: refactor " in in_app
    assert trace["id"] in advised.cli("trace", "export", "--where", "workflow:refactor")
    assert trace["id"] not in advised.cli("trace", "export", "--where=-workflow:refactor")


def test_steps_that_name_what_does_not_exist_are_left_out(advised: Account, model_server: ModelServer) -> None:
    model_server.reply = answer_with([*INVENTED, *GOOD, CHECK])
    steps = planned(advised, PROMPT).steps

    assert len(steps) == 4
    assert not any(one["action"] in step for one in INVENTED for step in steps)
    assert recorded(advised)["left_out"] == len(INVENTED)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("I would rather not.", id="no JSON"),
        pytest.param(answer_with(GOOD, intent=3), id="no checkpoint, and no text as intent"),
        pytest.param(
            answer_with([*INVENTED, CHECK], intent="Rewrite rates/loader.py"), id="nothing but invented names"
        ),
        pytest.param(json.dumps({"steps": "none", "intent": ""}), id="no list of steps"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_plan_of_the_rules(
    advised: Account, model_server: ModelServer, reply: str
) -> None:
    model_server.reply = reply
    by_model = advised.ask_patiently(PROMPT).context
    advised.env["ENRICHER_MODEL_PLAN_TIMEOUT_MS"] = "0"

    assert by_model == advised.ask_patiently(PROMPT).context
    assert len(model_server.calls) == 1
    assert any(line["stage"] == "hydration" for line in advised.log())


def test_a_question_is_not_put_to_the_model_for_a_plan(advised: Account, model_server: ModelServer) -> None:
    planned(advised, "what workflows are available?")

    assert not model_server.calls


@pytest.mark.conformance("Y25", "Y42")
def test_a_plan_by_a_model_that_takes_seconds_arrives_within_ten(advised: Account, model_server: ModelServer) -> None:
    model_server.delay_s = 3.0
    answer = advised.run(advised.event(PROMPT))

    assert Plan(answer.context).intent == INTENT
    assert answer.wall_s < 10


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.conformance("Y25", "Y42")
def test_the_median_of_fifty_plans_by_a_model_is_printed_and_below_ten_seconds(account: Account) -> None:
    printed = account.cli("bench", "plan", "--seconds", "0.3", "--json", "--assert")
    _by_rules, by_model = json.loads(printed)

    assert by_model["runs"] == 50
    assert 300 < by_model["median_ms"] < 10_000


@pytest.mark.conformance("Y26")
@pytest.mark.timed
def test_a_model_that_hangs_costs_less_than_fifteen_seconds_and_the_plan_is_partial(
    advised: Account, model_server: ModelServer
) -> None:
    model_server.delay_s = 60.0
    advised.env["ENRICHER_MODEL_PLAN_TIMEOUT_MS"] = "60000"
    answer = advised.run(advised.event(PROMPT))
    plan = Plan(answer.context)

    assert 12 < answer.wall_s < SLOWEST_S <= claude.HANDLER["timeout"]
    assert plan.workflow == "refactor"
    assert "Without an answer in time: model" in plan.context
    assert any("timeout" in line["reason"] for line in advised.log())
    advised.env["ENRICHER_MODEL_PLAN_TIMEOUT_MS"] = "0"


def test_the_command_line_shows_the_plan_of_the_model(advised: Account) -> None:
    shown = advised.cli("enrich", "--format", "hydration", PROMPT, "--cwd", str(advised.project))

    assert f"**Intent**: {INTENT}" in shown
