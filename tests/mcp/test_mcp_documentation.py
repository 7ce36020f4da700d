"""``docs/mcp.md`` says what is: every command in it runs, every address, prompt and tool stands in it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

from enricher.interfaces.library.prompts import PROMPTS
from enricher.interfaces.library.resources import RESOURCES
from enricher.interfaces.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account

TEXT = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("  #")[0].strip()
    for line in TEXT.splitlines()
    if line.startswith("enricher ") and not line.startswith("enricher mcp")
]


@pytest.mark.conformance("S1-6.14b")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_runs(account: Account, remember: Callable[..., str], command: str) -> None:
    remember("the session cookie of auth holds ids only; add a migration to change that", "decisions", tags=["auth"])

    printed = account.cli(*shlex.split(command)[1:])

    assert len(printed.splitlines()) >= 1


def test_the_page_names_all_there_is() -> None:
    named = set(re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE))

    assert named == {one.uri for one in RESOURCES} | {one.name for one in (*PROMPTS, *TOOLS)}
    for one in PROMPTS:
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{one.name}` |"))
        assert all(f"`{arg.name}`{'' if arg.required else '?'}" in row for arg in one.arguments)
    for tool in TOOLS:
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{tool.name}` |"))
        assert all(f"`{name}`" in row for name in tool.schema()["properties"])
