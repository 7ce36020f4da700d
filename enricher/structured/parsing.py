"""Parse a language model's answer and check it against a schema; never raise, but report what is unusable.

An answer has a block ``<METADATA>`` with one JSON object, and a block ``<CONTENT>`` with text. It may also be a JSON
object alone, as endpoints with structured output send it; its text is then the value of the key ``content``.

The object is checked against a schema, field by field. A schema is the part of JSON Schema that ``enricher template
schemas`` prints: ``type``, ``properties``, ``required``, ``items``, ``enum``, ``minimum``, ``maximum``, ``maxLength``.
Three keys are added to it: ``aliases`` (other names of a field), ``scale`` (a number between the maximum and the scale
is divided by the scale: with 100, 45 becomes 0.45) and ``clamp`` (a number in a string is accepted, and a number that
exceeds a limit is replaced with the limit).

This runs in the process that queries a model for the hook, and therefore imports no third-party libraries.
"""

from __future__ import annotations

from math import isfinite

from storage.base.fast_stdlib import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Schema = Mapping[str, Any]

METADATA, CONTENT, INSTRUCTION = "METADATA", "CONTENT", "INSTRUCTION"
VERSION = "schema_version"
"""Field of prompts and answers with the version of the schema that they follow."""
MOST_OBJECTS = 20
"""Maximum opening braces that are tried as the beginning of a JSON object, which limits the time."""
NAMES = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
LONGEST_SHOWN = 60
"""Maximum characters of a wrong value that a message quotes."""


class ParsedResponse:
    """A parsed answer of a model: its JSON object, the valid fields in it, its text, and what is wrong with it.

    ``metadata`` is the JSON object as the model wrote it, ``data`` has its valid fields, and ``content`` is the text.
    ``problems`` say what makes the answer invalid; ``notes`` say where it differs from the requested form, but could be
    read nevertheless. ``required`` are the names of the fields that the schema demands.
    """

    __slots__ = ("content", "data", "metadata", "notes", "problems", "required")

    def __init__(self, required: list[str]) -> None:
        self.required = required
        self.metadata: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.content = ""
        self.problems: list[str] = []
        self.notes: list[str] = []

    @property
    def is_valid(self) -> bool:
        """Return whether the answer has a JSON object that follows the schema."""
        return not self.problems


def parse(text: str, schema: Schema) -> ParsedResponse:
    """Parse a model's answer; ``schema`` is the schema of its type (``enricher.structured.responses``)."""
    result = ParsedResponse(schema["required"])
    inside, rest = _metadata_block(text)
    found = None
    if inside is not None:
        found, around = _first_object(inside, schema)
        rest = around if rest is None else rest
    if found is None:
        result.notes.append(f"the answer has no <{METADATA}> block with a JSON object")
        found, rest = _first_object(text, schema)
    result.content = _content(rest or "", found, result)
    if found is None:
        result.problems.append(f"no JSON object in the answer: {shown(text.strip()[:200])}")
        return result
    result.metadata = found
    result.problems += _version_problem(found, schema)
    result.data, problems = checked(found, schema)
    result.problems += problems
    return result


def _metadata_block(text: str) -> tuple[str | None, str | None]:
    """Return the content of the metadata block and the text outside it.

    Without a block the content is None; if the closing tag is missing, the text outside is None.
    """
    upper = _ascii_upper(text)
    opening, closing = f"<{METADATA}>", f"</{METADATA}>"
    at = upper.find(opening)
    if at < 0:
        return None, text
    first = at + len(opening)
    end = upper.find(closing, first)
    return (text[first:], None) if end < 0 else (text[first:end], text[:at] + text[end + len(closing) :])


def _ascii_upper(text: str) -> str:
    # One character for each character, so that offsets stay valid: "ß".upper() is "SS", and "İ".lower() has two.
    return text.encode("ascii", "replace").decode("ascii").upper()


