"""Thirty turns of a real Claude Code with plans in them: what the report says, and what the model was told to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from stub_models import offered
from test_plans_in_clients import set_up

from workbench.adherence import planned_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from installed_copy import InstalledCopy
    from stub_models import StubModels, ToolUse

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

MAY = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,Edit,Write,Read,TodoWrite,TaskCreate,TaskUpdate"]
TURNS = 5
WRITE, CHECK, BROKEN, STATUS, COMMIT, DONE, OWN_LIST = (
    "write",
    "check",
    "broken",
    "status",
    "commit",
    "done",
    "own list",
)

# What the model does, and how the person who wrote this judges it: evidence, commit, as planned, kept up.
BEHAVIOURS = {
    "all as planned": (("list", WRITE, CHECK, COMMIT, DONE), (True, True, True, True)),
    "no check": (("list", WRITE, COMMIT), (False, True, True, False)),
    "a check that fails": (("list", WRITE, BROKEN), (False, False, True, False)),
    "a check before the change": (("list", CHECK, WRITE, STATUS), (False, False, True, False)),
    "a list of its own": ((OWN_LIST, WRITE, CHECK), (True, False, False, False)),
    "no list": ((WRITE, CHECK, COMMIT), (True, True, False, None)),
}


def behaving(copy: InstalledCopy, actions: tuple[str, ...], turn: int) -> Callable[[dict[str, Any]], ToolUse | None]:
    """Return a model's behaviour: one action after the other, then a text."""
    commands = {
        CHECK: "python3 -c 'print(1)'",
        BROKEN: "python3 -c 'raise SystemExit(3)'",
        STATUS: "git status --short",
    }
    commands[COMMIT] = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 'Fix the header'"

    def tool(body: dict[str, Any]) -> ToolUse | None:
        messages = body.get("messages", [])
        sent = json.dumps(messages)
        number = sent.count('"type": "tool_result"')
        if number >= len(actions) or not offered(body, "Bash"):
            return None
        action = actions[number]
        if action == WRITE:
            return "Write", {"file_path": str(copy.project / f"page{turn}.html"), "content": "<h1>Shop</h1>\n"}
        if action in commands:
            return "Bash", {"command": commands[action], "description": action}
        steps = planned_steps("\n".join(texts(messages)))
        status = "completed" if action == DONE else "pending"
        return "TodoWrite", {
            "todos": [
                {"content": step, "status": status, "activeForm": "Working"}
                for step in (["Fix it"] if action == OWN_LIST else steps)
            ]
        }

    return tool


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """Return the texts of all messages."""
    found = []
    for message in messages:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"text": content}]
        found += [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    return found


@pytest.mark.conformance("Y19", "Y20", "Y21", "Y29")
def test_the_report_agrees_with_what_was_done_in_thirty_turns(copy: InstalledCopy, stub: StubModels) -> None:
    client = set_up(copy, stub, "hydrate")
    client.options = MAY
    expected = dict.fromkeys(("evidence", "commit", "as_planned", "kept_up"), (0, 0))
    for actions, judged in BEHAVIOURS.values():
        for turn in range(TURNS):
            stub.tool = behaving(copy, actions, turn)
            assert client.run("fix the typo in the header of page.html").code == 0
            for name, holds in zip(expected, judged, strict=True):
                held, of = expected[name]
                expected[name] = held + bool(holds), of + (holds is not None)

    [edit] = [one for one in json.loads(copy.enricher("trace", "stats", "--adherence", "--json")) if one["had_plan"]]

    assert (edit["workflow"], edit["prompts"], edit["found"]) == ("minor-edit", 30, 30)
    found = {name: (edit["criteria"][name]["held"], edit["criteria"][name]["of"]) for name in expected}
    assert found == expected
