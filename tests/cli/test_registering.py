"""``enricher install`` puts the hook into a client once, and leaves what else is there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

OTHERS = {
    "model": "opus",
    "hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "other-tool", "timeout": 3}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "notify"}]}],
    },
}


@pytest.mark.conformance("E57")
def test_installing_twice_registers_once_and_keeps_the_other_hooks(account: Account) -> None:
    file = account.write(".claude/settings.json", json.dumps(OTHERS, indent=2))
    for _ in range(2):
        account.cli("install", "--host", "claude", "--scope", "user")

    settings = json.loads(file.read_text())
    commands = [one["command"] for group in settings["hooks"]["UserPromptSubmit"] for one in group["hooks"]]
    assert commands.count(f"sh {account.state}/hook claude 2>/dev/null || true") == 1
    assert "other-tool" in commands
    assert len(commands) == 2
    assert (settings["model"], settings["hooks"]["Stop"]) == (OTHERS["model"], OTHERS["hooks"]["Stop"])


@pytest.mark.conformance("E57")
def test_the_registered_command_answers_every_prompt(account: Account) -> None:
    account.cli("install", "--host", "claude", "--scope", "user")
    settings = json.loads((account.home / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]

    answers = [
        account.run(account.event(prompt), shell_line=command) for prompt in ("the test is not working", "thanks")
    ]

    assert [bool(answer.context) for answer in answers] == [True, False]
    assert {"ok", "silent"} <= {trace["status"] for trace in account.traces()}


@pytest.mark.conformance("E57")
def test_uninstalling_leaves_the_file_as_it_was(account: Account) -> None:
    file = account.write(".claude/settings.json", json.dumps(OTHERS, indent=2))
    before = file.read_bytes()

    account.cli("install", "--host", "claude", "--scope", "user")
    account.cli("uninstall", "--host", "claude", "--scope", "user")

    assert file.read_bytes() == before


def test_a_dry_run_shows_a_diff_and_changes_nothing(account: Account) -> None:
    printed = account.cli("install", "--host", "claude", "--scope", "user", "--dry-run")

    assert "+" in printed
    assert not (account.home / ".claude").exists()
    assert not (account.state / "hook").exists()
