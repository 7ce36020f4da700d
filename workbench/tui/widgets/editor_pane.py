"""The editor, and below it a search line to find words, or to go to a line or rule; it is hidden until it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from workbench.edits import finding
from workbench.tui.widgets.editor import FIND, GO_TO, InstructionsEditor

if TYPE_CHECKING:
    from textual.app import ComposeResult

TITLES = {FIND: "Find", GO_TO: "Go to line or rule"}


class FindInput(Input):
    """The input of the search line; arrow keys go to the next and previous match.

    Enter goes to the next match, too, but leaves the input if the user is going to a line or rule.
    """

    DEFAULT_CSS = """
    FindInput { width: 1fr; background: $surface; height: 1; border: none; padding: 0; }
    FindInput:focus { border: none; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", "Next", id="find.enter", key_display="⏎", show=False),
        Binding("down,f3,ctrl+f", "find(1)", "Next", id="find.next", key_display="↓"),
        Binding("up,shift+f3", "find(-1)", "Previous", id="find.previous", key_display="↑"),
        Binding("escape", "leave", "Back", id="find.leave", key_display="esc"),
    ]

    def action_find(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match of the search text."""
        self.post_message(FindBar.Wanted(self.value, step))

    def action_enter(self) -> None:
        """Go to the next match; in the mode ``GO_TO``, return to the editor at the line or rule that was found."""
        bar = self.parent
        if isinstance(bar, FindBar) and bar.mode == GO_TO:
            self.action_leave()
        else:
            self.action_find(1)

    def action_leave(self) -> None:
        """Return to the editor."""
        self.post_message(FindBar.Left())


class FindBar(Horizontal):
    """The search line: an input with its title, and the number of the selected match."""

    DEFAULT_CSS = """
    FindBar {
        height: 1; background: $surface; display: none;
        &.-open { display: block; }
        & > .name { width: auto; padding: 0 1; color: $text-muted; }
        & > #match { width: auto; padding: 0 1; color: $text-muted; }
    }
    """

    @dataclass
    class Wanted(Message):
        """Sent when the user types a search text (``step`` is 0), or asks for its next (1) or previous (-1) match."""

        text: str
        step: int = 0

    class Left(Message):
        """Sent when the user leaves the search line to return to the editor."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = FIND

    def compose(self) -> ComposeResult:
        yield Static("", classes="name", markup=False)
        yield FindInput(compact=True, select_on_focus=True)
        yield Static("", id="match", markup=False)

    def open(self, mode: str) -> None:
        """Show the search line in the mode ``FIND`` or ``GO_TO``, with the text that was typed last."""
        self.mode = mode
        self.query_one(".name", Static).update(TITLES[mode])
        self.add_class("-open")
        self.query_one(FindInput).focus()

    def close(self) -> None:
        """Hide the search line."""
        self.remove_class("-open")

    @property
    def text(self) -> str:
        """Return the text that was typed into the search line."""
        return self.query_one(FindInput).value

    def show_match(self, text: str) -> None:
        """Show which match is selected; ``text`` is, for example, "2 of 5"."""
        self.query_one("#match", Static).update(text)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Wanted(event.value))


class EditorPane(Vertical):
    """The editor with its search line; ctrl+f finds words, and ctrl+l goes to a line or rule."""

    DEFAULT_CSS = """
    EditorPane { width: 1fr; InstructionsEditor { height: 1fr; } }
    """

    def compose(self) -> ComposeResult:
        yield InstructionsEditor()
        yield FindBar()

    @property
    def editor(self) -> InstructionsEditor:
        """Return the editor."""
        return self.query_one(InstructionsEditor)

    @property
    def bar(self) -> FindBar:
        """Return the search line."""
        return self.query_one(FindBar)

    @on(InstructionsEditor.FindWanted)
    def _find_wanted(self, message: InstructionsEditor.FindWanted) -> None:
        self.bar.open(message.mode)

    @on(InstructionsEditor.FindAgain)
    def _find_again(self, message: InstructionsEditor.FindAgain) -> None:
        self._find(FIND, self.bar.text, message.step)

    @on(FindBar.Wanted)
    def _wanted(self, message: FindBar.Wanted) -> None:
        self._find(self.bar.mode, message.text, message.step)

    @on(FindBar.Left)
    def _left(self) -> None:
        self.bar.close()
        self.editor.focus()

    def _find(self, mode: str, wanted: str, step: int) -> None:
        """Select a match of ``wanted`` in the editor's text, and show its number.

        ``mode`` says whether ``wanted`` is words (``FIND``) or a line or rule (``GO_TO``). ``step`` is 1 for the next
        match, -1 for the previous one, and 0 while the user is typing.
        """
        (line, column), text = min(self.editor.selection), self.editor.text
        if mode == FIND:
            found = finding.words(text, wanted, line=line, column=column, step=step)
        else:
            found = finding.heading_or_line(text, wanted, line=line, step=step)
        self.bar.show_match(f"{found.number} of {found.count}" if found else "not found" if wanted else "")
        if found:
            self.editor.select(found.line, found.start, found.end)
