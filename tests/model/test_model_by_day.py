"""The canned query on the model's answers: tokens, parsed answers and fallbacks by day."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from serving import anthropic_environment

from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from serving import ModelServer
    from simulator import Account

USABLE = '{"intent_type": "location", "confidence": 0.9, "topics": []}'


@pytest.mark.conformance("S2-P4")
async def test_tokens_parsed_answers_and_fallbacks_are_counted_by_day(
    account: Account, model_server: ModelServer
) -> None:
    account.env |= anthropic_environment(model_server)
    account.env |= {"ENRICHER_MODEL_TASK_TYPE": "never", "ENRICHER_SEARCH_INTENT_LLM_TIMEOUT_MS": "1200"}
    for reply in (USABLE, USABLE, USABLE, "I do not know."):
        model_server.reply = reply
        account.ask_patiently("where is the retry logic?")
    account.env["ENRICHER_MODEL_CALLS_PER_DAY"] = "1"
    account.ask_patiently("where is the retry logic now?")
    account.rest()
    models = [trace["inputs"]["model"] for trace in account.traces()]
    served = datasette_over(str(account.state / "enricher.db"), is_immutable=False)
    await served.invoke_startup()
    path = "/history/how_does_the_model_answer_by_day.json?_shape=array"
    rows = (await served.client.get(path)).json()

    assert [one["status"] for one in models] == ["ok", "ok", "ok", "parse", "skipped"]
    assert rows == [
        {
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "prompts": 5,
            "calls": 4,
            "prompt_tokens": sum(one.get("input_tokens", 0) for one in models),
            "response_tokens": sum(one.get("output_tokens", 0) for one in models),
            "usd": 0.0,
            "parsed_percent": 75.0,
            "fallback_percent": 40.0,
        }
    ]
    assert rows[0]["prompt_tokens"] > 100
