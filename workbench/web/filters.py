"""Edit the text of a filter by clicks, and translate it to the filter of Datasette's table pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from storage.traces.selection import PART

if TYPE_CHECKING:
    from collections.abc import Iterator

SEVERAL = ("type", "intent", "workflow", "host", "status")
"""Fields for which a filter can select several alternative values; in other fields, a new value replaces the old."""
EACH = "guardrail"
"""The field of which a prompt can have several values at once; each selected value is a separate filter part."""
WITH_COMMAS = "signal"
"""The field in whose values a comma is an ordinary character; elsewhere it separates values."""
FIELD_OF_KIND = {
    "signal": "signal", "task type": "type", "search intent": "intent", "guardrail": "guardrail",
    "workflow": "workflow",
}  # fmt: skip
"""By kind of rule: the field that selects the prompts on which a rule fired; other kinds have no such field."""
COLUMNS = {
    "type": "task_type", "intent": "search_intent", "workflow": "workflow", "host": "host", "status": "status",
    "origin": "origin",
}  # fmt: skip
BEGINNINGS = {"version": "rules_hash", "session": "session_id", "id": "id"}
NUMBERS = {"ms": "latency_ms", "tokens": "output_tokens"}
SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


def part(field: str, value: str) -> str:
    """Return the filter part that selects one value, quoted if necessary; empty if filters cannot express it."""
    is_sayable = '"' not in value and (field == WITH_COMMAS or "," not in value)
    return _parts(field, [value]) if value and is_sayable else ""


def has(text: str, field: str, value: str) -> bool:
    """Return whether the filter selects this value of the field, alone or with others."""
    return any(value in found["value"].strip('"').split(",") for found in _of(text, field))


def with_part(text: str, field: str, value: str) -> str:
    """Return the filter changed so that it also selects this value of the field."""
    own = next(_of(text, field), None)
    if own is None or field == EACH:
        return f"{text.strip()} {part(field, value)}".strip()
    values = [*own["value"].strip('"').split(","), value] if field in SEVERAL else [value]
    return _replaced(text, own, _parts(field, values))


def without_part(text: str, field: str, value: str) -> str:
    """Return the filter without this value of the field."""
    for own in reversed(list(_of(text, field))):
        values = own["value"].strip('"').split(",")
        if value in values:
            text = _replaced(text, own, _parts(field, [one for one in values if one != value]))
    return text


def in_datasette(text: str) -> str | None:
    """Return the query string with which Datasette's table shows the same rows; None if there is none."""
    conditions: list[tuple[str, str]] = []
    for found in PART.finditer(text):
        if not found[0].strip():
            continue
        own = _condition(found)
        if own is None:
            return None
        conditions.append(own)
    if not any(name.startswith("origin") for name, _value in conditions):
        conditions.append(("origin__not", "test"))
    return urlencode([*conditions, ("_sort_desc", "id")])


def _condition(found: re.Match[str]) -> tuple[str, str] | None:
    field, value = (found["field"] or "").lower(), found["value"].strip('"')
    if field in COLUMNS:
        sign = "not" * bool(found["minus"]) + "in" * ("," in value)
        return f"{COLUMNS[field]}{'__' * bool(sign)}{sign}", value
    if found["minus"]:
        return None
    if field in BEGINNINGS:
        return f"{BEGINNINGS[field]}__startswith", value
    if field in NUMBERS:
        return f"{NUMBERS[field]}__{SIGNS[found['sign']]}", value
    return ("output_tokens__gt" if value == "yes" else "output_tokens", "0") if field == "shown" else None


def _of(text: str, field: str) -> Iterator[re.Match[str]]:
    return (
        found
        for found in PART.finditer(text)
        if (found["field"] or "").lower() == field and not found["minus"] and found["sign"] == ":"
    )


def _parts(field: str, values: list[str]) -> str:
    quote = '"' if any(re.search(r"\s", value) for value in values) else ""
    return f"{field}:{quote}{','.join(values)}{quote}" if values else ""


def _replaced(text: str, found: re.Match[str], own: str) -> str:
    pieces = (text[: found.start()].strip(), own, text[found.end() :].strip())
    return " ".join(piece for piece in pieces if piece)
