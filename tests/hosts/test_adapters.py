"""Each client's event is understood and its answer is one that it can read, whatever is sent or said."""
# ruff: noqa: RUF001 (the look-alikes are what is tested)

from __future__ import annotations

import json
from typing import Any

import pytest
from client_events import EVENTS, context_in
from hypothesis import given
from hypothesis import strategies as st

from enricher import hosts
from enricher.hosts import claude
from enricher.prompt.event import PromptEvent
from enricher.respond.render import MAX_BYTES, finish
from storage.base.fast_stdlib import dumps

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["<system-reminder>", "</x>", "a<b", "\ud800"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
KNOWN_KEYS = (
    *("prompt", "session_id", "sessionId", "cwd", "workspace_roots", "transcript_path", "source", "agent_id"),
    *("conversation_id", "generation_id", "turn_id", "prompt_id", "hook_event_name", "hookSpecificData", "timestamp"),
)
ANY_EVENT = ANY_JSON | st.dictionaries(st.sampled_from(KNOWN_KEYS), ANY_JSON, max_size=8)


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_event_of_each_client_is_read_completely(host: str) -> None:
    event = hosts.adapter(host).parse(EVENTS[host])

    assert (event.prompt, event.host, event.session_id, event.cwd) == ("p", host, "s", "/w")
    assert event.transcript_path == EVENTS[host].get("transcript_path", "")


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_event_of_each_client_is_recognised_without_its_environment(host: str) -> None:
    assert hosts.detect({}, EVENTS[host], "") == host


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({"prompt": "p", "session_id": "s", "project_path": "/w"}, ("p", "s", "/w"), id="project_path"),
        pytest.param({"hookSpecificData": {"userPromptContent": "p"}}, ("p", "", ""), id="hookSpecificData"),
        pytest.param({"prompt": 123, "session_id": [], "cwd": None}, ("", "", ""), id="other types"),
        pytest.param([], ("", "", ""), id="no object"),
    ],
)
def test_older_payload_forms_are_understood(payload: object, expected: tuple[str, str, str]) -> None:
    event = claude.parse(payload)

    assert (event.prompt, event.session_id, event.cwd) == expected


def test_the_copilot_event_in_its_vs_code_form_is_read_too() -> None:
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "timestamp": "2026-11-21T03:43:34Z",
        "cwd": "/w",
        "prompt": "p",
    }
    host = hosts.detect({"COPILOT_CLI": "1"}, payload, "claude")
    event = hosts.adapter(host).parse(payload)

    assert (host, event.prompt, event.session_id) == ("copilot", "p", "s")


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        pytest.param('"fix the \\"login\\" test"', 'fix the "login" test', id="opencode run"),
        pytest.param('"a" and "b"', '"a" and "b"', id="two quoted words"),
        pytest.param('"', '"', id="one quote"),
        pytest.param("fix it", "fix it", id="none"),
    ],
)
def test_the_quotes_of_opencode_run_are_not_what_was_typed(sent: str, typed: str) -> None:
    assert hosts.adapter("opencode").parse({"prompt": sent}).prompt == typed


def test_who_wrote_the_prompt_and_which_agent_received_it_are_kept() -> None:
    event = claude.parse(EVENTS["claude"] | {"source": "schedule_wakeup", "agent_id": "a1"})

    assert (event.source, event.agent) == ("schedule_wakeup", "a1")


def test_an_agent_type_alone_makes_no_subagent() -> None:
    assert claude.parse(EVENTS["claude"] | {"agent_type": "reviewer"}).agent == ""


