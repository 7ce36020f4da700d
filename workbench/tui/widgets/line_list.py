"""A list of groups that open to their lines, with a cursor; thousands of lines cost nothing until they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.tui.widgets.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import Style
    from textual import events

OPEN, CLOSED = "▾", "▸"
LEAST_TEXT = 12


MOVES: list[BindingType] = [
    Binding("j,down", "move(1)", "Next line", id="lines.down", show=False),
    Binding("k,up", "move(-1)", "Previous line", id="lines.up", show=False),
    Binding("pagedown,ctrl+f", "page(1)", "A page down", id="lines.page-down", show=False),
    Binding("pageup,ctrl+b", "page(-1)", "A page up", id="lines.page-up", show=False),
    Binding("enter", "choose", "Open", id="lines.choose", show=False),
    Binding("space", "fold", "Open or close the group", id="lines.fold", show=False),
    Binding("right,l", "unfold(True)", "Open the group", id="lines.open", show=False),
    Binding("left,h", "unfold(False)", "Close the group", id="lines.close", show=False),
]


@dataclass(frozen=True, slots=True)
class Line:
    """One line: what it is known by, its text, what stands at its right, its look, what it stands for."""

    key: str
    text: str
    right: str = ""
    look: str = "plain"
    value: object = None
    mark: str = " "


@dataclass(frozen=True, slots=True)
class Group:
    """A heading with its lines; one without lines is only a heading."""

    head: Line
    lines: Sequence[Line] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    line: Line
    group: int
    is_head: bool


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """Groups and their lines; which groups are open is kept by their keys."""

    DEFAULT_CSS = """
    LineList {
        background: $background; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden;
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & > .line--blurred { background: $panel; text-style: bold; }
        & > .line--head { color: $foreground; text-style: bold; }
        & > .line--muted { color: $text-muted; }
        & > .line--error { color: $error; }
        & > .line--warning { color: $warning; }
        & > .line--good { color: $success; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line--cursor", "line--blurred", "line--head", "line--muted", "line--error", "line--warning", "line--good",
    }  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        Binding("g,home", "move_to(0)", "To the first line", id="lines.first", show=False),
        Binding("G,end", "move_to(-1)", "To the last line", id="lines.last", show=False),
    ]
    ALLOW_SELECT = False
    cursor = reactive(0, repaint=False)

    @dataclass
    class Moved(Message):
        """The cursor is on another line."""

        source: LineList
        line: Line | None

        @property
        def control(self) -> LineList:
            return self.source

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LineList.Moved) and message.source is self.source

    @dataclass
    class Chosen(Message):
        """Somebody chose a line that is no heading of a group."""

        source: LineList
        line: Line

        @property
        def control(self) -> LineList:
            return self.source

    def __init__(self, *, id: str) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self._groups: list[Group] = []
        self._rows: list[_Row] = []
        self._open: set[str] = set()
        self._told: str | None = None

    @property
    def current(self) -> Line | None:
        """The line under the cursor."""
        return self._rows[self.cursor].line if self.cursor < len(self._rows) else None

    @property
    def row_count(self) -> int:
        """How many rows are laid out, headings and the lines of open groups."""
        return len(self._rows)

    @property
    def lines(self) -> list[Line]:
        """All lines of all groups, open or not, without the headings."""
        return [line for group in self._groups for line in group.lines]

    @property
    def opened(self) -> list[str]:
        """The keys of the groups that are open."""
        return sorted(self._open)

    def show(self, groups: Iterable[Group], *, opened: Iterable[str] = ()) -> None:
        """Show these groups; the cursor stays on its line where that is still there, or on top."""
        key = self.current.key if self.current and self.cursor else ""
        self._groups = list(groups)
        self._open |= set(opened)
        self._lay_out(key)

    def go_to(self, key: str) -> bool:
        """Put the cursor on a line and open its group; say whether there is such a line."""
        for group in self._groups:
            if any(line.key == key for line in group.lines):
                self._open.add(group.head.key)
                self._lay_out(key)
                return True
        return any(row.line.key == key for row in self._rows)

    def step(self, by: int, *, groups: bool = False) -> None:
        """Go to the next line that is no heading, or with ``groups`` to the first one of the next group."""
        wanted = [group.lines[0] for group in self._groups if group.lines] if groups else self.lines
        order = [line.key for line in self.lines]
        here = order.index(self.current.key) if self.current and self.current.key in order else -1
        places = [order.index(line.key) for line in wanted]
        ahead = [place for place in places if (place > here if by > 0 else place < here)]
        if ahead:
            self.go_to(order[ahead[0] if by > 0 else ahead[-1]])

    def _lay_out(self, key: str) -> None:
        rows: list[_Row] = []
        for number, group in enumerate(self._groups):
            rows.append(_Row(group.head, number, is_head=True))
            if group.head.key in self._open:
                rows += [_Row(line, number, is_head=False) for line in group.lines]
        self._rows = rows
        self.virtual_size = Size(self.size.width, len(rows))
        found = next((at for at, row in enumerate(rows) if row.line.key == key), min(self.cursor, len(rows) - 1))
        self.cursor = max(0, found)
        self.refresh()
        self._show_cursor()
        self._tell()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._show_cursor()

    def render_line(self, y: int) -> Strip:
        number, width = self.scroll_offset.y + y, self.size.width
        if number >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[number]
        text = fitted(_before(row, self._groups, self._open) + row.line.text, row.line.right, width=width)
        return Strip([Segment(text, self._style(row, is_chosen=number == self.cursor))], width)

    def _style(self, row: _Row, *, is_chosen: bool) -> Style:
        if is_chosen:
            name = "cursor" if self.has_focus else "blurred"
            return self.rich_style + self.get_component_rich_style(f"line--{name}")
        look = "head" if row.is_head and row.line.look == "plain" else row.line.look
        if look == "plain":
            return self.rich_style
        return self.rich_style + self.get_component_rich_style(f"line--{look}", partial=True)

    def _tell(self) -> None:
        line = self.current
        told = line.key if line else ""
        if told != self._told:
            self._told = told
            self.post_message(self.Moved(self, line))

    def watch_cursor(self, old: int, new: int) -> None:
        for row in (old, new):
            self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))
        self._show_cursor()
        self._tell()

    def _show_cursor(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True, x_axis=False)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self.cursor = max(0, min(len(self._rows) - 1, self.cursor + rows))

    def action_page(self, direction: int) -> None:
        """Move the cursor by what fits on the screen."""
        self.action_move(direction * max(1, self.size.height - 1))

    def action_move_to(self, row: int) -> None:
        """Move to a row; -1 is the last."""
        self.cursor = max(0, len(self._rows) - 1 if row < 0 else row)

    def action_choose(self) -> None:
        """Open or close a group, choose a line."""
        row = self._row()
        if row is not None and row.is_head and self._groups[row.group].lines:
            self.action_fold()
        elif row is not None:
            self.post_message(self.Chosen(self, row.line))

    def action_fold(self) -> None:
        """Open or close the group of this line."""
        if row := self._row():
            self.action_unfold(self._groups[row.group].head.key not in self._open)

    def action_unfold(self, wanted: bool) -> None:
        """Open the group of this line, or close it and stay on its heading."""
        if row := self._row():
            head = self._groups[row.group].head.key
            (self._open.add if wanted else self._open.discard)(head)
            self._lay_out(row.line.key if wanted else head)

    def _row(self) -> _Row | None:
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def on_click(self, event: events.Click) -> None:
        number = self.scroll_offset.y + event.y
        if number >= len(self._rows):
            return
        is_again = number == self.cursor
        self.cursor = number
        if self._rows[number].is_head or event.chain > 1 or is_again:
            self.action_choose()


def fitted(text: str, right: str, *, width: int) -> str:
    """Return both in exactly the width; the right one gives way first, then the text is cut with an ellipsis."""
    text, right = plain(text), plain(right)
    if width - cell_len(right) - 3 < LEAST_TEXT:
        right = ""
    room = max(1, width - (cell_len(right) + 2 if right else 1))
    if cell_len(text) > room:
        text = set_cell_size(text, room - 1) + "…"
    return set_cell_size(text, max(0, width - cell_len(right) - 1)) + right + " "


def _before(row: _Row, groups: Sequence[Group], opened: set[str]) -> str:
    if not row.is_head:
        return f"  {row.line.mark} "
    if not groups[row.group].lines:
        return f"{row.line.mark} "
    return f"{OPEN if row.line.key in opened else CLOSED} "
