"""The titles above the table; a click on a sortable title sorts by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.tui.widgets.lists.columns import heading
from workbench.tui.widgets.plain_text import fit

if TYPE_CHECKING:
    from textual import events


class RowHeader(Widget):
    """One line of titles, aligned with the lines below."""

    DEFAULT_CSS = """
    RowHeader { height: 1; color: $text-muted; background: $surface; text-style: bold; pointer: pointer; }
    """
    ALLOW_SELECT = False

    @dataclass
    class SortWanted(Message):
        """The user clicked a title."""

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
