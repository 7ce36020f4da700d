"""Add and remove our entry in Codex's ``config.toml``, for users who register their hooks there."""

from __future__ import annotations

import copy
import json
from typing import Any, TypeGuard

from enricher.install import launcher
from enricher.install.editing import tomltext

_BLOCK = """\
[[hooks.{event}]]

[[hooks.{event}.hooks]]
type = "command"
command = {command}
timeout = {timeout}
"""


def holds_hooks(text: str) -> bool:
    """Return whether hooks are registered in this file; the trust records under the same key do not count."""
    found = tomltext.read(text).get("hooks")
    return isinstance(found, dict) and any(isinstance(value, list) for value in found.values())


def commands(text: str, event: str) -> list[str]:
    """Return the commands of our handlers."""
    handlers = [handler for group in _groups(text, event) for handler in group.get("hooks", [])]
    return [handler["command"] for handler in handlers if launcher.is_ours(handler.get("command"))]


def _groups(text: str, event: str) -> list[dict[str, Any]]:
    """Return the groups of an event; raises NotTomlError if hooks, event, group or handler has another type."""
    hooks = tomltext.read(text).get("hooks", {})
    groups = hooks.get(event, []) if isinstance(hooks, dict) else None
    if not _are_tables(groups) or not all(_are_tables(group.get("hooks", [])) for group in groups):
        raise tomltext.NotTomlError(f"hooks.{event} is no list of tables", line=tomltext.line_of(text, "hooks"))
    return groups


def _are_tables(value: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def with_entry(text: str, event: str, command: str, *, timeout: int) -> str:
    """Return the text with exactly one handler of ours."""
    if commands(text, event) == [command]:
        return text
    text = without_entry(text, event, timeout=timeout)
    expected = tomltext.read(text)
    handler = {"type": "command", "command": command, "timeout": timeout}
    expected.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [handler]})
    return tomltext.with_table(text, _block(event, command, timeout), expected)


def without_entry(text: str, event: str, *, timeout: int) -> str:
    """Return the text without our handlers."""
    for command in commands(text, event):
        expected = _without(tomltext.read(text), event, command)
        text = tomltext.without_block(text, _block(event, command, timeout), expected)
    return text


def _block(event: str, command: str, timeout: int) -> str:
    return _BLOCK.format(event=event, command=json.dumps(command), timeout=timeout)


def _without(tree: dict[str, Any], event: str, command: str) -> dict[str, Any]:
    left = copy.deepcopy(tree)
    groups = left["hooks"][event]
    groups[:] = [
        group for group in groups if [handler.get("command") for handler in group.get("hooks", [])] != [command]
    ]
    if not groups:
        del left["hooks"][event]
    if not left["hooks"]:
        del left["hooks"]
    return left
