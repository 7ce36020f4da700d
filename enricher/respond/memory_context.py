"""Describe the memories that a prompt was given, for traces, ``--json`` and the Python API."""

from __future__ import annotations

from enricher.context.channels.memory import effective_intent, reminder
from enricher.prompt.text import preview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.respond import Enrichment, Inputs


def memory_context(inputs: Inputs, enrichment: Enrichment) -> dict[str, Any]:
    """Return a prompt's memories and search intent for traces, ``--json`` and the Python API (seed 001, task 2.6).

    ``injected_memories`` are those that reach the channel's minimum score and are not stale.
    """
    from enricher.sources.uris import suggested

    judged = enrichment.classification
    intent = effective_intent(judged.search_intent or "", judged.intent_confidence, inputs.settings)
    return {
        "search_intent_detected": bool(intent),
        **({"intent_type": intent} if intent else {}),
        "topics": list(judged.topics),
        "injected_memories": _injected(inputs, enrichment),
        "suggested_resources": suggested(judged.topics) if intent else [],
        **({"reminder": reminder(intent)} if intent else {}),
    }


def _injected(inputs: Inputs, enrichment: Enrichment) -> list[dict[str, object]]:
    weak = {
        item.ref
        for item in enrichment.items
        if item.channel == "memory" and item.why.startswith(("below the floor", "stale"))
    }
    return [
        {
            "id": one.ref,
            "namespace": one.kind,
            "content_preview": preview(one.text),
            "score": one.score,
            "raw_score": one.raw,
        }
        for channel in inputs.channels
        if channel.name == "memory"
        for one in channel.candidates
        if one.ref not in weak and enrichment.items
    ]
