"""Edit JSON as text, so that everything outside the edit stays unchanged, byte for byte.

Order, indentation, line ends and (if the format has them) comments are preserved; an edit affects only the edited
element and the adjacent comma. The second half of the module finds, adds, updates and removes our entry in a client's
configuration.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from enricher.install import launcher

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPACE = re.compile(r"[ \t\r\n]*")  # the white space of JSON; \s would match more
_SPACE_OR_COMMENT = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_DECODE = json.JSONDecoder().raw_decode
_CLOSER = {"{": "}", "[": "]"}
BLANK = "\ufeff \t\r\n"  # what a file may contain that counts as empty: white space, and a byte order mark

Path = tuple[str | int, ...]


class NotJsonError(ValueError):
    """Raised if a text is not JSON of the expected form; ``line`` is the number of the faulty line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line, self.reason = line, message


class Node:
    """A JSON value and its position in the text; an object or list also has its children and the commas after them."""

    __slots__ = ("children", "commas", "end", "keys", "start", "starts", "value")

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end
        self.children: list[Node] = []
        self.keys: list[str] = []
        self.starts: list[int] = []
        self.commas: list[int] = []

    def index(self, step: str | int) -> int:
        """Return the index of the child with the key ``step`` or, for a number, at the position ``step``; -1 if none.

        If several children have the key, the last one is returned, because that is the one that clients use.
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
    """Parse ``text`` into nodes that know their positions; with ``comments``, the text may contain comments.

    Raises NotJsonError if the text is not JSON.
    """
    try:
        return _Parser(text, _SPACE_OR_COMMENT if comments else _SPACE).document()
    except RecursionError:
        raise NotJsonError(1, "nested too deeply") from None


def parse_containers(text: str, kinds: Mapping[tuple[str, ...], type], *, comments: bool) -> Node:
    """Parse ``text`` like ``parse``, and check the types of some values.

    ``kinds`` maps the paths of these values to their types. Raises NotJsonError if the text is not JSON, or if a value
    is present and has another type.
    """
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
        return found.end() if found else at  # for the type checker: both patterns also match nothing

    def error(self, at: int, message: str) -> NotJsonError:
        return NotJsonError(self.text.count("\n", 0, at) + 1, message)

    def value(self, at: int) -> Node:
        opener = self.text[at : at + 1]  # empty at the end of the text
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
            child = self.member(node, position) if opener == "{" else self.value(position)
            if opener == "[":
                node.value.append(child.value)
            node.starts.append(position)
            node.children.append(child)
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
        return child


def appended(text: str, container: Node, value: object, *, key: str) -> str:
    """Return the text with ``value`` added at the end of ``container``, a list or, if ``key`` is given, an object."""
    if not container.children:
        return _first_element(text, container, value, key)
    last = container.children[-1]
    close = container.end - 1
    head, between = text[: last.end] + ",", text[last.end : close]
    kept = between.rstrip()  # comments after the last element
    if "\n" not in text[container.start : container.starts[0]]:  # a container on one line stays on it
        return head + kept + " " + _member(value, key) + between[len(kept) :] + text[close:]
    indent = _indent(text, container.starts[0])
    unit = indent.removeprefix(_indent(text, container.start)) or _unit(text)
    new_line = _line_end(text) + indent
    rest = between[len(kept) :] or _line_end(text) + _indent(text, container.start)  # "}" follows directly
    return head + kept + new_line + _member(value, key, unit=unit, newline=new_line) + rest + text[close:]


def _first_element(text: str, container: Node, value: object, key: str) -> str:
    inside = text[container.start + 1 : container.end - 1].rstrip()
    # A file on one line stays on one line, unless it is nothing but this container.
    if "\n" not in text.strip() and text.strip(BLANK) not in ("{}", "[]"):
        return text[: container.start + 1] + inside + _member(value, key) + text[container.end - 1 :]
    outer = _line_end(text) + _indent(text, container.start)
    inner = outer + _unit(text)
    body = _member(value, key, unit=_unit(text), newline=inner)
    return text[: container.start + 1] + inside + inner + body + outer + text[container.end - 1 :]


def _member(value: object, key: str, *, unit: str = "", newline: str = "") -> str:
    body = json.dumps(value, ensure_ascii=False, indent=unit or None).replace("\n", newline)
    return f"{json.dumps(key, ensure_ascii=False)}: {body}" if key else body


def removed(text: str, container: Node, index: int) -> str:
    """Return the text without the element at ``index`` in ``container``, its comma and the space before it."""
    start, end = container.starts[index], container.children[index].end
    while text[start - 1] in " \t\r\n":  # stops at the opening brace or bracket at the latest
        start -= 1
    if index < len(container.commas):
        return text[:start] + text[container.commas[index] + 1 :]
    if index == 0:  # the only element: nothing stays but comments
        inside_end = container.end - 1
        return text[:start] + text[end:inside_end].rstrip() + text[inside_end:]
    comma = container.commas[index - 1]  # the last element: the comma before it goes, too
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def added(text: str, root: Node, path: tuple[str, ...], value: object, *, key: str = "") -> str:
    """Return the text with ``value`` added to the container at ``path``, which is created if necessary.

    With ``key``, the container is an object, and the value gets that key; without it, it is a list.
    """
    for depth, step in enumerate(path):
        if root.at(*path[: depth + 1]) is None:
            value = {key: value} if key else [value]
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return appended(text, _container(root, path[: depth + 1]), value, key=step)
    return appended(text, _container(root, (*path, key)), value, key=key)


def without(text: str, root: Node, path: Path) -> str:
    """Return the text without the element at ``path``, and without the containers that would then be empty."""
    return _removed_at(text, root, _with_lone_containers(root, path))


def _removed_at(text: str, root: Node, path: Path) -> str:
    container = _container(root, path)
    return removed(text, container, container.index(path[-1]))


def _with_lone_containers(root: Node, path: Path) -> Path:
    """Return the path of the outermost container that contains nothing but the element at ``path``, or ``path``."""
    while len(path) > 1 and len(_container(root, path).children) == 1:
        path = path[:-1]
    return path


def _container(root: Node, path: Path) -> Node:
    return root.at(*path[:-1]) or root


class Shape:
    """The format in which a client lists its hooks for one event (``event``) in a JSON file.

    ``root`` contains the keys that the file needs in addition to ``hooks``. ``handler`` is the entry of our hook
    without its command, and ``command_key`` is the key of the command. If ``is_grouped``, the list for the event does
    not contain the handlers themselves, but groups: objects with a list of handlers each. If ``matcher`` is not empty,
    our group also has this key, because we handle only the events that it selects.
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
        """Return the entry that registers ``command`` in the list of hooks for the event."""
        filled = {key: command if key == self.command_key else value for key, value in self.handler.items()}
        if not self.is_grouped:
            return filled
        return {"matcher": self.matcher, "hooks": [filled]} if self.matcher else {"hooks": [filled]}

    def parse(self, text: str) -> Node:
        """Parse a client's file; raises NotJsonError if it is not JSON or lists its hooks in another format."""
        kinds = {(): dict, ("hooks",): dict, ("hooks", self.event): list}
        return parse_containers(text, kinds, comments=self.has_comments)


