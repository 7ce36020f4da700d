"""Wording of a trace's outcome, the same wherever it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enricher.model.summary import summary
from enricher.prompt.reasons import SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]

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
CHANNELS_TOLD = {
    "ok": "answered",
    "empty": "found nothing",
    "timeout": "took too long",
    "error": "failed",
    "off": "switched off",
    "untrusted": "not trusted",
}


def why_nothing(trace: Row) -> list[str]:
    """Return sentences on why nothing was added to a prompt; empty if the trace does not show the reason.

    ``trace`` is what ``storage.traces.queries.show`` returns.
    """
    told = {
        "skipped": [SKIPS.get(trace["skip_reason"], str(trace["skip_reason"]))],
        "error": [f"the hook failed: {trace['error']}" if trace["error"] else "the hook failed"],
        "shadow": [_why_shadow(trace)],
    }.get(trace["status"])
    return list(_why_silent(trace)) if told is None else told


def _why_shadow(trace: Row) -> str:
    if trace["origin"] == "import":
        return "the prompt was imported from a past conversation, which no hook was part of"
    return "the hook only records (enricher on)"


def _why_silent(trace: Row) -> Iterator[str]:
    name, settings = trace["task_type"], _recorded(trace, "settings") or {}
    most, spent = settings.get("budgets.session_tokens"), _recorded(trace, "spent")
    if most and isinstance(spent, int) and spent >= most:
        yield f"the session's budget of {most:,} tokens was spent"
    if not name:
        return
    if not trace["channels"]:
        yield f"a prompt of the class {name} gets nothing, so that no channel was asked"
    elif trace["uncertain"]:
        yield f"the class {name} was too uncertain to be shown"
    else:
        yield f"the class {name} alone would tell the agent nothing"
    if trace["items"]:
        yield "of what the channels offered nothing went in"
    elif trace["channels"]:
        yield "no channel offered anything"
    if trace["channels"]:
        yield "no guardrail and no approach applied"


def model_told(trace: Row) -> str:
    """Return what a language model was asked and answered about the prompt; empty if none was asked."""
    record = _recorded(trace, "model")
    return summary(record) if record else ""


def _recorded(trace: Row, name: str) -> Any:
    return trace["inputs"].get(name) if isinstance(trace["inputs"], dict) else None
