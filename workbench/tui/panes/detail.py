"""The pane next to the table of prompts, which shows one trace (the record of a prompt) or that trace's session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.tui.panes.trace_text import heading, trace_text
from workbench.tui.widgets.lists.columns import MARKS, short_time
from workbench.tui.widgets.plain_text import fit, one_line, plain
from workbench.views.outcomes import drifts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from storage.traces.trace_pages import TraceLine

TYPE_CELLS = 16


class Detail(VerticalScroll, inherit_bindings=False):
    """A pane that shows a trace or a session (all prompts of a conversation), or nothing if none is selected."""

    DEFAULT_CSS = """
    Detail {
        width: 45%; padding: 0 1; background: $surface; border-left: tall $panel;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;  /* the text is wrapped to the width beside it */
        &:focus { border-left: tall $primary; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll(1)", "Scroll down", id="detail.down", show=False),
        Binding("k,up", "scroll(-1)", "Scroll up", id="detail.up", show=False),
        Binding("pagedown,ctrl+f,space", "page(1)", "A page down", id="detail.page-down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "A page up", id="detail.page-up", show=False),
        Binding("g,home", "to_top", "To the top", id="detail.top", show=False),
        Binding("G,end", "to_bottom", "To the bottom", id="detail.bottom", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="detail")
        self.trace: dict[str, Any] | None = None
        """The displayed trace, or the trace whose session is displayed; None if nothing is selected."""
        self._session: list[TraceLine] | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="detail-text", markup=False)

    def show(self, trace: dict[str, Any] | None, session: list[TraceLine] | None = None) -> None:
        """Show a trace, or its session if one is given; scroll to the top unless the same was shown before."""
        before = (self.trace or {}).get("id"), self._session is None
        self.trace, self._session = trace, session
        self._draw()
        if before != ((trace or {}).get("id"), session is None):
            self.scroll_to(y=0, animate=False)

    def _draw(self) -> None:
        width = max(20, self.scrollable_content_region.width or self.size.width - 4)
        text = self.query_one("#detail-text", Static)
        if self.trace is None:
            text.update("")
        elif self._session is not None:
            text.update(session_text(self._session, self.trace["id"], width=width))
        else:
            text.update(trace_text(self.trace, width=width))

    def on_resize(self) -> None:
        self._draw()

    def action_scroll(self, lines: int) -> None:
        """Scroll by this number of lines; a negative number scrolls up."""
        self.scroll_relative(y=lines, animate=False)

    def action_page(self, direction: int) -> None:
        """Scroll by one page: down if ``direction`` is 1, up if it is -1."""
        self.scroll_relative(y=direction * max(1, self.size.height - 2), animate=False)

    def action_to_top(self) -> None:
        """Scroll to the top."""
        self.scroll_to(y=0, animate=False)

    def action_to_bottom(self) -> None:
        """Scroll to the bottom."""
        self.scroll_to(y=self.max_scroll_y, animate=False)


def session_text(lines: Sequence[TraceLine], chosen: str, *, width: int) -> Content:
    """Return a session as text, one line for each prompt, oldest first; the prompt with the id ``chosen`` is marked."""
    if not lines:
        return Content("")
    changes = drifts(lines)
    stays = {0: "the class stays", 1: "the class changes once"}.get(
        len(changes), f"the class changes {len(changes)} times"
    )
    counts = f"{len(lines)} prompts, {stays}" if len(lines) > 1 else "one prompt"
    found = [heading("Session", f"{lines[0].session_id[:20]}"), Content.styled(counts, "$text-muted"), Content("")]
    prompt_cells = max(10, width - TYPE_CELLS - 14)  # 14: the marks, the time, and the blanks between them
    for line in lines:
        mark = "▸" if line.id == chosen else " "
        drift = "↳" if line.id in changes else " "
        text = fit(one_line(line.prompt), prompt_cells)
        task_type = f"{drift}{fit(plain(line.task_type) + '?' * line.uncertain, TYPE_CELLS)}"
        row = Content.assemble(
            f"{mark} {short_time(line.at):>6} {MARKS.get(line.status, '?')} ",
            (task_type, "$primary" if line.id in changes else ""),
            f" {text}",
        )
        found.append(row.stylize("bold") if line.id == chosen else row)
    found += [Content(""), Content.styled("↳ another class than the prompt before", "$text-muted")]
    return Content("\n").join(found)
