"""Seed 001, phase 5, as a Python API: signals and a model beside each other, with any function as the model."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading

import pytest
from simulator import ROOT

from enricher.interfaces.compat.hybrid import (
    classify_intent_with_llm,
    configured_provider,
    detect_hybrid,
    handle,
    intent_prompt,
)
from enricher.interfaces.compat.intent import DetectionSource, SearchIntent, SearchIntentType, detect
from enricher.interfaces.compat.recall import SearchIntentConfig

WHERE = "where is the config?"
PATIENT_MS = 20_000


class Model:
    """A model that records what it is asked; it answers once ``may_answer`` is set."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.was_asked = threading.Event()
        self.has_answered = threading.Event()

    def __call__(self, text: str) -> str:
        self.asked.append(text)
        self.was_asked.set()
        self.may_answer.wait(PATIENT_MS / 1000)
        self.has_answered.set()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def says(intent: str = "location", confidence: object = 0.9, topics: object = ("settings",)) -> Model:
    return Model(json.dumps({"intent_type": intent, "confidence": confidence, "topics": topics}))


@pytest.mark.conformance("S1-5.2a", "S1-5.2b")
def test_the_model_is_called_once_with_the_prompt() -> None:
    model = says()
    found = classify_intent_with_llm(WHERE, model, timeout_ms=PATIENT_MS)

    assert found == SearchIntent(SearchIntentType.LOCATION, 0.9, [], ["settings"], DetectionSource.LLM)
    assert model.asked == [intent_prompt(WHERE)]
    assert WHERE in model.asked[0]


@pytest.mark.conformance("S1-5.2c", "S1-5.4b", "S1-5.5b", "S1-5.5c", "S1-5.5d", "S1-5.12a")
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        pytest.param(Model(OSError("no route")), "error (no route)", id="error"),
        pytest.param(Model("not json"), "parse (no JSON object in the answer)", id="not json"),
        pytest.param(says(confidence=None), "parse (no usable confidence: None)", id="no confidence"),
    ],
)
def test_a_failing_model_gives_nothing_and_the_keywords_remain(
    model: Model, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    alone = classify_intent_with_llm(WHERE, model, timeout_ms=PATIENT_MS)
    both = detect_hybrid(WHERE, model, timeout_ms=PATIENT_MS)

    assert alone is None
    assert both is not None
    assert (both.intent_type, both.source) == (SearchIntentType.LOCATION, DetectionSource.KEYWORD)
    assert reason in caplog.text


@pytest.mark.conformance("S1-5.4a", "S1-5.4b", "S1-5.4c", "S1-5.4d", "S1-5.5a", "S1-5.5c")
@pytest.mark.parametrize("timeout_ms", [20, 500])
def test_a_slow_model_is_not_waited_for(timeout_ms: int, caplog: pytest.LogCaptureFixture) -> None:
    model = says()
    model.may_answer.clear()

    assert classify_intent_with_llm(WHERE, model, timeout_ms=timeout_ms) is None
    assert (found := detect_hybrid(WHERE, model, timeout_ms=timeout_ms)) is not None
    assert (found.intent_type, found.source) == (SearchIntentType.LOCATION, DetectionSource.KEYWORD)
    for message in caplog.messages:
        elapsed, _, limit = message.partition("timeout (")[2].partition(" of ")
        assert (int(elapsed) >= timeout_ms - 1, limit) == (True, f"{timeout_ms} ms)")
    assert len(caplog.messages) == 2
    model.may_answer.set()


@pytest.mark.conformance("S1-5.4a")
def test_a_process_ends_without_waiting_for_the_call() -> None:
    program = (
        "import time; from enricher.interfaces.compat.hybrid import classify_intent_with_llm as ask;"
        f"print(ask({WHERE!r}, lambda text: time.sleep(600), timeout_ms=20))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, "None\n")


@pytest.mark.conformance("S1-5.6a")
def test_signals_and_model_work_beside_each_other() -> None:
    model = says()
    model.may_answer.clear()

    def keywords(prompt: str) -> SearchIntent | None:
        """Let the model answer from here: it has been asked before, and has not answered."""
        assert model.was_asked.wait(PATIENT_MS / 1000)
        assert not model.has_answered.is_set()
        model.may_answer.set()
        return detect(prompt)

    found = detect_hybrid(WHERE, model, timeout_ms=PATIENT_MS, by_keywords=keywords)

    assert found is not None
    assert found.source == DetectionSource.HYBRID


@pytest.mark.conformance("S1-5.6b", "S1-5.6c", "S1-5.6d", "S1-5.8b")
def test_both_are_merged() -> None:
    by_keywords = detect(WHERE)
    found = detect_hybrid(WHERE, says(confidence=0.99, topics=["settings"]), timeout_ms=PATIENT_MS)

    assert by_keywords is not None
    assert found is not None
    assert (found.confidence, found.keywords) == (by_keywords.confidence, by_keywords.keywords)
    assert (found.topics, found.source) == ([*by_keywords.topics, "settings"], DetectionSource.HYBRID)


@pytest.mark.conformance("S1-5.6e")
@pytest.mark.parametrize("intent", ["general", "none"])
def test_a_greeting_seeks_nothing(intent: str) -> None:
    assert detect_hybrid("Hello", says(intent), timeout_ms=PATIENT_MS) is None
    assert classify_intent_with_llm("Hello", says("none"), timeout_ms=PATIENT_MS) is None


@pytest.mark.conformance("S1-5.7c", "S1-5.8b", "S1-5.12a")
def test_a_model_that_is_switched_off_is_not_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    model = says("howto")
    found = detect_hybrid(WHERE, model, use_llm=False)

    assert found == detect(WHERE)
    assert model.asked == []
    assert "disabled" in caplog.text


@pytest.mark.conformance("S1-5.8a")
def test_it_works_inside_an_event_loop_and_does_not_block_it() -> None:
    model = says()
    model.may_answer.clear()

    async def both() -> SearchIntent | None:
        waiting = asyncio.ensure_future(handle(WHERE, model, timeout_ms=PATIENT_MS))
        assert await asyncio.to_thread(model.was_asked.wait, PATIENT_MS / 1000)  # the loop runs on meanwhile
        model.may_answer.set()
        return await waiting

    assert asyncio.run(both()) == detect_hybrid(WHERE, says(), timeout_ms=PATIENT_MS)


@pytest.mark.conformance("S1-5.7a", "S1-6.4b")
def test_use_llm_is_on_where_a_model_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (SearchIntentConfig().use_llm, configured_provider()) == (False, None)

    monkeypatch.setenv("ENRICHER_MODEL_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ENRICHER_MODEL_NAME", "none")

    assert SearchIntentConfig().use_llm is True
    assert configured_provider() is not None
