"""Split an edit of instructions files into hunks that can be undone one by one, such as a signal or a whole rule.

Whichever hunks are undone, the result is a complete text: undoing all gives exactly the text before the edit (the
base), undoing none the text after it (the candidate). Each of the following is one hunk: a rule that was added or
removed, a text that was only moved, and a value of several lines.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

HEADING = re.compile(r"#{1,2}\s+(.*?)\s*#*\s*$")  # Markdown allows "#" at the end; deeper headings are within a rule
PART = re.compile(r"\s*#\s+[^\n]*\s*")
FENCE = re.compile(r"(`{3,}|~{3,})")
ALIKE = 0.5
"""Minimum similarity at which a removed and an added line count as one changed line."""
MOST_COMPARED = 60
"""Maximum number of lines of one changed place that are compared with each other; more are paired by position."""
SHORT = 200  # characters of a hunk's first line


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The text of a file before (``base``) and after (``candidate``) an edit; empty where the file does not exist."""

    path: str
    base: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of an edit: its line number in the text after the edit, and its text before and after the edit.

    ``heading`` is the heading above it. ``parts`` are the numbers, within the whole edit, of the spans of changed text
    that form the hunk.
    """

    file: str
    line: int
    heading: str
    before: str
    after: str
    parts: frozenset[int]

    def __str__(self) -> str:
        place = f"{self.file}:{self.line} {self.heading}"
        return place if self.first_line.lstrip("# ") == self.heading else f"{place}: {self.first_line}"

    @property
    def first_line(self) -> str:
        """Return the first line of the hunk, shortened.

        If the edit only removed lines, return the first of these, with the word «without» in front of it.
        """
        text = self.after or self.before
        first = next((line.strip() for line in text.splitlines() if line.strip()), "blank lines")
        return f"{'' if self.after else 'without '}{first[:SHORT]}"


@dataclass(frozen=True, slots=True)
class _Unit:
    """Lines that can only be undone together, and the heading above them."""

    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A span of text before and after the edit.

    ``hunk`` is its number among the changed spans, or -1 if the span is unchanged.
    """

    before: str
    after: str
    line: int
    heading: str
    hunk: int = -1


@dataclass(slots=True)
class Edits:
    """Edits of several files, cut into hunks; hunks may be joined later, but are never split."""

    edits: Sequence[FileEdit]
    hunks: list[Hunk] = field(init=False)
    _steps: list[list[_Step]] = field(init=False)

    def __post_init__(self) -> None:
        numbers = count()
        self._steps = [
            [step if step.before == step.after else replace(step, hunk=next(numbers)) for step in _steps(edit)]
            for edit in self.edits
        ]
        self.hunks = list(self._hunks())

    def undone(self, hunks: Collection[Hunk]) -> dict[str, str]:
        """Return the edited text of every file, by path, with these hunks undone."""
        parts = {part for hunk in hunks for part in hunk.parts}
        return {
            edit.path: "".join(step.before if step.hunk in parts else step.after for step in steps)
            for edit, steps in zip(self.edits, self._steps, strict=True)
        }

    def by_heading(self) -> None:
        """Join all hunks under the same heading into one."""
        under: dict[tuple[str, str], Hunk] = {}
        for hunk in self.hunks:
            key = (hunk.file, hunk.heading)
            under[key] = joined(under[key], hunk) if key in under else hunk
        self.hunks = list(under.values())

    def _hunks(self) -> Iterator[Hunk]:
        for edit, steps in zip(self.edits, self._steps, strict=True):
            changed = {step.hunk: step for step in steps if step.hunk >= 0}
            moved = _moves(changed.values())
            for number, step in changed.items():
                if number not in moved.values():  # otherwise, it belongs to the hunk that adds the text elsewhere
                    old = changed[moved.get(number, number)]
                    parts = frozenset({number, old.hunk})
                    yield Hunk(edit.path, step.line, step.heading, old.before, step.after, parts)


def joined(one: Hunk, other: Hunk) -> Hunk:
    """Return two hunks joined into one, with both headings and texts.

    If the hunk that comes first in the file only adds a heading of the top level (``# …``), the result has only the
    heading and the texts of the other.
    """
    first, second = sorted((one, other), key=lambda hunk: (hunk.file, hunk.line))
    parts = first.parts | second.parts
    if PART.fullmatch(first.after) and first.file == second.file and not first.before:
        return Hunk(second.file, second.line, second.heading, second.before, second.after, parts)
    heading = first.heading if second.heading in first.heading else f"{first.heading}, {second.heading}"
    return Hunk(first.file, first.line, heading, first.before + second.before, first.after + second.after, parts)


def _moves(changed: Collection[_Step]) -> dict[int, int]:
    """Return the steps that move a text from one place of a file to another.

    The result maps the number of the step that adds the text to the number of the step that removes it.
    """
    went: dict[str, list[int]] = {}
    for step in changed:
        if step.before.strip() and not step.after:
            went.setdefault(step.before.strip(), []).append(step.hunk)
    found = {}
    for step in changed:
        if not step.before and went.get(step.after.strip()):
            found[step.hunk] = went[step.after.strip()].pop(0)
    return found


