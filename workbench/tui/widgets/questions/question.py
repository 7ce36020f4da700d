"""A yes-no question before an action that cannot be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult


class Question(ModalScreen[bool], inherit_bindings=False):
    """A question that returns True for yes; anything else that closes it means no."""

    DEFAULT_CSS = """
    Question {
        align: center middle; background: $background 60%;
        #question {
            width: 64; max-width: 96%; height: auto; max-height: 92%; padding: 1 2;
            background: $surface; border: round $warning; border-title-color: $foreground;
        }
        #answers { margin-top: 1; color: $text-muted; pointer: pointer; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="question.yes"),
        Binding("n,escape,q", "answer(False)", "No", id="question.no"),
    ]

    def __init__(self, title: str, text: str, *, yes: str) -> None:
        super().__init__()
        self._title, self._text, self._yes = title, text, yes

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = self._title
            yield Static(self._text, markup=False)
            yield Static(f"y  {self._yes}      n  leave it as it is", id="answers", markup=False)

    def action_answer(self, is_yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(is_yes)

    def on_click(self, event: events.Click) -> None:
        """Answer by a click on one of the two answers; a click outside means no."""
        answers = self.query_one("#answers")
        if event.widget is answers:
            self.dismiss(event.x < len(f"y  {self._yes}   "))
        elif event.widget is self:
            self.dismiss(False)
