"""A line of alternatives, one of which is selected; each has a key, and can be clicked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from textual.app import ComposeResult


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative: its name, its key, and the title that the user sees."""

    name: str
    key: str
    title: str


class Choice(Horizontal):
    """A line with alternatives, one of them selected, and to their right a text about the selected one.

    A click on an alternative runs the action ``view`` of the screen with its name, as its key does.
    """

    DEFAULT_CSS = """
    Choice {
        height: 1; background: $surface;
        #alternatives {
            width: auto; pointer: pointer; color: $text-muted; link-style: none; link-color: $text-muted;
            link-color-hover: $foreground; link-style-hover: underline; link-background-hover: $surface;
        }
        #note { width: 1fr; text-align: right; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    }
    """

    def __init__(self, options: Sequence[Alternative]) -> None:
        super().__init__()
        self._options = tuple(options)
        self._chosen = options[0].name
        self._numbers: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        yield Static(self._content(), id="alternatives")
        yield Static("", id="note", markup=False)

    def choose(self, name: str) -> None:
        """Mark the alternative with that name as the selected one."""
        self._chosen = name
        self.query_one("#alternatives", Static).update(self._content())

    def show_counts(self, numbers: dict[str, int]) -> None:
        """Show a count after the title of each alternative; ``numbers`` maps names of alternatives to counts."""
        self._numbers = numbers
        self.query_one("#alternatives", Static).update(self._content())

    def _content(self) -> Content:
        return Content("").join(self._one(option) for option in self._options)

    def _one(self, option: Alternative) -> Content:
        number = self._numbers.get(option.name)
        text = f"{option.key} {option.title}" + ("" if number is None else f" {number:,}")
        if option.name == self._chosen:  # in brackets, so that it can be recognised without colour
            return Content.styled(f"[{text}]", "bold $primary")
        return Content.styled(f" {text} ", Style.from_meta({"@click": f"screen.view('{option.name}')"}))

    def show_note(self, text: str) -> None:
        """Show a text about the selected alternative, at the right."""
        self.query_one("#note", Static).update(text)


def next_of(value: str, names: Collection[str]) -> str:
    """Return the name that follows ``value`` in ``names``; if ``value`` is the last one or unknown, the first name."""
    every = list(names)
    return every[(every.index(value) + 1) % len(every)] if value in every else every[0]
