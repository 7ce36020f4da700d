"""Compare two versions of instructions section by section, and write their differences as entries of a layer.

A layer is a file of rules that have priority over those of the files below it. Its entries have the same effect as
replacing the first version with the second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from enricher.rules.compiling.compiled import FITTED, LISTED_KEYS, extended
from enricher.rules.compiling.document import LOADER, PARTS, read_document

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock

CALLED_BY_TABLE = "No signals: only the task types of the catalogue's table call for it."

KEY = re.compile(r"(\w+):")
YAML_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*yaml\s*$")


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A heading of an instructions file with everything up to the next heading.

    ``rule`` is None if the section has no yaml block.
    """

    title: str
    level: int
    part: str
    lines: tuple[str, ...]
    rule: RuleBlock | None

    @property
    def key(self) -> str:
        """Return a text that identifies this section in all versions of the file."""
        return self.rule.id if self.rule else f"{self.part}/{self.level}/{self.title}"

    @property
    def heading(self) -> str:
        """Return the heading as one line of Markdown."""
        return f"{'#' * self.level} {self.title}"

    @property
    def block(self) -> tuple[int, int] | None:
        """Return (start, end) of the slice of ``lines`` between the fences of the yaml block; None without a block."""
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
    """Return the sections of instructions: each heading with everything up to the next heading."""
    document = read_document("", text)
    lines = text.replace("\r\n", "\n").split("\n")
    rules = {rule.line: rule for rule in document.rules}
    ends = [*(line for line, *_ in document.headings[1:]), len(lines) + 1]
    found, part = [], ""
    for (line, level, title), end in zip(document.headings, ends, strict=False):  # without headings there is one end
        if level == 1:
            part = next((one for one in PARTS if one.lower() == title.lower()), "")
        found.append(RuleSection(title, level, part, tuple(lines[line - 1 : end - 1]), rules.get(line)))
    return found


def fitted_sections(compiled: Compiled) -> dict[str, RuleSection]:
    """Return the sections of all fitted files (lists that a program writes) by the id of their rule.

    If several layers have a section for a rule, that of the lowest layer is returned.
    """
    texts = [text for layer, _path, text in compiled.texts if layer == FITTED]
    return {one.key: one for text in reversed(texts) for one in sections(text) if one.rule}


