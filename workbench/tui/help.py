"""Show the help of the visible screen: its ``HELP`` text, and all of its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from workbench.tui.welcome import start_tour
from workbench.tui.widgets.dialogs import Dialog

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.screen import Screen

    from workbench.tui.app import Workbench


class HelpScreen(Dialog[None], inherit_bindings=False):
    """Shows a screen's ``HELP`` text and its bindings; escape, ``?``, ``f1`` and ``q`` close it."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle; background: $background 60%;
        #help {
            width: 84; max-width: 96%; height: auto; max-height: 92%;
            padding: 1 2; background: $surface; border: round $primary; border-title-color: $foreground;
        }
        Markdown { height: auto; padding: 0; background: $surface; }
        #keys { margin: 0 0 0 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "Close", id="help.close"),
        Binding("t", "tour", "The tour of the app", id="help.tour"),
        Binding("j,down", "scroll(1)", "Down", id="help.down", show=False),
        Binding("k,up", "scroll(-1)", "Up", id="help.up", show=False),
        Binding("g,home", "scroll_to_top", "To the top", id="help.first", show=False),
        Binding("G,end", "scroll_to_bottom", "To the bottom", id="help.last", show=False),
    ]

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._text = getattr(about, "HELP", "") or ""  # dialogs have none
        self._keys = keys_of(about)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "esc closes · t shows the tour"
            yield Markdown(self._text, open_links=False)
            yield Static(self._table(), id="keys")

    def _table(self) -> Content:
        width = max((len(key) for key, _description in self._keys), default=0)
        lines = [
            Content.assemble((key.rjust(width), "bold $accent"), "  ", description) for key, description in self._keys
        ]
        return Content("\n").join(lines)

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_tour(self) -> None:
        """Close the help, and show the tour of the app."""
        self.dismiss()
        start_tour(cast("Workbench", self.app))

    def action_scroll(self, lines: int) -> None:
        """Scroll the help by this number of lines; a negative number scrolls up."""
        self.query_one("#help").scroll_relative(y=lines, animate=False)

    def action_scroll_to_top(self) -> None:
        """Scroll to the beginning of the help."""
        self.query_one("#help").scroll_home(animate=False)

    def action_scroll_to_bottom(self) -> None:
        """Scroll to the end of the help."""
        self.query_one("#help").scroll_end(animate=False)


def keys_of(screen: Screen[Any]) -> list[tuple[str, str]]:
    """Return the keys of the screen with their descriptions; several keys for one action are joined."""
    found: dict[tuple[str, str], list[str]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.description and not binding.system:
            # Made anew, without the ``key_display`` that names only one of several keys in the footer.
            key = screen.app.get_key_display(Binding(binding.key, binding.action))
            found.setdefault((binding.action, binding.tooltip or binding.description), []).append(key)
    return [(" ".join(dict.fromkeys(keys)), description) for (_action, description), keys in found.items()]
