"""The editor, and below it a search line to find words, or to go to a line or rule; it is hidden until it is used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from workbench.edits.instructions_file import outline
from workbench.tui.widgets.editor import FIND, GO_TO, InstructionsEditor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    Match = tuple[int, int, int]

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
        line, column = min(self.editor.selection)  # the start of the selected match, wherever the cursor is
        if mode == FIND:
            found = _words(self.editor.text, wanted)
        else:
            found, column = _line_or_headings(self.editor.text, wanted.strip()), 0
        if found:
            at = _chosen(found, (line, column), step)
            self.bar.show_match(f"{at + 1} of {len(found)}")
            self.editor.select(*found[at])
        else:
            self.bar.show_match("not found" if wanted else "")


def _words(text: str, wanted: str) -> list[Match]:
    """Return the line, start and end of each match of ``wanted``, counted from 0 and ignoring case."""
    pattern = re.compile(re.escape(wanted), re.IGNORECASE)
    lines = enumerate(text.split("\n") if wanted else ())
    return [(line, *match.span()) for line, content in lines for match in pattern.finditer(content)]


def _line_or_headings(text: str, wanted: str) -> list[Match]:
    """Return the beginning of the line with the number ``wanted``, or of each heading that contains ``wanted``."""
    if wanted.isdecimal():
        return [(max(0, min(int(wanted) - 1, text.count("\n"))), 0, 0)]
    return [(one.line - 1, 0, 0) for one in outline(text) if wanted and wanted.lower() in one.title.lower()]


def _chosen(matches: Sequence[Match], here: tuple[int, int], step: int) -> int:
    """Return the index of the match at or after the position ``here``; the first match follows the last one.

    With ``step`` 1, it is the match after the one at ``here``; with -1, the one before.
    """
    at = next((number for number, one in enumerate(matches) if one[:2] >= here), len(matches))
    is_there = at < len(matches) and matches[at][:2] == here
    moved = at - 1 if step < 0 else at + 1 if step and is_there else at
    return moved % len(matches)
