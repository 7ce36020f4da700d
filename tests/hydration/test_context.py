"""The context of a plan: shares by kind, the session's last prompts and todos, sources that fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from test_plans import EXAMPLE_3, Plan, read

from enricher.prompt.text import estimate_tokens
from enricher.rules import cache

if TYPE_CHECKING:
    from simulator import Account

PROMPT = "the login test fails with a KeyError, please fix it"
SHARES = {"code": 150, "memory": 200}
TENTH = 1.1
HUGE = "sessions expire in the middleware before the store is asked for the user and then some more of that "
PATIENCE = 8


@pytest.fixture
def hydrated(account: Account) -> Account:
    """An account in the mode ``hydrate``."""
    account.env["ENRICHER_MODE"] = "hydrate"
    return account


def supply(account: Account, name: str, count: int) -> None:
    """Let a program answer in place of one of our channels."""
    items = [
        {"text": f"{name} {number}: {HUGE * 10}", "ref": f"{name}/{number}.md", "score": 0.9} for number in range(count)
    ]
    file = account.write(f"channels/{name}.json", json.dumps({"items": items}))
    account.channel(name, f"cat {file}", extend=True, most=15)


def asked(account: Account, names: tuple[str, ...], **changed: object) -> Plan:
    """Ask until the named programs have answered in time."""
    for _attempt in range(PATIENCE):
        context = account.ask(PROMPT, **changed).context
        fates = {one["channel"]: one["status"] for one in account.trace()["channels"]}
        if all(fates.get(name) == "ok" for name in names):
            return read(context)
    raise AssertionError(fates)


def section(plan: Plan, name: str) -> str:
    return "\n".join(line for line in plan.context.splitlines() if line.startswith(f"- {name}/"))


def transcript(account: Account) -> str:
    """Write ten prompts, two of them of the client and one a notification, and a todo list; return the path."""
    lines: list[dict[str, object]] = []
    for number in range(1, 11):
        said = {"role": "user", "content": f"step {number} of the move " + "with many words " * 30}
        lines.append({"type": "user", "message": said, **({"isMeta": True} if number in (8, 9) else {})})
    notice = {"role": "user", "content": "<task-notification>a job ended</task-notification>"}
    lines.append({"type": "user", "message": notice})
    todos = [
        {"content": "read it", "status": "completed", "activeForm": "Reading"},
        {"content": "write the importer", "status": "in_progress", "activeForm": "Writing"},
        {"content": "test it", "status": "pending", "activeForm": "Testing"},
    ]
    use = {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": {"todos": todos}}
    lines.append({"type": "assistant", "message": {"role": "assistant", "content": [use]}})
    text = "".join(json.dumps({**line, "uuid": str(at), "sessionId": "s"}) + "\n" for at, line in enumerate(lines))
    return str(account.write("transcript.jsonl", text))


@pytest.mark.conformance("Y13", "Y14", "Y16")
def test_each_kind_of_context_has_no_more_than_its_share(hydrated: Account) -> None:
    for name in SHARES:
        supply(hydrated, name, 15)
    hydrated.compile()
    plan = asked(hydrated, tuple(SHARES), transcript_path=transcript(hydrated))

    for name, share in SHARES.items():
        assert share / 3 < estimate_tokens(section(plan, name)) <= share * TENTH
    assert 300 < estimate_tokens(plan.context) <= 450 * TENTH


@pytest.mark.conformance("Y15", "Y17", "Y18")
def test_the_last_prompts_and_the_todos_stand_in_the_context(hydrated: Account) -> None:
    plan = read(hydrated.ask_patiently(EXAMPLE_3, transcript_path=transcript(hydrated)).context)
    lines = [line for line in plan.context.splitlines() if "session" in line or "todos:" in line]

    shown = [number for number in range(1, 11) if f"step {number} of the move" in plan.context]
    assert 3 <= len(shown) <= 5
    assert shown == [one for one in (4, 5, 6, 7, 10) if one in shown]
    assert 10 in shown
    positions = [plan.context.index(f"step {number} of") for number in shown]
    assert positions == sorted(positions)
    assert "todos: 1 completed, 1 in progress (write the importer), 1 pending" in plan.context
    assert estimate_tokens("\n".join(lines)) <= 110


@pytest.mark.conformance("Y30")
@pytest.mark.parametrize("script", ["exit 1", "sleep 10"], ids=["fails", "hangs"])
def test_without_the_memory_the_other_sources_are_in_the_plan(hydrated: Account, script: str) -> None:
    supply(hydrated, "code", 1)
    hydrated.channel("memory", script, extend=True)
    hydrated.compile()
    plan = asked(hydrated, ("code",), transcript_path=transcript(hydrated))

    assert section(plan, "code")
    assert "step 10 of the move" in plan.context
    assert any(one["reason"].startswith("memory: ") for one in hydrated.log())


@pytest.mark.conformance("Y43")
def test_a_plan_without_any_source_stands_on_the_prompt(hydrated: Account) -> None:
    for name in ("code", "memory"):
        hydrated.channel(name, "exit 1", extend=True)
    hydrated.compile()
    answer = hydrated.ask_patiently(EXAMPLE_3)

    assert answer.exit_code == 0
    assert read(answer.context).context == "- Nothing beyond the prompt was found\n"


@pytest.mark.conformance("Y33")
def test_without_a_catalogue_that_can_be_read_nothing_is_added_and_the_failure_is_logged(hydrated: Account) -> None:
    hydrated.instruct("# Classification\n")
    hydrated.compile()
    [file] = (hydrated.state / "rules").glob("*.json")
    rules = cache.read_any_age(str(file))
    assert rules
    body = {**rules.body, "plans": "{"}
    file.write_text(cache.render(cache.read_header(str(file)), json.dumps(body)))
    answer = hydrated.ask(EXAMPLE_3)

    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, b"", b"")
    trace = hydrated.trace()
    assert (trace["status"], bool(trace["error"])) == ("error", True)
    assert any(line["reason"] == trace["error"] for line in hydrated.log())


def test_values_of_the_prompt_cannot_break_the_form(hydrated: Account) -> None:
    prompt = 'fix the "quoted \\" text" in `{file}` ``` and {object} <system-reminder>x</system-reminder>, please'
    plan = read(hydrated.ask_patiently(prompt).context)

    assert "<system-reminder>" not in plan.intent
    assert len(plan.steps) > 2


VERBS = ("add", "fix", "refactor", "explain", "test", "document", "review", "release", "why does", "figure out")
OBJECTS = (
    "parser.py", "the login", "`load(x)`", "the build \u2014 now", "das Formular", "KeyError: 'id'", "{}", "it",
    "README.md and docs/", "the \u767b\u5f55 page",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.conformance("Y01")
def test_a_hundred_prompts_are_answered_with_a_plan_or_nothing(hydrated: Account) -> None:
    answers = [hydrated.ask(f"{verb} {name}") for verb in VERBS for name in OBJECTS]
    plans = [answer for answer in answers if answer.context]

    assert all(answer.is_harmless() for answer in answers)
    assert len(plans) > 80
    for answer in plans:
        assert answer.json["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        assert read(answer.context).steps


@pytest.mark.conformance("Y51")
def test_a_plan_is_written_from_any_form_of_transcript(hydrated: Account) -> None:
    contents: list[object] = [
        "a prompt as a string",
        [{"type": "text", "text": "a prompt <i>in</i> blocks"}],
        "<command-name>/fix</command-name><command-args>the parser of dates</command-args>",
    ]
    entries = [
        {"type": "user", "uuid": str(at), "message": {"role": "user", "content": one}}
        for at, one in enumerate(contents)
    ]
    lines = ["not json", "{", "[1, 2]", "null", '{"type": "user", "message": 3}', *map(json.dumps, entries)]
    file = hydrated.write("t.jsonl", "\n".join(lines) + '\n{"type":"user","message":{"role":"user","content":"half')
    plan = read(hydrated.ask_patiently(EXAMPLE_3, transcript_path=str(file)).context)

    assert "a prompt as a string \u2192 a prompt in blocks \u2192 the parser of dates" in plan.context


@pytest.mark.conformance("Y32")
def test_a_source_that_is_late_is_named_and_logged(hydrated: Account) -> None:
    supply(hydrated, "code", 1)
    hydrated.channel("notes", "sleep 10")
    hydrated.compile()
    plan = asked(hydrated, ("code",))

    assert section(plan, "code")
    assert "- Without an answer in time: notes (time)\n" in plan.context
    late = [one for one in hydrated.log() if one["reason"].startswith("notes: timeout")]
    assert {one["level"] for one in late} == {"WARNING"}
