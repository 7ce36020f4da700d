"""Find, add, update and remove our entry in a client's JSON configuration."""

from __future__ import annotations

import json
from typing import Any

from enricher.install import launcher
from enricher.install.editing import jsontext

BLANK = "\ufeff \t\r\n"

Path = tuple[str | int, ...]


class Shape:
    """The format in which a client lists its hooks.

    ``root`` contains the keys that the file needs in addition to ``hooks``, ``handler`` is our entry without its
    command, and ``command_key`` is the key for the command. A grouped list consists of objects, each with a list of
    handlers and, if we handle only some events of that name, a ``matcher``.
    """

    __slots__ = ("command_key", "event", "handler", "has_comments", "is_grouped", "matcher", "root")

    def __init__(self, facts: Any, *, event: str = "", matcher: str = "") -> None:
        self.root: dict[str, Any] = facts.ROOT
        self.event: str = event or facts.EVENT
        self.matcher = matcher
        self.handler: dict[str, Any] = facts.HANDLER
        self.command_key: str = facts.COMMAND_KEY
        self.is_grouped: bool = facts.IS_GROUPED
        self.has_comments: bool = facts.HAS_COMMENTS

    def entry(self, command: str) -> dict[str, Any]:
        """Return our entry for the event's list of hooks, with the given command."""
        filled = {key: command if key == self.command_key else value for key, value in self.handler.items()}
        if not self.is_grouped:
            return filled
        return {"matcher": self.matcher, "hooks": [filled]} if self.matcher else {"hooks": [filled]}

    def parse(self, text: str) -> jsontext.Node:
        """Return the parsed file; raises NotJsonError also if a container on the path to our entry has another type."""
        kinds = {(): dict, ("hooks",): dict, ("hooks", self.event): list}
        return jsontext.parse_containers(text, kinds, comments=self.has_comments)


def ours(shape: Shape, root: jsontext.Node) -> list[Path]:
    """Return the path in the JSON of each handler that starts our launcher, in file order."""
    top: Path = ("hooks", shape.event)
    entries = root.at(*top)
    groups = range(len(entries.children)) if entries else range(0)
    lists = [(*top, group, "hooks") for group in groups] if shape.is_grouped else [top]
    return [
        (*path, index)
        for path in lists
        for index, handler in enumerate(_items(root.at(*path)))
        if isinstance(handler, dict) and launcher.is_ours(handler.get(shape.command_key))
    ]


def _items(node: jsontext.Node | None) -> list[Any]:
    return node.value if node and isinstance(node.value, list) else []


def commands(shape: Shape, text: str) -> list[str]:
    """Return the commands of our handlers."""
    root = shape.parse(text)
    nodes = [root.at(*path, shape.command_key) for path in ours(shape, root)]
    return [node.value for node in nodes if node]


def with_entry(shape: Shape, text: str, command: str) -> str:
    """Return the text with exactly one handler of ours, which keeps the settings that the user changed in it."""
    if not text.strip(BLANK):
        return json.dumps({**shape.root, "hooks": {shape.event: [shape.entry(command)]}}, indent=2) + "\n"
    # Parse again after each edit, because it moves everything after it.
    while len(found := ours(shape, shape.parse(text))) > 1:
        text = _without(shape, text, found[-1])
    if not found:
        return _with_new(shape, text, command)
    node = shape.parse(text).at(*found[0], shape.command_key)
    return text if node is None or node.value == command else jsontext.replaced(text, node, command)


def _with_new(shape: Shape, text: str, command: str) -> str:
    for key, value in shape.root.items():
        root = shape.parse(text)
        text = text if root.at(key) else jsontext.appended(text, root, value, key=key)
    root, entry = shape.parse(text), shape.entry(command)
    hooks, entries = root.at("hooks"), root.at("hooks", shape.event)
    if hooks is None:
        return jsontext.appended(text, root, {shape.event: [entry]}, key="hooks")
    if entries is None:
        return jsontext.appended(text, hooks, [entry], key=shape.event)
    return jsontext.appended(text, entries, entry)


def without_entry(shape: Shape, text: str) -> str:
    """Return the text without our handlers."""
    if not text.strip(BLANK):
        return text
    while found := ours(shape, shape.parse(text)):
        text = _without(shape, text, found[-1])
    return text


def is_bare(shape: Shape, text: str) -> bool:
    """Return whether the text contains nothing but the keys that the client requires in every such file."""
    return bool(shape.parse(text).value == shape.root) if text.strip(BLANK) else True


def _without(shape: Shape, text: str, path: Path) -> str:
    root = shape.parse(text)
    doomed = path[:-2] if _is_group_of_ours(shape, root, path) else path
    while len(doomed) > 1 and len(_container(root, doomed).children) == 1:
        doomed = doomed[:-1]
    if len(doomed) == len(path) - 1:  # a group with other keys, such as a matcher, must keep its list, even if empty
        doomed = path if shape.is_grouped else doomed
    container = _container(root, doomed)
    return jsontext.removed(text, container, container.index(doomed[-1]))


def _is_group_of_ours(shape: Shape, root: jsontext.Node, path: Path) -> bool:
    """Return whether the group of the handler at ``path`` contains only our matcher and that handler."""
    group = root.at(*path[:-2]) if shape.matcher else None
    value = group.value if group else {}
    return set(value) == {"matcher", "hooks"} and value["matcher"] == shape.matcher and len(value["hooks"]) == 1


def _container(root: jsontext.Node, path: Path) -> jsontext.Node:
    return root.at(*path[:-1]) or root
