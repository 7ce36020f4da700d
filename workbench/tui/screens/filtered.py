"""Define the base classes of the screens that show the prompts selected by a filter, or figures on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from storage.traces.filter_text import SelectionError, parse
from storage.traces.selection import EVERYTHING, Selection
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.search_bar import FilterBar

if TYPE_CHECKING:
    from workbench.tui.widgets.lists.figures import FiguresTable


class FilteredScreen(WorkbenchScreen):
    """Base class of a screen with a filter above a list.

    The filter applies when typing pauses. It is remembered between starts of the app when the user leaves it, not
    earlier: half a word is not a filter to restore.
    """

    def __init__(self) -> None:
        super().__init__()
        self._which: Selection = EVERYTHING
        self._text = ""
        self._is_begun = False  # whether anything was selected yet

    def focus_list(self) -> None:
        """Move the focus to the list."""
        raise NotImplementedError

    def filter_changed(self) -> None:
        """Read the prompts that the new filter selects; override this to show them."""
        raise NotImplementedError

    def parsed(self, text: str) -> Selection:
        """Return what a filter selects on this screen; raises ``SelectionError``."""
        return parse(text)

    @property
    def bar(self) -> FilterBar:
        """Return the filter bar."""
        return self.query_one(FilterBar)

    def select(self, text: str) -> None:
        """Show what a filter selects; if it is invalid, show the error and keep what is shown."""
        self.bar.show(text)
        self._selected(text)
        self.remember(filter=self._text)

    def _selected(self, text: str) -> None:
        is_first, self._is_begun = not self._is_begun, True
        try:
            self._which = self.parsed(text)
        except SelectionError as error:
            self.bar.show_error(str(error))
            if is_first:
                self.filter_changed()
            return
        self.bar.show_error("")
        self._text = text
        self.filter_changed()

    @on(FilterBar.Typed)
    def _filter_typed(self, message: FilterBar.Typed) -> None:
        if message.text != self._text:
            self._selected(message.text)

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.focus_list()

    def on_descendant_blur(self) -> None:
        self.remember(filter=self._text)

    def action_filter(self) -> None:
        """Move the focus to the filter."""
        self.bar.input.focus()


class MeasuringScreen(FilteredScreen):
    """Base class of a screen with a filter above a table of figures on the prompts that the filter selects."""

    def __init__(self) -> None:
        super().__init__()
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
        """Begin to compute the figures of the prompts that the filter selects, newest first."""
        raise NotImplementedError

    def add_news(self) -> None:
        """Include the prompts that were recorded since the last measurement."""
        raise NotImplementedError

    def focus_list(self) -> None:
        self.table.focus()

    def filter_changed(self) -> None:
        self.action_reload()

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
