"""Read a model's answer to the question about a prompt; never raises, and always tells what it could not use."""

from __future__ import annotations

from enricher.classify.opinion import MOST_TOPICS, Opinion
from enricher.structured.parsing import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from enricher.structured.checking import Schema

INTENTS = ("howto", "location", "explanation", "comparison", "troubleshoot", "general")
"""The search intents of seed 001."""
NONE = "none"
LONGEST_TOPIC = 60


def read_opinion(
    answer: str, schema: Schema, *, task_types: Collection[str] = (), accuracy: float | None = None
) -> tuple[Opinion | None, str]:
    """Return the opinion in an answer and what was wrong with it (empty: nothing); None if the answer is unusable.

    ``schema`` is that of the type ``classification``; only fields that follow it are used. A search intent that does
    not exist counts as ``general``, a task type that does not exist (not in ``task_types``) as none; both are
    reported. An answer without a usable confidence is unusable (seed 001, task 5.3).
    """
    parsed = parse(answer, schema)
    if not parsed.metadata:
        return None, "no JSON object in the answer"
    data, problems = parsed.data, list(parsed.problems)
    opinion = Opinion(topics=_topics(data.get("topics", [])), complexity=data.get("complexity"))
    if accuracy is not None:
        opinion.accuracy = accuracy
    intent = data.get("intent_type", "").strip().lower()
    if intent not in (*INTENTS, NONE):
        problems.append(f"unknown intent_type {parsed.metadata.get('intent_type')!r:.60}")
        intent = "general"
    opinion.search_intent = intent
    if "confidence" not in data:
        return None, f"no usable confidence: {parsed.metadata.get('confidence')!r:.60}"
    opinion.intent_confidence = data["confidence"]
    kind = data.get("task_type", "")
    if kind in task_types:
        opinion.task_type = kind
        opinion.confidence = data.get("task_confidence", data["confidence"])
    elif task_types:
        problems.append(f"unknown task_type {parsed.metadata.get('task_type')!r:.60}")
    return opinion, "; ".join(problems)


def _topics(told: list[str]) -> list[str]:
    plain = [" ".join(topic.split())[:LONGEST_TOPIC] for topic in told]
    return [topic for topic in dict.fromkeys(plain) if topic][:MOST_TOPICS]
