"""Jump mode: show a letter over each part of the screen that can have the focus; typing a letter focuses its part."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static

from workbench.tui.screens import SCREENS
from workbench.tui.widgets.dialogs import Dialog

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.screen import Screen
    from textual.widget import Widget

LETTERS = tuple(dict.fromkeys("asdfghjkl" + ascii_lowercase))
"""The letters in the order of their use, beginning with the keys where the fingers rest."""

HINT = "A letter goes to that part · a digit goes to a screen · esc stays"
NO_PARTS = "No part of this screen takes the focus · a digit goes to a screen · esc stays"


class JumpScreen(Dialog[str], inherit_bindings=False):
    """A dialog with a letter over each part of the screen that can have the focus; typing a letter focuses its part.

    ``below`` is the screen whose parts are shown. The dialog returns the name of a main screen if the user typed that
    screen's digit, and otherwise an empty string.
    """

    DEFAULT_CSS = """
    JumpScreen {
        background: transparent;
        #hint { dock: bottom; width: 100%; height: 1; padding: 0 1; background: $panel; color: $foreground; }
        .letter { position: absolute; width: 3; height: 1; text-align: center; text-style: bold reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+o", "dismiss('')", "Stay here", id="jump.leave"),
    ]

    def __init__(self, below: Screen[object]) -> None:
        super().__init__()
        self._below = below
        parts = [widget for widget in below.focus_chain if widget.region.overlaps(below.region)]
        self._parts: dict[str, Widget] = dict(zip(LETTERS, parts, strict=False))

    def compose(self) -> ComposeResult:
        for letter, part in self._parts.items():
            label = Static(letter, id=f"jump-{letter}", classes="letter", markup=False)
            label.styles.offset = (part.region.x, part.region.y)
            yield label
        yield Static(HINT if self._parts else NO_PARTS, id="hint", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Focus the part with the typed letter, or choose the main screen with the typed digit; ignore other keys."""
        if part := self._parts.get(event.key):
            event.stop()
            self._below.set_focus(part)
            self.dismiss("")
        elif place := next((one.name for one in SCREENS if one.key == event.key), ""):
            event.stop()
            self.dismiss(place)

    def on_click(self) -> None:
        self.dismiss("")
