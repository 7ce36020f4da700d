"""A table of at most some hundred rows, and how its figures are written: every number has its unit.

Longer lists belong into ``row_view``: this one measures every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.coordinate import Coordinate
from textual.widgets import DataTable

from workbench.tui.widgets.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

CELL_PADDING = 1
SCROLLBAR = 1


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its title, its width in cells (0: what is left), whether it holds numbers."""

    name: str
    title: str
    width: int
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the key by which it is known, its texts, and the style of a cell where it has one (a theme's variable)."""

    key: str
    cells: tuple[str, ...]
    styles: tuple[str, ...] = ()


class FiguresTable(DataTable[Text], inherit_bindings=False):
    """A table with a cursor on whole rows that stays on its row when the rows are written anew."""

    DEFAULT_CSS = """
    FiguresTable {
        background: $background; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden;
        & > .datatable--header { background: $surface; color: $text-muted; text-style: bold; }
        & > .datatable--cursor {
            background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold;
        }
        &:blur > .datatable--cursor { background: $panel; color: $foreground; }
        & > .datatable--hover { background: $panel; }
        & > .datatable--header-hover { background: $panel; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "cursor_down", "Next line", id="figures.down", show=False),
        Binding("k,up", "cursor_up", "Previous line", id="figures.up", show=False),
        Binding("pagedown,ctrl+f", "page_down", "A page down", id="figures.page-down", show=False),
        Binding("pageup,ctrl+b", "page_up", "A page up", id="figures.page-up", show=False),
        Binding("g,home", "scroll_top", "To the first", id="figures.first", show=False),
        Binding("G,end", "scroll_bottom", "To the last", id="figures.last", show=False),
        Binding("enter", "select_cursor", "Open", id="figures.open", show=False),
    ]

    def __init__(self, headings: Sequence[Heading], *, id: str) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cell_padding=CELL_PADDING)
        self._headings = tuple(headings)
        self._rows_shown: tuple[Row, ...] = ()
        self._written_at = 0

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._write())

    @property
    def chosen(self) -> str:
        """The key of the row under the cursor, empty where there is none."""
        row = self.cursor_row
        return self._rows_shown[row].key if 0 <= row < len(self._rows_shown) else ""

    def show(self, rows: Sequence[Row], headings: Sequence[Heading] | None = None, *, follows_row: bool = True) -> None:
        """Write the rows; the cursor stays with the row that it is on, else, or where it is told so, on its line."""
        shown = tuple(headings or self._headings), tuple(rows)
        if shown == (self._headings, self._rows_shown) and self._written_at == self.size.width:
            return
        self._headings, self._rows_shown = shown
        self._write(follows_row=follows_row)

    def widths(self) -> list[int]:
        """Return the widths of the columns' texts, what is left shared among those without a width."""
        fixed = [heading.width for heading in self._headings]
        left = self.size.width - SCROLLBAR - sum(fixed) - 2 * CELL_PADDING * len(fixed)
        open_ones = fixed.count(0)
        return [width or max(1, left // open_ones) for width in fixed]

    def _write(self, *, follows_row: bool = True) -> None:
        self._written_at = self.size.width
        if not self._written_at:
            return
        chosen = self.get_row_key_at_cursor() if follows_row else ""
        row, top = self.cursor_row, self.scroll_offset.y
        widths = self.widths()
        with self.prevent(DataTable.RowHighlighted):
            self.clear(columns=True)
            for heading, width in zip(self._headings, widths, strict=True):
                title = heading.title.rjust(width) if heading.is_number else heading.title
                self.add_column(Text(title, no_wrap=True), width=width, key=heading.name)
            for one in self._rows_shown:
                self.add_row(*self._texts(one, widths), key=one.key)
            keys = [one.key for one in self._rows_shown]
            row = keys.index(chosen) if chosen in keys else min(row, len(keys) - 1)
            if row >= 0:
                self.cursor_coordinate = Coordinate(row, 0)
        self.scroll_to(y=top, animate=False)

    def get_row_key_at_cursor(self) -> str:
        """Return the key of the row that is drawn under the cursor."""
        if not self.is_valid_coordinate(self.cursor_coordinate):
            return ""
        return str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value)

    def _texts(self, row: Row, widths: list[int]) -> list[Text]:
        styles = row.styles or ("",) * len(row.cells)
        variables = self.app.theme_variables
        return [
            Text(
                fit(cell, width, is_number=heading.is_number),
                style=variables.get(style, "") if style else "",
                no_wrap=True,
                end="",
            )
            for cell, width, heading, style in zip(row.cells, widths, self._headings, styles, strict=True)
        ]

    def on_resize(self) -> None:
        if self.size.width != self._written_at:
            self._write()


def fit(text: str, width: int, *, is_number: bool = False) -> str:
    """Return the text in exactly so many cells; what is cut ends with an ellipsis."""
    text = plain(text)
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + "…"
    missing = " " * (width - cell_len(text))
    return missing + text if is_number else text + missing


def ms(value: float | None) -> str:
    """Return milliseconds with their unit: two digits after the point below ten, none from a hundred on."""
    if value is None:
        return "-"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f} ms"


def percent(share: float | None) -> str:
    """Return a share with its sign; what is not nothing is never written as 0 %."""
    if share is None:
        return "-"
    if share < 0.001:
        return "<0.1 %" if share > 0 else "0 %"
    return f"{share * 100:.1f} %" if share < 0.9995 else "100 %" if share >= 1 else ">99.9 %"
