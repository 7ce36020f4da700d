"""Edit JSON as text, so that everything outside the edit stays unchanged, byte for byte.

Order, indentation, line ends and (if the format has them) comments are preserved; an
edit affects only the edited element and the adjacent comma.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_OR_COMMENT = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DECODE = json.JSONDecoder().raw_decode
_CLOSER = {"{": "}", "[": "]"}


class NotJsonError(ValueError):
    """The text is not JSON; ``line`` is the line of the error."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line, self.reason = line, message


class Node:
    """A JSON value and its span in the text; a container also has its children and the commas after them."""

    __slots__ = ("children", "commas", "end", "keys", "start", "starts", "value")

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end
        self.children: list[Node] = []
        self.keys: list[str] = []
        self.starts: list[int] = []
        self.commas: list[int] = []

    def index(self, step: str | int) -> int:
        """Return the position of a key or element; -1 if there is none.

        If a key is repeated, its last position is returned, because that is the one that clients use.
        """
        if isinstance(step, int):
            return step if step < len(self.children) else -1
        positions = [index for index, key in enumerate(self.keys) if key == step]
        return positions[-1] if positions else -1

    def at(self, *path: str | int) -> Node | None:
        """Return the node at a path, which consists of keys and positions; None if there is none."""
        node = self
        for step in path:
            index = node.index(step)
            if index < 0:
                return None
            node = node.children[index]
        return node


def parse(text: str, *, comments: bool = False) -> Node:
    """Parse ``text`` into nodes with their positions; raises NotJsonError."""
    try:
        return _Parser(text, _SPACE_OR_COMMENT if comments else _SPACE).document()
    except RecursionError:
        raise NotJsonError(1, "nested too deeply") from None


def parse_containers(text: str, kinds: Mapping[tuple[str, ...], type], *, comments: bool) -> Node:
    """Parse ``text``; raises NotJsonError also if the value at one of the paths in ``kinds`` has another type."""
    root = parse(text, comments=comments)
    for path, kind in kinds.items():
        node = root.at(*path)
        if node and not isinstance(node.value, kind):
            line = text.count("\n", 0, node.start) + 1
            raise NotJsonError(
                line, f"{'.'.join(path) or 'the file'} is no JSON {'object' if kind is dict else 'list'}"
            )
    return root


class _Parser:
    def __init__(self, text: str, space: re.Pattern[str]) -> None:
        self.text, self.space = text, space

    def document(self) -> Node:
        node = self.value(self.skip(1 if self.text.startswith("\ufeff") else 0))
        if self.skip(node.end) != len(self.text):
            raise self.error(self.skip(node.end), "text behind the end of the JSON value")
        return node

    def skip(self, at: int) -> int:
        found = self.space.match(self.text, at)
        return found.end() if found else at

    def error(self, at: int, message: str) -> NotJsonError:
        return NotJsonError(self.text.count("\n", 0, at) + 1, message)

    def value(self, at: int) -> Node:
        opener = self.text[at : at + 1]
        if opener in _CLOSER:
            return self.container(at, opener)
        if opener == '"':
            string, end = self.string(at)
            return Node(string, at, end)
        found = _SCALAR.match(self.text, at)
        if not found:
            raise self.error(at, f"expected a value, found {self.text[at : at + 20]!r}")
        return Node(json.loads(found.group()), at, found.end())

    def string(self, at: int) -> tuple[str, int]:
        try:
            value, end = _DECODE(self.text, at)
        except ValueError as error:
            raise self.error(at, f"broken string ({error.args[0]})") from None
        return str(value), end

    def container(self, at: int, opener: str) -> Node:
        node = Node({} if opener == "{" else [], at, at)
        position = self.skip(at + 1)
        while self.text[position : position + 1] != _CLOSER[opener]:
            if node.children and len(node.commas) < len(node.children):
                raise self.error(position, f"expected ',' or '{_CLOSER[opener]}'")
            child = self.member(node, position) if opener == "{" else self.item(node, position)
            position = self.skip(child.end)
            if self.text[position : position + 1] == ",":
                node.commas.append(position)
                position = self.skip(position + 1)
        if node.children and len(node.commas) == len(node.children):
            raise self.error(node.commas[-1], "a comma behind the last element")
        node.end = position + 1
        return node

    def member(self, node: Node, at: int) -> Node:
        if self.text[at : at + 1] != '"':
            raise self.error(at, "expected a key in double quotes")
        key, end = self.string(at)
        colon = self.skip(end)
        if self.text[colon : colon + 1] != ":":
            raise self.error(colon, f"expected ':' behind the key {key!r}")
        child = self.value(self.skip(colon + 1))
        node.value[key] = child.value
        node.keys.append(key)
        node.starts.append(at)
        node.children.append(child)
        return child

    def item(self, node: Node, at: int) -> Node:
        child = self.value(at)
        node.value.append(child.value)
        node.starts.append(at)
        node.children.append(child)
        return child


def appended(text: str, container: Node, value: object, *, key: str = "") -> str:
    """Return the text with ``value`` as the last element of a container (under ``key`` in an object)."""
    if not container.children:
        return _first_element(text, container, value, key)
    last = container.children[-1]
    close = container.end - 1
    head, between = text[: last.end] + ",", text[last.end : close]
    if "\n" not in text[container.start : container.starts[0]]:
        return head + between.rstrip() + " " + _member(value, key) + between[len(between.rstrip()) :] + text[close:]
    kept = between.rstrip()
    indent = _indent(text, container.starts[0])
    unit = indent.removeprefix(_indent(text, container.start)) or _unit(text)
    new_line = _line_end(text) + indent
    rest = between[len(kept) :] or _line_end(text) + _indent(text, container.start)
    return head + kept + new_line + _member(value, key, unit=unit, newline=new_line) + rest + text[close:]


def _first_element(text: str, container: Node, value: object, key: str) -> str:
    inside = text[container.start + 1 : container.end - 1].rstrip()
    if "\n" not in text.strip() and text.strip(" \t\r\n\ufeff") not in ("{}", "[]"):
        return text[: container.start + 1] + inside + _member(value, key) + text[container.end - 1 :]
    outer = _line_end(text) + _indent(text, container.start)
    inner = outer + _unit(text)
    body = _member(value, key, unit=_unit(text), newline=inner)
    return text[: container.start + 1] + inside + inner + body + outer + text[container.end - 1 :]


def _member(value: object, key: str, *, unit: str = "", newline: str = "") -> str:
    body = json.dumps(value, ensure_ascii=False, indent=unit or None).replace("\n", newline)
    return f"{json.dumps(key, ensure_ascii=False)}: {body}" if key else body


def replaced(text: str, node: Node, value: object) -> str:
    """Return the text with ``node`` replaced by a scalar."""
    return text[: node.start] + json.dumps(value, ensure_ascii=False) + text[node.end :]


def removed(text: str, container: Node, index: int) -> str:
    """Return the text without one element, its comma and the white space before it."""
    start, end = container.starts[index], container.children[index].end
    while text[start - 1] in " \t\r\n":  # stops at the opening brace or bracket at the latest
        start -= 1
    if index < len(container.commas):
        return text[:start] + text[container.commas[index] + 1 :]
    if index == 0:
        inside_end = container.end - 1
        return text[:start] + text[end:inside_end].rstrip() + text[inside_end:]
    comma = container.commas[index - 1]
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
