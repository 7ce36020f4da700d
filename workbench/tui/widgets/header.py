"""The line at the top: the places of the app with their keys, the current one highlighted, and any error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widgets import Static

from workbench.tui.screens import SCREENS

if TYPE_CHECKING:
    from textual.app import ComposeResult

NAMES_WIDTH = 2 + sum(len(one.title) + 4 for one in SCREENS)


class PlaceTab(Static):
    """The name of a place; a click goes there."""

    DEFAULT_CSS = """
    PlaceTab {
        width: auto; padding: 0 1; color: $text-muted; pointer: pointer;
        &:hover { color: $foreground; text-style: underline; }
        &.-here { background: $primary; color: $background; text-style: bold; }
    }
    """

    def __init__(self, name: str, text: str, *, is_here: bool) -> None:
        super().__init__(text, classes="-here" if is_here else "", markup=False)
        self._place = name

    async def on_click(self) -> None:
        await self.run_action(f"app.go('{self._place}')")


class PlaceBar(Horizontal):
    """All places; if the line is too short, only the current place shows its name next to its key."""

    DEFAULT_CSS = """
    PlaceBar {
        height: 1; background: $panel;
        #trouble { width: 1fr; text-align: right; padding: 0 1; color: $error; text-style: bold; text-wrap: nowrap; }
    }
    """

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here
        self._trouble = ""

    def compose(self) -> ComposeResult:
        for one in SCREENS:
            yield PlaceTab(one.name, f"{one.key} {one.title}", is_here=one.name == self._here)
        yield Static("", id="trouble", markup=False)

    def on_resize(self) -> None:
        self._name_places()

    def _name_places(self) -> None:
        is_roomy = self.size.width - len(self._trouble) >= NAMES_WIDTH
        for one, tab in zip(SCREENS, self.query(PlaceTab), strict=True):
            tab.update(f"{one.key} {one.title}" if is_roomy or one.name == self._here else one.key)

    def show_error(self, text: str) -> None:
        """Show an error; an empty text removes it."""
        self._trouble = text
        self.query_one("#trouble", Static).update(text)
        self._name_places()
