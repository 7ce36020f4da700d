"""The input lines above lists: one for search words, and one for a filter, in which tab completes fields and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from storage.traces.filter_text import SelectionError, completions, parse, value_warnings

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

EVERY_PROMPT = "every prompt"
APPLY_AFTER_S = 0.15
"""Seconds without typing after which a search or filter is applied."""


class SearchInput(Input):
    """An input line; enter, arrow down and escape return to the list."""

    DEFAULT_CSS = """
    SearchInput { width: 1fr; background: $surface; height: 1; border: none; padding: 0; }
    SearchInput:focus { border: none; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down,escape", "leave", "Back to the list", id="search.leave", show=False),
    ]

    class Left(Message):
        """Sent when the user leaves the input to return to the list."""

    def action_leave(self) -> None:
        """Return to the list."""
        self.post_message(self.Left())


class FilterInput(SearchInput):
    """The input for a filter; tab accepts the suggested completion."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete the field or value", id="filter.complete", show=False),
        Binding("enter", "apply", "Apply the filter", id="filter.apply", show=False),
        Binding("down,escape", "leave", "Back to the list", id="filter.leave", show=False),
    ]

    def action_apply(self) -> None:
        """Return to the list; from an invalid filter do not, or the keys typed next would be commands there."""
        try:
            parse(self.value)
        except SelectionError:
            return
        self.action_leave()

    def action_complete(self) -> None:
        """Accept the suggested completion; if there is none, move the focus to the next part of the screen."""
        if self._suggestion and self.cursor_at_end:
            self.action_cursor_right()
        else:
            self.screen.focus_next()


class SearchBar(Vertical):
    """A line with a title, an input and a result; it sends ``Typed`` as soon as the user pauses typing."""

    DEFAULT_CSS = """
    SearchBar {
        height: auto;
        #line { height: 1; background: $surface; }
        #line > .name { width: auto; max-width: 60%; padding: 0 1; color: $text-muted; }
        #line > .name { text-wrap: nowrap; text-overflow: ellipsis; }
        #state { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    @dataclass
    class Typed(Message):
        """Sent when the user pauses after typing search words or a filter, or leaves the input."""

        text: str

    class Left(Message):
        """Sent when the user leaves the input to return to the list."""

    def __init__(self) -> None:
        super().__init__()
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="line"):
            yield from self.compose_line()
            yield Static("", id="state", markup=False)

    def compose_line(self) -> ComposeResult:
        """Yield the title and the input."""
        yield Static("Search", classes="name", markup=False)
        yield SearchInput(placeholder="words that the memory is about", compact=True, select_on_focus=False)

    @property
    def input(self) -> SearchInput:
        """Return the input."""
        return self.query_one(SearchInput)

    def show(self, text: str) -> None:
        """Put a text into the input without searching for it."""
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)

    def show_result(self, text: str) -> None:
        """Show a text about the result, such as the number of matches, at the right of the input."""
        self.query_one("#state", Static).update(text)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(APPLY_AFTER_S, self._apply)

    def _apply(self) -> None:
        self._timer = None
        self.post_message(self.Typed(self.input.value))

    @on(SearchInput.Left)
    def _left(self, event: SearchInput.Left) -> None:
        event.stop()
        if self._timer is not None:  # the user left before the pause
            self._timer.stop()
            self._apply()
        self.post_message(self.Left())


class Completing(Suggester):
    """Suggests a completion for the last part of the filter: a field, or one of its values."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # no cache, because ``values`` changes
        self.values: dict[str, tuple[str, ...]] = {}

    async def get_suggestion(self, value: str) -> str | None:
        found = completions(value, self.values)
        return found[0] if found else None


class FilterBar(SearchBar):
    """The line for a filter: an input and the result, and below them suggestions while the user types, or the error."""

    DEFAULT_CSS = """
    FilterBar {
        #hint { display: none; height: auto; max-height: 2; padding: 0 1; color: $text-muted; background: $surface; }
        #hint.-wrong { color: $error; }
        #line > .name.-scoped { color: $primary; text-style: bold; }
        &.-open #hint, &.-wrong #hint { display: block; }
    }
    """

    class Entered(Message):
        """Sent when the input for the filter receives the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._completing = Completing()
        self._wrong = ""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static("", id="hint", markup=False)

    def compose_line(self) -> ComposeResult:
        yield Static("Filter", classes="name", markup=False)
        yield FilterInput(
            placeholder=EVERY_PROMPT, id="filter", compact=True, suggester=self._completing, select_on_focus=False
        )

    @property
    def is_wrong(self) -> bool:
        """Return whether the filter is invalid."""
        return bool(self._wrong)

    def show_scope(self, text: str) -> None:
        """Show the name of the set of prompts to which the filter is restricted; "" means all prompts."""
        name = self.query_one(".name", Static)
        name.update(f"{text} · Filter" if text else "Filter")
        name.set_class(bool(text), "-scoped")
        self.input.placeholder = "" if text else EVERY_PROMPT

    def offer(self, values: dict[str, tuple[str, ...]]) -> None:
        """Set the values that are suggested for each field of the filter."""
        self._completing.values = values
        self._show_hint()

    def value_warnings(self) -> list[str]:
        """Return a warning for each value in the filter that does not occur in any recent trace."""
        return value_warnings(self.input.value, self._completing.values)

    def show_error(self, text: str) -> None:
        """Show the error ``text`` below the filter; an empty string removes it."""
        self._wrong = text
        self.set_class(bool(text), "-wrong")
        self._show_hint()

    def _show_hint(self) -> None:
        hint = self.query_one("#hint", Static)
        found = completions(self.input.value, self._completing.values) if self.input.has_focus else []
        hint.set_class(bool(self._wrong) and not found, "-wrong")
        endings = [one.rsplit(" ", 1)[-1] for one in found[:12]]  # as many as the two lines of the hint mostly hold
        hint.update("  ".join(endings) or self._wrong or 'words, "a phrase", or a field')

    def on_descendant_focus(self) -> None:
        self.add_class("-open")
        self.post_message(self.Entered())
        self._show_hint()

    def on_descendant_blur(self) -> None:
        self.remove_class("-open")
        self._show_hint()

    @on(Input.Changed)
    def _hint_at_more(self) -> None:
        self._show_hint()
