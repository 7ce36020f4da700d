"""Which prompts are left alone, and why."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enricher import pipeline
from enricher.interfaces import api
from enricher.prompt.event import SKIPS, PromptEvent, skip_reason
from enricher.prompt.redaction import redact

EXPANDED = "<command-message>pull</command-message>\n<command-name>/pull</command-name>\n"

# Cases of an earlier system that the rulings overrule: prompt -> our reason, why.
DEVIATIONS = {
    "": ("empty", "an empty prompt gets nothing, and the trace says so"),
    "   ": ("empty", "an empty prompt gets nothing, and the trace says so"),
    "/ with space": ("", "a slash without a name calls no command"),
}


def reason(prompt: str, **event: str) -> str:
    return skip_reason(PromptEvent(prompt, **event))


def documented_cases() -> list[dict[str, object]]:
    folder = os.environ.get("ENRICHER_EVAL")
    places = [Path(folder)] if folder else [root / "shared" / "eval" for root in Path(__file__).resolve().parents]
    path = next((place / "routing_cases.jsonl" for place in places if (place / "routing_cases.jsonl").is_file()), None)
    if path is None:
        return []
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [case for case in cases if case["expected_kind"] == "skip_enrichment"]


def test_the_documents_own_cases_are_met_where_no_ruling_overrules_them() -> None:
    cases = documented_cases()
    if not cases:
        pytest.skip("no routing_cases.jsonl: set ENRICHER_EVAL to the folder that holds it")

    wrong = [
        (case["prompt"], case["expected_value"], reason(str(case["prompt"])))
        for case in cases
        if case["prompt"] not in DEVIATIONS and bool(reason(str(case["prompt"]))) != case["expected_value"]
    ]

    assert wrong == []


@pytest.mark.parametrize(("prompt", "expected"), [pytest.param(p, r, id=w) for p, (r, w) in DEVIATIONS.items()])
def test_cases_that_a_ruling_overrules(prompt: str, expected: str) -> None:
    assert reason(prompt) == expected


@pytest.mark.conformance("E26")
@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param(". list files", id="dot and blank"),
        pytest.param(".list files", id="dot and word"),
        pytest.param("  .list", id="blanks before"),
        pytest.param(".", id="dot alone"),
        pytest.param(".fix src/app.py now", id="path later on"),
        pytest.param(".ignore the last message", id="word that only looks like an ending"),
    ],
)
def test_a_leading_dot_bypasses(prompt: str) -> None:
    assert reason(prompt) == "bypass_prefix"


@pytest.mark.parametrize(
    "prompt",
    [
        "./run.sh fails",
        "../shared is missing",
        "..",
        "...",
        "... and then the tests",
        ".\\build.ps1 fails",
        ".gitignore misses the build folder",
        ".gitignore",
        ".env is not loaded",
        ".env.local overrides .env, why?",
        ".github/workflows/ci.yml is red",
        ".eslintrc.json has an error",
        ".bashrc: add an alias",
        ".npmrc, what is it for?",
        ".dockerignore should list dist",
        ".claude/settings.json has a hook",
        ".vscode",
        ".NET 9 upgrade, please",
        ".5rem is too small",
    ],
)
def test_a_path_an_ellipsis_or_a_dotfile_is_no_bypass(prompt: str) -> None:
    assert reason(prompt) == ""


@pytest.mark.conformance("E26")
def test_the_bypass_prefix_is_a_setting() -> None:
    event = PromptEvent("!! list files")

    assert skip_reason(event, bypass_prefix="!!") == "bypass_prefix"
    assert skip_reason(event, bypass_prefix=".") == ""


def test_no_bypass_prefix_means_that_nothing_bypasses() -> None:
    assert skip_reason(PromptEvent(".list files"), bypass_prefix="") == ""


def test_another_prefix_knows_no_dotfiles() -> None:
    assert skip_reason(PromptEvent(",.gitignore"), bypass_prefix=",") == "bypass_prefix"


@pytest.mark.conformance("E26")
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param("no enrichment: list files", "bypass_phrase", id="opening"),
        pytest.param("  No Enrichment: list files", "bypass_phrase", id="case and blanks"),
        pytest.param("list files, no enrichment: please", "", id="later on"),
        pytest.param("no enrichment happens, why?", "", id="without the colon"),
    ],
)
def test_the_opening_phrase_bypasses(prompt: str, expected: str) -> None:
    assert reason(prompt) == expected


@pytest.mark.conformance("E26")
def test_switched_off_is_the_first_reason() -> None:
    assert skip_reason(PromptEvent(".list", agent="explorer", source="system"), enabled=False) == "disabled"


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param("/commit", "slash_command", id="name"),
        pytest.param("/review the last change", "slash_command", id="arguments typed, not marked"),
        pytest.param("/plugin:name-2 x", "slash_command", id="colon, hyphen and digit"),
        pytest.param("\n/commit\n", "slash_command", id="blanks around"),
        pytest.param("# /commit", "slash_command", id="as a heading"),
        pytest.param("/srv/app/x.py is broken", "", id="path"),
        pytest.param("/srv/app", "", id="path alone"),
        pytest.param("/x.py is broken", "", id="file at the root"),
        pytest.param("//server/share is gone", "", id="share"),
        pytest.param("/", "", id="slash alone"),
        pytest.param("// TODO in app.ts, do it", "", id="comment"),
        pytest.param("# /srv/app is full", "", id="path as a heading"),
        pytest.param("tell me about /commit", "", id="later on"),
        pytest.param(EXPANDED, "slash_command", id="expanded without arguments"),
        pytest.param(EXPANDED + "<command-args></command-args>", "slash_command", id="no word"),
        pytest.param(EXPANDED + "<command-args> a-1 </command-args>\n# Pull", "slash_command", id="one word"),
        pytest.param(EXPANDED + "<command-args>a-1 and split</command-args>", "", id="more than one word"),
        pytest.param(EXPANDED + "<command-args>a-1 and spl", "", id="tag left open"),
        pytest.param("# /pull\n" + EXPANDED + "<command-args>two words</command-args>", "", id="heading, two words"),
        pytest.param("what does <command-name>/x</command-name> mean?", "", id="quoted in a question"),
    ],
)
def test_slash_commands(prompt: str, expected: str) -> None:
    assert reason(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param("<task-notification>done</task-notification>", "machine_prompt", id="task"),
        pytest.param(" <agent-notification>done</agent-notification>", "machine_prompt", id="agent"),
        pytest.param('<task-notification id="7">done', "machine_prompt", id="with an attribute"),
        pytest.param("<task-notifications> is a component, fix it", "", id="another tag"),
        pytest.param("what is a <task-notification>?", "", id="later on"),
    ],
)
def test_notifications_are_no_persons_prompts(prompt: str, expected: str) -> None:
    assert reason(prompt) == expected


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "anything new"])
def test_a_prompt_that_no_person_sent_is_skipped(source: str) -> None:
    assert reason("fix the parser", source=source) == "machine_prompt"


@pytest.mark.parametrize("source", ["", "user", "sdk", "User"])
def test_a_prompt_of_a_person_or_a_program_acting_for_one_is_not(source: str) -> None:
    assert reason("fix the parser", source=source) == ""


def test_subagents_are_skipped() -> None:
    assert reason("fix the parser", agent="explorer") == "subagent"


@pytest.mark.conformance("P35")
@pytest.mark.parametrize("prompt", ["", "   ", "\n\t", "\u3000"])
def test_nothing_to_read_is_empty(prompt: str) -> None:
    assert reason(prompt) == "empty"


@pytest.mark.conformance("P35")
def test_a_prompt_that_is_private_throughout_is_empty() -> None:
    judged, _ = redact("<private>only for you</private>\n <private>this too")

    assert reason(judged) == "empty"


@given(st.text(st.characters()), st.text(max_size=3), st.text(max_size=8), st.booleans())
def test_any_prompt_gets_a_known_reason_or_none(prompt: str, prefix: str, source: str, enabled: bool) -> None:
    found = skip_reason(PromptEvent(prompt, source=source), bypass_prefix=prefix, enabled=enabled)

    assert found in {"", *SKIPS}


@given(st.text("./#<>-: abn\n_\u0000\ud800", max_size=40))
def test_any_beginning_gets_a_known_reason_or_none(prompt: str) -> None:
    assert reason(prompt) in {"", *SKIPS}


def test_every_reason_of_the_hook_is_told_in_words() -> None:
    sources = [Path(module.__file__).read_text() for module in (pipeline, api)]
    named = {name for text in sources for name in re.findall(r'\b(?:reason|skipped)\b[^=\n]* = "(\w+)"', text)}

    assert {"settings_unknown", "duplicate", "gate_closed", "remembered"} <= named <= SKIPS.keys()