@pytest.mark.parametrize(
    ("environ", "payload", "named", "expected"),
    [
        pytest.param({"COPILOT_CLI": "1"}, {"prompt": "p"}, "claude", "copilot", id="copilot runs a claude hook"),
        pytest.param({"CURSOR_VERSION": "3.2"}, {"prompt": "p"}, "claude", "cursor", id="cursor runs a claude hook"),
        pytest.param({"CLAUDECODE": "1"}, {"prompt": "p"}, "codex", "claude", id="environment before name"),
        pytest.param({"GEMINI_SESSION_ID": "1"}, {}, "", "gemini", id="gemini by its session"),
        pytest.param({"CLAUDE_PROJECT_DIR": "/w"}, {}, "codex", "codex", id="a variable that three clients set"),
        pytest.param({"COPILOT_CLI": ""}, {}, "codex", "codex", id="an empty marker is none"),
        pytest.param({"COPILOT_CLI": "1"}, EVENTS["claude"], "", "claude", id="claude started from copilot's shell"),
        pytest.param({"CLAUDECODE": "1"}, EVENTS["codex"], "codex", "codex", id="codex started from claude's shell"),
        pytest.param({}, {"prompt": "p"}, "gemini", "gemini", id="the name it was registered under"),
        pytest.param({}, {"prompt": "p"}, "nonesuch", "claude", id="an unknown name"),
        pytest.param({}, "no object", "", "claude", id="nothing known"),
    ],
)
def test_the_client_that_is_running_decides_the_shape(
    environ: dict[str, str], payload: object, named: str, expected: str
) -> None:
    assert hosts.detect(environ, payload, named) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("claude", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "C"}}),
        ("codex", {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "C"}}),
        ("gemini", {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "C"}}),
        ("copilot", {"additionalContext": "C"}),
        ("cursor", {"continue": True, "additional_context": "C"}),
        ("opencode", {"additionalContext": "C"}),
    ],
)
def test_each_client_gets_context_in_the_one_shape_it_reads(host: str, expected: dict[str, Any]) -> None:
    assert hosts.adapter(host).answer("C", "") == expected


@pytest.mark.parametrize("host", hosts.NAMES)
def test_nothing_to_say_is_nothing_printed(host: str) -> None:
    assert hosts.adapter(host).answer("", "") is None


@pytest.mark.parametrize(
    ("host", "key"),
    [("claude", "systemMessage"), ("gemini", "systemMessage"), ("codex", "systemMessage"), ("cursor", "user_message")],
)
def test_a_notice_reaches_the_person_without_context(host: str, key: str) -> None:
    answer = hosts.adapter(host).answer("", "the database was damaged")

    assert answer is not None
    assert answer[key] == "the database was damaged"
    assert context_in(host, answer) == ""


def test_a_notice_never_becomes_context_where_the_client_shows_none() -> None:
    assert hosts.adapter("copilot").answer("", "the database was damaged") is None


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        pytest.param("a </system-reminder> b", "a ‹/system-reminder› b", id="closing tag"),
        pytest.param("<system_reminder>x", "‹system_reminder›x", id="opening tag"),
        pytest.param("<!-- x -->", "‹!-- x --›", id="comment"),
        pytest.param("a < b and b > c, x -> y", "a < b and b > c, x -> y", id="arithmetic stays"),
        pytest.param("\ud83d\ude00 \ud800", "😀 \ufffd", id="surrogates"),
    ],
)
def test_text_that_would_be_misread_is_made_harmless(context: str, expected: str) -> None:
    assert finish(context) == expected


@pytest.mark.parametrize("line", ["x" * 99, "漢" * 99], ids=["ascii", "cjk"])
def test_a_text_too_long_for_a_client_ends_at_a_line(line: str) -> None:
    shortened = finish("\n".join([line] * 200))

    assert len(shortened.encode()) <= MAX_BYTES
    assert shortened.endswith(line)


@given(ANY_TEXT)
def test_finishing_a_text_twice_changes_nothing_more(context: str) -> None:
    once = finish(context)

    assert finish(once) == once


@given(st.sampled_from(hosts.NAMES), ANY_EVENT)
def test_any_json_value_is_an_event(host: str, payload: object) -> None:
    event = hosts.adapter(hosts.detect({}, payload, host)).parse(payload)

    assert isinstance(event, PromptEvent)
    assert all(isinstance(getattr(event, name), str) for name in PromptEvent.__slots__ if hasattr(event, name))


@given(st.sampled_from(hosts.NAMES), ANY_TEXT, ANY_TEXT)
def test_any_answer_is_ascii_json_that_never_stops_a_prompt(host: str, context: str, notice: str) -> None:
    context = finish(context)
    answer = hosts.adapter(host).answer(context, finish(notice))
    if answer is None:
        return
    decoded = json.loads(dumps(answer).encode("ascii"))

    assert decoded.get("continue", True) is True
    assert not {"decision", "stopReason", "suppressOriginalPrompt", "modifiedPrompt"} & set(decoded)
    assert context_in(host, decoded) == context


@given(ANY_TEXT, ANY_TEXT)
def test_codex_never_sees_a_key_outside_its_schema(context: str, notice: str) -> None:
    answer = hosts.adapter("codex").answer(context, notice) or {}

    assert set(answer) <= {"systemMessage", "hookSpecificOutput"}
    assert set(answer.get("hookSpecificOutput") or {}) in (set(), {"hookEventName", "additionalContext"})
