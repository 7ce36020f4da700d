"""Detect a prompt's search intent with the help of a language model: a Python API (seed 001, phase 5).

A provider is any function that takes the question and returns the model's answer; ``configured_provider`` returns one
for the model in the settings ``model.*``. The hook asks the model in a separate process
(``enricher.model.opinion_request``), but uses the same question, parser and merging.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from enricher.classify.verdict import verdict
from enricher.interfaces import api
from enricher.interfaces.compat.intent import DetectionSource, SearchIntent, SearchIntentType, detect, packaged_rules
from enricher.model.question import NONE, question, read_opinion
from enricher.settings import with_environment

if TYPE_CHECKING:
    from enricher.classify.opinion import Opinion

__all__ = ["Provider", "classify_intent_with_llm", "configured_provider", "detect_hybrid", "handle", "intent_prompt"]

Provider = Callable[[str], str]
TIMEOUT_MS = 200  # the default of search_intent.llm_timeout_ms

_log = logging.getLogger(__name__)


def intent_prompt(prompt: str) -> str:
    """Return the question that asks a model for the search intent of ``prompt``."""
    return question(prompt, packaged_rules().packed("prompts"))


def configured_provider(cwd: str = "") -> Provider | None:
    """Return a provider for the model in the settings that apply in ``cwd``; None if they name no model.

    When it is called, the provider may raise ``enricher.model.client.ModelError`` or
    ``enricher.model.endpoint.EndpointError``.
    """
    settings, _problems = with_environment(api.rules_for(cwd)[0].body["settings"], os.environ)
    if not settings["model.url"]:
        return None
    from enricher.model.client import ask
    from enricher.model.endpoint import Endpoint
    from enricher.model.opinion_request import LONGEST_S

    def provider(text: str) -> str:
        endpoint = Endpoint(settings)
        endpoint.unlock()
        return ask(endpoint, text, within_s=LONGEST_S).text

    return provider


def classify_intent_with_llm(prompt: str, provider: Provider, *, timeout_ms: int = TIMEOUT_MS) -> SearchIntent | None:
    """Return the search intent according to the model alone; None if it fails, is too slow or gives no usable answer.

    The reason is logged. A call that takes too long goes on in a daemon thread, which does not keep the process alive.
    """
    return _by_model(_Call(prompt, provider).opinion(timeout_ms))


def detect_hybrid(
    prompt: str,
    provider: Provider | None = None,
    *,
    use_llm: bool = True,
    timeout_ms: int = TIMEOUT_MS,
    by_keywords: Callable[[str], SearchIntent | None] = detect,
) -> SearchIntent | None:
    """Return the search intent that the packaged signals and a model together indicate; None if there is none.

    ``by_keywords`` runs while the model is working. Its result is returned if there is no ``provider``, if ``use_llm``
    is off, or if the model fails or is late.
    """
    call = _Call(prompt, provider) if provider and use_llm else None  # first, so that the model works meanwhile
    found = by_keywords(prompt)
    if call is None:
        _log.info("search intent by keywords alone: disabled")
        return found
    opinion = call.opinion(timeout_ms)
    return _merged(prompt, opinion) if opinion else found


async def handle(
    prompt: str, provider: Provider | None = None, *, use_llm: bool = True, timeout_ms: int = TIMEOUT_MS
) -> SearchIntent | None:
    """Return what ``detect_hybrid`` returns, without blocking the event loop."""
    return await asyncio.to_thread(detect_hybrid, prompt, provider, use_llm=use_llm, timeout_ms=timeout_ms)


class _Call:
    """A running call of ``provider``, in a daemon thread, that asks for the search intent of ``prompt``."""

    def __init__(self, prompt: str, provider: Provider) -> None:
        self._began = time.perf_counter()
        self._answers: SimpleQueue[str | Exception] = SimpleQueue()
        threading.Thread(target=self._run, args=(intent_prompt(prompt), provider), daemon=True).start()

    def _run(self, text: str, provider: Provider) -> None:
        try:
            self._answers.put(provider(text))
        except Exception as failure:  # a provider is anybody's function; ``opinion`` logs what it raised
            self._answers.put(failure)

    def opinion(self, timeout_ms: int) -> Opinion | None:
        """Return the model's opinion, its classification of the prompt; if there is none, log why and return None.

        Waits at most ``timeout_ms`` from the start of the call.
        """
        left = timeout_ms / 1000 - (time.perf_counter() - self._began)
        try:
            answer = self._answers.get(timeout=max(0.0, left))  # a negative timeout is an error
        except Empty:
            elapsed_ms = (time.perf_counter() - self._began) * 1000
            _log.warning("search intent by keywords alone: timeout (%.0f of %d ms)", elapsed_ms, timeout_ms)
            return None
        if isinstance(answer, Exception):
            _log.warning("search intent by keywords alone: error (%s)", answer)
            return None
        opinion, problem = read_opinion(answer, packaged_rules().packed("prompts")["classification"]["schema"])
        if problem:
            _log.warning("%s (%s)", "the model's answer" if opinion else "search intent by keywords: parse", problem)
        return opinion


def _by_model(opinion: Opinion | None) -> SearchIntent | None:
    if opinion is None or opinion.search_intent == NONE:
        return None
    kind = SearchIntentType(opinion.search_intent)
    return SearchIntent(kind, opinion.intent_confidence, [], opinion.topics, DetectionSource.LLM)


def _merged(prompt: str, opinion: Opinion) -> SearchIntent | None:
    judged = verdict(prompt, packaged_rules(), opinion=opinion)
    if not judged.search_intent:
        return None
    kind, source = SearchIntentType(judged.search_intent), DetectionSource(api.SOURCES[judged.source])
    return SearchIntent(kind, judged.intent_confidence, judged.keywords, judged.topics, source)
