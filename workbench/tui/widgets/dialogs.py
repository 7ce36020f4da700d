"""Dialogs that ask a question and return the answer: yes or no, or one of several answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.tui.widgets.plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult


class Dialog(ModalScreen[ScreenResultType], inherit_bindings=False):
    """The base class of everything that is asked on top of a screen; only the first answer counts."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the dialog; a second answer, such as that of a double click, has no effect."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Question(Dialog[bool], inherit_bindings=False):
    """A dialog that asks a yes-or-no question and returns True for yes; closing it in any other way means no."""

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
        Binding("y", "dismiss(True)", "Yes", id="question.yes"),
        Binding("n,escape,q", "dismiss(False)", "No", id="question.no"),
    ]

    def __init__(self, title: str, text: str, *, yes: str) -> None:
        super().__init__()
        self._title, self._text, self._yes = title, text, yes

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = self._title
            yield Static(self._text, markup=False)
            yield Static(f"y  {self._yes}      n  leave it as it is", id="answers", markup=False)

    def on_click(self, event: events.Click) -> None:
        """Close the dialog with the answer that was clicked; a click outside the dialog means no."""
        answers = self.query_one("#answers")
        if event.widget is answers:
            self.dismiss(event.x < len(f"y  {self._yes}   "))  # both answers are one text, six blanks apart
        elif event.widget is self:
            self.dismiss(False)


@dataclass(frozen=True, slots=True)
class Answer:
    """A possible answer: the value that the dialog returns for it, its text, and a note after the text.

    If it has a ``key``, typing that character chooses it.
    """

    value: str
    text: str
    note: str = ""
    key: str = ""


class Picker(Dialog[str], inherit_bindings=False):
    """A dialog with several answers that returns the value of the chosen one, or "" if the user cancels."""

    DEFAULT_CSS = """
    Picker {
        align: center middle; background: $background 60%;
        #question {
            width: 92; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $foreground; border-subtitle-color: $text-muted;
        }
        &.-keyed #question { width: 60; }
        #question > Static { color: $text-muted; margin: 0 0 1 0; }
        OptionList { height: auto; max-height: 16; border: none; padding: 0; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('')", "None of them", id="picker.leave"),
        Binding("j", "app.simulate_key('down')", "Next answer", id="picker.down", show=False),
        Binding("k", "app.simulate_key('up')", "Previous answer", id="picker.up", show=False),
    ]

    def __init__(self, title: str, answers: Sequence[Answer], *, note: str = "", now: str = "") -> None:
        self._has_keys = any(one.key for one in answers)
        super().__init__(classes="-keyed" if self._has_keys else None)
        self._title, self._answers, self._note, self._now = title, answers, note, now

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = self._title
            box.border_subtitle = f"{'a letter or ' if self._has_keys else ''}enter chooses · esc leaves"
            if self._note:
                yield Static(self._note, markup=False)
            width = max((cell_len(one.text) for one in self._answers), default=0)
            yield OptionList(*(Option(self._format(one, width)) for one in self._answers), compact=True)

    def on_mount(self) -> None:
        choices = self.query_one(OptionList)
        known = (at for at, one in enumerate(self._answers) if self._now and one.value == self._now)
        choices.highlighted = next(known, 0)
        choices.focus()

    def on_key(self, event: events.Key) -> None:
        chosen = next((one for one in self._answers if one.key and one.key == event.character), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].value)

    def _format(self, answer: Answer, width: int) -> Content:
        mark = "● " if answer.value == self._now else "  "
        key = f"{answer.key or ' '}  " if self._has_keys else ""
        note = f"  {plain(answer.note)}" if answer.note else ""
        text = set_cell_size(plain(answer.text), width)
        return Content.assemble((mark, "$accent"), (key, "bold $accent"), text, (note, "$text-muted"))


def class_picker(task_types: Sequence[str], *, now: str, others: Sequence[Answer] = ()) -> Picker:
    """Return a dialog that asks what a prompt's result should have been: one of the task types, or another answer.

    ``now`` is the recorded task type.
    """
    types = [Answer(name, name, key=key) for key, name in _keys_for(task_types).items()]
    return Picker("It should have been", [*types, *others], note=f"it was: {now or 'nothing'}")


def _keys_for(names: Sequence[str]) -> dict[str, str]:
    """Return the name for each key: a name has the first of its letters that is still free, or else a digit."""
    found: dict[str, str] = {}
    for name in names:
        spare = (char for char in f"{name}0123456789" if char.isalnum() and char not in found)
        if key := next(spare, ""):
            found[key] = name
    return found
