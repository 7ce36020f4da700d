"""What README and docs name exists: commands with their options, settings, environment variables and addresses."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from typing import TYPE_CHECKING

import click
import pytest
from simulator import ROOT
from test_help import EVERY, FILES

from enricher.context import CHANNELS
from enricher.hosts import NAMES
from enricher.settings import ALIASES, CHOICES, DEFAULTS, GATES, LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator import Account

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in DOCUMENTS}
SETTINGS = {*DEFAULTS, *GATES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?enricher [a-z].*$", re.MULTILINE)
GROUPS = {key.partition(".")[0] for key in DEFAULTS if "." in key}
DOTTED = re.compile(rf"(?<![\w./])(?:{'|'.join(sorted(GROUPS))})\.(?!md\b)[a-z_]+\b(?!\.\w)")
TABLE = re.compile(
    r"^\| (?:`(?P<group>[a-z_]+)\.`|setting) \|[^\n]*\n\|[-| ]+\n(?P<rows>(?:\|[^\n]*\n)+)", re.MULTILINE
)
VARIABLE = re.compile(r"\b(?:ENRICHER|SUBCOG|OMNICLAUDE)_[A-Z_]*[A-Z]\b")
ADDRESS = re.compile(r"(?:enricher|subcog)://[\w/{}%]+")
OF_THE_TESTS = {"ENRICHER_EVAL"}  # CONTRIBUTING: the folder with the labelled prompts
DEFAULT_TOLD = {"model.key_env": "by host", "search_intent.use_llm": "true if a model is configured"}
PATHS = (
    *FILES, "FILE", "DIR", "LABELLED.jsonl", "MORE.jsonl", "a.md", "alice.db", "answer.txt", "answers.jsonl", "b.md",
    "bob.db", "cases.jsonl", "history.db", "instructions/prompt-enricher-instructions.md",
    "lines.jsonl", "notes.jsonl", "old-rollouts/", "one.md", "other.md", "prompts.jsonl", "queries.jsonl",
    "src/", "tests/", "~/backup/.claude",
)  # fmt: skip
"""Files and folders that commands in the documents name."""


def commands() -> Iterator[tuple[str, str]]:
    """Yield the file and the line of every command that stands in a block of a document."""
    for name, text in TEXTS.items():
        for _language, block in BLOCK.findall(text):
            for line in COMMAND.findall(block):
                yield name, line.removeprefix("$ ")


def in_tables(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every setting that a table of a document lists, with the cells of its row."""
    for found in TABLE.finditer(text):
        group = f"{found['group']}." if found["group"] else ""
        for row in found["rows"].splitlines():
            cells = [cell.strip() for cell in row.strip("|").split(" | ")]
            for name in re.findall(r"`([a-z_.]+)`", cells[0]):
                yield group + name, cells


def in_toml(text: str) -> Iterator[str]:
    """Yield every setting that a block of TOML in a document sets, but for the app's keys."""
    for language, block in BLOCK.findall(text):
        for key, value in (tomllib.loads(block) if language == "toml" else {}).items():
            if key != "keys":
                yield from [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]


def named(text: str) -> set[str]:
    """Return every setting that a document names, in a table, in a block of TOML or in a sentence."""
    return {*(key for key, _cells in in_tables(text)), *in_toml(text), *DOTTED.findall(text)}


@pytest.mark.conformance("S1-6.12a")
def test_every_command_of_the_documents_is_accepted_by_the_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PATHS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith(("/", "DIR", ".claude")) else path.write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    refused = []
    for name, line in commands():
        words = shlex.split(line.partition(" | ")[0], comments=True)[1:]
        called = max((one for one in EVERY if tuple(words[: len(one)]) == one), key=len)
        try:
            with EVERY[called].make_context(" ".join(called), words[len(called) :]):
                pass  # leaving it closes the files that the command would have read
        except click.ClickException as error:
            refused.append((name, line, error.format_message()))

    assert len(list(commands())) > 100
    assert refused == []


@pytest.mark.conformance("S1-6.12a")
def test_the_commands_for_memories_and_search_intents_run(account: Account) -> None:
    account.cli("memory", "add", "the session cookie is signed by the auth service", "--tag", "auth")
    lines = [line for name, line in commands() if name == "mcp.md" and not line.startswith("enricher mcp")]

    printed = {line: account.cli(*shlex.split(line, comments=True)[1:]) for line in lines}

    assert len(printed) >= 10
    assert all(printed.values())
    assert "session cookie" in printed["enricher resources read enricher://search/session%20cookie --json"]


@pytest.mark.conformance("S1-6.16a")
def test_every_setting_that_the_documents_name_exists() -> None:
    switches = {f"channels.{name}" for name in (*CHANNELS, "notes")} | {f"hosts.{name}" for name in NAMES}
    unknown = {name: found for name, text in TEXTS.items() if (found := named(text) - SETTINGS - switches)}

    assert unknown == {}


@pytest.mark.conformance("S1-6.16a")
def test_every_setting_is_explained_with_its_default_choices_and_limits() -> None:
    explained = {key: cells for text in TEXTS.values() for key, cells in in_tables(text)}

    assert SETTINGS - explained.keys() == set()
    wrong = {}
    for key, cells in explained.items():
        wanted = [DEFAULT_TOLD.get(key) or _told(DEFAULTS.get(key, "not set")), *CHOICES.get(key, ())]
        if key in ("budgets.tokens", "budgets.session_tokens", "budgets.items"):
            wanted += map(str, LIMITS[key])
        if missing := [one for one in wanted if one not in " ".join(cells)]:
            wrong[key] = missing
    assert wrong == {}


def _told(default: float | str) -> str:
    """Return how a document writes a default."""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, int | float) else default or "none"


@pytest.mark.conformance("S1-6.16a")
def test_every_environment_variable_that_the_documents_name_is_read() -> None:
    of_settings = {"ENRICHER_" + key.upper().replace(".", "_") for key in SETTINGS} | ALIASES.keys()
    code = "\n".join(
        file.read_text(encoding="utf-8") for part in ("enricher", "workbench") for file in (ROOT / part).rglob("*.py")
    )
    read = of_settings | set(re.findall(r'"([A-Z]+_[A-Z_]+)"', code))
    documented = {name for text in TEXTS.values() for name in VARIABLE.findall(text)}

    assert documented - read - OF_THE_TESTS == set()


@pytest.mark.conformance("S1-6.16a")
def test_every_address_that_the_documents_name_can_be_read(account: Account) -> None:
    account.cli("memory", "add", "the session cookie is signed by the auth service", "--tag", "auth")
    memory = json.loads(account.cli("memory", "list", "--json"))[0]["id"]
    addresses = {address for text in TEXTS.values() for address in ADDRESS.findall(text)}
    values = {"{query}": "cookie", "{topic}": "auth", "{id}": memory}

    assert len(addresses) >= 5
    for address in addresses:
        real = re.sub(r"\{\w+\}", lambda found: values[found[0]], address)
        assert json.loads(account.cli("resources", "read", real, "--json")) is not None
