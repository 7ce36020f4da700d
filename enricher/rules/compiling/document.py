"""Read an instructions file, in which a rule is a heading, prose that explains it, and a yaml block with its values.

The line number of each value is kept, so that a mistake can be reported as
``file:line: error: what is wrong and how to correct it``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from markdown_it.token import Token

PARTS = ("Classification", "Context", "Guardrails", "Output")  # in the order of seed 000, the specification

FRONT_MATTER = "---"
WHOLE_FILE = 0  # used instead of the number of the line that opens a yaml block if the text is a whole YAML file
DEEPEST_HEADING = 2  # the deepest level of a heading that can begin a rule; deeper headings are notes for readers
DEEPEST_VALUE = 20  # levels of nesting; the packaged rules have four
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's loader if PyYAML has it: ten times faster, but crashes on deep nesting, so call ``_refuse_depth`` first."""
SCALARS = yaml.SafeLoader("")  # turns single nodes into numbers, dates or texts
MOST_VALUES = 20_000  # maximum number of values in one block, so that nested YAML aliases cannot exhaust the memory

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem in a file, printed as ``file:line: severity: message``."""

    file: str
    line: int
    severity: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class RuleBlock:
    """A rule as written: its file and line, its kind and name, and the values of its yaml block.

    ``id`` joins kind and name (``task_type.debug``); ``lines`` maps a path inside ``data``, such as
    ``("signals", 3)``, to its line in the file.
    """

    id: str
    kind: str
    name: str
    part: str
    prose: str
    data: dict[str, Any]
    file: str
    line: int
    lines: dict[Path, int] = field(repr=False)
    below: RuleBlock | None = field(default=None, repr=False)
    """The rule of a lower layer that this rule extends: the items of its lists come first in ``data``."""
    fitted: RuleBlock | None = field(default=None, repr=False)
    """The part of this rule in a fitted file, which a program writes: the items of its lists come last in ``data``."""

    def place_of(self, key: str, *path: str | int) -> tuple[str, int]:
        """Return the file and line of the value of ``key``, or if ``path`` is given, of the item at ``path`` within it.

        The file may belong to a lower layer, or be a fitted file (one in which a program writes lists).
        """
        if path and isinstance(path[0], int):
            block, index = self.origin_of(key, path[0])
            return block.file, block.line_of(key, index, *path[1:])
        block = self._writer_of(key)
        return block.file, block.line_of(key, *path)

    def origin_of(self, key: str, index: int) -> tuple[RuleBlock, int]:
        """Return the block in which item ``index`` of the list ``key`` is written, and its index in that block."""
        if self.fitted and key in self.fitted.data:
            first = len(self.data[key]) - len(self.fitted.data[key])
            if index >= first:
                return self.fitted.origin_of(key, index - first)
        inherited = len(self.below.data.get(key, ())) if self.below and key in self._own_keys() else 0
        if self.below and (index < inherited or key not in self._own_keys()):
            return self.below.origin_of(key, index)
        return self, index - inherited

    def _writer_of(self, key: str) -> RuleBlock:
        """Return the block of this rule that sets ``key`` in the highest layer; this block if no layer sets it."""
        block: RuleBlock | None = self
        while block:
            if key in block._own_keys():  # noqa: SLF001 (another block of the same rule)
                return block
            if block.fitted and key in block.fitted.data:
                return block.fitted
            block = block.below
        return self

    def _own_keys(self) -> set[str | int]:
        return {path[0] for path in self.lines if path}

    def line_of(self, *path: str | int) -> int:
        """Return the line of the value at ``path``, or of the nearest value around it."""
        for end in range(len(path), -1, -1):
            if (line := self.lines.get(path[:end])) is not None:
                return line
        return self.line


@dataclass(frozen=True, slots=True)
class Document:
    """The readable rules of an instructions file, the problems found in it, and its headings."""

    file: str
    rules: list[RuleBlock]
    problems: list[Problem]
    headings: list[tuple[int, int, str]] = field(default_factory=list)
    """(line, level, title) of each heading of a part or a rule, in file order."""


def read_document(file: str, text: str) -> Document:
    """Return the rules in ``text`` and the problems found in it; never raises for bad content."""
    from markdown_it import MarkdownIt

    reader = _Reader(Document(file, [], []))
    # The None at the end lets ``pairwise`` give the last token, too.
    tokens: list[Token | None] = [*MarkdownIt("commonmark").parse(_without_front_matter(text)), None]
    for token, following in pairwise(tokens):
        if token is None:
            break
        line = (token.map or [0])[0] + 1
        # The text of a heading or paragraph is the token that follows its opening.
        words = following.content.strip() if following and following.type == "inline" else ""
        if token.type == "heading_open":
            reader.heading(words, line, level=int(token.tag[1]))
        elif token.type == "paragraph_open":
            reader.text(words)
        elif token.type == "fence" and token.info.strip() == "yaml":
            reader.block(token.content, line)
    reader.close_heading()
    reader.report_text_without_effect()
    return reader.document


def read_front_matter(file: str, text: str) -> tuple[dict[str, Any], dict[Path, int], list[Problem]]:
    """Return the values of a file's YAML header, the line of each, and the problems, such as a missing header."""
    reader = _Reader(Document(file, [], []))
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == FRONT_MATTER), 0)
    if lines[0].rstrip() != FRONT_MATTER or not end:
        reader.report(1, "the file has no header; begin it with a line '---', its values, and a line '---'")
        return {}, {}, reader.document.problems
    data, places = _load_yaml(reader, "\n".join(lines[1:end]), 1)
    return data or {}, places, reader.document.problems


