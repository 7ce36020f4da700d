"""With the real clients: a stub that the agent wrote in a turn is recorded with the trace of the turn's prompt."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from real_clients import client_or_skip
from stub_models import offered

if TYPE_CHECKING:
    from collections.abc import Callable

    from installed_copy import InstalledCopy
    from stub_models import StubModels, ToolUse

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

STUB = 'def login(user):\n    """Log in."""\n    pass\n'
MAY_WRITE = {"claude": ["--permission-mode", "acceptEdits"], "gemini": ["--approval-mode", "auto_edit"]}
WAIT_S = 60


def writing_once(file: str) -> Callable[[dict[str, Any]], ToolUse | None]:
    """Return a model's behaviour: its first answer is to write the stub."""

    def tool(body: dict[str, Any]) -> ToolUse | None:
        sent = json.dumps(body.get("messages", body.get("contents", [])))
        name = offered(body, "Write", "write_file")
        if not name or '"tool_result"' in sent or '"functionResponse"' in sent:
            return None
        return name, {"file_path": file, "content": STUB}

    return tool


def violations_of_the_trace(copy: InstalledCopy) -> list[dict[str, Any]]:
    """Return the violations of the only trace, as soon as there are any; none after a minute."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        (trace,) = copy.traces()
        found: list[dict[str, Any]] = json.loads(copy.enricher("trace", "show", trace["id"], "--json")).get(
            "rule_violations", []
        )
        if found:
            return found
        time.sleep(1)
    return []


@pytest.mark.parametrize("host", ["claude", "gemini"])
def test_a_stub_that_the_agent_wrote_is_stored_when_its_turn_ends(
    host: str, copy: InstalledCopy, stub: StubModels
) -> None:
    client = client_or_skip(host, home=copy.home, project=copy.project, model_url=stub.url)
    client.options = MAY_WRITE[host]
    copy.enricher("install", "--host", host, "--validate")
    stub.tool = writing_once(str(copy.project / "auth.py"))

    finished = client.run("add a login that checks the password")

    assert finished.code == 0
    assert (copy.project / "auth.py").read_text().strip() == STUB.strip()
    assert [(one["rule_id"], one["file"], one["line"]) for one in violations_of_the_trace(copy)] == [
        ("CODE_001", "auth.py", 1)
    ]
