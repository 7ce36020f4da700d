"""Check a JSON object against a schema, field by field; never raises, and reports every problem.

A schema is the part of JSON Schema that ``enricher template schemas`` prints: ``type``, ``properties``, ``required``,
``items``, ``enum``, ``minimum``, ``maximum``, ``maxLength``. Three keys are our own: ``aliases`` (other names of a
field), ``scale`` (a number above the maximum, but not above this one, is divided by it: with 100, 45 becomes 0.45) and
``clamp`` (a number beyond its limits is moved to the limit, and a text that is a number counts as one).

This runs in the process that queries a model for the hook, and therefore uses no other libraries.
"""

from __future__ import annotations

from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Schema = Mapping[str, Any]

NAMES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
LONGEST_SHOWN = 60


def checked(value: Mapping[str, Any], schema: Schema, *, at: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return the valid fields of an object under their own names, and what is wrong with the others.

    Fields that the schema does not know are left out. ``null`` counts as absent.
    """
    data: dict[str, Any] = {}
    problems: list[str] = []
    for name, field in schema["properties"].items():
        place = f"{at}.{name}" if at else name
        given = next((value[key] for key in (name, *field.get("aliases", ())) if value.get(key) is not None), None)
        if given is None:
            if name in schema["required"]:
                problems.append(f"{place}: is required, but missing")
            continue
        found = _value(given, field, place, problems)
        if found is not None:
            data[name] = found
    return data, problems


def _value(given: Any, field: Schema, place: str, problems: list[str]) -> Any:
    """Return the usable part of a value, None if there is none; append what is wrong with the value to ``problems``."""
    kind = field["type"]
    if kind in ("number", "integer"):
        given = _scaled(given, field)
    if not _is_a(given, kind):
        problems.append(f"{place}: {shown(given)} is not {NAMES[kind]}")
        return None
    if kind == "object":
        found, inner = checked(given, field, at=place)
        problems += inner
        return None if inner else found
    if kind == "array":
        items = [_value(one, field["items"], f"{place}[{index}]", problems) for index, one in enumerate(given)]
        return [one for one in items if one is not None]
    problem = _limit(given, field)
    if problem:
        problems.append(f"{place}: {problem}")
    return None if problem else given


def _is_a(value: object, kind: str) -> bool:
    """Return whether the value has the JSON type; ``true`` is no number, and neither is NaN."""
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "number":
        return isinstance(value, int | float) and isfinite(value)
    types = {"integer": int, "string": str, "array": list, "object": dict}
    return kind in types and isinstance(value, types[kind])


def _scaled(value: Any, field: Schema) -> Any:
    """Return the value after applying the keys ``scale`` and ``clamp`` of its schema."""
    if field.get("clamp"):
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                return value
        if _is_a(value, "number"):
            return min(max(value, field["minimum"]), field["maximum"])
    scale = field.get("scale")
    if scale and _is_a(value, "number") and field["maximum"] < value <= scale:
        return round(value / scale, 4)
    return value


def _limit(value: Any, field: Schema) -> str:
    """Return which limit the value breaks; empty if none."""
    if "enum" in field and value not in field["enum"]:
        return f"{shown(value)} is none of {', '.join(field['enum'])}"
    if "minimum" in field and value < field["minimum"]:
        return f"{shown(value)} is below {field['minimum']}"
    if "maximum" in field and value > field["maximum"]:
        return f"{shown(value)} is above {field['maximum']}"
    if "maxLength" in field and len(value) > field["maxLength"]:
        return f"has {len(value)} characters; at most {field['maxLength']} are allowed"
    return ""


def shown(value: object) -> str:
    """Return the value as a short text for a message."""
    text = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    text = text or repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def form_of(field: Schema) -> str:
    """Return the form of a value for a model to follow: JSON with a description in place of each text or number."""
    kind = field["type"]
    if kind == "object":
        return "{" + ", ".join(f'"{name}": {form_of(one)}' for name, one in field["properties"].items()) + "}"
    if kind == "array":
        return f"[{form_of(field['items'])}, …]"
    if "enum" in field:
        return '"' + " | ".join(field["enum"]) + '"'
    if kind == "string":
        return '"…"'
    if kind == "boolean":
        return "true | false"
    return f"{field['minimum']} to {field['maximum']}" if "maximum" in field else NAMES[kind]


def native_schema(field: Schema) -> dict[str, Any]:
    """Return a schema in the form that endpoints with structured output accept.

    They demand that every field is required and no other is allowed, and they do not support limits; ``checked``
    applies the limits to the answer.
    """
    strict: dict[str, Any] = {key: field[key] for key in ("type", "enum") if key in field}
    if field["type"] == "object":
        strict["properties"] = {name: native_schema(one) for name, one in field["properties"].items()}
        strict["required"] = list(field["properties"])
        strict["additionalProperties"] = False
    if field["type"] == "array":
        strict["items"] = native_schema(field["items"])
    return strict
