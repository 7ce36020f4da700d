"""Read what a model answered, and read a prompt back into its parts; never raises, and reports what is unusable.

The form of an answer is that of seed 002: ``<METADATA>`` with one JSON object, then ``<CONTENT>`` with text. An answer
that is a JSON object alone, as endpoints with structured output give it, is read too: its ``content`` is the text.
"""

from __future__ import annotations

from enricher.structured.checking import checked, shown
from storage.base.fast_stdlib import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.structured.checking import Schema

METADATA, CONTENT, INSTRUCTION = "METADATA", "CONTENT", "INSTRUCTION"
VERSION = "schema_version"
"""Field of prompts and answers with the version of the schema that they follow."""
MOST_OBJECTS = 20
"""At most this many opening braces are tried as the beginning of a JSON object, which limits the time."""
PAYLOAD = "---"
"""The beginning and the end of the line that precedes and follows a payload, such as ``---1a2b3c4d---``."""


class ParsedResponse:
    """A parsed answer: its JSON as given, the valid fields of that JSON, its text, and what is wrong with it.

    ``problems`` make it invalid. ``notes`` describe a form that differs from the requested one, but could be read.
    ``required`` are the fields that the schema demands.
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
        """Return whether the metadata were found and follow the schema."""
        return not self.problems


def parse(text: str, schema: Schema) -> ParsedResponse:
    """Return the parsed answer; ``schema`` is the schema of its type (``enricher.structured.responses``)."""
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
    low = text.lower()
    opening, closing = f"<{METADATA.lower()}>", f"</{METADATA.lower()}>"
    at = low.find(opening)
    if at < 0:
        return None, text
    first = at + len(opening)
    end = low.find(closing, first)
    return (text[first:], None) if end < 0 else (text[first:end], text[:at] + text[end + len(closing) :])


def _content(rest: str, found: Mapping[str, Any] | None, result: ParsedResponse) -> str:
    low = rest.lower()
    first = low.find(f"<{CONTENT.lower()}>")
    if first >= 0:
        last = low.rfind(f"</{CONTENT.lower()}>")
        return rest[first + len(CONTENT) + 2 : last if last > first else len(rest)].strip()
    if found and isinstance(found.get("content"), str):
        return str(found["content"]).strip()
    result.notes.append(f"the answer has no <{CONTENT}> block")
    return rest.strip()


def _first_object(text: str, schema: Schema) -> tuple[dict[str, Any] | None, str]:
    """Return the first JSON object with a field of the schema, else the first one, and the text around it."""
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
    """Return a problem if the answer follows a version of the schema that this release cannot read.

    An answer without a version is read as one of the current version.
    """
    own, given = schema["version"], found.get(VERSION, schema["version"])
    if given == own or given in schema.get("accepts", ()):
        return []
    readable = ", ".join(map(str, (own, *schema.get("accepts", ()))))
    return [f"{VERSION}: {shown(given)} cannot be read; this release reads {readable}"]


class ParsedPrompt:
    """A prompt to a model: its JSON, its text, and the payloads in the text, as they were given."""

    __slots__ = ("instruction", "metadata", "payloads")

    def __init__(self, metadata: dict[str, Any], instruction: str, payloads: list[str]) -> None:
        self.metadata = metadata
        self.instruction = instruction
        self.payloads = payloads


def parse_prompt(text: str) -> ParsedPrompt:
    """Return the parts of a prompt in the structured form; raises ValueError if it is in another form.

    A payload may contain the delimiters: the metadata end at the first closing tag, which JSON of ours cannot
    contain, the instruction at the last one, and a payload at the line that it cannot contain.
    """
    opening, closing = f"<{METADATA}>\n", f"\n</{METADATA}>\n\n<{INSTRUCTION}>\n"
    head, _, rest = text.partition(closing)
    instruction, end, _ = rest.rpartition(f"\n</{INSTRUCTION}>")
    if not head.startswith(opening) or not end:
        raise ValueError(f"not a prompt of <{METADATA}> and <{INSTRUCTION}>")
    value, _end = scan(head, len(opening))
    if not isinstance(value, dict):
        raise ValueError(f"the <{METADATA}> block is no JSON object")
    return ParsedPrompt(value, instruction, _payloads(instruction))


def _payloads(instruction: str) -> list[str]:
    found, lines, at = [], instruction.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        is_mark = len(line) > 2 * len(PAYLOAD) and line.startswith(PAYLOAD) and line.endswith(PAYLOAD)
        if is_mark and line in lines[at + 1 :]:
            end = lines.index(line, at + 1)
            found.append("\n".join(lines[at + 1 : end]))
            at = end
        at += 1
    return found


class StructuredResponseParser:
    """Reads answers of the types that ``response_schemas.yaml`` describes (seed 002, phase 3)."""

    def __init__(self, schemas: Mapping[str, Schema] | None = None) -> None:
        """Set the schemas, a mapping by type of answer; by default those of the package."""
        if schemas is None:
            from enricher.structured.responses import packaged_schemas

            schemas = packaged_schemas()
        self.schemas = schemas

    def parse(self, text: str, response_type: str) -> ParsedResponse:
        """Return the parsed answer; raises KeyError for an unknown type, but never because of the answer."""
        return parse(text, self.schemas[response_type])
