"""A list, with a cursor, of groups that can be opened to show their lines; only visible lines are formatted."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.strip import Strip

from workbench.tui.widgets.lists.cursor_view import CursorView, OfList, ends, moves
from workbench.tui.widgets.plain_text import fit, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.message import Message

OPEN, CLOSED = "▾", "▸"
COLOURS = {"plain": "", "muted": "text-muted", "error": "error", "warning": "warning", "good": "success"}
"""The colour of the theme for each look of a line; a heading (``head``) is bold instead."""
LEAST_TEXT = 12
"""Terminal cells that a line's own text needs; if less remains, the text at its right is left out."""


def group_moves(*, choose: str = "", fold: str = "") -> list[BindingType]:
    """Return the key bindings of a list of groups.

    ``choose`` and ``fold`` are the footer's names for the keys that choose a line and that open or close a group; the
    footer shows a key only if its name is not empty.
    """
    return [
        *moves("lines"),
        Binding("enter", "choose", choose or "Open", id="lines.choose", show=bool(choose)),
        Binding("space", "fold", fold or "Open or close the group", id="lines.fold", show=bool(fold)),
        Binding("right,l", "unfold(True)", "Open the group", id="lines.open", show=False),
        Binding("left,h", "unfold(False)", "Close the group", id="lines.close", show=False),
    ]


MOVES = group_moves()


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of the list: ``text`` is shown at the left after the character ``mark``, and ``right`` at the right end.

    ``look`` is the name of its style, and ``value`` the object that the line is about.
    """

    key: str
    text: str
    right: str = ""
    look: str = "plain"
    value: object = None
    mark: str = " "
    keeps_text: bool = False
    """Whether ``right`` is shortened if there is not enough room for both, instead of ``text``."""


@dataclass(frozen=True, slots=True)
class Group:
    """A heading with the lines that it can hide; without lines it is only a heading."""

    head: ListLine
    lines: Sequence[ListLine] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    line: ListLine
    group: int
    place: int
    """The index of the line within its group; -1 for the heading."""

    @property
    def is_head(self) -> bool:
        return self.place < 0


class LineList(CursorView, inherit_bindings=False):
    """A list of groups and their lines; it remembers the keys of the open groups when its content is replaced."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        *ends("lines", first="To the first line", last="To the last line"),
    ]

    @dataclass
    class Moved(OfList):
        """Sent when the cursor has moved to the line ``line``, which is None if the list is empty."""

        line: ListLine | None

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LineList.Moved) and message.source is self.source

    @dataclass
    class Chosen(OfList):
        """Sent when the user chooses a line, or the heading of a group without lines."""

        line: ListLine

    def __init__(self, *, id: str) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self._groups: list[Group] = []
        self._heads: list[int] = []
        """The row of each group's heading."""
        self._count = 0
        self._open: set[str] = set()
        self._last_posted: str | None = None

    @property
    def current(self) -> ListLine | None:
        """Return the line under the cursor, or None if the list is empty."""
        row = self._row(self.cursor)
        return row.line if row else None

    @property
    def row_count(self) -> int:
        """Return the number of rows: all headings, and the lines of open groups."""
        return self._count

    @property
    def opened(self) -> list[str]:
        """Return the keys of the open groups."""
        return sorted(self._open)

    def show(self, groups: Iterable[Group], *, opened: Iterable[str] = ()) -> None:
        """Show these groups, and open those whose keys are in ``opened``; groups that were open before stay open.

        The cursor stays on its line if that still exists, otherwise on its row.
        """
        here = self._row(self.cursor) if self.cursor else None  # a cursor at the top stays there
        head = self._groups[here.group].head.key if here else ""
        self._groups = list(groups)
        self._open |= set(opened)
        self._lay_out()
        self._put_cursor(self._again(here, head) if here else self.cursor)

    def _again(self, here: _Row, head: str) -> int:
        """Return the row that the line ``here`` has after an update, or the cursor's row if the line is gone.

        ``here`` describes the line before the update, and ``head`` is the key of its group. The line's previous index
        in the group is tried first, because lines are usually added at the end.
        """
        number = next((at for at, group in enumerate(self._groups) if group.head.key == head), -1)
        if number >= 0:
            row = self._heads[number] + here.place + 1
            found = self._row(row)
            if found is not None and found.line.key == here.line.key:
                return row
        found_at = self._find(here.line.key)
        return self.cursor if found_at is None else found_at

    def _find(self, key: str) -> int | None:
        """Return the row of the heading or line with that key, or None if it is not displayed."""
        for number, (head, group) in enumerate(zip(self._heads, self._groups, strict=True)):
            if group.head.key == key:
                return head
            place = _place_of(group, key) if self._is_open(number) else None
            if place is not None:
                return head + 1 + place
        return None

    def go_to(self, key: str) -> bool:
        """Put the cursor on the line with this key and open its group; return whether the line exists."""
        group = next((one for one in self._groups if _place_of(one, key) is not None), None)
        if group is not None:
            self._open.add(group.head.key)
            self._lay_out()
        row = self._find(key)
        if row is not None:
            self._put_cursor(row)
        return row is not None

    def step(self, by: int, *, groups: bool = False) -> None:
        """Move the cursor to the next (``by`` is 1) or previous (-1) line that is not a heading, and open its group.

        With ``groups``, move it to the first line of the next or previous group instead.
        """
        row = self._row(self.cursor)
        if row is None:
            return
        number, place = row.group, row.place + by  # from a heading (-1), one step down leads to its first line
        if groups and not row.is_head:
            place = len(self._groups[number].lines)
        if not 0 <= place < len(self._groups[number].lines):
            numbers = range(number + 1, len(self._groups)) if by > 0 else range(number - 1, -1, -1)
            number = next((one for one in numbers if self._groups[one].lines), -1)
            if number < 0:
                return
            place = 0 if by > 0 or groups else len(self._groups[number].lines) - 1
        self._open.add(self._groups[number].head.key)
        self._lay_out()
        self._put_cursor(self._heads[number] + 1 + place)

    def next_heading(self, by: int) -> int | None:
        """Return the row of the next (1) or previous (-1) heading; None if there is none or the cursor is on a line."""
        row = self._row(self.cursor)
        number = row.group + by if row is not None and row.is_head else -1
        return self._heads[number] if 0 <= number < len(self._heads) else None

    def _is_open(self, number: int) -> bool:
        return self._groups[number].head.key in self._open

    def _lay_out(self) -> None:
        """Compute the row of each group's heading, without formatting any line."""
        self._heads, self._count = [], 0
        for number, group in enumerate(self._groups):
            self._heads.append(self._count)
            self._count += 1 + (len(group.lines) if self._is_open(number) else 0)
        self.resized()

    def _put_cursor(self, row: int) -> None:
        self.cursor = max(0, min(row, self._count - 1))
        self.show_cursor()
        self.moved()

    def _row(self, number: int) -> _Row | None:
        if not 0 <= number < self._count:
            return None
        group = bisect_right(self._heads, number) - 1
        place = number - self._heads[group] - 1
        line = self._groups[group].head if place < 0 else self._groups[group].lines[place]
        return _Row(line, group, place)

    def draw_row(self, number: int) -> Strip:
        row, width = self._row(number), self.size.width
        if row is None:
            return Strip.blank(width, self.rich_style)
        before, line = _before(row, self._groups, self._open), row.line
        text = fitted(before + line.text, line.right, width=width, keeps_text=line.keeps_text)
        return Strip([Segment(text, self._style(row, is_chosen=number == self.cursor))], width)

    def _style(self, row: _Row, *, is_chosen: bool) -> Style:
        if is_chosen:
            return self.cursor_style
        look = row.line.look
        if look == "head" or (row.is_head and look == "plain"):
            return self.rich_style + Style(bold=True)
        return self.rich_style + self.colour(COLOURS[look])

    def moved(self) -> None:
        line = self.current
        key = line.key if line else ""
        if key != self._last_posted:  # a new layout may have moved the cursor, but not to another line
            self._last_posted = key
            self.post_message(self.Moved(self, line))

    def action_choose(self) -> None:
        """Open or close the group if the cursor is on its heading, otherwise choose the line."""
        row = self._row(self.cursor)
        if row is not None and row.is_head and self._groups[row.group].lines:
            self.action_fold()
        elif row is not None:
            self.post_message(self.Chosen(self, row.line))

    def action_fold(self) -> None:
        """Open or close the group of the line under the cursor."""
        if row := self._row(self.cursor):
            self.action_unfold(not self._is_open(row.group))

    def action_unfold(self, wanted: bool) -> None:
        """Open the group of the line under the cursor if ``wanted``; otherwise close it and go to its heading.

        If the cursor is on the heading of a group that is open already, go to its first line.
        """
        if row := self._row(self.cursor):
            place = 0 if row.is_head and self._is_open(row.group) and self._groups[row.group].lines else row.place
            head = self._groups[row.group].head.key
            (self._open.add if wanted else self._open.discard)(head)
            self._lay_out()
            self._put_cursor(self._heads[row.group] + (place + 1 if wanted else 0))

    def row_clicked(self, event: events.Click, *, is_again: bool) -> None:
        del event
        row = self._row(self.cursor)
        if row is not None and (row.is_head or is_again):
            self.action_choose()


