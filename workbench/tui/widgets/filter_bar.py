"""The line for the filter of traces; it is parsed while the user types, and completed with tab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from storage.traces.selection import completions, value_warnings

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

APPLY_AFTER_S = 0.15
"""Seconds of pause in typing after which a filter is run."""


class Completing(Suggester):
    """Completes the last part of the filter: a field, or one of its values."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.values: dict[str, tuple[str, ...]] = {}

    async def get_suggestion(self, value: str) -> str | None:
        found = completions(value, self.values)
        return found[0] if found else None


class FilterInput(Input):
    """The input itself: tab takes the completion, enter and escape go back to the list."""

    DEFAULT_CSS = """
    FilterInput { width: 1fr; background: $surface; height: 1; border: none; padding: 0; }
    FilterInput:focus { border: none; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete the field or value", id="filter.complete", show=False),
        Binding("enter,down,escape", "leave", "Back to the list", id="filter.leave", show=False),
    ]

    class Left(Message):
        """The user has finished the filter."""

    def action_complete(self) -> None:
        """Take the completion; without one, go to the next part of the screen."""
        if self._suggestion and self.cursor_at_end:
            self.action_cursor_right()
        else:
            self.screen.focus_next()

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(self.Left())


class FilterBar(Vertical):
    """The filter, its result, and below it while the user types: possible continuations, or the error."""

    DEFAULT_CSS = """
    FilterBar {
        height: auto;
        #line { height: 1; background: $surface; }
        #line > .name { width: auto; padding: 0 1; color: $text-muted; }
        #state { width: auto; padding: 0 1; color: $text-muted; }
        #hint { display: none; height: auto; max-height: 2; padding: 0 1; color: $text-muted; background: $surface; }
        #hint.-wrong { color: $error; }
        &.-open #hint, &.-wrong #hint { display: block; }
    }
    """

    @dataclass
    class Typed(Message):
        """The user typed a filter, and paused."""

        text: str

    class Left(Message):
        """The user has finished the filter."""

    class Entered(Message):
        """The filter line has got the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._completing = Completing()
        self._timer: Timer | None = None
        self._wrong = ""

    def compose(self) -> ComposeResult:
        with Horizontal(id="line"):
            yield Static("Filter", classes="name")
            yield FilterInput(
                placeholder="every prompt", id="filter", compact=True, suggester=self._completing,
                select_on_focus=False,
            )  # fmt: skip
            yield Static("", id="state", markup=False)
        yield Static("", id="hint", markup=False)

    @property
    def input(self) -> FilterInput:
        """The input."""
        return self.query_one(FilterInput)

    @property
    def is_wrong(self) -> bool:
        """Whether the filter is invalid."""
        return bool(self._wrong)

    def offer(self, values: dict[str, tuple[str, ...]]) -> None:
        """Set the values for completion, by field."""
        self._completing.values = values
        self._show_hint()

    def value_warnings(self) -> list[str]:
        """Return reasons why the filter may select nothing; empty if there are none."""
        return value_warnings(self.input.value, self._completing.values)

    def show(self, text: str) -> None:
        """Put a filter into the line without running it."""
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)

    def show_result(self, text: str) -> None:
        """Show the result."""
        self.query_one("#state", Static).update(text)

    def show_error(self, text: str) -> None:
        """Show an error; an empty text removes it."""
        self._wrong = text
        self.set_class(bool(text), "-wrong")
        self._show_hint()

    def focus_input(self) -> None:
        """Focus the input."""
        self.input.focus()

    def _show_hint(self) -> None:
        hint = self.query_one("#hint", Static)
        found = completions(self.input.value, self._completing.values)
        if not self.input.has_focus:
            found = []
        hint.set_class(bool(self._wrong) and not found, "-wrong")
        endings = [one.rsplit(" ", 1)[-1] for one in found[:12]]
        hint.update("  ".join(endings) or self._wrong or 'words, "a phrase", or a field')

    def on_descendant_focus(self) -> None:
        self.add_class("-open")
        self.post_message(self.Entered())
        self._show_hint()

    def on_descendant_blur(self) -> None:
        self.remove_class("-open")
        self._show_hint()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_hint()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(APPLY_AFTER_S, self._apply)

    def _apply(self) -> None:
        self._timer = None
        self.post_message(self.Typed(self.input.value))

    @on(FilterInput.Left)
    def _left(self, event: FilterInput.Left) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
            self._apply()
        self.post_message(self.Left())
