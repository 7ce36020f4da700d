"""The reminder and the suggested resources (seed 001) reach an agent that can act on them, and no other."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from enricher.hosts.servers import has_our_server

if TYPE_CHECKING:
    from simulator import Account

HOWTO = "how do I rotate the signing certificate?"
TROUBLE = "why does the signing certificate fail to rotate?"
ORDER = "rename the certificate module to certs"
OURS = {"command": "/opt/tools/bin/enricher", "args": ["mcp"]}
OTHER = {"command": "npx", "args": ["-y", "mcp"]}
CODEX = '# mine\n[mcp_servers.memory]\ncommand = "enricher"\nargs = [\n  "mcp",\n]\n\n[tui]\ntheme = "dark"\n'


def lines(account: Account, prompt: str) -> dict[str, str]:
    """Type a prompt and return the lines of seed 001 by label."""
    text = account.ask_patiently(prompt).context.replace("**", "")
    said = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {label: said[label] for label in ("Reminder", "Suggested Resources") if label in said}


@pytest.fixture
def registered(account: Account) -> Account:
    """An account as a person has it who wants the documents' block and has installed the hook and the server."""
    account.env["ENRICHER_PROFILE"] = "as-specified"
    account.cli("install", "--host", "claude", "--mcp")
    return account


@pytest.mark.conformance("S1-6.2a", "S1-6.2b", "S1-6.3a", "S1-6.3b", "S1-6.3c")
def test_a_sure_intent_gets_its_reminder_and_its_resources(registered: Account) -> None:
    howto, trouble = lines(registered, HOWTO), lines(registered, TROUBLE)

    assert "patterns and learnings" in howto["Reminder"]
    assert "blockers and learnings" in trouble["Reminder"]
    assert all("recall_context" in said["Reminder"] for said in (howto, trouble))
    assert howto["Suggested Resources"].split(", ") == [
        "enricher://search/rotate", "enricher://search/signing", "enricher://search/certificate", "enricher://topics",
    ]  # fmt: skip
    for address in howto["Suggested Resources"].split(", "):
        json.loads(registered.cli("resources", "read", address, "--json"))


@pytest.mark.conformance("S1-6.2c")
@pytest.mark.parametrize(
    ("prompt", "changed"),
    [
        pytest.param(HOWTO, {"SUBCOG_SEARCH_INTENT_MIN_CONFIDENCE": "0.9"}, id="an intent below the threshold"),
        pytest.param(ORDER, {}, id="no intent"),
        pytest.param(HOWTO, {"SUBCOG_SEARCH_INTENT_ENABLED": "0"}, id="intents switched off"),
        pytest.param(HOWTO, {"ENRICHER_PROFILE": "quiet"}, id="the default profile"),
        pytest.param(HOWTO, {"CLAUDE_CONFIG_DIR": "/nowhere"}, id="a client without the server"),
    ],
)
def test_otherwise_they_do_not_reach_the_agent(registered: Account, prompt: str, changed: dict[str, str]) -> None:
    registered.env |= changed

    assert lines(registered, prompt) == {}


@pytest.mark.conformance("S1-6.1d")
@pytest.mark.parametrize("changed", [{"ENRICHER_PROFILE": "quiet"}, {"CLAUDE_CONFIG_DIR": "/nowhere"}])
def test_what_the_agent_does_not_get_is_in_the_trace(registered: Account, changed: dict[str, str]) -> None:
    registered.env |= changed
    registered.ask(HOWTO)
    context = registered.trace()["memory_context"]

    assert "recall_context" in context["reminder"]
    assert context["suggested_resources"][-1] == "enricher://topics"


def test_a_history_replays_whether_or_not_the_server_is_still_registered(registered: Account) -> None:
    assert lines(registered, HOWTO)
    registered.cli("uninstall", "--host", "claude")
    assert lines(registered, HOWTO + " please") == {}
    registered.env["ENRICHER_PROFILE"] = "quiet"

    assert "2 texts came out byte for byte as recorded, 0 did not" in registered.cli("replay", "--verify")


@pytest.mark.parametrize(
    ("host", "file", "content", "is_there"),
    [
        pytest.param("claude", ".claude.json", {"mcpServers": {"memory": OURS}}, True, id="claude, under any name"),
        pytest.param("claude", ".claude.json", {"mcpServers": {"memory": OTHER}}, False, id="another server"),
        pytest.param("claude", "project/.mcp.json", {"mcpServers": {"memory": OURS}}, True, id="claude, by project"),
        pytest.param("claude", ".claude.json", {"mcpServers": {"x": {**OURS, "disabled": True}}}, False, id="off"),
        pytest.param("claude", ".claude.json", '{"mcpServers": {"enricher mcp"', False, id="no json"),
        pytest.param("claude", ".claude.json", ["enricher", "mcp"], False, id="not an object"),
        pytest.param("claude", ".claude.json", {"mcpServers": {"enricher": "mcp"}}, False, id="no entry"),
        pytest.param("gemini", ".gemini/settings.json", f'// a\n{{"mcpServers": {{"m": {json.dumps(OURS)},}} /* b */}}',
                     True, id="gemini with comments"),
        pytest.param("codex", ".codex/config.toml", CODEX, True, id="codex"),
        pytest.param("codex", ".codex/config.toml", CODEX.replace("[tui]", "enabled = false"), False, id="codex, off"),
        pytest.param("codex", ".codex/config.toml", CODEX.replace("enricher", "other"), False, id="codex, another"),
        pytest.param("codex", ".codex/config.toml", CODEX.replace("[tui]", "enabled = false") + "\n"
                     + CODEX.replace("servers.", "servers.two_"), True, id="codex, off in one entry and on in another"),
        pytest.param("copilot", ".copilot/mcp-config.json", {"mcpServers": {"m": OURS}}, True, id="copilot"),
        pytest.param("cursor", ".cursor/mcp.json", {"mcpServers": {"m": OURS}}, True, id="cursor"),
        pytest.param("opencode", ".config/opencode/opencode.json", {"mcp": {"m": {"command": ["enricher", "mcp"]}}},
                     True, id="opencode"),
        pytest.param("nobody", ".claude.json", {"mcpServers": {"memory": OURS}}, True, id="an unknown client"),
    ],
)  # fmt: skip
def test_the_server_is_found_where_the_client_looks_for_it(
    account: Account, host: str, file: str, content: object, *, is_there: bool
) -> None:
    account.write(file, content if isinstance(content, str) else json.dumps(content))
    account.write("project/.git/HEAD", "")

    with patch.dict(os.environ, {"HOME": str(account.home)}, clear=True):
        assert has_our_server(host, str(account.project)) is is_there


def test_claude_lists_servers_by_project_too(account: Account) -> None:
    listed = {"projects": {str(account.project): {"mcpServers": {"memory": OURS}}}}
    account.write(".claude.json", json.dumps(listed))

    with patch.dict(os.environ, {"HOME": str(account.home)}, clear=True):
        assert has_our_server("claude", str(account.project))
        assert not has_our_server("claude", str(account.home))


def test_a_pipe_in_place_of_the_file_holds_nobody_up(account: Account) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"
    os.mkfifo(account.home / ".claude.json")
    answer = account.ask_patiently(HOWTO)

    assert answer.exit_code == 0
    assert "**Classification**: question" in answer.context
