"""A line of alternatives, one of which is selected; each has a key, and can be clicked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.message import Message
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


class _Item(Static):
    """One alternative in the line; the selected one is in brackets, so that it can be recognised without colour."""

    DEFAULT_CSS = """
    _Item {
        width: auto; color: $text-muted; pointer: pointer;
        &:hover { color: $foreground; text-style: underline; }
        &.-chosen { color: $primary; text-style: bold; }
    }
    """

    def __init__(self, option: Alternative) -> None:
        super().__init__(markup=False)
        self.option = option

    def show(self, *, is_chosen: bool, number: int | None) -> None:
        """Draw the alternative as selected or not, with ``number`` after its title."""
        count = "" if number is None else f" {number:,}"
        text = f"{self.option.key} {self.option.title}{count}"
        self.set_class(is_chosen, "-chosen")
        self.update(f"[{text}]" if is_chosen else f" {text} ")  # of equal width, so that nothing moves

    def on_click(self) -> None:
        self.post_message(Choice.Chosen(self.option.name))


class Choice(Horizontal):
    """A line with alternatives, one of them selected, and to their right a text about the selected one."""

    DEFAULT_CSS = """
    Choice {
        height: 1; background: $surface;
        #note { width: 1fr; text-align: right; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    }
    """

    @dataclass
    class Chosen(Message):
        """Sent when the user clicks the alternative ``name``."""

        name: str

    def __init__(self, options: Sequence[Alternative]) -> None:
        super().__init__()
        self._options = tuple(options)
        self._chosen = options[0].name
        self._numbers: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        for option in self._options:
            yield _Item(option)
        yield Static("", id="note", markup=False)

    def on_mount(self) -> None:
        self._draw()

    def choose(self, name: str) -> None:
        """Mark the alternative with that name as the selected one."""
        self._chosen = name
        self._draw()

    def show_counts(self, numbers: dict[str, int]) -> None:
        """Show a count after the title of each alternative; ``numbers`` maps names of alternatives to counts."""
        self._numbers = numbers
        self._draw()

    def _draw(self) -> None:
        for item in self.query(_Item):
            name = item.option.name
            item.show(is_chosen=name == self._chosen, number=self._numbers.get(name))

    def show_note(self, text: str) -> None:
        """Show a text about the selected alternative, at the right."""
        self.query_one("#note", Static).update(text)


def next_of(value: str, names: Collection[str]) -> str:
    """Return the name that follows ``value`` in ``names``; if ``value`` is the last one or unknown, the first name."""
    every = list(names)
    return every[(every.index(value) + 1) % len(every)] if value in every else every[0]
