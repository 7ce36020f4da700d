"""The sections of an instructions file: each heading with everything up to the next one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.rules.compiling.compiled import FITTED
from enricher.rules.compiling.document import PARTS, read_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock

KEY = re.compile(r"(\w+):")
YAML_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*yaml\s*$")


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A heading with everything up to the next one; ``rule`` is None if it has no yaml block."""

    title: str
    level: int
    part: str
    line: int
    lines: tuple[str, ...]
    rule: RuleBlock | None

    @property
    def key(self) -> str:
        """Return the key that identifies this section in other versions of the file."""
        return self.rule.id if self.rule else f"{self.part}/{self.level}/{self.title}"

    @property
    def heading(self) -> str:
        """Return the heading as one line of Markdown."""
        return f"{'#' * self.level} {self.title}"

    @property
    def block(self) -> tuple[int, int] | None:
        """Return the lines of the yaml block between its fences, counted within the section; None without fences."""
        for start, line in enumerate(self.lines):
            if fence := YAML_FENCE.match(line):
                ends = (at for at, one in enumerate(self.lines) if at > start and one.strip().startswith(fence[1]))
                return start + 1, next(ends, len(self.lines))
        return None

    @property
    def prose(self) -> str:
        """Return the text between the heading and the yaml block."""
        return "\n".join(self.lines[1 : self.block[0] - 1 if self.block else None]).strip("\n")

    @property
    def text(self) -> str:
        """Return the whole section without blank lines around it."""
        return "\n".join(self.lines).strip("\n")


def sections(text: str) -> list[RuleSection]:
    """Return the sections of instructions: each heading with everything below it."""
    document = read_document("", text)
    lines = text.replace("\r\n", "\n").split("\n")
    rules = {rule.line: rule for rule in document.rules}
    ends = [*(line for line, *_ in document.headings[1:]), len(lines) + 1]
    found, part = [], ""
    for (line, level, title), end in zip(document.headings, ends, strict=False):  # without headings there is one end
        if level == 1:
            part = next((one for one in PARTS if one.lower() == title.lower()), "")
        found.append(RuleSection(title, level, part, line, tuple(lines[line - 1 : end - 1]), rules.get(line)))
    return found


def fitted_sections(compiled: Compiled) -> dict[str, RuleSection]:
    """Return the parts of rules that are in fitted files, by rule; the parts of the lowest layer win."""
    texts = [text for layer, _path, text in compiled.texts if layer == FITTED]
    return {one.key: one for text in reversed(texts) for one in sections(text) if one.rule}


def with_fitted(section: RuleSection, part: RuleSection) -> str:
    """Return the text of a rule with its fitted lists appended to its own; all existing lines stay as they are."""
    if section.block is None or part.block is None or section.rule is None or section.rule.data.get("disabled"):
        return section.text
    start, end = section.block
    block = list(section.lines[start:end])
    for key, lines in _by_key(part.lines[slice(*part.block)]).items():
        own = _by_key(block).get(key)
        if own:
            last = max(at for at, line in enumerate(block) if line == own[-1])
            block[last + 1 : last + 1] = lines[1:]
        else:
            block += lines
    lines = [*section.lines[:start], *block, *section.lines[end:]]
    return "\n".join(lines).strip("\n")


def _by_key(block: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines of each key of a block, without trailing blank lines."""
    found: dict[str, list[str]] = {}
    for line in block:
        if match := KEY.match(line):
            found[match[1]] = [line]
        elif line.strip() and found:
            found[next(reversed(found))].append(line)
    return found
