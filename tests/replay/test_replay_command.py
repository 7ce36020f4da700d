"""``enricher replay`` and ``compare``: what an edit changes on prompts that were really typed into the hook."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

PACKAGED = (ROOT / "instructions" / "prompt-enricher-instructions.md").read_text()
QUESTION = "which of the two caches is cleared when a user logs out of the shop?"
REPORT = "the login test fails with KeyError: 'user' in tests/test_login.py"
LAYER = """# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {phrase: "shop", weight: 9}
  - {phrase: "two caches", weight: 9}
  - {phrase: "logs out", weight: 9}
```
"""


@pytest.fixture
def account(account: Account) -> Account:
    """An account whose layer says nothing yet, with two prompts that were judged under it."""
    account.instruct("# Classification\n")
    account.compile()
    for session, prompt in enumerate((QUESTION, REPORT)):
        account.ask(prompt, session_id=f"s{session}")
    return account


def replayed(account: Account, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(account.cli("replay", *words, "--json"))
    return found


def test_the_rules_that_spoke_change_nothing(account: Account) -> None:
    found = replayed(account)

    assert (found["verdict"], found["prompts"], found["changed"]) == ("identical", 2, 0)


def test_a_budget_of_the_configuration_is_no_edit(account: Account) -> None:
    account.write("config/config.toml", "[budgets]\ntokens = 12\n")
    account.instruct("# Classification\n\nKept by its first prompt with the setting.\n")
    account.compile()
    account.ask(REPORT, session_id="after")

    assert replayed(account)["verdict"] == "identical"


def test_an_edit_of_a_layer_changes_the_prompt_that_it_speaks_of_and_no_other(account: Account) -> None:
    account.instruct(LAYER)
    found = replayed(account)

    assert found["changed"] == 1
    assert (found["changes"][0]["prompt"], found["changes"][0]["after"]["task_type"]) == (QUESTION, "debug")


def test_the_cause_is_the_place_of_the_edit(account: Account) -> None:
    path = account.instruct(LAYER)
    [change] = replayed(account)["changes"]

    assert change["cause"].startswith(f"{path}:")
    assert "Task type: debug" in change["cause"]


def test_the_text_for_people_says_what_changes_and_why(account: Account) -> None:
    account.instruct(LAYER)
    said = account.cli("replay")

    assert said.startswith("1 of 2 prompts change")
    assert "question → debug" in said


def test_a_selection_replays_only_its_prompts(account: Account) -> None:
    account.instruct(LAYER)

    assert replayed(account, "--where", "login")["prompts"] == 1
    assert replayed(account, "--limit", "1")["prompts"] == 1


def test_prompts_of_tests_are_left_out_unless_they_are_asked_for(account: Account) -> None:
    account.env["ENRICHER_TEST"] = "1"
    account.ask("why is the build red?", session_id="t")
    del account.env["ENRICHER_TEST"]

    assert replayed(account)["prompts"] == 2
    assert replayed(account, "--where", "origin:test")["prompts"] == 1


def test_what_was_recorded_for_a_test_is_verified_as_well(account: Account) -> None:
    account.env["ENRICHER_TEST"] = "1"
    account.ask("why is the build red?", session_id="t")

    assert json.loads(account.cli("replay", "--verify", "--json"))["same"] == 3
    assert json.loads(account.cli("replay", "--verify", "--limit", "1", "--json"))["same"] == 1


@pytest.mark.upkeep
def test_a_text_that_differs_is_named_and_the_command_fails(account: Account) -> None:
    account.rest()
    own = account.trace()["id"]
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        db.execute("update traces set output_text = output_text || '.' where id = ?", (own,))

    outcome = json.loads(account.cli("replay", "--verify", "--json", exit_code=1))

    assert (outcome["same"], outcome["differing"]) == (1, [own])


@pytest.mark.parametrize("options", [("--gate", "--where", "type:debug"), ("--verify", "--base", "HEAD")])
def test_options_that_would_say_nothing_are_refused(account: Account, options: tuple[str, ...]) -> None:
    assert f"{options[1]} cannot be used with {options[0]}" in account.cli("replay", *options, exit_code=2)


def test_a_folder_is_no_file_to_replay_with(account: Account) -> None:
    assert "is a directory" in account.cli("replay", "--instructions", str(account.home), exit_code=2)


def test_a_broken_edit_is_told_with_its_line(account: Account) -> None:
    path = account.instruct(LAYER.replace("weight: 9", "weight: 99", 1))
    said = account.cli("replay", exit_code=1)

    assert f"{path}:8: error: weight: 99 is outside 1 to 30" in said


def test_two_files_are_compared_without_touching_either(account: Account) -> None:
    one, other = (
        account.write("one.md", PACKAGED),
        account.write("other.md", PACKAGED.replace("min_confidence:", "min_confidence: 0.99 #", 1)),
    )
    found = json.loads(account.cli("compare", str(one), str(other), "--json"))

    assert (found["base"], found["candidate"]) == (str(one), str(other))
    assert found["changed"] == 2


def test_a_file_against_itself_is_identical(account: Account) -> None:
    path = str(account.write("one.md", PACKAGED))
    found = json.loads(account.cli("compare", path, path, "--json"))

    assert (found["verdict"], found["changed"], found["base_hash"]) == ("identical", 0, found["candidate_hash"])


def test_a_git_revision_is_a_base(account: Account, tmp_path: Path) -> None:
    path = account.instruct("# Classification\n")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(path.parent), *command], check=True)
    account.instruct(LAYER)
    found = replayed(account, "--base", "HEAD")

    assert (found["base"], found["changed"]) == (f"HEAD:{path.name}", 1)


def test_a_base_that_is_nothing_is_refused_in_words(account: Account) -> None:
    said = account.cli("replay", "--base", "nonsense", exit_code=1)

    assert "'nonsense' is no file, no version and no git revision" in said


def test_a_kept_replay_can_be_shown_again(account: Account) -> None:
    account.instruct(LAYER)
    account.cli("replay", "--keep")
    [kept] = json.loads(account.cli("compare", "--kept", "--json"))
    shown = json.loads(account.cli("compare", "--kept", kept["id"], "--json"))

    assert (kept["verdict"], kept["prompts"], kept["changed"]) == ("changed", 2, 1)
    assert [one["after"]["task_type"] for one in shown["results"]] == ["debug"]
    assert '+  - {phrase: "shop", weight: 9}' in shown["diff"]


def test_an_approved_prompt_that_comes_out_otherwise_regresses(account: Account) -> None:
    [asked] = [trace["id"] for trace in account.traces() if trace["prompt"] == QUESTION]
    account.cli("trace", "label", asked, "ok")
    account.instruct(LAYER)
    found = replayed(account)

    assert (found["verdict"], found["regressed"]) == ("regressed", [asked])


def test_a_task_type_that_was_right_and_is_no_longer_is_lost(account: Account) -> None:
    [asked] = [trace for trace in account.traces() if trace["prompt"] == QUESTION]
    account.cli("trace", "label", asked["id"], asked["task_type"])
    account.instruct(LAYER)
    found = replayed(account)

    assert (found["gained"], found["lost"], found["verdict"]) == (0, 1, "inconclusive")


def test_only_approved_prompts_that_were_replayed_are_said_to_hold(account: Account) -> None:
    for trace in account.traces():
        account.cli("trace", "label", trace["id"], "ok")

    assert replayed(account)["approved"] == 2
    assert replayed(account, "--where", "login")["approved"] == 1


def test_a_prompt_counts_in_each_way_in_which_it_changes(account: Account) -> None:
    account.instruct(LAYER)
    found = replayed(account)
    [change] = found["changes"]

    assert found["by_kind"] == dict.fromkeys(change["kinds"], 1)
    assert len(change["kinds"]) > 1


def test_no_program_of_a_file_that_is_only_tried_is_started(account: Account) -> None:
    spy = account.write("spy.sh", f"#!/bin/sh\ntouch {account.home}/started\n", mode=0o755)
    channel = f'## Channel: spy\n\n```yaml\ncommand: ["{spy}"]\n```\n\n# Guardrails'
    file = account.write("tried.md", PACKAGED.replace("# Guardrails", channel, 1))
    found = replayed(account, "--today", "--instructions", str(file))

    assert not (account.home / "started").exists()
    assert all("spy" in change["after"]["unknown"] for change in found["changes"])
    assert found["context_unknown"] == 2


def test_an_empty_log_says_what_to_do(account: Account, tmp_path: Path) -> None:
    account.env["ENRICHER_HOME"] = str(tmp_path / "empty")

    assert "enricher trace import" in account.cli("replay")
