"""The person can leave a prompt, a client, or everything out; the trace says what was left out and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

PROMPT = "the test is not working"
REFUSALS = [
    pytest.param(f". {PROMPT}", "bypass_prefix", id="a leading dot"),
    pytest.param(f"No enrichment: {PROMPT}", "bypass_phrase", id="an opening phrase"),
    pytest.param("/review the parser", "slash_command", id="a slash command"),
    pytest.param("<task-notification>\nthe test is not working", "machine_prompt", id="a machine's prompt"),
]


@pytest.mark.conformance("E26")
@pytest.mark.parametrize(("prompt", "reason"), REFUSALS)
def test_a_prompt_that_asks_to_be_left_alone_is(account: Account, prompt: str, reason: str) -> None:
    answer = account.ask(prompt)

    assert answer.is_harmless()
    assert answer.stdout == b""
    assert (account.trace()["status"], account.trace()["skip_reason"]) == ("skipped", reason)


@pytest.mark.conformance("E26", "E60")
def test_the_setting_switches_it_off_and_on_again(account: Account) -> None:
    account.cli("off")
    account.compile()
    off = account.ask(PROMPT)
    trace = account.trace()
    account.cli("on")
    account.compile()

    assert (off.exit_code, off.stdout, trace["skip_reason"]) == (0, b"", "disabled")
    assert {one["stage"] for one in trace["stages"]} <= {"read", "rules", "redact", "answer"}  # nothing is looked up
    assert account.ask(PROMPT).context


@pytest.mark.conformance("E26", "E60")
@pytest.mark.parametrize("value", ["0", "false", "off", "No"])
def test_the_environment_switches_it_off(account: Account, value: str) -> None:
    account.env["ENRICHER_ENABLED"] = value

    assert account.ask(PROMPT).stdout == b""
    assert account.trace()["skip_reason"] == "disabled"


def test_a_value_that_cannot_be_read_is_logged_and_the_default_holds(account: Account) -> None:
    account.env["ENRICHER_ENABLED"] = "perhaps"

    assert account.ask(PROMPT).context
    assert [record["stage"] for record in account.log()] == ["settings"]
    assert "ENRICHER_ENABLED" in account.log()[0]["reason"]


def test_one_client_can_be_switched_off(account: Account) -> None:
    account.write("config/config.toml", "[hosts]\nclaude = false\n")
    account.compile()

    assert account.ask(PROMPT).stdout == b""
    assert account.trace()["skip_reason"] == "disabled"


def test_shadow_mode_records_everything_and_says_nothing(account: Account) -> None:
    account.env["ENRICHER_SHADOW"] = "1"

    answer = account.ask(PROMPT)

    assert (answer.exit_code, answer.stdout) == (0, b"")
    assert account.trace()["status"] == "shadow"
    assert account.trace()["output_text"].startswith("## Prompt Enrichment")


def test_the_same_prompt_of_a_second_registration_is_answered_once(account: Account) -> None:
    event = account.event(PROMPT)

    answers = [account.run(event) for _ in range(2)]

    assert [bool(answer.context) for answer in answers] == [True, False]
    assert [(trace["status"], trace["skip_reason"]) for trace in account.traces()] == [
        ("ok", ""),
        ("skipped", "duplicate"),
    ]


@pytest.mark.parametrize(
    ("level", "keeps"),
    [("off", None), ("hash", ("", "")), ("redacted", (PROMPT, "## Prompt")), ("full", (PROMPT, "## Prompt"))],
)
def test_the_log_setting_says_what_is_kept(account: Account, level: str, keeps: tuple[str, str] | None) -> None:
    account.env["ENRICHER_LOG"] = level

    answer = account.ask(PROMPT)

    assert answer.context
    kept = [(trace["prompt"], trace["output_text"][:9]) for trace in account.traces()]
    assert kept == ([] if keeps is None else [keeps])


def test_a_secret_reaches_neither_trace_nor_channel_nor_log(account: Account) -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ2rS" * 4
    account.channel("ears", f"cat > {account.home}/heard")
    account.compile()

    account.ask(f"the test is not working with the key {secret}")
    traced = account.trace()

    assert secret not in str(traced)
    assert secret not in (account.home / "heard").read_text()
    assert traced["inputs"]["redacted"]
    for file in account.state.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()
