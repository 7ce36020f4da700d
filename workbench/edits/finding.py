"""Find the next match of a text in an instructions file, or the next heading that contains it, wrapping around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.edits.instructions_file import outline

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Found:
    """A match: its line and columns, counted from 0, its number, counted from 1, and the number of all matches."""

    line: int
    start: int
    end: int
    number: int
    count: int


def words(text: str, wanted: str, *, line: int, column: int, step: int = 0) -> Found | None:
    """Return the first match of ``wanted`` in ``text`` at or after a line and column, ignoring case.

    ``step`` 1 means the match after the one at that position, -1 the match before it. The search continues at the other
    end of the text if necessary. Return None if nothing matches.
    """
    wanted = wanted.lower()
    if not wanted:
        return None
    matches = []
    for number, content in enumerate(text.lower().split("\n")):
        start = content.find(wanted)
        while start >= 0:
            matches.append((number, start, start + len(wanted)))
            start = content.find(wanted, start + len(wanted))
    return _chosen(matches, (line, column), step)


def heading_or_line(text: str, wanted: str, *, line: int, step: int = 0) -> Found | None:
    """Return the line with the number ``wanted``, counted from 1, or the next heading that contains ``wanted``.

    The search for headings begins at ``line``; ``step`` has the same meaning as in ``words``. Return None if nothing
    matches.
    """
    last = text.count("\n")
    if wanted.strip().isdecimal():
        return Found(max(0, min(int(wanted) - 1, last)), 0, 0, 1, 1)
    if not wanted.strip():
        return None
    titles = [one for one in outline(text) if wanted.strip().lower() in one.title.lower()]
    return _chosen([(one.line - 1, 0, 0) for one in titles], (line, 0), step)


def _chosen(matches: Sequence[tuple[int, int, int]], here: tuple[int, int], step: int) -> Found | None:
    """Return the match at or after the position ``here``; with ``step`` 1 the next one, with -1 the one before it.

    The first match follows the last one.
    """
    if not matches:
        return None
    at = next((number for number, one in enumerate(matches) if one[:2] >= here), len(matches))
    is_there = at < len(matches) and matches[at][:2] == here
    moved = at - 1 if step < 0 else at + 1 if step and is_there else at
    number = moved % len(matches)
    return Found(*matches[number], number + 1, len(matches))
