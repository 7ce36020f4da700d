"""Compare two texts line by line and word by word, and return the lines for a page or screen to render."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS = re.compile(r"\s+|\w+|[^\w\s]")  # runs of white space, words, and single other characters
AROUND = 3
"""Number of lines shown before and after a change; lines farther away are folded."""
LONGEST_COMPARED = 2_000
"""Length in characters of the longest line that is compared by word; the time grows with its square."""
HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line; ``differs`` means that the other of the two compared texts has something else in its place."""

    text: str
    differs: bool = False


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a comparison: only in the old text (``mark`` is "-"), only in the new one ("+"), or in both (a blank).

    ``before`` and ``after`` are its line numbers in the old and the new text, or 0 if that text does not have the line.
    """

    mark: str
    before: int
    after: int
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Return the whole text of the line."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class DiffSection:
    """Consecutive lines of a comparison; ``is_folded`` means that they are far from any change and hidden at first."""

    lines: tuple[DiffLine, ...]
    is_folded: bool


def compared(before: str, after: str) -> list[DiffLine]:
    """Compare two texts, and return all lines of both in order; in changed lines, the words that differ are marked."""
    one, other = before.splitlines(), after.splitlines()
    found: list[DiffLine] = []
    for kind, start, end, begin, stop in _opcodes(one, other):
        if kind == "equal":
            found += [_same(start + at + 1, begin + at + 1, text) for at, text in enumerate(one[start:end])]
        else:
            found += _changed(one[start:end], other[begin:stop], first=(start + 1, begin + 1))
    return found


def folded(lines: Iterable[DiffLine]) -> list[DiffSection]:
    """Divide compared lines into sections: each change with a few lines around it, and folded ones in between."""
    rows = list(lines)
    near = {at + by for at, line in enumerate(rows) if line.mark != " " for by in range(-AROUND, AROUND + 1)}
    sections: list[DiffSection] = []
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or (at in near) != (start in near):
            sections.append(DiffSection(tuple(rows[start:at]), start not in near))
            start = at
    return sections


def unfolded(diff: str) -> list[DiffSection]:
    """Parse a unified diff, and return one section for each hunk, in which the words that differ are marked.

    The lines that name the files are left out.
    """
    sections: list[DiffSection] = []
    lines: list[str] = []
    first = (0, 0)
    for line in diff.split("\n"):
        if header := HEADER.match(line):
            sections += _hunk(lines, first)
            first, lines = (int(header[1]), int(header[2])), []
        elif first != (0, 0) and line and not line.startswith("\\"):  # "\ No newline at end of file" is no line
            lines.append(line)
    return sections + _hunk(lines, first)


def words(line: str, against: str) -> tuple[Piece, ...]:
    """Divide a line into pieces, and mark those that differ from the line ``against``.

    The line stays one unmarked piece if it is compared with nothing, if either line is very long, or if the two have no
    word in common.
    """
    if not against or max(len(line), len(against)) > LONGEST_COMPARED:
        return (Piece(line),)
    own, others = WORDS.findall(line), WORDS.findall(against)
    codes = difflib.SequenceMatcher(None, own, others, autojunk=False).get_opcodes()  # blanks are no junk here
    pieces = [Piece("".join(own[start:end]), kind != "equal") for kind, start, end, _from, _to in codes]
    if not any(piece.text.strip() and not piece.differs for piece in pieces):
        return (Piece(line),)
    return tuple(piece for piece in pieces if piece.text)  # an insertion into the other line leaves an empty piece


def _opcodes(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield difflib's opcodes for two lists of lines; leaving out equal beginnings and ends makes it much faster."""
    shared = min(len(one), len(other))
    head = next((at for at in range(shared) if one[at] != other[at]), shared)
    tail = next((at for at in range(shared - head) if one[-1 - at] != other[-1 - at]), shared - head)
    if head:
        yield "equal", 0, head, 0, head
    inner = difflib.SequenceMatcher(None, one[head : len(one) - tail], other[head : len(other) - tail], autojunk=False)
    for kind, *places in inner.get_opcodes():
        start, end, begin, stop = (head + at for at in places)
        yield kind, start, end, begin, stop
    if tail:
        yield "equal", len(one) - tail, len(one), len(other) - tail, len(other)


def _same(before: int, after: int, text: str) -> DiffLine:
    return DiffLine(" ", before, after, (Piece(text),))


def _hunk(lines: Sequence[str], first: tuple[int, int]) -> list[DiffSection]:
    found: list[DiffLine] = []
    gone: list[str] = []
    come: list[str] = []
    before, after = first
    for line in [*lines, " "]:  # the added line ends the last change; it is removed below
        mark, text = line[:1] or " ", line[1:]
        if mark == "-" and not come:
            gone.append(text)
        elif mark == "+":
            come.append(text)
        else:
            found += _changed(gone, come, first=(before, after))
            before, after = before + len(gone), after + len(come)
            gone, come = ([text], []) if mark == "-" else ([], [])
            if mark != "-":
                found.append(_same(before, after, text))
                before, after = before + 1, after + 1
    return [DiffSection(tuple(found[:-1]), is_folded=False)] if lines else []


def _changed(one: Sequence[str], other: Sequence[str], *, first: tuple[int, int]) -> Iterator[DiffLine]:
    """Yield the removed and added lines of one change; the n-th removed and the n-th added are compared by word.

    ``first`` has the numbers of the first removed and the first added line.
    """
    for at in range(max(len(one), len(other))):
        was = one[at] if at < len(one) else None
        now = other[at] if at < len(other) else None
        if was is not None:
            yield DiffLine("-", first[0] + at, 0, words(was, now or ""))
        if now is not None:
            yield DiffLine("+", 0, first[1] + at, words(now, was or ""))
