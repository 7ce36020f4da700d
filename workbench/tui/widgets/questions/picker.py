"""A question with a few answers: arrows and enter, a click, or escape for none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.tui.widgets.plain_text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


@dataclass(frozen=True, slots=True)
class Answer:
    """A possible answer: its value, its text, and a note after it."""

    value: str
    text: str
    note: str = ""


class Picker(ModalScreen[str], inherit_bindings=False):
    """Returns the value of the chosen answer; empty if the user cancelled."""

    DEFAULT_CSS = """
    Picker {
        align: center middle; background: $background 60%;
        #question {
            width: 92; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $surface;
            border: round $primary; border-title-color: $foreground; border-subtitle-color: $text-muted;
        }
        #question > Static { color: $text-muted; margin: 0 0 1 0; }
        OptionList { height: auto; max-height: 16; border: none; padding: 0; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "None of them", id="picker.leave"),
        Binding("j", "move('down')", "Next answer", id="picker.down", show=False),
        Binding("k", "move('up')", "Previous answer", id="picker.up", show=False),
    ]

    def __init__(self, title: str, answers: Sequence[Answer], *, note: str = "", now: str = "") -> None:
        super().__init__()
        self._title, self._answers, self._note, self._now = title, answers, note, now

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = self._title
            box.border_subtitle = "enter chooses · esc leaves"
            if self._note:
                yield Static(self._note, markup=False)
            width = max((cell_len(one.text) for one in self._answers), default=0)
            yield OptionList(*(Option(_format_answer(one, self._now, width)) for one in self._answers), compact=True)

    def on_mount(self) -> None:
        choices = self.query_one(OptionList)
        places = [at for at, one in enumerate(self._answers) if self._now and one.value == self._now]
        choices.highlighted = places[0] if places else 0
        choices.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].value)

    def action_move(self, direction: str) -> None:
        """Move among the answers."""
        choices = self.query_one(OptionList)
        (choices.action_cursor_down if direction == "down" else choices.action_cursor_up)()

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss("")


def _format_answer(answer: Answer, now: str, width: int) -> Content:
    mark = "● " if answer.value == now else "  "
    note = f"  {plain(answer.note)}" if answer.note else ""
    return Content.assemble((mark, "$accent"), set_cell_size(plain(answer.text), width), (note, "$text-muted"))