def _content(rest: str, found: Mapping[str, Any] | None, result: ParsedResponse) -> str:
    upper = _ascii_upper(rest)
    first = upper.find(f"<{CONTENT}>")
    if first >= 0:
        last = upper.rfind(f"</{CONTENT}>")  # the last one: the text may itself show an answer in this form
        return rest[first + len(CONTENT) + 2 : last if last > first else len(rest)].strip()
    if found and isinstance(found.get("content"), str):
        return str(found["content"]).strip()
    result.notes.append(f"the answer has no <{CONTENT}> block")
    return rest.strip()


def _first_object(text: str, schema: Schema) -> tuple[dict[str, Any] | None, str]:
    """Return a JSON object in the text, or None if there is none, and the text around it.

    It is the first object with a field of the schema or, if there is none, the first object in the text.
    """
    found: tuple[dict[str, Any] | None, str] = None, text
    at = -1
    for _attempt in range(MOST_OBJECTS):
        at = text.find("{", at + 1)
        if at < 0:
            break
        try:
            value, end = scan(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            around = text[:at] + text[end:]
            if any(name in value for name in _names(schema)):
                return value, around
            if found[0] is None:
                found = value, around
    return found


def _names(schema: Schema) -> list[str]:
    return [one for name, field in schema["properties"].items() for one in (name, *field.get("aliases", ()))]


def _version_problem(found: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return a problem if the answer names a version of the schema that this release cannot read; else no problem."""
    own, given = schema["version"], found.get(VERSION, schema["version"])
    if given == own or given in schema.get("accepts", ()):
        return []
    readable = ", ".join(map(str, (own, *schema.get("accepts", ()))))
    return [f"{VERSION}: {shown(given)} cannot be read; this release reads {readable}"]


def checked(value: Mapping[str, Any], schema: Schema, *, at: str = "") -> tuple[dict[str, Any], list[str]]:
    """Check a JSON object against a schema; return its valid fields, and what is wrong with the others.

    A field that is given under an alias is returned under its own name. Fields that the schema does not know are left
    out. A field that is ``null`` counts as missing. ``at`` is the path of the object in the answer, for messages.
    """
    data: dict[str, Any] = {}
    problems: list[str] = []
    for name, field in schema["properties"].items():
        place = f"{at}.{name}" if at else name
        given = next((value[key] for key in (name, *field.get("aliases", ())) if value.get(key) is not None), None)
        if given is None:  # models write null for a field that they leave out
            if name in schema["required"]:
                problems.append(f"{place}: is required, but missing")
            continue
        found = _value(given, field, place, problems)
        if found is not None:
            data[name] = found
    return data, problems


def _value(given: Any, field: Schema, place: str, problems: list[str]) -> Any:
    """Return a field's value without its invalid items, or None if it is invalid; append the reasons to ``problems``.

    ``given`` is the value, ``field`` its schema, and ``place`` its path in the answer. Only the items of an array may
    be left out; an object with any invalid field is invalid.
    """
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
    """Return whether the value has the JSON type ``kind``; neither ``true`` nor NaN counts as a number."""
    if isinstance(value, bool):  # first, because bool is a subclass of int
        return kind == "boolean"
    if kind == "number":
        return isinstance(value, int | float) and isfinite(value)  # Python reads NaN and Infinity in JSON
    types = {"integer": int, "string": str, "array": list, "object": dict}
    return kind in types and isinstance(value, types[kind])  # no entry: "boolean", which is decided above


def _scaled(value: Any, field: Schema) -> Any:
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
        return round(value / scale, 4)  # 14.3 / 100 is 0.14300000000000002
    return value


def _limit(value: Any, field: Schema) -> str:
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
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def form_of(field: Schema) -> str:
    """Return a sample that shows a model how to write a value: JSON with placeholders for its texts and numbers."""
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

    It makes all fields required and allows no others, as such endpoints demand. It leaves out the limits of values,
    which they do not support; ``checked`` applies these to the answer.
    """
    strict: dict[str, Any] = {key: field[key] for key in ("type", "enum") if key in field}
    if field["type"] == "object":
        strict["properties"] = {name: native_schema(one) for name, one in field["properties"].items()}
        strict["required"] = list(field["properties"])
        strict["additionalProperties"] = False
    if field["type"] == "array":
        strict["items"] = native_schema(field["items"])
    return strict