def with_fitted(section: RuleSection, part: RuleSection) -> str:
    """Return the text of a rule with the lists of ``part``, its section in a fitted file, appended to its own lists."""
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
    """Return the lines of each top-level key of a yaml block, without blank lines."""
    found: dict[str, list[str]] = {}
    for line in block:
        if match := KEY.match(line):
            found[match[1]] = [line]
        elif line.strip() and found:
            found[next(reversed(found))].append(line)  # the key that was begun last
    return found


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to add to a layer's file, the part of the file where it belongs, and the id of its rule.

    The id is empty if the text is only prose.
    """

    part: str
    text: str
    rule: str = ""


def entries_for(
    below: str,
    edited: str,
    *,
    called: Collection[str] = (),
    keeps_removed: bool = False,
    verbatim: Collection[str] = (),
    fitted: Mapping[str, RuleSection] | None,
) -> Iterator[Entry]:
    """Yield the entries with which a layer above the instructions ``below`` has the same effect as ``edited``.

    ``called`` are the names of the guardrails that the catalogue's table triggers even without a rule. With
    ``keeps_removed``, rules missing from ``edited`` are not disabled. The rules whose ids are in ``verbatim`` are
    copied unchanged, and the lists of ``fitted`` with every rule that is copied.
    """
    old = {one.key: one for one in sections(below)}
    new = {one.key: one for one in sections(edited)}
    for key, section in new.items():
        part = (fitted or {}).get(key)
        copied = with_fitted(section, part) if part else section.text
        text = copied if key in verbatim or key not in old else _changed(old[key], section, copied)
        if section.rule is None:
            text = _new_prose(old.get(key), section)
        if text:
            yield Entry(section.part, text, section.rule.id if section.rule else "")
    for key, section in old.items():
        if section.rule and key not in new and not keeps_removed:
            yield Entry(section.part, _removed(section, section.rule, called), key)


def _changed(old: RuleSection, new: RuleSection, copied: str) -> str:
    # Empty if the rule has not changed; ``copied`` is the whole new rule.
    if old.rule is None or new.rule is None or new.block is None:
        return copied
    has_new_prose = old.prose != new.prose
    if old.rule.data == new.rule.data:
        if _without_blanks(old) != _without_blanks(new):
            return copied  # a comment in the block has changed
        return _extended(new, []) if has_new_prose else ""
    lines = _additions(old.rule, new.rule, new.lines[slice(*new.block)])
    if lines is None:
        return copied
    return _extended(new, lines, has_prose=has_new_prose)


def _without_blanks(section: RuleSection) -> list[str]:
    return [line.rstrip() for line in section.lines[slice(*section.block or (0, 0))] if line.strip()]


def _extended(section: RuleSection, lines: Sequence[str], *, has_prose: bool = True) -> str:
    prose = [section.prose, ""] if has_prose and section.prose else []
    return "\n".join([section.heading, "", *prose, "```yaml", "extend: true", *lines, "```"])


def _additions(old: RuleBlock, new: RuleBlock, block: Sequence[str]) -> list[str] | None:
    """Return the lines of ``block`` (yaml of ``new``) that turn ``old`` into ``new`` with ``extend: true``, or None."""
    root = yaml.compose("\n".join(block), Loader=LOADER)
    if old.data.keys() - new.data.keys() or not isinstance(root, yaml.MappingNode) or root.flow_style:
        return None
    found: list[str] = []
    ends = [*(key.start_mark.line for key, _value in root.value[1:]), len(block)]
    for (key_node, node), end in zip(root.value, ends, strict=False):
        key, first = key_node.value, key_node.start_mark.line
        was, now = old.data.get(key), new.data[key]
        if key not in LISTED_KEYS or not isinstance(was, list):  # an approach's ``task_types`` are a mapping
            found += [] if was == now else block[first:end]
        elif now[: len(was)] != was:
            return None
        elif len(now) > len(was):
            if node.flow_style:
                found.append(f"{key}: {_in_one_line(now[len(was) :])}")
            else:
                found += [block[first], *block[node.value[len(was)].start_mark.line : end]]
    return [line for line in found if line.strip()] if _has_same_values("\n".join(found), old, new) else None


def _in_one_line(value: object) -> str:
    return str(yaml.safe_dump(value, default_flow_style=True, width=1_000_000, allow_unicode=True)).strip()


def _has_same_values(added: str, old: RuleBlock, new: RuleBlock) -> bool:
    """Return whether the old rule, extended by these lines, has the values of the new rule."""
    try:
        data = yaml.load(added, Loader=LOADER) or {}
    except yaml.YAMLError:
        return False
    return extended(old.data, data) == new.data


def _removed(section: RuleSection, rule: RuleBlock, called: Collection[str]) -> str:
    # ``disabled`` would silence a guardrail that the catalogue's table triggers, which an empty rule leaves to the
    # table.
    if rule.kind == "guardrail" and rule.name in called:
        return f"{section.heading}\n\n{CALLED_BY_TABLE}\n\n```yaml\n{{}}\n```"
    return f"{section.heading}\n\n```yaml\ndisabled: true\n```"


def _new_prose(old: RuleSection | None, new: RuleSection) -> str:
    """Return the new paragraphs of a section without a rule, under its heading unless that is the title of a part."""
    known = _paragraphs(old) if old else []
    found = [one for one in _paragraphs(new) if one not in known]
    is_part = new.level == 1 and bool(new.part)
    heading = [] if is_part or not (found or old is None) else [new.heading]
    return "\n\n".join([*heading, *found])


def _paragraphs(section: RuleSection) -> list[str]:
    return [one.strip("\n") for one in "\n".join(section.lines[1:]).split("\n\n") if one.strip()]


def with_entries(own: str, entries: Sequence[Entry]) -> str:
    """Return the text ``own`` of a layer with each entry added at the end of its part; nothing else is changed."""
    if not entries:
        return own
    lines = own.replace("\r\n", "\n").rstrip("\n").split("\n") if own.strip() else []
    headings = read_document("", own).headings
    tops = [(line, title.lower()) for line, level, title in headings if level == 1]
    ends = [*(line - 1 for line, _title in tops[1:]), len(lines)]
    end_of = {title: end for (_line, title), end in zip(tops, ends, strict=False)}
    texts = {part: [one.text for one in entries if one.part == part] for part in (*PARTS, "")}
    present = [part for part, found in texts.items() if found and part.lower() in end_of]
    for part in sorted(present, key=lambda part: end_of[part.lower()], reverse=True):  # bottom up keeps the ends valid
        end = end_of[part.lower()]
        while not lines[end - 1].strip():
            end -= 1
        lines[end:end] = _separated("", *texts[part])
    for part, found in texts.items():
        if found and part not in present:
            lines += _separated(*([""] if lines else []), *([f"# {part}"] if part else []), *found)
    text = "\n".join(lines) + "\n"
    return text.replace("\n", "\r\n") if "\r\n" in own else text


def _separated(*texts: str) -> list[str]:
    """Return the lines of the texts, with a blank line before each text but the first, which has no line if empty."""
    first, *others = texts
    return [*([first] if first else []), *(line for text in others for line in ("", *text.split("\n")))]
