"""Define the base class of the screens that measure the prompts selected by a filter.

The filter applies when typing pauses, and is remembered between starts of the app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from storage.traces.selection import EVERYTHING, Selection, SelectionError, parse
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.search_bar import FilterBar

if TYPE_CHECKING:
    from workbench.tui.widgets.lists.figures import FiguresTable


class MeasuringScreen(WorkbenchScreen):
    """Base class of a screen with a filter above a table of figures on the prompts that the filter selects."""

    def __init__(self) -> None:
        super().__init__()
        self._which: Selection = EVERYTHING
        self._text = ""
        self._databases = 0

    @property
    def table(self) -> FiguresTable:
        """Return the table that has the focus by default."""
        raise NotImplementedError

    @property
    def is_measured(self) -> bool:
        """Return whether there are any figures yet."""
        raise NotImplementedError

    def measure(self) -> None:
        """Begin to measure the prompts that ``self._which`` selects, the newest first."""
        raise NotImplementedError

    def add_news(self) -> None:
        """Take the prompts into account that were recorded since the measurement."""
        raise NotImplementedError

    @property
    def bar(self) -> FilterBar:
        """Return the filter bar."""
        return self.query_one(FilterBar)

    def action_reload(self) -> None:
        """Measure again, beginning with the newest prompt."""
        self._databases = self.app.databases
        self.bar.show_result("measuring …")
        self.measure()

    def data_changed(self) -> None:
        if self.app.databases != self._databases:
            self.action_reload()
        elif self.is_measured and not self.app.trouble:
            self.add_news()

    def select(self, text: str) -> None:
        """Measure the prompts that a filter selects; if it is invalid, show the error and keep the previous figures."""
        self.bar.show(text)
        self._selected(text)

    def _selected(self, text: str) -> None:
        try:
            self._which = parse(text)
        except SelectionError as error:
            self.bar.show_error(str(error))
            if not self.is_measured:
                self.action_reload()
            return
        self.bar.show_error("")
        self._text = text
        self.remember(filter=text)
        self.action_reload()

    @on(FilterBar.Typed)
    def _filter_typed(self, message: FilterBar.Typed) -> None:
        if message.text != self._text:
            self._selected(message.text)

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.table.focus()

    def action_filter(self) -> None:
        """Move the focus to the filter."""
        self.bar.input.focus()
