"""``enricher install --hydrate``: the definition of the subagent, and its removal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator import Account


def test_the_definition_is_written_and_removed_again(account: Account) -> None:
    said = account.cli("install", "--host", "claude", "--hydrate")
    file = account.home / ".claude" / "agents" / "prompt-hydrator.md"

    assert f"subagent defined in {file}" in said
    assert file.read_text(encoding="utf-8").startswith("---\nname: prompt-hydrator\n")
    account.cli("uninstall", "--host", "claude")
    assert not file.exists()


def test_the_subagent_may_read_the_folder_of_the_plans_until_it_is_removed(account: Account) -> None:
    before = '{\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n'
    settings = account.write(".claude/settings.json", before)
    for _time in range(2):
        account.cli("install", "--host", "claude", "--hydrate")

    rule = f"Read(/{account.env['TMPDIR']}/claude-hydrator*/**)"
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"] == ["Bash(ls:*)", rule]
    account.cli("uninstall", "--host", "claude")
    assert settings.read_text(encoding="utf-8") == before


def test_nothing_is_left_of_settings_that_only_held_ours(account: Account) -> None:
    account.cli("install", "--host", "claude", "--hydrate")
    account.cli("uninstall", "--host", "claude")

    assert not (account.home / ".claude" / "settings.json").exists()


def test_without_the_option_there_is_no_definition(account: Account) -> None:
    account.cli("install", "--host", "claude")

    assert not (account.home / ".claude" / "agents").exists()


def test_a_definition_of_the_user_stays(account: Account) -> None:
    own = account.write(".claude/agents/prompt-hydrator.md", "mine\n")
    account.cli("install", "--host", "claude", "--hydrate", exit_code=1)
    account.cli("uninstall", "--host", "claude")

    assert own.read_text(encoding="utf-8") == "mine\n"
