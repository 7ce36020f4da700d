"""The first line of every screen, which names the main screens, and the last line, which lists the screen's keys.

Textual's footer mounts one widget for each key, and mounts all of them again whenever the bindings may have changed,
that is, with every change of focus. Here all keys are one widget, which is redrawn only if its content changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.keys import key_to_character
from textual.widget import Widget
from textual.widgets import Footer, Static

from workbench.tui.screens import SCREENS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import Binding
    from textual.screen import Screen

NAMES_WIDTH = 2 + sum(len(one.title) + 4 for one in SCREENS)  # 4: digit, blank, padding; 2: padding of the error
KEY_STYLE = "bold $footer-key-foreground on $footer-key-background"
NAME_STYLE = "$footer-description-foreground on $footer-description-background"
CHARACTERS = {"slash": "/"}
"""The characters of keys whose names in Textual are not derived from the characters' Unicode names."""
ALWAYS = 3
"""This many keys at the end are always shown: help, menu and quit, through which all others can be found."""
HOVER_STYLE = "on $block-hover-background"


class PlaceTab(Static):
    """The name of a main screen in the first line of every screen; a click on it opens the main screen."""

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

    def on_click(self) -> None:
        # Run by the app: it may close the screen of this tab, which waits until the tab has handled its messages.
        self.app.call_later(self.app.run_action, f"app.go('{self._place}')")


class PlaceBar(Horizontal):
    """The first line of every screen, with a tab for each main screen.

    In a narrow window, every tab except that of the current screen shows only the digit that opens its screen.
    """

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
        """Show the error ``text`` at the right end of the line; an empty string removes it."""
        self._trouble = text
        self.query_one("#trouble", Static).update(text)
        self._name_places()


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key listed in the last line, with the name of its action.

    In a group of keys, only the last key has a name, and this is the name of the group.
    """

    key: str
    display: str
    name: str
    tooltip: str
    is_enabled: bool
    is_grouped: bool = False

    def content(self, *, is_narrow: bool) -> Content:
        """Return the key and its name as styled text; ``is_narrow`` leaves out the space before an ungrouped key."""
        before = " " if self.is_grouped or not is_narrow else ""
        name = (f" {self.name} ", NAME_STYLE) if self.name else ""
        shown = Content.assemble((before + self.display, KEY_STYLE), name)
        return shown if self.is_enabled else shown.stylize("dim")


def shown_keys(screen: Screen[object]) -> tuple[ShownKey, ...]:
    """Return the keys that the screen offers now; if several keys have the same action, only the first is returned.

    While a text field has the focus, keys that would type into it are left out.
    """
    focused = screen.focused
    actions: dict[str, tuple[Binding, bool, str]] = {}
    for _node, binding, is_enabled, tooltip in screen.active_bindings.values():
        character = CHARACTERS.get(binding.key) or key_to_character(binding.key)
        is_typed = focused is not None and focused.check_consume_key(binding.key, character)
        if binding.show and not is_typed:
            actions.setdefault(binding.action, (binding, is_enabled, tooltip))
    return tuple(_named(screen, list(actions.values())))


def _named(screen: Screen[object], offered: list[tuple[Binding, bool, str]]) -> Iterator[ShownKey]:
    for group, members in groupby(offered, lambda one: one[0].group):
        together = list(members)
        for binding, is_enabled, tooltip in together:
            display, name = screen.app.get_key_display(binding), binding.description
            if group is None or len(together) == 1:
                yield ShownKey(binding.key, display, name, tooltip, is_enabled)
            else:
                of_group = group.description if binding is together[-1][0] else ""
                yield ShownKey(binding.key, display, of_group, tooltip or name, is_enabled, is_grouped=True)


class KeyLine(Widget):
    """A widget that shows all keys of the screen; a click on a key has the same effect as pressing it."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyLine { width: auto; height: 1; text-wrap: nowrap; pointer: pointer; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.set_reactive(Widget.shrink, False)
        self.keys: tuple[ShownKey, ...] = ()
        self._hovered: ShownKey | None = None

    def show(self, keys: tuple[ShownKey, ...]) -> None:
        """Show ``keys`` in place of the keys shown before."""
        if keys != self.keys:
            self.keys = keys
            self._hovered = None
            self.refresh(layout=True)

    def render(self) -> Content:
        return Content("").join(
            content.stylize_before(HOVER_STYLE) if key is self._hovered else content
            for key, content in self._contents()
        )

    def _contents(self) -> list[tuple[ShownKey, Content]]:
        """Return the keys with their texts, without those that must be left out to fit the width of the screen.

        The last ``ALWAYS`` keys are always kept; of the others, the last ones are left out first.
        """
        is_narrow = self.screen.has_class("-narrow")
        found = [(key, key.content(is_narrow=is_narrow)) for key in self.keys]
        while sum(content.cell_length for _key, content in found) > self.screen.size.width and len(found) > ALWAYS:
            del found[-ALWAYS - 1]
        return found

    def _key_at(self, x: int) -> ShownKey | None:
        for key, content in self._contents():
            x -= content.cell_length
            if x < 0:
                return key
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self._key_at(event.x)
        if key is not None and key.is_enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover(self._key_at(event.x))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, key: ShownKey | None) -> None:
        if key is not self._hovered:
            self._hovered = key
            self.tooltip = key.tooltip if key and key.tooltip else None  # Textual would show an empty one
            self.refresh()


class KeyFooter(Footer):
    """The last line of every screen, with its keys."""

    def compose(self) -> ComposeResult:
        yield KeyLine()

    def bindings_changed(self, screen: Screen[object]) -> None:
        # As Textual's footer does; with the terminal in the background, the focus is only lost temporarily.
        if screen is self.screen and self.is_attached and screen.app.app_focus:
            self.call_after_refresh(self._show_keys)

    def on_resize(self) -> None:
        self.query_one(KeyLine).refresh(layout=True)  # another number of keys may fit

    def _show_keys(self) -> None:
        for line in self.query(KeyLine):  # none if the screen was closed meanwhile
            line.show(shown_keys(self.screen))
