"""With the real clients: a model's opinion that comes after the prompt's answer reaches the agent after a tool."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from real_clients import client_or_skip
from stub_models import reading_once

if TYPE_CHECKING:
    from pathlib import Path

    from installed_copy import InstalledCopy
    from stub_models import StubModels

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

PROMPT = "the thing with the basket, you know"
LATE = "Late result for your last prompt:"
OPINION = {"intent_type": "none", "confidence": 0.9, "topics": [], "task_type": "docs", "task_confidence": 0.95}
SETTINGS = """\
[model]
url = "{url}"
name = "test-model"
protocol = "anthropic"
accuracy = 0.95
late = true
"""
WITH_CLASS = "# Output\n\n## Lines\n\n```yaml\nclass_line: alone\n```\n"
WAIT_S = 60


def wait_for_result(folder: Path) -> None:
    """Return as soon as a late result waits for a session; fail the request after a minute."""
    until = time.monotonic() + WAIT_S
    while not [file for file in folder.glob("[!.]*") if file.suffix != ".turn"]:
        if time.monotonic() > until:
            raise TimeoutError(f"no late result in {folder}")
        time.sleep(0.05)


@pytest.mark.parametrize("host", ["claude", "gemini"])
def test_a_late_result_reaches_the_agent_once_after_its_tool(host: str, copy: InstalledCopy, stub: StubModels) -> None:
    client = client_or_skip(host, home=copy.home, project=copy.project, model_url=stub.url)
    configuration = copy.home / ".config" / "prompt-enricher"
    configuration.mkdir(parents=True)
    (configuration / "config.toml").write_text(SETTINGS.format(url=stub.url))
    (configuration / "instructions.md").write_text(WITH_CLASS)
    file = copy.project / "cart.py"
    file.write_text("BASKET = 1\n")
    copy.enricher("install", "--host", host, "--late-results")
    copy.enricher("check")
    stub.opinion = json.dumps(OPINION)
    stub.tool = reading_once(str(file), lambda: wait_for_result(copy.state / "late"))

    finished = client.run(PROMPT)
    sent = [
        json.dumps(body) for path, body in stub.requests if body.get("model") != "test-model" and "count" not in path
    ]
    with_result = [text for text in sent if LATE in text]
    (trace,) = copy.traces()
    model = json.loads(copy.enricher("trace", "show", trace["id"], "--json"))["inputs"]["model"]

    assert finished.code == 0
    assert [text.count(LATE) for text in with_result] == [1]
    assert "BASKET = 1" in with_result[0]
    assert "**Classification**: docs" in with_result[0]
    assert (model["status"], model["outcome"], trace["status"]) == ("late", "delivered", "silent")
