"""What the person asks for is recognised, and what is said about it fits."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from simulator import SHARED
from test_answer_form import TRACE

if TYPE_CHECKING:
    from simulator import Account, Answer

LABELLED = SHARED / "eval" / "prompts_tune.jsonl"
STRICT, LENIENT = 0.60, 0.70
"""Accuracy below which the shipped instructions have been broken; what they reach stands in the README."""

FRENCH = "pourquoi le test login échoue avec KeyError: 'user' dans tests/test_login.py"

ROWS = {
    "E30": ("What is the hydrator?", "question"),
    "E31": ("add a --json flag to the CLI", "implementation"),
    "E32": ("the test is not working", "debug"),
    "E33": ("update the hooks to add a new feature", "framework"),
    "E34": ("find papers about content moderation", "research"),
}
CLASSES = [
    pytest.param(prompt, task_type, marks=pytest.mark.conformance(row), id=task_type)
    for row, (prompt, task_type) in ROWS.items()
]


@pytest.mark.parametrize(("prompt", "task_type"), CLASSES)
def test_a_class_is_recognised(account: Account, prompt: str, task_type: str) -> None:
    account.ask(prompt)

    assert account.trace()["task_type"] == task_type


@pytest.mark.conformance("E35")
@pytest.mark.parametrize(
    "prompt",
    [
        *("hello there", "🙂🙂🙂", "なぜテストが失敗するのですか", "Пожалуйста, посмотри на это", "qwrt zxcv", "42"),
        pytest.param(f"{FRENCH}, corrige le bug", id="English names in a language that no signal knows"),
    ],
)
def test_anything_else_falls_back_to_saying_nothing(account: Account, prompt: str) -> None:
    answer = account.ask(prompt)

    assert (answer.exit_code, answer.stdout) == (0, b"")
    assert (account.trace()["status"], account.trace()["uncertain"]) == ("silent", True)


@pytest.mark.slow
@pytest.mark.conformance("E36")
@pytest.mark.skipif(not LABELLED.exists(), reason="the labelled prompts are not beside this repository")
def test_labelled_prompts_come_out_as_a_reader_labelled_them() -> None:
    from enricher.classify.table import Table
    from enricher.classify.verdict import classify
    from enricher.interfaces.api import rules_for

    rules, _layers = rules_for("")
    table = Table(rules.body["classes"])
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    found = [classify(row["text"], table).task_type for row in rows]
    strict = sum(name == row["task_type"] for name, row in zip(found, rows, strict=True)) / len(rows)
    lenient = sum(
        name in (row["task_type"], row.get("alt_task_type")) for name, row in zip(found, rows, strict=True)
    ) / len(rows)
    print(f"{strict:.3f} strict, {lenient:.3f} lenient of {len(rows)} labelled prompts")

    assert strict >= STRICT
    assert lenient >= LENIENT


def guardrails(account: Account) -> list[str]:
    return [one["guardrail_id"] for one in account.trace()["guardrails"]]


def line(answer: Answer, label: str) -> str:
    return next(
        (text.partition(": ")[2] for text in answer.context.splitlines() if text.startswith(f"**{label}**")), ""
    )


@pytest.fixture
def as_specified(account: Account) -> Account:
    """An account with the profile in which class alone calls for guardrails and approaches (ruling R38)."""
    account.env["ENRICHER_PROFILE"] = "as-specified"
    return account


@pytest.mark.conformance("E42", "E48")
def test_a_change_of_the_agents_setup_gets_skill_plan_and_critic(as_specified: Account) -> None:
    approach = line(as_specified.ask("update the hooks to add a new feature"), "Suggested Approach")

    assert "H2" in guardrails(as_specified)
    assert "Plan Mode" in approach
    assert "critic" in approach


@pytest.mark.conformance("E11", "E43")
def test_a_defect_gets_verification_and_the_exact_error(as_specified: Account) -> None:
    shown = line(as_specified.ask("the test is not working"), "Applicable Guardrails")

    assert {"H3", "H5"} <= set(guardrails(as_specified))
    assert "H3 (Verification Before Assertion)" in shown
    scores = {one["guardrail_id"]: one["score"] for one in as_specified.trace()["guardrails"]}
    assert re.findall(r"(H\d+) \(", shown) == sorted(scores, key=lambda one: -scores[one])


@pytest.mark.conformance("E44", "E48")
def test_a_question_gets_an_answer(as_specified: Account) -> None:
    approach = line(as_specified.ask("does it make sense to split the parser?"), "Suggested Approach")

    assert "H19" in guardrails(as_specified)
    assert "direct answer" in approach.lower()


@pytest.mark.conformance("E12")
def test_a_pasted_trace_is_read_for_where_to_begin(as_specified: Account) -> None:
    approach = line(as_specified.ask(TRACE), "Suggested Approach")

    assert approach == "Start at app/session.py:84: the innermost frame of the pasted trace outside libraries."


@pytest.mark.conformance("E47")
def test_an_installed_skill_is_suggested_and_one_that_is_not_installed_never(as_specified: Account) -> None:
    prompt = "write python code with type hints for the parser module"
    without = as_specified.ask(prompt)
    as_specified.write(
        "project/.claude/skills/python-dev/SKILL.md",
        "---\nname: python-dev\ndescription: Write Python code with type hints, tests and docstrings.\n---\n",
    )

    assert "python-dev" not in without.context
    assert "python-dev" in line(as_specified.ask(prompt), "Suggested Approach")


@pytest.mark.conformance("E47")
def test_the_line_of_a_skill_says_that_it_covers_the_request(account: Account) -> None:
    prompt = "write python code with type hints for the parser module"
    account.write(
        "project/.claude/skills/python-dev/SKILL.md",
        "---\nname: python-dev\ndescription: Write Python code with type hints, tests and docstrings.\n---\n",
    )

    assert "- Skill(python-dev) covers this request: use it before starting" in account.ask(prompt).context
    assert "python-dev" not in account.ask("why is python slow?").context
    assert "python-dev" not in account.ask(f"use the python-dev skill and {prompt}").context


@pytest.mark.conformance("E47")
@pytest.mark.parametrize(
    ("path", "prompt", "said"),
    [
        (
            "commands/ship-preview.md",
            "deploy this to the preview cluster",
            "/ship-preview covers this request: follow .claude/commands/ship-preview.md",
        ),
        (
            "agents/ship-preview.md",
            "deploy this to the preview cluster",
            "subagent ship-preview covers this request: delegate it",
        ),
    ],
)
def test_commands_and_subagents_are_suggested_by_what_they_do(
    account: Account, path: str, prompt: str, said: str
) -> None:
    described = "---\ndescription: >-\n  Deploy the branch to the preview\n  cluster with Helm.\n---\nSteps.\n"
    account.write(f"project/.claude/{path}", described)

    assert f"- {said}" in account.ask(prompt).context
    assert "ship-preview" not in account.ask("why is the preview cluster slow?").context


def test_a_skill_that_only_persons_may_call_is_not_suggested(account: Account) -> None:
    hidden = "---\nname: ship\ndescription: Ship the preview cluster.\ndisable-model-invocation: true\n---\n"
    account.write("project/.claude/skills/ship/SKILL.md", hidden)

    assert "covers" not in account.ask("ship the preview cluster").context


@pytest.mark.conformance("E49")
def test_many_like_items_can_be_delegated(as_specified: Account) -> None:
    assert "delegation" in line(as_specified.ask("do X for all 40 files"), "Suggested Approach")


def test_nothing_is_said_twice_in_a_session(account: Account) -> None:
    first = account.ask("the test is not working", session_id="one")
    second = account.ask("the login test is not working either, fix it", session_id="one")
    other = account.ask("the test is not working", session_id="two")

    assert "H5" in first.context
    assert "H5" not in second.context
    assert "H5" in other.context
    account.cli("replay", "--verify")


def test_a_sessions_budget_holds(account: Account) -> None:
    account.write("config/config.toml", "[budgets]\nsession_tokens = 50\n")
    account.compile()
    prompts = ["the test is not working", "should we split the parser?", "revert the last change", "force push it"]

    for prompt in prompts:
        account.ask(prompt, session_id="one")

    tokens = [trace["output_tokens"] for trace in account.traces()]
    assert tokens[0] > 0
    assert sum(tokens) <= 50
