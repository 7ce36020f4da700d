"""The table of prompts, of any length, with its title line; it draws the visible rows and requests missing pages.

It never loads the whole list. Row 0 is the newest prompt; newer ones are added above it, and the visible rows stay
where they are on the screen.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from storage.traces.trace_pages import PAGE_ROWS, TraceLine
from workbench.tui.messages import Replaceable
from workbench.tui.widgets.lists.columns import MUTED, cells_of, heading
from workbench.tui.widgets.lists.cursor_view import CursorView, ends, moves
from workbench.tui.widgets.plain_text import fit

if TYPE_CHECKING:
    from textual import events

    from workbench.tui.widgets.lists.columns import Cells

MOST_CACHED_PAGES = 24
MOST_CACHED_CELLS = 1_000  # rows; more than any window shows


class RowView(CursorView, inherit_bindings=False):
    """The table of the prompts that the filter selects, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *moves("rows"),
        *ends("rows", first="To the newest, and follow", last="To the last"),
        Binding("enter", "open", "Open the trace", id="rows.open", show=False),
    ]

    @dataclass
    class PagesWanted(Replaceable):
        """Sent when a row cannot be drawn because its page is not loaded; ``pages`` are all pages that are awaited."""

        pages: tuple[int, ...]

    @dataclass
    class Moved(Replaceable):
        """Sent when the cursor has moved, or its row has been loaded; ``line`` is None while the row is not loaded."""

        line: TraceLine | None

    class Shown(Replaceable):
        """Sent when other lines may have become visible: by scrolling, in a larger window, or because they arrived."""

    @dataclass
    class Opened(Message):
        """Sent when the user opens the prompt in this line, with enter or a double click."""

        line: TraceLine

    def __init__(self) -> None:
        super().__init__(id="rows")
        self._pages: OrderedDict[int, list[TraceLine]] = OrderedDict()
        self._head: list[TraceLine] = []
        """Lines that arrived after the list was read, oldest first, so that adding a line does not move the others."""
        self.below = 0
        """The number of rows that existed when the list was read."""
        self._cells: OrderedDict[tuple[str, int, str, str], Cells] = OrderedDict()
        self._asked: set[int] = set()
        self._today: dict[str, str] = {}
        """By trace id, the task type that today's rules give; empty if it is the recorded one."""
        self._last_posted: tuple[str, str] | None = None

    @property
    def row_count(self) -> int:
        """Return the number of rows known so far, including those that arrived after the list was read."""
        return len(self._head) + self.below

    @property
    def is_at_top(self) -> bool:
        """Return whether the cursor is on the newest line; if so, it moves to newer lines as they arrive."""
        return self.cursor == 0

    def line(self, row: int) -> TraceLine | None:
        """Return the line in that row, or None if its page is not loaded."""
        if row < len(self._head):
            return self._head[-1 - row] if row >= 0 else None
        number, offset = divmod(row - len(self._head), PAGE_ROWS)
        lines = self._pages.get(number)
        return lines[offset] if lines is not None and offset < len(lines) else None

    @property
    def current(self) -> TraceLine | None:
        """Return the line under the cursor, or None if it is not loaded."""
        return self.line(self.cursor)

    def start(self, lines: list[TraceLine], *, keep: str = "") -> None:
        """Show a new list that begins with these lines, with the cursor on the trace ``keep`` if it is among them."""
        self._pages.clear()
        self._asked.clear()
        self._head.clear()
        self._pages[0] = lines
        self.set_length(len(lines))
        self.cursor = next((row for row, line in enumerate(lines) if line.id == keep), 0)
        if not self.cursor:
            self.scroll_to(y=0, animate=False)

    def set_length(self, rows: int) -> None:
        """Set the number of rows, not counting those that arrived after the list was read."""
        self.below = rows
        self.resized()
        self.cursor = max(0, min(self.cursor, self.row_count - 1))
        self.moved()

    def add_page(self, number: int, lines: list[TraceLine]) -> None:
        """Add a page that was loaded; if too many pages are loaded now, drop the one that was added first."""
        self._pages[number] = lines
        self._pages.move_to_end(number)
        self._asked.discard(number)
        while len(self._pages) > MOST_CACHED_PAGES:
            self._pages.popitem(last=False)
        self.refresh()
        self.moved()
        self.post_message(self.Shown())

    def update_lines(self, fresh: dict[str, TraceLine]) -> None:
        """Update the lines that arrived after the list was read; ``fresh`` maps trace ids to their current lines."""
        self._head = [fresh.get(line.id, line) for line in self._head]
        self.refresh()

    def add_newer(self, lines: list[TraceLine]) -> None:
        """Put the lines that have just arrived, which are ordered from the oldest, at the top of the list.

        The cursor stays on its line, unless it is at the top; then it moves to the newest line.
        """
        follows = self.is_at_top
        self._head += lines
        self.resized()  # first the size, because Textual does not scroll beyond it
        if follows:
            self.scroll_to(y=0, animate=False)
        else:
            self.set_reactive(RowView.cursor, self.cursor + len(lines))  # without watch_cursor: it stays on its line
            self.scroll_to(y=self.scroll_offset.y + len(lines), animate=False)
        self.refresh()
        self.moved()

    def resized(self) -> None:
        super().resized()
        self.post_message(self.Shown())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Shown())

    def seen_pages(self) -> tuple[int, ...]:
        """Return the numbers of the pages that are visible."""
        top = max(0, self.scroll_offset.y - len(self._head))
        bottom = max(0, self.scroll_offset.y + self.size.height - len(self._head))
        last = max(0, (self.below - 1) // PAGE_ROWS)
        return tuple(range(min(last, top // PAGE_ROWS), min(last, bottom // PAGE_ROWS) + 1))

    def visible_ids(self) -> list[str]:
        """Return the ids of the traces whose rows are on the screen."""
        top = self.scroll_offset.y
        lines = map(self.line, range(top, top + self.size.height))
        return [line.id for line in lines if line is not None]

    def show_today(self, task_types: dict[str, str]) -> None:
        """Show beside the recorded task types those that today's rules give; ``task_types`` are by trace id."""
        self._today.update(task_types)
        self.refresh()

    def draw_row(self, row: int) -> Strip:
        width, line = self.size.width, self.line(row)
        if line is None:
            self._ask(row)
            return Strip([Segment(" …".ljust(width), self.rich_style + self.colour(MUTED))], width)
        return self._strip(self._cells_of(line, width), is_chosen=row == self.cursor)

    def _cells_of(self, line: TraceLine, width: int) -> Cells:
        today = self._today.get(line.id, "")
        key = (line.id, width, line.label, today)  # all that may change in a row
        cells = self._cells.get(key)
        if cells is None:
            cells = self._cells[key] = cells_of(line, width, today=today)
            if len(self._cells) > MOST_CACHED_CELLS:
                self._cells.popitem(last=False)
        return cells

    def _strip(self, cells: Cells, *, is_chosen: bool) -> Strip:
        base = self.cursor_style if is_chosen else self.rich_style
        segments = [Segment(text, base if is_chosen else base + self.colour(colour)) for text, colour in cells]
        return Strip(segments, self.size.width)

    def _ask(self, row: int) -> None:
        number = (row - len(self._head)) // PAGE_ROWS
        if number not in self._asked:
            self._asked.add(number)
            self.post_message(self.PagesWanted(tuple(sorted(self._asked))))

    def moved(self) -> None:
        line = self.current
        current = (line.id, line.label) if line else None  # with the label, which the pane beside the list shows
        if current != self._last_posted:
            self._last_posted = current
            self.post_message(self.Moved(line))

    def action_open(self) -> None:
        """Open the line under the cursor."""
        if line := self.current:
            self.post_message(self.Opened(line))

    def row_clicked(self, event: events.Click, *, is_again: bool) -> None:
        del is_again
        if event.chain > 1:
            self.action_open()


class RowHeader(Widget):
    """The title line above the table; a click on a title sorts by that column, if it can be sorted."""

    DEFAULT_CSS = """
    RowHeader { height: 1; color: $text-muted; background: $surface; text-style: bold; pointer: pointer; }
    """
    ALLOW_SELECT = False

    @dataclass
    class SortWanted(Message):
        """Sent when the user clicks the title of a column that can be sorted; ``sort`` is the order to change to."""

        sort: str

    def __init__(self) -> None:
        super().__init__()
        self._sort = ""

    def show_sort(self, sort: str) -> None:
        """Underline the title of the column by which the list is sorted."""
        self._sort = sort
        self.refresh()

    def render(self) -> Content:
        titles = [
            (
                fit(column.title, column.width, is_number=column.is_number),
                "underline" if column.sort and column.sort == self._sort else "",
            )
            for column, _start, _end in heading(self.size.width)
        ]
        return Content(" ").join(Content.styled(title, style) if style else Content(title) for title, style in titles)

    def on_click(self, event: events.Click) -> None:
        for column, start, end in heading(self.size.width):
            if start <= event.x <= end and column.sort:
                self.post_message(self.SortWanted(column.sort))
