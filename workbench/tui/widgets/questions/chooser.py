"""Ask how a prompt should have come out: one key, arrows and enter, or a click."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.gate.queue import keys_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult


class ClassChooser(ModalScreen[str], inherit_bindings=False):
    """Returns a task type, or the value of another answer; empty if the user cancelled.

    The other answers come after the task types: key (may be empty), value and text of each.
    """

    DEFAULT_CSS = """
    ClassChooser {
        align: center middle; background: $background 60%;
        #choices {
            width: 44; height: auto; max-height: 96%; padding: 0 1; background: $surface; border: round $primary;
            border-title-color: $foreground; border-subtitle-color: $text-muted;
        }
        OptionList { height: auto; max-height: 16; border: none; padding: 0; background: $surface; }
        .muted { padding: 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Say nothing", id="chooser.leave"),
    ]

    def __init__(self, task_types: Sequence[str], *, now: str, others: Sequence[tuple[str, str, str]] = ()) -> None:
        super().__init__()
        self._keys = keys_for(task_types)
        self._others = others
        self._now = now

    def compose(self) -> ComposeResult:
        with Vertical(id="choices") as box:
            box.border_title = "It should have been"
            box.border_subtitle = "esc: say nothing"
            yield Static(f"now: {self._now or 'nothing'}", classes="muted", markup=False)
            yield OptionList(
                *(Option(_format_option(name, key), id=name) for key, name in self._keys.items()),
                *(Option(_format_option(text, key or " "), id=value) for key, value, text in self._others),
                compact=True,
            )

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_key(self, event: events.Key) -> None:
        keys = self._keys | {key: value for key, value, _text in self._others if key}
        if event.character and (name := keys.get(event.character)):
            event.stop()
            self.dismiss(name)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id or "")

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss("")


def _format_option(name: str, key: str) -> Content:
    return Content.assemble((f" {key} ", "bold $accent"), f" {name}")
