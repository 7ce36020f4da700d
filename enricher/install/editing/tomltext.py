"""Edit TOML as text: set a top-level key, append or remove a table; comments and order are preserved.

The result of every edit is parsed with the standard parser; an edit that would
change anything else is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_PLACE = re.compile(r"at line (\d+)")
_STRING = r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''


class NotTomlError(ValueError):
    """The text is not TOML, or this edit is not possible; ``line`` is the faulty line, 0 if there is none."""

    def __init__(self, message: str, *, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def read(text: str) -> dict[str, Any]:
    """Return the parsed data; raises NotTomlError with the parser's message."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1  # no line number means "at end of document"
        raise NotTomlError(f"not the TOML it should be: {error}", line=line) from None
    except RecursionError:
        raise NotTomlError("nested too deeply") from None


def line_of(text: str, key: str) -> int:
    """Return the number of the first line that has the key or starts a table of that name; 0 if there is none."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 0


def with_setting(text: str, key: str, value: bool) -> str:
    """Return the text with a top-level switch set to ``value``; an existing line with the key is changed in place."""
    expected = read(text) | {key: value}
    written = f"{key} = {json.dumps(value)}"
    body_end = _first_header(text)
    line = re.compile(rf"^([ \t]*)(?:{key}|\"{key}\")[ \t]*=[ \t]*(?:true|false|{_STRING}|[-+\w.]+)", re.MULTILINE)
    edited, count = line.subn(lambda found: found.group(1) + written, text[:body_end], count=1)
    if not count:
        line_end = "\r\n" if "\r\n" in text else "\n"
        edited = _with_line_end(text[:body_end]) + written + line_end
        edited += line_end if body_end < len(text) else ""
    return _checked(edited + text[body_end:], expected)


def _first_header(text: str) -> int:
    for found in _HEADER.finditer(text):
        try:
            tomllib.loads(text[: found.start()])
        except tomllib.TOMLDecodeError:
            continue  # a bracket inside a multi-line value, not a table
        return found.start()
    return len(text)


def with_table(text: str, addition: str, expected: dict[str, Any]) -> str:
    """Return the text with ``addition`` at its end; raises NotTomlError if the result does not mean ``expected``."""
    separator = "\n" if text.strip() else ""
    return _checked(_with_line_end(text) + separator + addition, expected)


def without_block(text: str, block: str, expected: dict[str, Any]) -> str:
    """Return the text without one literal block; raises NotTomlError if the result does not mean ``expected``."""
    at = text.find(block)
    if at < 0:
        raise NotTomlError("the registration was edited by hand; remove it there")
    before, behind = text[:at], text[at + len(block) :]
    if before.endswith("\n\n"):
        before = before[:-1]
    return _checked(before + behind, expected)


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _checked(text: str, expected: dict[str, Any]) -> str:
    if read(text) != expected:
        raise NotTomlError("its layout leaves no safe place for this edit; change it by hand")
    return text
