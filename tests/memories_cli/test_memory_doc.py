"""Every command that ``docs/memory.md`` shows does what it is shown for, in the order in which it is shown."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from simulator import ROOT
from test_memory_import import commit, git

from storage.memory.memories import NAMESPACES

if TYPE_CHECKING:
    from simulator import Account

TEXT = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")


def test_the_commands_of_the_document_work(account: Account) -> None:
    git(account.project, "init", "-q")
    account.write("project/docs/notes/a.md", "A note.\n")
    account.write("project/docs/adr/1.md", "# Cents\n\nCents.\n")
    account.write("project/.enricher/memories/team.md", "A team's note.\n")
    account.write("project/lines.jsonl", '{"content": "a line"}\n')
    account.write("project/queries.jsonl", '{"id": 1, "query": "prices"}\n')
    git(account.project, "add", ".")
    commit(account.project, "Start\n\nWe decided that we must.")
    git(account.home, "clone", "-q", str(account.project), "clone")
    lines = [line for block in TEXT.split("```")[1::2] for line in block.strip().splitlines()]
    assert len(lines) > 12

    for line in lines:
        words = shlex.split(line, comments=True)
        if "ID" in words:
            which = "review" if "--approve" in words else "list"
            listed = account.cli("memory", which, "--json", cwd=account.home / "clone")
            words[words.index("ID")] = json.loads(listed)[0]["id"]
        if "forget" in words:
            words.append("--yes")  # there is nobody to ask
        printed = account.cli(*words[1:], cwd=account.home / "clone")
        assert printed, line


def test_the_namespaces_of_the_document_are_those_there_are() -> None:
    _, _, named = TEXT.partition("The namespaces are ")
    named = " ".join(named.partition(";")[0].split())

    assert tuple(named.replace(" and ", ", ").split(", ")) == NAMESPACES