def _place_of(group: Group, key: str) -> int | None:
    """Return the index of the line with that key in the group, or None if the group does not contain it.

    If ``group.lines`` has a method ``place_of``, use it, because it may find the line without formatting every line.
    """
    if find := getattr(group.lines, "place_of", None):
        found: int | None = find(key)
        return found
    return next((at for at, line in enumerate(group.lines) if line.key == key), None)


def fitted(text: str, right: str, *, width: int, keeps_text: bool = False) -> str:
    """Return ``text`` at the left and ``right`` at the right of a line that is ``width`` cells wide.

    If they do not fit, ``text`` is cut, and ``right`` is left out if only few cells remain for ``text``. With
    ``keeps_text``, ``right`` is cut first, and left out if only few cells remain for it.
    """
    text, right = plain(text), plain(right)
    room = width - cell_len(text) - 3  # 3: two blanks between both, and one at the end
    if keeps_text and cell_len(right) > room:
        right = fit(right, room) if room >= LEAST_TEXT else ""
    if width - cell_len(right) - 3 < LEAST_TEXT:
        right = ""
    room = max(1, width - (cell_len(right) + 2 if right else 1))
    return set_cell_size(fit(text, room), max(0, width - cell_len(right) - 1)) + right + " "


def _before(row: _Row, groups: Sequence[Group], opened: set[str]) -> str:
    if not row.is_head:
        return f"  {row.line.mark} "
    if not groups[row.group].lines:
        return f"{row.line.mark} "
    return f"{OPEN if row.line.key in opened else CLOSED} "
