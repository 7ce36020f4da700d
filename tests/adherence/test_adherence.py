"""``enricher trace stats --adherence``: plans of real hook calls against what the clients' transcripts hold."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "session"))

from host_files import Claude, Codex

from workbench.adherence import planned_steps

if TYPE_CHECKING:
    from simulator import Account

FIX = "fix the typo in the header of shop.py"
QUESTION = "How does the rounding in shop.py work?"
OVERVIEW = ("task_list", "as_planned", "kept_up", "evidence", "within_limits", "commit")


@pytest.fixture
def planning(account: Account) -> Account:
    """Return an account whose prompts get a plan."""
    account.env["ENRICHER_MODE"] = "hydrate"
    account.write(Path(account.project) / "shop.py", "# Tehs hop\ndef total(rows):\n    return round(sum(rows), 2)\n")
    return account


def plan_of(account: Account, prompt: str, session: str) -> list[str]:
    """Let the hook answer a prompt, and return the steps of the plan that it added."""
    steps = planned_steps(account.ask(prompt, session_id=session).context)
    assert steps
    return steps


def todos(steps: list[str], status: str) -> list[dict[str, str]]:
    return [{"content": step, "status": status, "activeForm": "Working"} for step in steps]


def saved(session: Any, account: Account, name: str) -> None:
    for record in session.records:
        record["sessionId"] = name
    session.save(account.home / f".claude/projects/-p/{name}.jsonl")


def figures(account: Account) -> dict[tuple[str, bool], dict[str, Any]]:
    found = json.loads(account.cli("trace", "stats", "--adherence", "--json"))
    return {(one["workflow"], one["had_plan"]): one for one in found}


def obedient(account: Account, name: str) -> None:
    """Write a session whose agent copies the plan, makes the change, runs the tests, and commits."""
    steps = plan_of(account, FIX, name)
    session = Claude()
    session.asks(FIX)
    session.uses("TodoWrite", todos=todos(steps, "pending"))
    session.uses("Read", file_path="/p/shop.py")
    session.uses("Edit", file_path="/p/shop.py")
    session.uses("Bash", "2 passed", command="pytest tests")
    session.uses("Bash", command="git add -A && git commit -m 'Fix the header'")
    session.uses("TodoWrite", todos=todos(steps, "completed"))
    session.answers("Done.")
    saved(session, account, name)


def careless(account: Account, name: str, check: tuple[str, bool] | None) -> None:
    """Write a session whose agent writes a list of its own, and stops after the change or after a failing check."""
    plan_of(account, FIX, name)
    session = Claude()
    session.asks(FIX)
    session.uses("TodoWrite", todos=todos(["Fix it"], "in_progress"))
    session.uses("Bash", "2 passed", command="pytest tests")  # before the change, so no evidence
    session.uses("Edit", file_path="/p/shop.py")
    if check:
        session.uses("Bash", "1 failed", is_error=check[1], command=check[0])
    session.answers("Done.")
    saved(session, account, name)


@pytest.mark.conformance("Y19", "Y20", "Y21", "Y29")
def test_each_criterion_counts_the_turns_in_which_it_held(planning: Account) -> None:
    obedient(planning, "s-1")
    careless(planning, "s-2", None)
    careless(planning, "s-3", ("pytest tests", True))
    careless(planning, "s-4", ("git status", False))
    plan_of(planning, FIX, "without-transcript")

    edit = figures(planning)["minor-edit", True]

    assert (edit["prompts"], edit["found"]) == (5, 4)
    assert {name: (edit["criteria"][name]["held"], edit["criteria"][name]["of"]) for name in OVERVIEW} == {
        "task_list": (4, 4),
        "as_planned": (1, 4),
        "kept_up": (1, 4),
        "evidence": (1, 4),
        "within_limits": (0, 0),
        "commit": (1, 4),
    }
    assert edit["followed"] == {"held": 1, "of": 4}


@pytest.mark.conformance("Y29")
def test_a_question_is_followed_when_nothing_was_changed(planning: Account) -> None:
    for name, tool in (("s-1", "Read"), ("s-2", "Edit")):
        plan_of(planning, QUESTION, name)
        session = Claude()
        session.asks(QUESTION)
        session.uses(tool, file_path="/p/shop.py")
        session.answers("It rounds to cents.")
        saved(session, planning, name)

    question = figures(planning)["simple-question", True]

    assert question["criteria"]["within_limits"] == {"held": 1, "of": 2}
    assert question["followed"] == {"held": 1, "of": 2}


def test_a_list_of_single_tasks_counts_like_one_that_is_written_at_once(planning: Account) -> None:
    (planning.home / ".claude" / "tasks").mkdir(parents=True)
    steps = plan_of(planning, FIX, "s-1")
    assert len(steps) > 2
    session = Claude()
    session.asks(FIX)
    for number, step in enumerate(steps, 1):
        session.uses("TaskCreate", rich={"task": {"id": str(number), "subject": step}}, subject=step)
    session.uses("Edit", file_path="/p/shop.py")
    session.uses("Bash", "2 passed", command="pytest tests")
    for number in range(1, len(steps) + 1):
        session.uses("TaskUpdate", taskId=str(number), status="completed")
    saved(session, planning, "s-1")

    criteria = figures(planning)["minor-edit", True]["criteria"]

    assert [criteria[name] for name in ("task_list", "as_planned", "kept_up")] == [{"held": 1, "of": 1}] * 3


def test_prompts_without_a_plan_are_counted_apart(planning: Account) -> None:
    obedient(planning, "s-1")
    planning.env["ENRICHER_MODE"] = "enrich"
    planning.ask(FIX, session_id="s-2")
    session = Claude()
    session.asks(FIX)
    session.uses("Edit", file_path="/p/shop.py")
    saved(session, planning, "s-2")

    found = figures(planning)

    assert found["minor-edit", True]["followed"] == {"held": 1, "of": 1}
    assert found["minor-edit", False]["followed"] == {"held": 0, "of": 1}
    assert found["minor-edit", False]["criteria"]["as_planned"] == {"held": 0, "of": 0}


def test_the_transcript_of_another_client_is_read_as_well(planning: Account) -> None:
    planning.ask(FIX, session_id="thread", turn_id="turn-1")
    session = Codex()
    session.asks(FIX)
    session.uses("shell", command=["apply_patch", "*** Begin Patch\n*** Update File: shop.py\n*** End Patch"])
    session.uses("shell", command=["bash", "-lc", "pytest tests"])
    session.uses("shell", command=["bash", "-lc", "git commit -am 'Fix the header'"])
    session.save(planning.home / ".codex/sessions/2026/11/21/rollout-2026-11-21-thread.jsonl")

    [edit] = figures(planning).values()

    assert edit["followed"] == {"held": 1, "of": 1}


def test_an_agent_that_has_done_nothing_yet_is_not_judged(planning: Account) -> None:
    plan_of(planning, FIX, "s-1")
    session = Claude()
    session.asks(FIX)
    saved(session, planning, "s-1")
    before = figures(planning)["minor-edit", True]
    session.uses("Edit", file_path="/p/shop.py")
    saved(session, planning, "s-1")
    after = figures(planning)["minor-edit", True]

    assert (before["prompts"], before["found"], before["followed"]) == (1, 0, {"held": 0, "of": 0})
    assert (after["prompts"], after["found"], after["followed"]) == (1, 1, {"held": 0, "of": 1})


def test_people_get_a_table_and_a_word_where_there_is_nothing(planning: Account) -> None:
    assert "no recorded prompt has a workflow" in planning.cli("trace", "stats", "--adherence", "--where", "type:ops")

    obedient(planning, "s-1")
    table = planning.cli("trace", "stats", "--adherence")

    assert "with a plan" in table
    assert "minor-edit" in table and "1/1" in table
