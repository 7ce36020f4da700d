"""A line for search words; the search runs when typing pauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

APPLY_AFTER_S = 0.15


class SearchInput(Input):
    """The input itself: enter and escape go back to the list."""

    DEFAULT_CSS = """
    SearchInput { width: 1fr; background: $surface; height: 1; border: none; padding: 0; }
    SearchInput:focus { border: none; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down,escape", "leave", "Back to the list", id="search.leave", show=False),
    ]

    class Left(Message):
        """The user has finished the search."""

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(self.Left())


class SearchBar(Horizontal):
    """The input with its title and the result."""

    DEFAULT_CSS = """
    SearchBar {
        height: 1; background: $surface;
        & > .name { width: auto; padding: 0 1; color: $text-muted; }
        & > #found { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    @dataclass
    class Typed(Message):
        """The user typed words, and paused."""

        text: str

    class Left(Message):
        """The user has finished the search."""

    def __init__(self, title: str, *, placeholder: str) -> None:
        super().__init__()
        self._title, self._placeholder = title, placeholder
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static(self._title, classes="name", markup=False)
        yield SearchInput(placeholder=self._placeholder, compact=True, select_on_focus=False)
        yield Static("", id="found", markup=False)

    def show(self, text: str) -> None:
        """Put words into the search line without searching for them."""
        with self.prevent(Input.Changed):
            self.query_one(SearchInput).value = text

    def show_result(self, text: str) -> None:
        """Show the result."""
        self.query_one("#found", Static).update(text)

    def focus_input(self) -> None:
        """Focus the input."""
        self.query_one(SearchInput).focus()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(APPLY_AFTER_S, self._apply)

    def _apply(self) -> None:
        self._timer = None
        self.post_message(self.Typed(self.query_one(SearchInput).value))

    @on(SearchInput.Left)
    def _left(self, event: SearchInput.Left) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
            self._apply()
        self.post_message(self.Left())
