"""How a trace's outcome is told to people, wherever it is shown."""

from __future__ import annotations

STATUSES_TOLD = {
    "ok": "text was added",
    "partial": "text was added; a channel ran out of time",
    "silent": "silent: nothing was worth saying",
    "skipped": "skipped",
    "shadow": "shadow: recorded, nothing was added",
    "error": "failed",
}
FACETS_TOLD = {
    "task_type": "Task type",
    "search_intent": "Search intent",
    "guardrail": "Guardrails",
    "approach": "Approach",
}
