"""The templates are what a model is really asked with: an edit reaches the next prompt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from serving import anthropic_environment, openai_environment
from structured_form import parse_prompt

if TYPE_CHECKING:
    from serving import ModelServer
    from simulator import Account

OWN = """\
---
response: classification
forms: {intent: [], task: [task_types]}
slots: [prompt]
---
GREETING, what is this about?
{{ payload(prompt) }}
"""
NAMED = "# Output\n\n## Prompts\n```yaml\nfiles: [classification.md]\n```\n"
MODES = "global:\n  template_modes:\n    classification: unstructured\n"
SAID = {"intent_type": "location", "confidence": 0.9, "topics": ["retries"]}


@pytest.fixture
def asking(account: Account, model_server: ModelServer) -> Account:
    account.env |= anthropic_environment(model_server) | {"ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS": "1100"}
    model_server.reply = json.dumps(SAID)
    return account


def asked(account: Account, server: ModelServer) -> str:
    """Return the text that the model got for a prompt."""
    before = len(server.calls)
    account.ask("where are the retries?")
    return str(server.wait_for_calls(before + 1)[-1].body["messages"][0]["content"])


@pytest.mark.conformance("S2-M10")
def test_an_edit_of_a_template_reaches_the_next_prompt(asking: Account, model_server: ModelServer) -> None:
    first = asked(asking, model_server)
    asking.write("config/classification.md", OWN.replace("GREETING", "Hello"))
    asking.instruct(NAMED)
    asking.compile()
    second = asked(asking, model_server)
    asking.write("config/classification.md", OWN.replace("GREETING", "Good morning"))
    asking.compile()
    third = asked(asking, model_server)

    assert parse_prompt(first).metadata["prompt_type"] == "classification"
    assert parse_prompt(second).instruction.startswith("Hello, what is this about?")
    assert parse_prompt(third).instruction.startswith("Good morning, what is this about?")
    assert parse_prompt(third).payloads == ["where are the retries?"]
    assert asking.trace()["inputs"]["model"]["opinion"]["topics"] == ["retries"]


def test_a_template_in_words_alone_is_asked_without_metadata(asking: Account, model_server: ModelServer) -> None:
    asking.write("config/modes.yaml", MODES)
    asking.instruct("# Output\n\n## Prompts\n```yaml\nmodes: modes.yaml\nextend: true\n```\n")
    asking.compile()
    text = asked(asking, model_server)

    assert text.startswith("A developer typed the text between the ---")
    assert asking.trace()["inputs"]["model"]["status"] == "ok"


def test_a_broken_template_keeps_the_last_good_one_and_is_told(asking: Account, model_server: ModelServer) -> None:
    asking.write("config/classification.md", OWN.replace("GREETING", "Hello"))
    asking.instruct(NAMED)
    asking.compile()
    asked(asking, model_server)
    asking.write("config/classification.md", OWN.replace("GREETING", "{% if %}"))
    asking.compile()
    text = asked(asking, model_server)

    assert parse_prompt(text).instruction.startswith("Hello, what is this about?")
    assert "classification.md:6" in asking.cli("check", "--effective", exit_code=1)


@pytest.mark.conformance("S2-4a", "S2-5b")
@pytest.mark.parametrize("is_on", [True, False])
def test_the_model_estimates_the_effort_where_that_is_switched_on(
    asking: Account, model_server: ModelServer, *, is_on: bool
) -> None:
    asking.env["ENRICHER_COMPLEXITY_ENABLED"] = str(is_on).lower()
    model_server.reply = json.dumps(SAID | {"complexity": 90})
    prompt = "rename the flag in cli.py"
    asking.ask(prompt)
    trace = asking.trace()
    text = model_server.calls[-1].body["messages"][0]["content"]

    assert ("complexity: 0 (a word to change)" in text) is is_on
    if is_on:
        (estimate,) = trace["complexity_estimates"]
        assert estimate["overall_complexity_score"] == pytest.approx(
            0.4 * estimate["heuristic_score"] + 0.6 * 90, abs=0.6
        )
    else:
        assert not trace.get("complexity_estimates")


def test_a_template_without_a_form_that_the_hook_needs_is_broken(asking: Account) -> None:
    asking.write("config/classification.md", OWN.replace("GREETING", "Hello").replace(", task: [task_types]", ""))
    asking.instruct(NAMED)

    assert "has no form 'task'; 'forms' must have intent, task" in asking.cli("check", "--effective", exit_code=1)


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
@pytest.mark.parametrize("wanted", ["always", "auto"])
def test_an_endpoint_with_structured_output_gets_the_schema(
    asking: Account, model_server: ModelServer, protocol: str, wanted: str
) -> None:
    environment = {"anthropic": anthropic_environment, "openai": openai_environment}[protocol](model_server)
    asking.env |= environment | {"ENRICHER_MODEL_STRUCTURED_OUTPUT": wanted}
    asked(asking, model_server)
    body = model_server.calls[-1].body
    forms = {
        "anthropic": lambda: body["output_config"]["format"]["schema"],
        "openai": lambda: body["response_format"]["json_schema"]["schema"],
    }

    if wanted == "auto":  # a loopback server is none of the two that are known to have it
        assert not {"output_config", "response_format"} & body.keys()
    else:
        schema = forms[protocol]()
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
        assert schema["properties"]["topics"] == {"type": "array", "items": {"type": "string"}}
    assert asking.trace()["inputs"]["model"]["opinion"]["search_intent"] == "location"
