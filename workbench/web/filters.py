"""Edit the text of a filter for prompts, such as ``type:debug host:claude``, when a reader clicks on a value.

The text can also be translated to the URL parameters with which Datasette filters its page of the prompts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from storage.traces.filter_text import PART

if TYPE_CHECKING:
    from collections.abc import Iterator

SEVERAL = ("type", "intent", "workflow", "host", "status")
"""Fields for which a filter can name several alternative values; in other fields, a new value replaces the old one."""
EACH = "guardrail"
"""A prompt can have several guardrails at once, so each one that is selected is a part of its own in the filter."""
WITH_COMMAS = "signal"
"""In the values of this field a comma is an ordinary character; in those of others it separates alternatives."""
FIELD_OF_KIND = {
    "signal": "signal", "task type": "type", "search intent": "intent", "guardrail": "guardrail",
    "workflow": "workflow",
}  # fmt: skip
"""The field of a filter that selects the prompts on which a rule fired, by the kind of the rule; others have none."""
COLUMNS = {
    "type": "task_type", "intent": "search_intent", "workflow": "workflow", "host": "host", "status": "status",
    "origin": "origin",
}  # fmt: skip
BEGINNINGS = {"version": "rules_hash", "session": "session_id", "id": "id"}
NUMBERS = {"ms": "latency_ms", "tokens": "output_tokens"}
SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


def part(field: str, value: str) -> str:
    """Return the part of a filter that selects one value of a field, such as ``type:debug``, quoted if necessary.

    It is empty if the value is empty, or has a character that a filter cannot express.
    """
    is_sayable = '"' not in value and (field == WITH_COMMAS or "," not in value)
    return _parts(field, [value]) if value and is_sayable else ""


def has(text: str, field: str, value: str) -> bool:
    """Return whether the filter ``text`` selects this value of the field, alone or among alternatives."""
    return any(value in found["value"].strip('"').split(",") for found in _of(text, field))


def with_part(text: str, field: str, value: str) -> str:
    """Return the filter ``text``, changed so that it selects this value of the field.

    In some fields, the value is added as an alternative or a further condition; in others, it replaces the old value.
    """
    own = next(_of(text, field), None)
    if own is None or field == EACH:
        return f"{text.strip()} {part(field, value)}".strip()
    values = [*own["value"].strip('"').split(","), value] if field in SEVERAL else [value]
    return _replaced(text, own, _parts(field, values))


def without_part(text: str, field: str, value: str) -> str:
    """Return the filter ``text`` without this value of the field."""
    for own in reversed(list(_of(text, field))):  # from the end, so that the places of the other parts stay right
        values = own["value"].strip('"').split(",")
        if value in values:
            text = _replaced(text, own, _parts(field, [one for one in values if one != value]))
    return text


def in_datasette(text: str) -> str | None:
    """Return the query string with which Datasette's page of the table ``traces`` lists the prompts of this filter.

    Return None if Datasette cannot express the filter.
    """
    conditions: list[tuple[str, str]] = []
    for found in PART.finditer(text):
        if not found[0].strip():  # PART also matches the blanks between parts, as empty ones
            continue
        own = _condition(found)
        if own is None:
            return None
        conditions.append(own)
    if not any(name.startswith("origin") for name, _value in conditions):
        conditions.append(("origin__not", "test"))  # as in our own list, which leaves out tests unless it is asked for
    return urlencode([*conditions, ("_sort_desc", "id")])


def _condition(found: re.Match[str]) -> tuple[str, str] | None:
    field, value = (found["field"] or "").lower(), found["value"].strip('"')
    if field in COLUMNS:
        sign = "not" * bool(found["minus"]) + "in" * ("," in value)  # Datasette's lookups: not, in, notin
        return f"{COLUMNS[field]}{'__' * bool(sign)}{sign}", value
    if found["minus"]:  # Datasette can negate neither a comparison nor the beginning of a text
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
