"""What a prompt asks to be remembered is heard; what only sounds like it is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from effort import processor_s
from hypothesis import given
from hypothesis import strategies as st

from enricher.prompt.capture import namespace_of, remembered

if TYPE_CHECKING:
    from simulator import Account


@pytest.mark.parametrize(
    ("prompt", "namespace", "text"),
    [
        ("remember: we use UTC everywhere", "context", "we use UTC everywhere"),
        ("Remember that the staging db is read-only", "context", "the staging db is read-only"),
        ("remember that tests must run in UTC", "testing", "tests must run in UTC"),
        ("please remember that we deploy from main", "context", "we deploy from main"),
        ("note to self: the exporter needs 4 GB", "context", "the exporter needs 4 GB"),
        ("For the record, we chose sqlite instead of postgres", "decisions", "we chose sqlite instead of postgres"),
        ("decision: money is integer cents", "decisions", "money is integer cents"),
        ("lesson learned: the cache must be cleared twice", "learnings", "the cache must be cleared twice"),
        ("from now on, always run ruff first", "patterns", "from now on, always run ruff first"),
        ("fix the login\n\nremember: deploys happen on tuesdays only", "context", "deploys happen on tuesdays only"),
        ("remember: tags are signed. Now fix the build", "context", "tags are signed."),
        ("remember:\n- a port is 8080\n- b is not\nnow go", "config", "- a port is 8080\n- b is not"),
    ],
)
def test_it_is_heard(prompt: str, namespace: str, text: str) -> None:
    assert remembered(prompt) == [(namespace, text)]


@pytest.mark.parametrize(
    "prompt",
    [
        "do you remember that bug?",
        "remember that bug?",
        "remember that bug we had last week, it is back",
        "remember that time the build was red for a week",
        "remember to run the tests",
        "remember: ",
        "remember",
        "can you remember: where is the parser",
        "decision: option 2",
        "decision: should we use X or keep Y?",
        "from now on I'll be away",
        '"remember: we use tabs" is what he wrote',
        "> remember: we use tabs in this house",
        "```\nremember: we use tabs in this house\n```\nwhat does this mean?",
        "the ticket says:\ndecision: allow all of them today\nis that right?",
        "the ticket says:\n\ndecision: allow all of them today",
        "effect: deny\ndecision: allow all of them\nrule: 3",
        "{\ndecision: allow all of them today\n}",
        "the function remember: takes a key",
        "remember: " + "x y " * 400,
    ],
)
def test_it_is_not_taken_for_one(prompt: str) -> None:
    assert remembered(prompt) == []


@given(st.text(alphabet='remb :that\n-`>"é\u202e', max_size=400).map("remember: ".__add__))
def test_no_text_makes_it_fail_or_say_much(text: str) -> None:
    found = remembered(text)

    assert len(found) <= 3
    assert all(said.strip() and len(said) <= 1000 for _, said in found)


@pytest.mark.parametrize("line", ["remember that x ", "decision: y\n", "a: b\n", "remember:\n- x\n", "from now on\n"])
def test_a_huge_prompt_costs_little(line: str) -> None:
    prompt = (line * 70_000)[:65_536]

    assert processor_s(lambda: remembered(prompt)) < 0.25


def test_a_prompt_asks_for_three_at_most() -> None:
    assert len(remembered("\n\n".join(f"remember: fact number {n}" for n in range(9)))) == 3


@pytest.mark.parametrize(
    ("text", "namespace"),
    [
        ("we agreed on tabs", "decisions"),
        ("blocked by the certificate", "blockers"),
        ("it turned out to be the proxy", "learnings"),
        ("always pin the versions", "patterns"),
        ("the sky is blue", "context"),
    ],
)
def test_the_words_suggest_a_namespace(text: str, namespace: str) -> None:
    assert namespace_of(text) == namespace


def captured(account: Account) -> list[dict[str, Any]]:
    """Return what this account remembers without anyone having reviewed it."""
    value = json.loads(account.cli("memory", "review", "--json"))
    assert isinstance(value, list)
    return value


def test_a_prompt_is_heard_told_of_and_reviewed(account: Account) -> None:
    answer = account.ask("remember: the staging db is read-only, password=Tr0ub4dor&3x9")

    (kept,) = captured(account)
    assert answer.is_harmless()
    assert f"Remembered {kept['id']} ({kept['namespace']}): " in answer.told
    assert "enricher memory review" in answer.told
    assert (kept["origin"], kept["reviewed"]) == ("captured", False)
    assert "Tr0ub4dor" not in kept["content"] + answer.told
    account.cli("memory", "review", kept["id"], "--approve")
    assert captured(account) == []


def test_the_same_thing_said_twice_is_one_memory(account: Account) -> None:
    for _ in range(2):
        account.ask("remember: exports run at night")
    account.cli("memory", "capture", "exports run at night")

    assert len(captured(account)) == 1


def test_a_turns_order_and_a_skipped_prompt_leave_nothing(account: Account) -> None:
    account.ask("remember to run the tests")
    account.ask(". remember: we use tabs in this house")

    assert captured(account) == []


@pytest.mark.parametrize(
    "variables",
    [{"ENRICHER_LOG": "off"}, {"ENRICHER_LOG": "hash"}],
    ids=lambda variables: "-".join(variables.values()),
)
def test_nothing_is_kept_where_no_text_is(account: Account, variables: dict[str, str]) -> None:
    account.env.update(variables)
    answer = account.ask("remember: we use tabs in this house")

    assert answer.told == ""
    assert captured(account) == []


def test_nothing_is_kept_with_the_channel_off(account: Account) -> None:
    account.write("config/config.toml", "[channels]\nmemory = false\n")
    account.compile()
    answer = account.ask("remember: we use tabs in this house")

    assert answer.told == ""
    assert captured(account) == []


def test_a_prompt_that_only_says_what_to_remember_gets_nothing_else(account: Account) -> None:
    alone = account.ask("remember: we never touch setup.cfg because the release bot owns it")
    first = account.trace()
    account.ask("remember: the build runs on debian. now fix the failing test in test_login.py, it raises a KeyError")

    assert (alone.context, first["skip_reason"]) == ("", "remembered")
    assert account.trace()["status"] != "skipped"
    assert len(json.loads(account.cli("memory", "list", "--json"))) == 2
    assert "only says what to remember" in account.cli("explain", "remember: we never touch setup.cfg because of bots")
