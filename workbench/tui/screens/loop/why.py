"""The Why screen: one prompt with its words marked, and every point, threshold and omission behind its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from enricher.interfaces.explanation import ExplanationError
from workbench.coverage.rule_positions import RulePosition
from workbench.coverage.why import outcome_today, why
from workbench.replay.corpus import opened
from workbench.tui.messages import OpenInstructions
from workbench.tui.panes.trace_text import label_text
from workbench.tui.screens.loop import why_lines
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.widgets.lists.cursor_view import ends
from workbench.tui.widgets.lists.line_list import LineList, group_moves

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.coverage.why import Why


@dataclass
class Explained(Message):
    """The explanation has been computed; ``found`` is None if there is none, for the given reason."""

    found: Why | None
    labels: list[str]
    reason: str = ""
    today: str = ""


class ReasonList(LineList, inherit_bindings=False):
    """What decided a prompt's outcome: the scores of each class, the signals behind them, and what was left out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *group_moves(choose="Rule"),
        *ends("reasons", first="To the first line", last="To the last line"),
    ]


class WhyScreen(TraceActions):
    """Why one recorded prompt came out as it did."""

    PLACE = "why"
    HELP = """\
Why the prompt came out so, by the rules and inputs that it had: each class with its points, the signals that gave them
with the words that they matched, the thresholds, what was left out and what every channel offered.

`enter` on a line with a file opens the instructions there; `escape` comes back to this line. A line
that begins with `today` tells the outcome under the rules as they are saved now, if it is another one.

**To put it right**: `m` asks what it should have been and proposes edits, `enter` takes one, `ctrl+s` saves it, `esc`
returns here, `a` approves what was chosen with `m` as a golden case, `ctrl+g` runs the gate.
"""
    DEFAULT_CSS = """
    WhyScreen {
        #prompt { max-height: 6; padding: 0 1; margin: 0 0 1 0; }
        #outcome { max-height: 6; padding: 0 1; background: $panel; }
        #reasons { height: 1fr; padding: 0 0 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="why.back", key_display="esc"),
        Binding("a", "approve", "Approve", id="why.approve", tooltip="Approve what was chosen with m"),
        Binding("ctrl+g", "gate", "Gate", id="why.gate", tooltip="Run the gate on the golden cases"),
    ]

    def __init__(self, trace_id: str, task_type: str, *, place: str) -> None:
        super().__init__()
        self._trace = (trace_id, task_type)
        self.bar_place = place
        self._found: Why | None = None

    def compose_body(self) -> ComposeResult:
        yield Static("", id="prompt", markup=False)
        yield Static("Compiling the rules that the prompt had…", id="outcome", markup=False)
        yield ReasonList(id="reasons")

    def on_mount(self) -> None:
        self.lines.focus()
        self.load()

    @property
    def lines(self) -> LineList:
        """The list of reasons on this screen."""
        return self.query_one(LineList)

    def chosen(self) -> tuple[str, str]:
        return self._trace

    def data_changed(self) -> None:
        if self._found is not None:
            self.in_turn("why.load", self.load)

    @work(thread=True, exclusive=True, group="why.load", exit_on_error=False)
    def load(self) -> None:
        """Explain the prompt, or read its labels again."""
        from storage.traces import trace_pages

        with opened(self.app.state_dir) as corpus:
            labels = [label_text(one) for one in trace_pages.label_history(corpus.db, self._trace[0])]
            try:
                found = self._found or why(corpus, self._trace[0])
                if self._found is None:
                    self.post_message(Explained(found, labels))
                self.post_message(Explained(found, labels, today=outcome_today(corpus, self._trace[0])))
            except ExplanationError as error:
                self.post_message(Explained(None, labels, str(error)))

    @on(Explained)
    def _explained(self, message: Explained) -> None:
        if message.found is None:
            self.query_one("#outcome", Static).update(message.reason)
            return
        is_new, self._found = self._found is None, message.found
        explained = message.found.explained
        self.query_one("#outcome", Static).update(why_lines.outcome_text(explained, message.labels, message.today))
        if is_new:
            self.query_one("#prompt", Static).update(why_lines.marked_prompt(explained))
            self.lines.show(why_lines.groups(message.found), opened=why_lines.opened(message.found))

    @on(LineList.Chosen)
    def _open_rule(self, message: LineList.Chosen) -> None:
        place = message.line.value
        if isinstance(place, RulePosition) and self._found is not None:
            file = self._found.file_now(place.file)
            self.app.post_message(OpenInstructions(file, place.line, self._found.text_of(place.file)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key that opened this screen, and the one for approving until there is something to approve."""
        del parameters
        return action != "why" and (action != "approve" or self._trace[0] in self.app.wishes)

    def on_screen_resume(self) -> None:
        self.refresh_bindings()
        super().on_screen_resume()
        self.data_changed()

    def action_back(self) -> None:
        """Close this screen."""
        self.dismiss()
