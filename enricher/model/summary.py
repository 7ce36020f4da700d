"""What a model was asked and answered, in one line: for ``trace show``, the app and the published pages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def summary(record: Mapping[str, Any]) -> str:
    """Return the record of a call to a model in words: status, opinion, reason, time, tokens, cost."""
    opinion: Mapping[str, Any] = record.get("opinion", {})
    opinions = [
        f"{opinion[name]} ({opinion[confidence]:.2f})"
        for name, confidence in (("task_type", "confidence"), ("search_intent", "intent_confidence"))
        if opinion.get(name)
    ]
    spent = f"{record['latency_ms']:g} ms of {record.get('limit_ms', '?')}" if "latency_ms" in record else ""
    tokens = f"{record['input_tokens'] + record['output_tokens']} tokens" if "input_tokens" in record else ""
    usd = f"{record['usd']} USD" if record.get("usd") else ""
    facts = (" and ".join(opinions), str(record.get("outcome", "")), str(record.get("reason", "")), spent, tokens, usd)
    return ", ".join([f"{record.get('model') or 'unnamed'}: {record.get('status', 'unknown')}", *filter(None, facts)])
