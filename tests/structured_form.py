"""The structured form of a prompt to a model (seed 002), taken apart."""

from __future__ import annotations

from typing import Any

from enricher.structured.parsing import INSTRUCTION, METADATA
from storage.base.fast_stdlib import scan

PAYLOAD = "---"
"""The beginning and the end of the line that precedes and follows a payload, such as ``---1a2b3c4d---``."""


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
