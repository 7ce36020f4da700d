"""The line below the editor for finding words, and for going to a line or rule; hidden when it is not in use."""

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

FIND, GO_TO = "find", "go to"
TITLES = {FIND: "Find", GO_TO: "Go to line or rule"}


class FindInput(Input):
    """The input: arrows go to the next and the previous match; so does enter, unless the line leads to one place."""

    DEFAULT_CSS = """
    FindInput { width: 1fr; background: $surface; height: 1; border: none; padding: 0; }
    FindInput:focus { border: none; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", "Next", id="find.enter", key_display="⏎", show=False),
        Binding("down,f3,ctrl+f", "find(1)", "Next", id="find.next", key_display="↓"),
        Binding("up,shift+f3", "find(-1)", "Previous", id="find.previous", key_display="↑"),
        Binding("escape", "leave", "To the text", id="find.leave", key_display="esc"),
    ]

    def action_find(self, step: int) -> None:
        """Go to another match."""
        self.post_message(FindBar.Wanted(self.value, step))

    def action_enter(self) -> None:
        """Go to the next match, or stay at the line or rule that typing led to."""
        bar = self.parent
        if isinstance(bar, FindBar) and bar.mode == GO_TO:
            self.action_leave()
        else:
            self.action_find(1)

    def action_leave(self) -> None:
        """Go back to the editor."""
        self.post_message(FindBar.Left())


class FindBar(Horizontal):
    """The input with its title, and which of how many matches is shown."""

    DEFAULT_CSS = """
    FindBar {
        height: 1; background: $surface; display: none;
        &.-open { display: block; }
        & > .name { width: auto; padding: 0 1; color: $text-muted; }
        & > #match { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    @dataclass
    class Wanted(Message):
        """The user typed a text, or wants the next (1) or previous (-1) match."""

        text: str
        step: int = 0

    class Left(Message):
        """The user goes back to the editor."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = FIND

    def compose(self) -> ComposeResult:
        yield Static("", classes="name", markup=False)
        yield FindInput(compact=True, select_on_focus=True)
        yield Static("", id="match", markup=False)

    def open(self, mode: str) -> None:
        """Show the line, with the text that was last typed."""
        self.mode = mode
        self.query_one(".name", Static).update(TITLES[mode])
        self.add_class("-open")
        self.query_one(FindInput).focus()

    def close(self) -> None:
        """Hide the line."""
        self.remove_class("-open")

    @property
    def text(self) -> str:
        """The text that was typed."""
        return self.query_one(FindInput).value

    def tell(self, text: str) -> None:
        """Show which match this is."""
        self.query_one("#match", Static).update(text)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value))
