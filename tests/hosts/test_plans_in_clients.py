"""Plans in a real Claude Code: the document's examples inline, and the file that a real subagent reads."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from delivered import Delivered
from plan_form import EXAMPLE_1, EXAMPLE_2, EXAMPLE_3, FORM, read
from real_clients import client_or_skip
from stub_models import offered

if TYPE_CHECKING:
    from installed_copy import InstalledCopy
    from real_clients import Client
    from stub_models import StubModels, ToolUse

pytestmark = [pytest.mark.hosts, pytest.mark.slow]

FILE = re.compile(r"`(/[^`]+/hydrate_\w+\.md)`")
FINISHED = "the finished plan"


def set_up(copy: InstalledCopy, stub: StubModels, mode: str, *options: str) -> Client:
    """Install the hook in this mode, with the document's own set-up: a project that tracks its tasks with beads."""
    client = client_or_skip("claude", home=copy.home, project=copy.project, model_url=stub.url)
    configuration = copy.home / ".config" / "prompt-enricher"
    configuration.mkdir(parents=True)
    (configuration / "config.toml").write_text(f'mode = "{mode}"\n')
    (copy.project / ".beads").mkdir()
    (copy.project / ".beads" / "issues.jsonl").write_text("")
    copy.enricher("install", "--host", "claude", *options)
    copy.enricher("enrich", "compile the rules")  # on a busy machine the hook does not wait for that
    return client


@pytest.mark.parametrize(
    ("prompt", "workflow", "gate", "guardrails", "first", "last"),
    [
        pytest.param(
            EXAMPLE_1, "minor-edit", "Verification required", "verify_before_complete, test_changes",
            "Step 1: Create bd task", "close bd task", id="framework bug fix",
        ),
        pytest.param(EXAMPLE_2, "simple-question", "Answer accuracy", "none", "Answer", "", id="simple question"),
        pytest.param(
            EXAMPLE_3, "debugging", "Evidence gathered", "evidence_before_conclusion, escalate_if_blocked",
            "Step 1: Create bd task", "close bd task", id="investigation",
        ),
    ],
)  # fmt: skip
def test_an_example_of_the_document_reaches_the_model(
    copy: InstalledCopy, stub: StubModels, prompt: str, workflow: str, gate: str, guardrails: str, first: str, last: str
) -> None:
    client = set_up(copy, stub, "hydrate")
    client.run(prompt.strip())

    delivered = Delivered.of("claude", stub.requests, prompt.strip())
    [found] = [one for text in delivered.texts if (one := re.search(FORM, text))]
    plan = read(found[0])
    assert (plan.workflow, plan.gate, plan.guardrails) == (workflow, gate, guardrails)
    assert plan.steps[0].startswith(first)
    assert last in plan.steps[-1]
    assert delivered.holds_prompt_untouched()


def test_the_subagent_reads_the_file_of_the_plan(copy: InstalledCopy, stub: StubModels) -> None:
    client = set_up(copy, stub, "hydrate-file", "--hydrate")
    stub.tool = hand_over_then_read

    finished = client.run(EXAMPLE_3)
    asked = [json.dumps(body) for path, body in stub.requests if path.endswith("/messages")]
    by_subagent = [text for text in asked if "You get the path of a context file written by Prompt Enricher" in text]

    assert finished.code == 0
    assert by_subagent, "the client started no subagent with the definition that was installed"
    assert "# Prompt hydration context" in by_subagent[-1], "the subagent got no content of the file"
    assert EXAMPLE_3 in by_subagent[-1]


def hand_over_then_read(body: dict[str, Any]) -> ToolUse | None:
    """Behave as a model: start the subagent with the path that the hook named; as the subagent, read that file."""
    sent = json.dumps(body.get("messages", []), ensure_ascii=False)
    path = FILE.search(sent)
    if "You get the path of a context file" in json.dumps(body.get("system", "")):
        named = re.search(r"/[^\s`\"\\]+/hydrate_\w+\.md", sent)
        return ("Read", {"file_path": named[0]}) if named and '"tool_result"' not in sent else None
    starter = offered(body, "Agent", "Task")
    if not path or not starter or '"tool_result"' in sent:
        return None
    task = {
        "description": "Finish the plan",
        "prompt": f"Finish the plan in `{path[1]}`",
        "subagent_type": "prompt-hydrator",
    }
    return starter, task
