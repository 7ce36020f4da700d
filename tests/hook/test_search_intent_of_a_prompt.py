"""The search intent of a prompt is found on its way through the hook and kept in its trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from effort import processor_s
from test_a_thousand_prompts import corpus

if TYPE_CHECKING:
    from simulator import Account

HOWTO = "how do I implement authentication?"


@pytest.mark.conformance("S1-1.8a")
def test_the_hook_detects_the_intent(account: Account) -> None:
    account.ask(HOWTO)

    assert account.trace()["search_intent"] == "howto"


@pytest.mark.conformance("S1-1.8b")
def test_the_record_holds_the_intent_with_its_evidence(account: Account) -> None:
    account.ask(HOWTO)

    traced = account.trace()
    shown = json.loads(account.cli("enrich", HOWTO, "--json"))
    keywords = [
        one
        for row in traced["scores"]
        if (row["facet"], row["name"]) == ("search_intent", "howto")
        for one in row["evidence"]
    ]
    assert (traced["search_intent"], traced["topics"]) == ("howto", ["authentication"])
    assert traced["intent_confidence"] >= 0.5
    assert keywords
    assert shown["search_intent"] == {"type": "howto", "confidence": traced["intent_confidence"], "source": "keyword"}


@pytest.mark.conformance("S1-1.8c")
@pytest.mark.parametrize("prompt", ["rename Foo to Bar everywhere", "update the hooks to add a new feature", "thanks"])
def test_a_prompt_without_intent_gets_the_same_with_detection_off(account: Account, prompt: str) -> None:
    on = account.ask(prompt)
    intent = account.trace()["search_intent"]
    account.env["ENRICHER_SEARCH_INTENT_ENABLED"] = "0"
    off = account.ask(prompt)

    assert (intent, on.exit_code, on.stdout) == ("none", 0, off.stdout)


@pytest.mark.timed
@pytest.mark.conformance("S1-1.8d")
def test_detection_stays_far_below_10_ms_at_any_length() -> None:
    from enricher.classify.table import Table
    from enricher.classify.verdict import classify
    from enricher.interfaces.api import rules_for

    table = Table(rules_for("")[0].body["classes"])
    prompts = [*corpus(), "why is this failing? " * 5000, "a" * 100_000, "how do i " * 10_000, "…" * 50_000]
    took = [processor_s(lambda prompt=prompt: classify(prompt, table)) * 1000 for prompt in prompts]

    assert sorted(took)[int(len(took) * 0.99)] < 10
    assert max(took[-4:]) < 100
