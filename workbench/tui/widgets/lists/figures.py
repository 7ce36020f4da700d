"""A table of figures, and functions that format figures; every number has its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.strip import Strip

from workbench.tui.widgets.lists.cursor_view import CursorView, OfList, ends, moves
from workbench.tui.widgets.plain_text import fit, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import Style
    from textual import events

CELL_PADDING = 1
SCROLLBAR = 1
BLOCKS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Heading:
    """A table column; its ``width`` is in terminal cells, and 0 means that it takes the remaining width."""

    name: str
    title: str
    width: int
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table row: its key, its texts, and for each text a style, which is a theme variable or empty."""

    key: str
    cells: tuple[str, ...]
    styles: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, styled: Iterable[tuple[str, str]]) -> TableRow:
        """Return a row with this key; ``styled`` contains the text and the style of each cell."""
        cells, styles = zip(*styled, strict=True)
        return cls(key, cells, styles)


class FiguresTable(CursorView, inherit_bindings=False):
    """A table with a cursor on whole rows; the cursor stays on its row when the rows change."""

    DEFAULT_CSS = """
    FiguresTable > .figures--titles { background: $surface; color: $text-muted; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"figures--titles"}
    BINDINGS: ClassVar[list[BindingType]] = [
        *moves("figures"),
        *ends("figures", first="To the first", last="To the last"),
        Binding("enter", "choose", "Open", id="figures.open", show=False),
    ]
    TITLES = 1

    class Moved(OfList):
        """Sent when the user moves the cursor to another row."""

    @dataclass
    class Chosen(OfList):
        """Sent when the user chooses the row under the cursor, with a key or a click.

        ``column`` is the name of the column that was clicked, or an empty string if a key was pressed.
        """

        column: str = ""

    def __init__(self, headings: Sequence[Heading], *, id: str) -> None:  # noqa: A002 (Textual's name)
        super().__init__(id=id)
        self._headings = tuple(headings)
        self.shown: tuple[TableRow, ...] = ()
        """The rows that the table shows."""

    @property
    def row_count(self) -> int:
        return len(self.shown)

    @property
    def chosen(self) -> str:
        """Return the key of the row under the cursor, or an empty string if there is no row."""
        return self.shown[self.cursor].key if self.cursor < len(self.shown) else ""

    def show(
        self, rows: Sequence[TableRow], headings: Sequence[Heading] | None = None, *, follows_row: bool = True
    ) -> None:
        """Show these rows, with new headings if they are given.

        The cursor stays on the row with the same key. If that row is gone, or if ``follows_row`` is False, the cursor
        stays at the same position.
        """
        before = self.chosen if follows_row else ""
        self._headings = tuple(headings or self._headings)
        self.shown = tuple(rows)
        here = next((at for at, one in enumerate(self.shown) if one.key == before), min(self.cursor, len(rows) - 1))
        self.set_reactive(FiguresTable.cursor, max(0, here))  # without watch_cursor: the user has not moved it
        self.resized()

    def widths(self) -> list[int]:
        """Return the width of the text in each column; columns with the width 0 share the remaining width equally."""
        fixed = [heading.width for heading in self._headings]
        left = self.size.width - SCROLLBAR - sum(fixed) - 2 * CELL_PADDING * len(fixed)
        open_ones = fixed.count(0)
        return [width or max(1, left // open_ones) for width in fixed]

    def draw_title(self) -> Strip:
        look = self.rich_style + self.get_component_rich_style("figures--titles")
        return self._strip([(one.title, look) for one in self._headings], look)

    def draw_row(self, row: int) -> Strip:
        one, is_here = self.shown[row], row == self.cursor
        base = self.cursor_style if is_here else self.rich_style
        styles = one.styles or ("",) * len(one.cells)
        # The row with the cursor has one style, because other colours would be hard to read on its background.
        looks = [base if is_here else base + self.colour(style) for style in styles]
        return self._strip(list(zip(one.cells, looks, strict=True)), base)

    def _strip(self, cells: Sequence[tuple[str, Style]], base: Style) -> Strip:
        blanks = Segment(" " * CELL_PADDING, base)
        segments: list[Segment] = []
        for (text, look), heading, width in zip(cells, self._headings, self.widths(), strict=True):
            segments += [blanks, Segment(fit(plain(text), width, is_number=heading.is_number), look), blanks]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def moved(self) -> None:
        self.post_message(self.Moved(self))

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self.shown:
            self.post_message(self.Chosen(self))

    def row_clicked(self, event: events.Click, *, is_again: bool) -> None:
        if is_again:
            self.post_message(self.Chosen(self, self._column_at(event.x)))

    def _column_at(self, x: int) -> str:
        end = 0
        for heading, width in zip(self._headings, self.widths(), strict=True):
            end += width + 2 * CELL_PADDING
            if x < end:
                return heading.name
        return ""


def ms(value: float | None) -> str:
    """Return a time in milliseconds as text with its unit, or "-" for None; small values have one or two decimals."""
    if value is None:
        return "-"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f} ms"


def percent(share: float | None) -> str:
    """Return a share (0 to 1) as a text in percent, or "-" for None; small values above 0 are never shown as 0 %."""
    if share is None:
        return "-"
    if share < 0.001:
        return "<0.1 %" if share > 0 else "0 %"
    # From 0.9995 on, one decimal would be rounded to 100.0.
    return f"{share * 100:.1f} %" if share < 0.9995 else "100 %" if share >= 1 else ">99.9 %"


def sparkline(values: Sequence[float | None], width: int) -> str:
    """Return the last ``width`` values as a line of blocks whose heights are scaled from zero to the largest value.

    The last value is at the right; None is shown as a blank.
    """
    seen = list(values)[-width:] if width > 0 else []
    most = max((value for value in seen if value is not None), default=0.0)
    return "".join(" " if value is None else _block(value, most) for value in seen).rjust(width)


def bar(share: float, width: int) -> str:
    """Return a share (0 to 1) as a bar, padded to ``width`` cells; any share above 0 is drawn as a visible bar."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def _block(value: float, most: float) -> str:
    # min: the largest value itself would be one block beyond the last.
    return BLOCKS[min(len(BLOCKS) - 1, int(value / most * len(BLOCKS)))] if most > 0 else BLOCKS[0]
