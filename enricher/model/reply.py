"""Read a model's answer to the question about a prompt; never raises, and always tells what it could not use."""

from __future__ import annotations

from math import isfinite

from enricher.classify.opinion import MOST_TOPICS, Opinion
from storage.base.lean import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

INTENTS = ("howto", "location", "explanation", "comparison", "troubleshoot", "general")
"""The search intents of seed 001."""
NONE = "none"
LONGEST_TOPIC = 60
MOST_OBJECTS = 20
"""Opening braces at which a JSON object is looked for; an answer of braces alone must not take long."""


def read_opinion(
    answer: str, *, task_types: Collection[str] = (), accuracy: float | None = None
) -> tuple[Opinion | None, str]:
    """Return the opinion in an answer and what was wrong with it (empty: nothing); None if the answer is unusable.

    The JSON object may be in a code fence or between sentences. A search intent that does not exist counts as
    ``general``, a task type that does not exist (not in ``task_types``) as none; both are reported. An answer without
    a usable confidence is unusable (seed 001, task 5.3).
    """
    value = _object(answer)
    if value is None:
        return None, "no JSON object in the answer"
    problems: list[str] = []
    opinion = Opinion(topics=_topics(value.get("topics"), problems))
    if accuracy is not None:
        opinion.accuracy = accuracy
    intent = value.get("intent_type")
    if isinstance(intent, str) and intent.strip().lower() in (*INTENTS, NONE):
        opinion.search_intent = intent.strip().lower()
    else:
        problems.append(f"unknown intent_type {intent!r:.60}")
        opinion.search_intent = "general"
    confidence = _share(value.get("confidence"))
    if confidence is None:
        return None, f"no usable confidence: {value.get('confidence')!r:.60}"
    opinion.intent_confidence = confidence
    kind = value.get("task_type")
    if isinstance(kind, str) and kind in task_types:
        opinion.task_type = kind
        own = _share(value.get("task_confidence"))
        opinion.confidence = confidence if own is None else own
    elif task_types:
        problems.append(f"unknown task_type {kind!r:.60}")
    return opinion, "; ".join(problems)


def _object(answer: str) -> Mapping[str, Any] | None:
    """Return the first JSON object in the answer that holds an intent, else the first object."""
    found: Mapping[str, Any] | None = None
    at = -1
    for _attempt in range(MOST_OBJECTS):
        at = answer.find("{", at + 1)
        if at < 0:
            break
        try:
            value, _end = scan(answer, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            if "intent_type" in value:
                return value
            found = found or value
    return found


def _topics(value: object, problems: list[str]) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append("topics is no list")
        return []
    told = [" ".join(topic.split())[:LONGEST_TOPIC] for topic in value if isinstance(topic, str)]
    return [topic for topic in dict.fromkeys(told) if topic][:MOST_TOPICS]


def _share(value: object) -> float | None:
    """Return a number, or a text that is one, moved into 0 to 1; None for anything else, such as NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return round(min(1.0, max(0.0, number)), 4) if isfinite(number) else None
