"""Wording of a trace's outcome, the same wherever it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enricher.interfaces.explanation import model_summary
from enricher.prompt.reasons import SKIPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]

STATUS_TEXTS = {
    "ok": "text was added",
    "partial": "text was added; a channel ran out of time",
    "silent": "silent: nothing to add",
    "skipped": "skipped",
    "shadow": "shadow: recorded, nothing was added",
    "error": "failed",
}
FACET_TEXTS = {
    "task_type": "Task type",
    "search_intent": "Search intent",
    "guardrail": "Guardrails",
    "approach": "Approach",
}
CHANNEL_TEXTS = {
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
    reasons = {
        "skipped": [SKIPS.get(trace["skip_reason"], str(trace["skip_reason"]))],
        "error": [f"the hook failed: {trace['error']}" if trace["error"] else "the hook failed"],
        "shadow": [_why_shadow(trace)],
    }.get(trace["status"])
    return list(_why_silent(trace)) if reasons is None else reasons


def _why_shadow(trace: Row) -> str:
    if trace["origin"] == "import":
        return "the prompt was imported from a past conversation, without a hook"
    return "the hook only records (enricher on)"


def _why_silent(trace: Row) -> Iterator[str]:
    name, settings = trace["task_type"], _recorded(trace, "settings") or {}
    most, spent = settings.get("budgets.session_tokens"), _recorded(trace, "spent")
    if most and isinstance(spent, int) and spent >= most:
        yield f"the session's budget of {most:,} tokens was spent"
    if not name:
        return
    if not trace["channels"]:
        yield f"a prompt of the class {name} gets no enrichment, so no channel was asked"
    elif trace["uncertain"]:
        yield f"the class {name} was too uncertain to be shown"
    else:
        yield f"the class {name} alone is not shown"
    if trace["items"]:
        yield "what the channels offered was too weak, outdated, or already told"
    elif trace["channels"]:
        yield "no channel offered anything"
    if trace["channels"]:
        yield "no guardrail and no approach applied"


def describe_model_call(trace: Row) -> str:
    """Return what a language model was asked and answered about the prompt; empty if none was asked."""
    record = _recorded(trace, "model")
    return model_summary(record) if record else ""


def plan_told(trace: Row) -> list[str]:
    """Return the workflow with the reason for it, and the model's part in the plan; empty without a workflow."""
    reason = _recorded(trace, "workflow")
    by_model = (_recorded(trace, "hydration") or {}).get("model")
    told = [f"{trace['workflow'] or 'none'}: {reason}"] if reason else []
    return told + ([f"intent and steps, asked of {model_summary(by_model)}"] if by_model else [])


def _recorded(trace: Row, name: str) -> Any:
    return trace["inputs"].get(name) if isinstance(trace["inputs"], dict) else None
