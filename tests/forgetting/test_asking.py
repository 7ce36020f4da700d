"""What every deleting command does first: say how much and what, ask on a terminal, and refuse without one."""

from __future__ import annotations

import ast
import json
import os
import pty
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import places
import pytest
from simulator import ENTRY, ROOT, Account

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "nothing was deleted: there is no terminal to ask for confirmation; add --yes"
MEMORIES = ("the kiln fires at noon", "the glaze dries overnight", "clay comes from the river")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two prompts, and three memories of one namespace, made once."""
    account = Account(tmp_path_factory.mktemp("workshop") / "home")
    account.compile()
    account.ask("why does the kiln fail?", session_id="s-kiln", cwd="/")
    account.ask("why is the build red?", session_id="s-build", cwd="/")
    account.traces()
    for text in MEMORIES:
        account.cli("memory", "add", text, "--namespace", "patterns", "--shared")
    return account.state


@pytest.fixture
def asked(account: Account, workshop: Path) -> Account:
    shutil.copytree(workshop, account.state)
    return account


def everything(account: Account) -> tuple[list[str], list[str]]:
    return sorted(trace["prompt"] for trace in account.traces()), sorted(one["content"] for one in listed(account))


def listed(account: Account) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(account.cli("memory", "list", "--all", "--json"))
    return found


def told(account: Account, words: list[str], answer: str) -> tuple[int, str]:
    """Run the command at a terminal that types the answer; return the exit code and what was said."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), *words]
    ended = subprocess.run(
        command, env=account.env, cwd=account.project, stdin=theirs, capture_output=True, text=True, check=False
    )
    os.close(theirs)
    os.close(ours)
    return ended.returncode, ended.stdout + ended.stderr


def words_of(account: Account, command: str) -> list[str]:
    """Fill in the first memory and the first prompt."""
    return [
        word.replace("MEMORY", listed(account)[0]["id"]).replace("TRACE", account.traces()[0]["id"])
        for word in command.split()
    ]


COMMANDS = [
    pytest.param("memory forget MEMORY", "1 memory to delete", id="a memory"),
    pytest.param("memory forget --match river --cwd /", "0 memories to delete", id="of another project, none"),
    pytest.param("memory review MEMORY --drop", "1 memory to delete", id="a memory at its review"),
    pytest.param("trace forget TRACE", "1 prompt to delete", id="a prompt"),
    pytest.param("trace forget --session s-kiln", "1 prompt to delete", id="a session"),
    pytest.param("trace prune --rows 1", "1 prompt to delete", id="the oldest prompts"),
]
DELETING = [one for one in COMMANDS if "none" not in str(one.id)]


@pytest.mark.parametrize(("command", "summary"), DELETING)
def test_without_a_terminal_nothing_is_deleted_unless_yes_is_said(asked: Account, command: str, summary: str) -> None:
    before, words = everything(asked), words_of(asked, command)

    said = asked.cli(*words, exit_code=1)

    assert summary in said and REFUSED in said
    assert everything(asked) == before
    asked.cli(*words, "--yes")
    assert everything(asked) != before


@pytest.mark.parametrize(("command", "summary"), DELETING)
def test_at_a_terminal_a_no_keeps_everything_and_a_yes_deletes(asked: Account, command: str, summary: str) -> None:
    before, words = everything(asked), words_of(asked, command)

    refused, said = told(asked, words, "n\n")
    assert (refused, summary in said, "nothing was deleted" in said) == (1, True, True)
    assert everything(asked) == before

    agreed, said = told(asked, words, "y\n")
    assert (agreed, "Delete for good?" in said) == (0, True)
    assert everything(asked) != before


@pytest.mark.parametrize(("command", "summary"), [one for one in COMMANDS if "--drop" not in one.values[0]])
def test_a_dry_run_deletes_nothing_also_with_yes(asked: Account, command: str, summary: str) -> None:
    before, words = everything(asked), words_of(asked, command)

    assert summary in asked.cli(*words, "--dry-run", "--yes")
    value = json.loads(asked.cli(*words, "--dry-run", "--json"))

    assert value["dry_run"] is True
    assert everything(asked) == before


def test_a_namespace_is_shown_with_examples_before_it_goes(account: Account) -> None:
    for number in range(8):
        account.cli("memory", "add", f"kiln number {number} fires at noon", "--namespace", "patterns")
    account.cli("memory", "add", "clay comes from the river", "--namespace", "decisions")

    said = account.cli("memory", "forget", "--namespace", "patterns", exit_code=1)

    assert said.count("kiln number") == 5
    assert "… and 3 more\n8 memories to delete\n" in said
    assert len(listed(account)) == 9
    account.cli("memory", "forget", "--namespace", "patterns", "--yes")
    assert [one["content"] for one in listed(account)] == ["clay comes from the river"]


def test_pruning_names_the_snapshots_that_would_go(asked: Account) -> None:
    snapshot = places.publish(asked)

    said = json.loads(asked.cli("trace", "prune", "--rows", "1", "--dry-run", "--json"))

    assert (said["traces"], said["files"]) == (1, [str(snapshot)])
    assert f"{snapshot} is deleted, too: it contains older prompts" in asked.cli(
        "trace", "prune", "--rows", "1", exit_code=1
    )
    assert snapshot.exists()
    asked.cli("trace", "prune", "--rows", "1", "--yes")
    assert not snapshot.exists()


def test_whoever_deletes_traces_or_memories_asks_by_the_shared_helper() -> None:
    deleting = {"forgetting.forget", "forgetting.forget_memories", "forgetting.prune", "memories.forget"}
    for folder in ("enricher/interfaces/cli", "workbench/commands"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert not called & deleting or "is_wanted" in called, file.name
