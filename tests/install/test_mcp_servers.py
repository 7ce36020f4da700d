"""``install --mcp`` lists our server beside the person's own, ``uninstall`` takes it out, nothing else moves."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Person

NAME = "prompt-enricher"
OTHER = '{\n  "mcpServers": {\n    "other": {"command": "npx"}\n  },\n  "numStartups": 12\n}\n'
COMMENTED = '// mine\n{\n\t"mcpServers": {"other": {"command": "npx"}}, // dark\n\t"ui": {}\n}\n'
CODEX = '# mine\nmodel = "gpt-5-codex"\n\n[mcp_servers.other]\ncommand = "npx"\n\n[tui]\ntheme = "dark"\n'
FILES = {
    "claude": (".claude.json", ".mcp.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "copilot": (".copilot/mcp-config.json", ".mcp.json"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json"),
    "opencode": (".config/opencode/opencode.json", "opencode.json"),
}


def listed(text: str, file: str) -> dict[str, Any]:
    """Return the servers that a file lists, by name."""
    if file.endswith(".toml"):
        return dict(tomllib.loads(text)["mcp_servers"])
    tree = json.loads("\n".join(line.partition("//")[0] for line in text.splitlines()))
    return dict(tree.get("mcpServers") or tree.get("mcp"))


def argv_of(entry: dict[str, Any]) -> list[str]:
    return entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]


@pytest.mark.parametrize("host", FILES)
def test_the_listed_command_starts_the_server(person: Person, host: str) -> None:
    person.run("install", "--host", host, "--mcp")
    file = FILES[host][0]
    entry = listed((person.home / file).read_text(), file)[NAME]
    ended = subprocess.run([*argv_of(entry), "--help"], capture_output=True, text=True, cwd="/", check=True)

    assert ended.stdout.startswith("Usage: enricher mcp ")


@pytest.mark.parametrize("host", FILES)
def test_a_project_lists_the_server_without_a_folder_of_this_machine(person: Person, host: str) -> None:
    person.run("install", "--host", host, "--mcp", "--scope", "project")
    file = FILES[host][1]
    text = (person.project / file).read_text()
    entry = listed(text, file)[NAME]

    assert str(person.home) not in json.dumps(entry)
    assert argv_of(entry) == ["enricher", "mcp"]


@pytest.mark.parametrize(
    ("host", "text"),
    [
        pytest.param("claude", OTHER, id="claude"),
        pytest.param("claude", '{"numStartups": 12}', id="claude without servers"),
        pytest.param("gemini", COMMENTED, id="gemini, which keeps its hooks there too"),
        pytest.param("codex", CODEX, id="codex"),
        pytest.param("cursor", OTHER, id="cursor"),
        pytest.param("opencode", '{"mcp": {"other": {"command": ["npx"]}}}', id="opencode"),
        pytest.param("copilot", None, id="a file that was not there"),
    ],
)
def test_listing_twice_and_taking_out_leaves_every_byte_as_it_was(person: Person, host: str, text: str | None) -> None:
    file = FILES[host][0]
    if text is not None:
        person.write(file, text)
    person.run("install", "--host", host, "--mcp")
    once = person.files()
    person.run("install", "--host", host, "--mcp")

    assert set(listed(once[file].decode(), file)) == {NAME, *(["other"] if text and "other" in text else [])}
    assert person.files() == once
    person.run("uninstall", "--host", host)
    assert person.files().get(file) == (text.encode() if text is not None else None)


def test_without_the_option_no_server_is_listed(person: Person) -> None:
    person.run("install", "--host", "claude")

    assert ".claude.json" not in person.files()


def test_a_dry_run_shows_the_entry_and_writes_nothing(person: Person) -> None:
    shown = person.run("install", "--host", "claude", "--mcp", "--dry-run")

    assert f'"{NAME}"' in shown
    assert person.files() == {}


def test_a_list_of_servers_that_is_none_is_named_with_its_line(person: Person) -> None:
    person.write(".claude.json", '{\n  "mcpServers": []\n}\n')

    assert ".claude.json:2: not the JSON it should be: " in person.run("install", "--host", "claude", "--mcp", code=1)
    assert ".claude/settings.json" in person.files()  # the hook has a file of its own


def test_without_the_sdk_nothing_is_touched_and_the_remedy_is_named(person: Person) -> None:
    program = "import sys; sys.modules['mcp_types'] = None; from enricher.interfaces.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "install", "--host", "claude", "--mcp"],
        env={"HOME": str(person.home), "PATH": "/usr/bin:/bin"}, cwd=person.project, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert ended.returncode == 1
    assert "pip install 'mcp>=2'" in ended.stderr
    assert person.files() == {}