def _steps(edit: FileEdit) -> Iterator[_Step]:
    """Yield the spans of an edit in order.

    The texts before and after the edit are aligned rule by rule, then unit by unit within each rule.
    """
    before, after = (list(_rules(text)) for text in (edit.base, edit.candidate))
    old_titles, new_titles = ([units[0].heading for units in rules] for rules in (before, after))
    # With 200 or more elements, autojunk would ignore frequent ones, such as fences and blank lines.
    matcher = difflib.SequenceMatcher(None, old_titles, new_titles, autojunk=False)
    line = 1
    for tag, start, end, begin, stop in matcher.get_opcodes():
        if tag == "equal":
            for old, new in zip(before[start:end], after[begin:stop], strict=True):
                yield from _within(old, new, line)
                line += sum(unit.text.count("\n") for unit in new)
            continue
        for gone, come in _aligned(*(_wholes(rules) for rules in (before[start:end], after[begin:stop]))):
            if gone and come and _likeness(gone.text, come.text) >= ALIKE:
                yield _Step(gone.text, come.text, line, come.heading)
            else:
                if gone:
                    yield _Step(gone.text, "", line, gone.heading)
                if come:
                    yield _Step("", come.text, line, come.heading)
            line += come.text.count("\n") if come else 0


def _wholes(rules: Sequence[Sequence[_Unit]]) -> list[_Unit]:
    return [_Unit(_text(units), units[0].heading) for units in rules]


def _within(old: Sequence[_Unit], new: Sequence[_Unit], line: int) -> Iterator[_Step]:
    old_texts, new_texts = ([unit.text for unit in units] for units in (old, new))
    matcher = difflib.SequenceMatcher(None, old_texts, new_texts, autojunk=False)
    for tag, start, end, begin, stop in matcher.get_opcodes():
        if tag == "equal":
            text = _text(new[begin:stop])
            yield _Step(text, text, line, new[begin].heading)
            line += text.count("\n")
            continue
        for before, after in _aligned(old[start:end], new[begin:stop]):
            was, now = before.text if before else "", after.text if after else ""
            yield _Step(was, now, line, new[0].heading)
            line += now.count("\n")


def _aligned(old: Sequence[_Unit], new: Sequence[_Unit]) -> Iterator[tuple[_Unit | None, _Unit | None]]:
    """Yield pairs of an old and a new unit in order; None stands for a unit that was added or removed.

    The most similar units are paired first.
    """
    # With the same number of lines, each line was usually changed; comparing all of them could pair them differently.
    if len(old) == len(new) or len(old) * len(new) > MOST_COMPARED**2:
        shared = min(len(old), len(new))
        yield from zip(old[:shared], new[:shared], strict=True)
        yield from ((unit, None) for unit in old[shared:])
        yield from ((None, unit) for unit in new[shared:])
        return
    # Negated, so that max() chooses the first of equally similar pairs.
    found = [
        (_likeness(one.text, other.text), -at, -place) for at, one in enumerate(old) for place, other in enumerate(new)
    ]
    likeness, at, place = max(found, default=(0.0, 0, 0))
    if likeness < ALIKE:
        yield from ((unit, None) for unit in old)
        yield from ((None, unit) for unit in new)
        return
    yield from _aligned(old[:-at], new[:-place])
    yield old[-at], new[-place]
    yield from _aligned(old[-at + 1 :], new[-place + 1 :])


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _rules(text: str) -> Iterator[list[_Unit]]:
    """Yield the units of each rule (a heading and the text below it); any text before the first heading comes first."""
    units: list[_Unit] = []
    heading, fence = "", ""
    starts: list[tuple[int, str, bool]] = []
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            starts.append((number, heading, False))
        elif mark and line.startswith(fence) and not line[len(fence) :].strip():
            fence = ""
            starts.append((number, heading, False))
        elif not fence and (title := HEADING.match(line)):
            heading = title[1]
            starts.append((number, heading, True))
        elif not starts or _begins(line, lines[starts[-1][0]], is_yaml=bool(fence)):
            starts.append((number, heading, False))
    for (number, under, is_heading), (end, *_) in pairwise([*starts, (len(lines), "", False)]):
        if is_heading and units:
            yield units
            units = []
        units.append(_Unit("".join(lines[number:end]), under))
    if units:
        yield units


def _begins(line: str, first: str, *, is_yaml: bool) -> bool:
    """Return whether ``line`` begins a new unit, and does not continue the unit whose first line is ``first``.

    Outside YAML, every line is a unit. In YAML, a line that is indented deeper than ``first`` continues its unit,
    unless ``first`` is blank or ends with a colon.
    """
    if not is_yaml or FENCE.match(first) or not line.strip():
        return True
    is_header = first.rstrip().endswith(":") or not first.strip()
    return is_header or _indent(line) <= _indent(first)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(units: Sequence[_Unit]) -> str:
    return "".join(unit.text for unit in units)
