"""The editor for an instructions file: it highlights headings, keys and comments, and underlines lines with problems.

The highlighting applies a few patterns to single lines, so that no parser has to be installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from workbench.tui.widgets.plain_text import plain_in_place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rich.text import Text
    from textual.events import Key

FIND, GO_TO = "find", "go to"
FENCES = ("```", "~~~")
KEY = re.compile(r"(?:^\s*(?:- )?|[{,]\s*)([A-Za-z_][\w-]*)(?=:(?:\s|$))")  # on its own line, in a list, or in braces
COMMENT = re.compile(r"(?:^|\s)(#.*)$")  # in YAML, "#" within a word does not begin a comment
SPAN = re.compile(r"(`[^`]+`)")
PLACEHOLDER = """\
A layer: its rules add to those below it, or replace the rule of the same heading. For example:

# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {phrase: goes belly up, weight: 8}
```
"""
LOOKS = ("heading", "key", "comment", "fence", "span", "problem")


class InstructionsEditor(TextArea):
    """A text area for one instructions file; ``escape`` leaves it, and ``tab`` indents."""

    DEFAULT_CSS = """
    InstructionsEditor {
        border: none; padding: 0; background: $background; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & .text-area--gutter { color: $text-disabled; }
        & .text-area--cursor-gutter { color: $accent; background: $surface; }
        & .text-area--cursor-line { background: $surface; }
        & > .editor--heading { color: $accent; text-style: bold; }
        & > .editor--key { color: $primary; }
        & > .editor--comment { color: $text-muted; text-style: italic; }
        & > .editor--fence { color: $text-disabled; }
        & > .editor--span { color: $success; }
        & > .editor--problem { color: $error; text-style: underline; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"editor--{look}" for look in LOOKS}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "To the figures", id="editor.leave"),
        Binding("ctrl+f", f"find('{FIND}')", "Find", id="editor.find"),
        Binding("ctrl+l", f"find('{GO_TO}')", "Go to", id="editor.go-to", tooltip="Go to a line or rule"),
        Binding("f3", "find_again(1)", "Find the next", id="editor.find-next", show=False),
        Binding("shift+f3", "find_again(-1)", "Find the previous", id="editor.find-previous", show=False),
        Binding("tab", "indent", "Indent by two blanks", id="editor.indent", show=False),
    ]

    class Left(Message):
        """Sent when the user leaves the editor."""

    @dataclass
    class FindWanted(Message):
        """Sent when the user asks to find words (``mode`` is ``FIND``), or to go to a line or rule (``GO_TO``)."""

        mode: str

    @dataclass
    class FindAgain(Message):
        """Sent when the user asks for the next (``step`` is 1) or previous (-1) match of the last searched words."""

        step: int

    def __init__(self) -> None:
        # With "indent", Textual would take escape for itself; here the tab key has a binding of its own.
        super().__init__(
            id="editor", soft_wrap=True, show_line_numbers=True, tab_behavior="focus", placeholder=PLACEHOLDER
        )
        self.indent_width = 2
        self._problems: frozenset[int] = frozenset()
        self._fenced: list[bool] = []

    def show_text(self, text: str, *, line: int = 0, can_undo: bool = False) -> None:
        """Replace the editor's content with ``text``, with the cursor on line number ``line`` (counted from 1).

        If ``line`` is 0, the cursor stays near its previous position. With ``can_undo``, ctrl+z undoes the replacement.
        """
        row, column = self.cursor_location
        if can_undo:
            self.replace(text, (0, 0), self.document.end)
        else:
            self.load_text(text)
        self._fenced = list(_fenced(self.document.lines))
        self.move_cursor((min(line - 1 if line else row, self.document.line_count - 1), 0 if line else column))

    def show_problems(self, lines: Collection[int]) -> None:
        """Underline the lines with these numbers, which begin at 1."""
        wanted = frozenset(lines)
        if wanted != self._problems:
            self._problems = wanted
            self._line_cache.clear()  # Textual caches the lines as they were drawn
            self.refresh()

    def go_to(self, line: int) -> None:
        """Put the cursor on the line with this number (from 1), and scroll so that it is in the middle."""
        row = max(0, min(line - 1, self.document.line_count - 1))
        self.move_cursor((row, 0))
        self.scroll_cursor_visible(center=True)

    @property
    def line(self) -> int:
        """Return the number of the line with the cursor, counted from 1."""
        return self.cursor_location[0] + 1

    def get_line(self, line_index: int) -> Text:
        """Return the highlighted text of the line, which is underlined if the line has a problem."""
        text = super().get_line(line_index)
        text.plain = plain_in_place(text.plain)  # of equal length, so that columns and the cursor stay right
        # While a text is being replaced, it may have more lines than were looked at.
        is_fenced = line_index < len(self._fenced) and self._fenced[line_index]
        for look, start, end in looks(text.plain, is_fenced=is_fenced):
            text.stylize(self._look(look), start, end)
        if line_index + 1 in self._problems:
            text.stylize(self._look("problem"))
        return text

    def _look(self, look: str) -> Style:
        found = self.get_component_rich_style(f"editor--{look}", partial=True)
        # without a background, because the line of the cursor has another one
        return Style(color=found.color, bold=found.bold, italic=found.italic, underline=found.underline)

    def on_text_area_changed(self) -> None:
        """Locate the fenced blocks again, because the edit may have moved them."""
        fenced = list(_fenced(self.document.lines))
        if fenced != self._fenced:
            self._fenced = fenced
            self._line_cache.clear()
            self.refresh()

    def on_key(self, event: Key) -> None:
        """Begin a new line with the indentation of the current one, as YAML mostly needs it."""
        if event.key == "enter" and not self.read_only:
            event.stop()
            event.prevent_default()
            start, end = sorted(self.selection)
            before = self.document.get_line(start[0])[: start[1]]
            self.replace(f"\n{before[: len(before) - len(before.lstrip(' '))]}", start, end)

    def action_leave(self) -> None:
        """Ask the screen to leave the editor; the screen then focuses the figures that show what the edit changes."""
        self.post_message(self.Left())

    def action_find(self, mode: str) -> None:
        """Open the search line below the editor, in the mode ``FIND`` (words) or ``GO_TO`` (a line or rule)."""
        self.post_message(self.FindWanted(mode))

    def action_find_again(self, step: int) -> None:
        """Go to the next (1) or previous (-1) match of the last search."""
        self.post_message(self.FindAgain(step))

    def select(self, line: int, start: int, end: int) -> None:
        """Select the columns from ``start`` to ``end`` of ``line`` (all from 0), and scroll the line to the middle."""
        self.selection = Selection((line, start), (line, end))
        self.scroll_cursor_visible(center=True)

    def get_component_rich_style(self, *names: str, partial: bool = False, default: Style | None = None) -> Style:
        """Return the style of the component classes ``names``.

        The style of the cursor's line has no text colour, so that the highlighting of the line stays visible.
        """
        is_partial = partial or names == ("text-area--cursor-line",)
        return super().get_component_rich_style(*names, partial=is_partial, default=default)

    def action_indent(self) -> None:
        """Insert one or two spaces, so that the cursor reaches the next even column."""
        self.insert(" " * (2 - self.cursor_location[1] % 2))


def looks(line: str, *, is_fenced: bool) -> Iterator[tuple[str, int, int]]:
    """Yield the style (one of ``LOOKS``), the start and the end of each part of ``line`` that is to be highlighted.

    ``is_fenced`` says whether the line is inside a fenced block, which is highlighted as YAML.
    """
    if line.startswith(FENCES):
        yield "fence", 0, len(line)
    elif is_fenced:
        for found in KEY.finditer(line):
            yield "key", *found.span(1)
        if comment := COMMENT.search(line):
            yield "comment", *comment.span(1)
    elif line.startswith("#"):
        yield "heading", 0, len(line)
    else:
        for found in SPAN.finditer(line):
            yield "span", *found.span(1)


def _fenced(lines: Collection[str]) -> Iterator[bool]:
    is_inside = False
    for line in lines:
        is_fence = line.startswith(FENCES)
        yield is_inside and not is_fence
        is_inside ^= is_fence
