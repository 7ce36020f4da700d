"""One line of alternatives of which one is shown; each has its key, and a click chooses it, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


@dataclass(frozen=True, slots=True)
class Option:
    """An alternative: its name, the key that chooses it, what the line says."""

    name: str
    key: str
    title: str


class _Item(Static):
    """One of them; the chosen one is in brackets, so that it is told without colour."""

    DEFAULT_CSS = """
    _Item {
        width: auto; color: $text-muted; pointer: pointer;
        &:hover { color: $foreground; text-style: underline; }
        &.-chosen { color: $primary; text-style: bold; }
    }
    """

    def __init__(self, option: Option) -> None:
        super().__init__(markup=False)
        self.option = option
        self._beside = ""
        self.show(is_chosen=False)

    def show(self, *, is_chosen: bool, beside: str | None = None) -> None:
        """Draw it as chosen or not, with what stands behind its title."""
        self._beside = self._beside if beside is None else beside
        text = f"{self.option.key} {self.option.title}{self._beside}"
        self.set_class(is_chosen, "-chosen")
        self.update(f"[{text}]" if is_chosen else f" {text} ")

    def on_click(self) -> None:
        self.post_message(Choice.Chosen(self.option.name))


class Choice(Horizontal):
    """The alternatives next to each other, and to the right what is told about the chosen one."""

    DEFAULT_CSS = """
    Choice {
        height: 1; background: $surface;
        #told { width: 1fr; text-align: right; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    }
    """

    @dataclass
    class Chosen(Message):
        """Somebody clicked an alternative."""

        name: str

    def __init__(self, options: Sequence[Option]) -> None:
        super().__init__()
        self._options = tuple(options)
        self._chosen = options[0].name

    def compose(self) -> ComposeResult:
        for option in self._options:
            yield _Item(option)
        yield Static("", id="told", markup=False)

    def on_mount(self) -> None:
        self.choose(self._chosen)

    def choose(self, name: str) -> None:
        """Show which is chosen."""
        self._chosen = name
        for item in self.query(_Item):
            item.show(is_chosen=item.option.name == name)

    def count(self, numbers: dict[str, int]) -> None:
        """Write numbers behind the titles, by name."""
        for item in self.query(_Item):
            number = numbers.get(item.option.name)
            beside = "" if number is None else f" {number:,}"
            item.show(is_chosen=item.option.name == self._chosen, beside=beside)

    def tell(self, text: str) -> None:
        """Say something about what is chosen."""
        self.query_one("#told", Static).update(text)