def ours(shape: Shape, root: Node) -> list[Path]:
    """Return the path in the JSON of each handler (registered hook) that starts our launcher, in file order."""
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


def _items(node: Node | None) -> list[Any]:
    return node.value if node and isinstance(node.value, list) else []


def commands(shape: Shape, text: str) -> list[str]:
    """Return the commands of our handlers (registered hooks) in the text of a client's file."""
    root = shape.parse(text)
    nodes = [root.at(*path, shape.command_key) for path in ours(shape, root)]
    return [node.value for node in nodes if node]


def with_entry(shape: Shape, text: str, command: str) -> str:
    """Return the text with exactly one handler of ours, which runs ``command``.

    If the user has changed other parts of an existing handler, they are kept.
    """
    if not text.strip(BLANK):
        return json.dumps({**shape.root, "hooks": {shape.event: [shape.entry(command)]}}, indent=2) + "\n"
    # Parse again after each edit, because it moves everything after it.
    while len(found := ours(shape, shape.parse(text))) > 1:
        text = _without(shape, text, found[-1])
    if not found:
        return _with_new(shape, text, command)
    node = shape.parse(text).at(*found[0], shape.command_key)
    if node is None or node.value == command:
        return text
    return text[: node.start] + json.dumps(command, ensure_ascii=False) + text[node.end :]


def _with_new(shape: Shape, text: str, command: str) -> str:
    for key, value in shape.root.items():
        root = shape.parse(text)
        text = text if root.at(key) else appended(text, root, value, key=key)  # a value of the user's stays
    return added(text, shape.parse(text), ("hooks", shape.event), shape.entry(command))


def without_entry(shape: Shape, text: str) -> str:
    """Return the text of a client's file without our handlers."""
    if not text.strip(BLANK):
        return text
    while found := ours(shape, shape.parse(text)):
        text = _without(shape, text, found[-1])
    return text


def is_bare(shape: Shape, text: str) -> bool:
    """Return whether the text is blank, or contains only the keys that the client requires in every such file."""
    return bool(shape.parse(text).value == shape.root) if text.strip(BLANK) else True


def _without(shape: Shape, text: str, path: Path) -> str:
    root = shape.parse(text)
    doomed = _with_lone_containers(root, path[:-2] if _is_group_of_ours(shape, root, path) else path)
    # A group with other keys, such as a matcher, must keep its list, even if empty.
    is_list_of_group = shape.is_grouped and len(doomed) == len(path) - 1
    return _removed_at(text, root, path if is_list_of_group else doomed)


def _is_group_of_ours(shape: Shape, root: Node, path: Path) -> bool:
    """Return whether the group of the handler at ``path`` has only our matcher and this single handler."""
    group = root.at(*path[:-2]) if shape.matcher else None
    value = group.value if group else {}
    return set(value) == {"matcher", "hooks"} and value["matcher"] == shape.matcher and len(value["hooks"]) == 1
