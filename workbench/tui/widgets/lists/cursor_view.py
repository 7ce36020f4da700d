"""The base class of all lists in the app: the user moves a cursor by whole rows, and only visible rows are drawn.

Textual's DataTable is not used because it measures every cell, which freezes the app for 18 seconds if there are a
hundred thousand rows, and for a quarter of a second at each update of a thousand. Here nothing is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

if TYPE_CHECKING:
    from textual import events


@dataclass
class OfList(Message):
    """A message from the list ``source``; ``@on(Moved, "#rows")`` handles only messages of the list with that id."""

    source: CursorView

    @property
    def control(self) -> CursorView:
        return self.source


def moves(name: str) -> list[BindingType]:
    """Return the key bindings that move the cursor by lines and pages; the ids of the bindings begin with ``name``."""
    return [
        Binding("j,down", "move(1)", "Next line", id=f"{name}.down", show=False),
        Binding("k,up", "move(-1)", "Previous line", id=f"{name}.up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "A page down", id=f"{name}.page-down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "A page up", id=f"{name}.page-up", show=False),
    ]


def ends(name: str, *, first: str, last: str, keys: tuple[str, str] = ("g,home", "G,end")) -> list[BindingType]:
    """Return the bindings of ``keys`` that move the cursor to the first and last row.

    The ids of the bindings begin with ``name``; ``first`` and ``last`` are their descriptions.
    """
    return [
        Binding(keys[0], "move_to(0)", first, id=f"{name}.first", show=False),
        Binding(keys[1], "move_to(-1)", last, id=f"{name}.last", show=False),
    ]


class CursorView(ScrollView, can_focus=True, inherit_bindings=False):
    """A list of rows of one line each, below ``TITLES`` title lines (0 or 1) that do not scroll."""

    DEFAULT_CSS = """
    CursorView {
        background: $background; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden;
        & > .cursor--here { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & > .cursor--blurred { background: $panel; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"cursor--here", "cursor--blurred"}
    ALLOW_SELECT = False
    TITLES: ClassVar[int] = 0
    cursor = reactive(0, repaint=False)  # watch_cursor redraws the two rows that changed, not the whole list

    @property
    def row_count(self) -> int:
        """Return the number of rows in the list; to be defined by each subclass."""
        raise NotImplementedError

    def draw_row(self, row: int) -> Strip:
        """Return row number ``row`` as it is drawn; every subclass must implement this."""
        raise NotImplementedError

    def draw_title(self) -> Strip:
        """Return the title line as it is drawn; every subclass with a title line must implement this."""
        raise NotImplementedError

    def moved(self) -> None:
        """Handle a move of the cursor to another row; subclasses override this."""

    def row_clicked(self, event: events.Click, *, is_again: bool) -> None:
        """Handle a click on the row that has the cursor now; subclasses override this.

        ``is_again`` is true if the row had the cursor before the click, and for the second click of a double click.
        """

    @property
    def cursor_style(self) -> Style:
        """Return the style of the row with the cursor."""
        name = "cursor--here" if self.has_focus else "cursor--blurred"
        return self.rich_style + self.get_component_rich_style(name)

    def colour(self, name: str) -> Style:
        """Return a style with a colour of the theme, such as ``error``; without a name, one that changes nothing."""
        return Style.parse(self.app.theme_variables[name]) if name else Style.null()

    def resized(self) -> None:
        """Update the scrollable size after the number of rows or the width has changed."""
        self.virtual_size = Size(self.size.width, self.row_count + self.TITLES)
        self.refresh()

    def show_cursor(self) -> None:
        """Scroll so that the row with the cursor is visible."""
        where, above = Region(0, self.cursor + self.TITLES, 1, 1), Spacing(top=self.TITLES)
        self.scroll_to_region(where, spacing=above, animate=False, force=True, x_axis=False)

    def on_resize(self) -> None:
        self.resized()
        self.show_cursor()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if y < self.TITLES:
            return self.draw_title()
        row = self.scroll_offset.y + y - self.TITLES
        return self.draw_row(row) if row < self.row_count else Strip.blank(self.size.width, self.rich_style)

    def watch_cursor(self, old: int, new: int) -> None:
        for row in (old, new):
            self.refresh(Region(0, row - self.scroll_offset.y + self.TITLES, self.size.width, 1))
        self.show_cursor()
        self.moved()

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y - self.TITLES
        if event.y >= self.TITLES and row < self.row_count:
            is_again = row == self.cursor
            self.cursor = row
            self.row_clicked(event, is_again=is_again or event.chain > 1)

    def action_move(self, rows: int) -> None:
        """Move the cursor by this number of rows; a negative number moves it up."""
        self.cursor = max(0, min(self.row_count - 1, self.cursor + rows))

    def action_page(self, direction: int) -> None:
        """Move the cursor by one page, down (1) or up (-1)."""
        self.action_move(direction * max(1, self.size.height - self.TITLES - 1))

    def action_move_to(self, row: int) -> None:
        """Move the cursor to this row; -1 means the last one."""
        self.cursor = max(0, self.row_count - 1 if row < 0 else row)