def read_yaml_file(file: str, text: str) -> tuple[dict[str, Any] | None, dict[Path, int], list[Problem]]:
    """Return the mapping in a YAML file (None if it has none), the line of each value, and the problems."""
    reader = _Reader(Document(file, [], []))
    data, lines = _load_yaml(reader, text, WHOLE_FILE)
    return data, lines, reader.document.problems


def _without_front_matter(text: str) -> str:
    """Return the text with its YAML header replaced by empty lines, because Markdown would read it as a heading."""
    lines = text.split("\n")
    if lines[0].rstrip() != FRONT_MATTER:
        return text
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == FRONT_MATTER), 0)
    return "\n".join([""] * (end + 1) + lines[end + 1 :]) if end else text


class _Reader:
    """Collects rules and problems while a file is read; keeps the current part, heading and prose."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.parts: dict[str, int] = {}
        self.has_text = False
        self.without_block: list[tuple[str, int]] = []
        self.parts_of_text: dict[str, int] = {}
        self.parts_of_rules: set[str] = set()
        self.part = ""
        self.open_heading: tuple[str, int] | None = None
        self.prose: list[str] = []

    def report(self, line: int, message: str, severity: str = "error") -> None:
        self.document.problems.append(Problem(self.document.file, line, severity, message))

    def heading(self, title: str, line: int, *, level: int) -> None:
        if level > DEEPEST_HEADING:
            return
        self.close_heading()
        self.document.headings.append((line, level, title))
        self.prose = []
        if level == 1:
            self.enter_part(title, line)
        else:
            self.open_heading = (title, line)

    def enter_part(self, title: str, line: int) -> None:
        self.part = next((part for part in PARTS if part.lower() == title.lower()), "")
        # "# Guardrail" and "# Context sources" are taken for misspelt parts.
        meant = next((part for part in PARTS if title.lower().startswith(part.lower().removesuffix("s"))), "")
        if meant and not self.part:
            self.without_block.append(
                (f"'# {title}' is not a part, so its text changes nothing; write '# {meant}'", line)
            )
        if self.part in self.parts:
            first = self.parts[self.part]
            self.report(line, f"part '{self.part}' occurs twice; join it with the one on line {first}")
        elif self.part:
            self.parts[self.part] = line

    def text(self, words: str) -> None:
        self.prose.append(words)
        self.has_text = True
        if self.part and self.open_heading is None:
            self.parts_of_text.setdefault(self.part, self.parts[self.part])

    def close_heading(self) -> None:
        if self.open_heading:
            title, line = self.open_heading
            if ":" in title:
                self.report(line, f"'{title}' reads like a rule but has no yaml block", "warning")
            elif self.part:
                message = f"'{title}' has no yaml block, so its text changes nothing; notes have headings of level 3"
                self.without_block.append((message, line))
        self.open_heading = None

    def report_text_without_effect(self) -> None:
        """Report text that a user may mistake for rules; a file without any rule gets a single warning."""
        if self.document.rules or self.document.problems:
            for message, line in self.without_block:
                self.report(line, message, "warning")
            for part, line in self.parts_of_text.items():
                if part not in self.parts_of_rules:
                    self.report(line, f"the part '# {part}' has no rule, so its text changes nothing", "warning")
        elif self.has_text:
            message = "no rule in this file, so its text changes nothing; a rule is a heading such as"
            self.report(1, f"{message} '## Guardrail: H5' below '# Guardrails', with a yaml block", "warning")

    def block(self, source: str, line: int) -> None:
        if self.open_heading is None:
            self.report(line, "yaml block without a rule; give it a heading '## Kind: name' of its own")
            return
        title, heading_line = self.open_heading
        self.open_heading = None
        self.parts_of_rules.add(self.part)
        if not self.part:
            parts = ", ".join(f"'# {part}'" for part in PARTS)
            self.report(heading_line, f"rule '{title}' is in no part; move it below one of {parts}")
            return
        data, lines = _load_yaml(self, source, line)
        if data is None:
            return
        kind, _, name = (piece.strip() for piece in title.partition(":"))
        rule_id = ".".join(filter(None, (identifier(kind), name.replace(" ", "-"))))
        self.document.rules.append(
            RuleBlock(
                id=rule_id,
                kind=identifier(kind),
                name=name,
                part=self.part,
                prose="\n".join(self.prose),
                data=data,
                file=self.document.file,
                line=heading_line,
                lines=lines,
            )
        )


def identifier(title: str) -> str:
    """Return the words of a heading as an identifier: ``Task type`` becomes ``task_type``."""
    return "_".join(title.lower().replace("-", " ").split())


def _load_yaml(reader: _Reader, source: str, fence_line: int) -> tuple[dict[str, Any] | None, dict[Path, int]]:
    values = _Values(reader, fence_line)
    try:
        node = _tree(source)
        value = values.of(node, ()) if node else {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = fence_line + 1 + (mark.line if mark else 0)  # lines of YAML count from 0
        block = "this line" if fence_line == WHOLE_FILE else f"the block that begins on line {fence_line}"
        reader.report(max(at, 1), f"YAML: {error.problem or error.context}; mend {block}")
        return None, values.lines
    except (yaml.YAMLError, RecursionError, UnicodeEncodeError) as error:  # the last one for lone surrogates
        reader.report(max(fence_line, 1), f"YAML: {' '.join(str(error).split())}")
        return None, values.lines
    if not isinstance(value, dict):
        what, example = ("file", "base: 20") if fence_line == WHOLE_FILE else ("block of a rule", "signals: […]")
        reader.report(fence_line + 1, f"the yaml {what} must be a mapping such as '{example}'")
        return None, values.lines
    return value, values.lines


@lru_cache(maxsize=1024)  # the packaged files have 132 blocks
def _tree(source: str) -> yaml.Node | None:
    """Return the tree of YAML nodes of a block; it is cached, because most blocks stay the same after an edit."""
    _refuse_depth(source)
    node: yaml.Node | None = yaml.compose(source, Loader=LOADER)
    return node


def _refuse_depth(source: str) -> None:
    depth = 0
    for event in yaml.parse(source, Loader=LOADER):  # events need no recursion, unlike the tree
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST_VALUE:
                raise _refusal(f"nested more than {DEEPEST_VALUE} levels deep", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refusal(problem: str, at: yaml.Event | yaml.Node) -> yaml.MarkedYAMLError:
    mark: Any = at.start_mark
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


class _Values:
    """Converts a YAML tree to plain values, and collects the line number of each value."""

    def __init__(self, reader: _Reader, fence_line: int) -> None:
        self.reader = reader
        self.fence_line = fence_line
        self.lines: dict[Path, int] = {}

    def of(self, node: yaml.Node, path: Path) -> Any:
        if len(self.lines) > MOST_VALUES:
            raise yaml.YAMLError(f"more than {MOST_VALUES} values in one block; split the rule")
        self.lines[path] = self.line(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, (*path, at)) for at, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        try:
            return SCALARS.construct_object(node)
        except ValueError as error:
            raise _refusal(f"{node.value!r} is not what it looks like ({error}); put it in quotes", node) from error

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)  # as written: "off" and "1" stay texts, where YAML has a boolean and a number
            if key in found:
                self.reader.report(self.line(key_node), f"key '{key}' occurs twice; keep one")
            found[key] = self.of(value_node, (*path, key))
        return found

    def line(self, node: yaml.Node) -> int:
        return self.fence_line + 1 + int(node.start_mark.line)
