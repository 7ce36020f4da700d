"""Edit TOML as text, keeping comments and order; add and remove our hook in Codex's ``config.toml``.

Every result is parsed with the standard parser; NotTomlError is raised if anything but the edited entry has changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, TypeGuard

from enricher.install import launcher

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_PLACE = re.compile(r"at line (\d+)")  # before Python 3.14, the parser says the line only in its message
_STRING = r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_BLOCK = """\
[[hooks.{event}]]

[[hooks.{event}.hooks]]
type = "command"
command = {command}
timeout = {timeout}
"""


class NotTomlError(ValueError):
    """Raised if a text is not TOML of the expected form, or if it cannot be edited safely.

    ``line`` is the number of the faulty line, or 0 if there is no particular one.
    """

    def __init__(self, message: str, *, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def read(text: str) -> dict[str, Any]:
    """Parse ``text``; raises NotTomlError with the parser's message."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1  # no line number means "at end of document"
        raise NotTomlError(f"not the TOML it should be: {error}", line=line) from None
    except RecursionError:
        raise NotTomlError("nested too deeply") from None


def line_of(text: str, key: str) -> int:
    """Return the number of the first line that sets ``key`` or begins a table with this name; 0 if there is none."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 0


def with_setting(text: str, key: str, value: bool) -> str:
    """Return the text with a top-level switch set to ``value``; an existing line with the key is changed in place."""
    expected = read(text) | {key: value}
    written = f"{key} = {json.dumps(value)}"
    body_end = _first_header(text)  # after it, the key would belong to a table
    # Any value that fits on one line: the switch may have been set to a string or a number.
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
    """Return the text with ``addition`` at its end; raises NotTomlError unless the result parses to ``expected``."""
    separator = "\n" if text.strip() else ""
    return _checked(_with_line_end(text) + separator + addition, expected)


def without_block(text: str, block: str, expected: dict[str, Any]) -> str:
    """Return the text without the string ``block``.

    Raises NotTomlError if the text does not contain it, or if the result does not parse to ``expected``.
    """
    at = text.find(block)
    if at < 0:
        raise NotTomlError("the registration was edited by hand; remove it there")
    before, behind = text[:at], text[at + len(block) :]
    if before.endswith("\n\n"):  # the empty line that ``with_table`` put before the block
        before = before[:-1]
    return _checked(before + behind, expected)


def _with_line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _checked(text: str, expected: dict[str, Any]) -> str:
    if read(text) != expected:
        raise NotTomlError("its layout leaves no safe place for this edit; change it by hand")
    return text


def holds_hooks(text: str) -> bool:
    """Return whether a Codex configuration registers any hooks; its records of which hooks are trusted do not count."""
    found = read(text).get("hooks")
    return isinstance(found, dict) and any(isinstance(value, list) for value in found.values())


def commands(text: str, event: str) -> list[str]:
    """Return the commands of our handlers (registered hooks) for an event."""
    handlers = [handler for group in _groups(text, event) for handler in group.get("hooks", [])]
    return [handler["command"] for handler in handlers if launcher.is_ours(handler.get("command"))]


def _groups(text: str, event: str) -> list[dict[str, Any]]:
    hooks = read(text).get("hooks", {})
    groups = hooks.get(event, []) if isinstance(hooks, dict) else None
    if not _are_tables(groups) or not all(_are_tables(group.get("hooks", [])) for group in groups):
        raise NotTomlError(f"hooks.{event} is no list of tables", line=line_of(text, "hooks"))
    return groups


def _are_tables(value: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def with_entry(text: str, event: str, command: str, *, timeout: int) -> str:
    """Return the text with exactly one handler of ours for an event: it runs ``command``, with the given timeout."""
    if commands(text, event) == [command]:
        return text
    text = without_entry(text, event, timeout=timeout)
    expected = read(text)
    handler = {"type": "command", "command": command, "timeout": timeout}
    expected.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [handler]})
    return with_table(text, _block(event, command, timeout), expected)


def without_entry(text: str, event: str, *, timeout: int) -> str:
    """Return the text without our handlers for an event.

    Raises NotTomlError if the user has edited one, so that it differs from what we write for this ``timeout``.
    """
    for command in commands(text, event):
        expected = _without(read(text), event, command)
        text = without_block(text, _block(event, command, timeout), expected)
    return text


def _block(event: str, command: str, timeout: int) -> str:
    # A string in JSON is one in TOML, too.
    return _BLOCK.format(event=event, command=json.dumps(command), timeout=timeout)


def _without(tree: dict[str, Any], event: str, command: str) -> dict[str, Any]:
    groups = tree["hooks"][event]
    groups[:] = [
        group for group in groups if [handler.get("command") for handler in group.get("hooks", [])] != [command]
    ]
    if not groups:
        del tree["hooks"][event]
    if not tree["hooks"]:
        del tree["hooks"]
    return tree
