"""A stored violation in one line: for ``trace show``, the app and the published pages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def summary(row: Mapping[str, Any]) -> str:
    """Return a row of ``rule_violations`` as ``enricher validate`` prints one; guardrails against it are named."""
    where = f"{row['file']}:{row['line']}: {row['severity']} {row['rule_id']} {row['rule_name']}"
    against = f"; against guardrail {row['guardrails']}" if row["guardrails"] else ""
    resolved = "; resolved" if row["resolved"] else ""
    return f"{where}: {row['message']} ({row['suggestion']}){against}{resolved}"
