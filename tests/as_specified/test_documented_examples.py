"""The profile ``as-specified``: through the real hook, the agent receives what seeds 000 and 001 show."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

from storage.db import database

if TYPE_CHECKING:
    from simulator import Account

SECTIONS = re.compile(
    r"## Prompt Enrichment\n"
    r"\n\*\*Classification\*\*: (?P<task_type>[a-z]+)\n"
    r"(?:\n\*\*Relevant Context\*\*:\n(?P<context>(?:- .+\n)+))?"
    r"(?:\n\*\*Reminder\*\*: (?P<reminder>.+)\n)?"
    r"(?:\n\*\*Suggested Resources\*\*: (?P<resources>.+)\n)?"
    r"\n\*\*Applicable Guardrails\*\*: (?P<guardrails>.+)\n"
    r"(?:\n\*\*Suggested Approach\*\*: (?P<approach>.+)\n)?"
)
"""The block of seed 000, "Output Format", with what seed 001 (tasks 6.2 and 6.3) adds behind the memories."""

HOWTO = "how do I rotate the signing certificate?"


@pytest.fixture
def account(account: Account) -> Account:
    account.write("config/config.toml", 'profile = "as-specified"\n')
    account.compile()
    return account


def block(account: Account, prompt: str, **event: str) -> dict[str, str]:
    """Type a prompt and return the sections of its block by name."""
    answer = account.ask_patiently(prompt, **event)
    found = SECTIONS.fullmatch(answer.context + "\n")
    assert found, answer.context
    return {name: said or "" for name, said in found.groupdict().items()}


def ids(said: str) -> set[str]:
    return set(re.findall(r"\bH\d+\b", said))


@pytest.mark.conformance("E42", "E43", "E44", "E48")
@pytest.mark.parametrize(
    ("prompt", "task_type", "guardrails", "approach"),
    [
        pytest.param("update the hooks to add a new feature", "framework", {"H2", "H14"}, "Plan Mode.*critic",
                     id="framework: skill, plan and critic"),
        pytest.param("the test is not working", "debug", {"H3", "H5"}, "Direct action",
                     id="debug: verify, quote errors"),
        pytest.param("the importer still hangs", "debug", {"H3", "H5"}, "Direct action",
                     id="debug without any word of an error"),
        pytest.param("What is the hydrator?", "question", {"H19"}, "direct answer", id="question: answer"),
        pytest.param("debug the importer", "debug", {"H3", "H5"}, "Direct action", id="a class that is uncertain"),
        pytest.param("does it make sense to split the parser?", "question", {"H19"}, "direct answer", id="a doubt"),
        pytest.param("add a --json flag to the CLI", "implementation", set(), "Direct action", id="implementation"),
        pytest.param("find papers about content moderation", "research", set(), "direct answer", id="research"),
        pytest.param("yes, go ahead", "chat", set(), "", id="chat"),
        pytest.param("qwrt zxcv", "", set(), "", id="what no signal speaks for"),
    ],
)  # fmt: skip
def test_each_class_gets_its_guardrails_and_its_approach(
    account: Account, prompt: str, task_type: str, guardrails: set[str], approach: str
) -> None:
    said = block(account, prompt)

    assert said["task_type"] == (task_type or account.trace()["task_type"])
    assert ids(said["guardrails"]) == guardrails or (not guardrails and said["guardrails"] == "none")
    assert re.search(approach, said["approach"], re.IGNORECASE)


def test_our_documentation_shows_what_the_agent_receives(account: Account) -> None:
    shown = (ROOT / "docs" / "as-specified.md").read_text(encoding="utf-8")

    assert f"```\n{account.ask_patiently('update the hooks to add a new feature').context}\n```" in shown


def test_an_uncertain_class_is_explained_as_shown(account: Account) -> None:
    printed = account.cli("explain", "debug the importer")

    assert "points of lead double the odds; shown" in printed
    assert "uncertain because " in printed


@pytest.mark.conformance("E45", "E46")
def test_titles_and_ids_are_those_of_the_catalogue(account: Account) -> None:
    assert block(account, "What is the hydrator?")["guardrails"] == "H19 (Questions Require Answers)"


@pytest.mark.conformance("E47")
def test_an_installed_skill_is_suggested(account: Account) -> None:
    account.write(
        "project/.claude/skills/python-dev/SKILL.md",
        "---\nname: python-dev\ndescription: Write Python code with type hints, tests and docstrings.\n---\n",
    )

    assert "python-dev" in block(account, "write python code with type hints for the parser module")["approach"]


@pytest.mark.conformance("E49")
def test_many_like_items_can_be_delegated(account: Account) -> None:
    assert "delegation" in block(account, "do X for all 40 files")["approach"]


def test_every_prompt_of_a_session_gets_its_block_however_much_was_said_before(account: Account) -> None:
    account.env["ENRICHER_BUDGETS_SESSION_TOKENS"] = "10"
    first = block(account, "the test is not working", session_id="one")
    second = block(account, "the login test is not working either", session_id="one")

    assert ids(first["guardrails"]) == ids(second["guardrails"]) == {"H3", "H5"}
    assert first["approach"] == second["approach"] != ""


@pytest.mark.parametrize("prompt", ["/compact", ". list the open branches", "no enrichment: what is this?"])
def test_a_skipped_prompt_gets_nothing(account: Account, prompt: str) -> None:
    assert account.ask_patiently(prompt).stdout == b""
    assert account.trace()["status"] == "skipped"


def test_the_environment_chooses_the_profile_and_a_wrong_name_does_not(account: Account) -> None:
    account.env["ENRICHER_PROFILE"] = "quiet"
    assert account.ask_patiently("yes, go ahead").stdout == b""

    account.env["ENRICHER_PROFILE"] = "loud"
    shown = json.loads(account.cli("config", "show", "--json"))

    assert shown["settings"]["profile"] == "as-specified"
    assert "quiet, as-specified" in shown["warnings"][0]


def test_a_prompt_on_the_command_line_gets_the_same_block(account: Account) -> None:
    printed = account.cli("enrich", "What is the hydrator?", "--json")

    assert json.loads(printed)["text"] == account.ask_patiently("What is the hydrator?").context


def test_texts_of_both_profiles_come_out_of_one_history_byte_for_byte(account: Account) -> None:
    for profile in ("as-specified", "quiet"):
        account.env["ENRICHER_PROFILE"] = profile
        for prompt in ("the test is not working", "yes, go ahead", "add a --json flag to the CLI"):
            account.ask(prompt)
    del account.env["ENRICHER_PROFILE"]
    account.write("config/config.toml", "")

    assert "6 texts came out byte for byte as recorded, 0 did not" in account.cli("replay", "--verify")


def test_a_history_from_before_there_were_profiles_replays_as_quiet(account: Account) -> None:
    account.env["ENRICHER_PROFILE"] = "quiet"
    for prompt in ("the test is not working", "yes, go ahead", "add a --json flag to the CLI"):
        account.ask(prompt)
    assert len(account.traces()) == 3
    with closing(database.connect(str(account.state))) as db, db:
        names = ("profile", *(f"search_intent.{name}" for name in ("base_count", "max_count", "max_tokens")))
        for name in names:
            db.execute("update traces set inputs = json_remove(inputs, ?)", [f'$.settings."{name}"'])
    del account.env["ENRICHER_PROFILE"]  # the stored rules hold the setting of config.toml

    assert "3 texts came out byte for byte as recorded, 0 did not" in account.cli("replay", "--verify")
