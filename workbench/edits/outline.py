"""Find the headings of an instructions file without compiling it, for jumping between them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the file: its line, from 1, its level and its text."""

    line: int
    level: int
    title: str


def outline(text: str) -> tuple[Heading, ...]:
    """Return the headings outside of fenced blocks."""
    found, is_fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(("```", "~~~")):
            is_fenced = not is_fenced
        elif not is_fenced and line.startswith("#"):
            marks, _, title = line.partition(" ")
            if title and not marks.strip("#") and len(marks) <= 2:
                found.append(Heading(number, len(marks), title.strip()))
    return tuple(found)
