"""The editor with the line for finding below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical

from workbench.edits import finding
from workbench.tui.widgets.editor import InstructionsEditor
from workbench.tui.widgets.find_bar import FIND, FindBar

if TYPE_CHECKING:
    from textual.app import ComposeResult


class EditorPane(Vertical):
    """One editor; ctrl+f finds words in it, ctrl+l goes to a line or rule."""

    DEFAULT_CSS = """
    EditorPane { width: 1fr; InstructionsEditor { height: 1fr; } }
    """

    def compose(self) -> ComposeResult:
        yield InstructionsEditor()
        yield FindBar()

    @property
    def editor(self) -> InstructionsEditor:
        """The editor."""
        return self.query_one(InstructionsEditor)

    @property
    def bar(self) -> FindBar:
        """The line for finding."""
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
        """Select a match, the next or previous one with a ``step``, and show its number."""
        (line, column), text = min(self.editor.selection), self.editor.text
        if mode == FIND:
            found = finding.words(text, wanted, line=line, column=column, step=step)
        else:
            found = finding.heading_or_line(text, wanted, line=line, step=step)
        self.bar.tell(f"{found.number} of {found.count}" if found else "not found" if wanted else "")
        if found:
            self.editor.select(found.line, found.start, found.end)
