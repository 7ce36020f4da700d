"""The Compare screen: the prompts whose results the last replay changed, and one prompt's results before and after.

Scores and signals are computed for the selected prompt only.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from storage.db.database import StorageError
from workbench.replay.compare import side_by_side
from workbench.replay.corpus import opened
from workbench.replay.rulesets.compared_rules import RECORDED, SideError
from workbench.tui.messages import OpenCompare, OpenTrace
from workbench.tui.panes import blast_view
from workbench.tui.panes.diff_view import detail
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.widgets.choice import next_of
from workbench.tui.widgets.lists.cursor_view import ends
from workbench.tui.widgets.lists.line_list import MOVES, Group, LineList, ListLine
from workbench.views.blast_radius import headline

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.message import Message

    from workbench.replay.compare import SideBySide
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.tui.state import CompletedRun

NOTHING_YET = """\
There is nothing to compare yet.

  2       edit the instructions: the prompts that change are listed here
  1, r    compare what was said to one trace with what today's rules say
"""
NO_CHANGE = """\
The last run changed nothing: both sides say the same to every prompt.

  2         edit the instructions, or choose another base there with b"""
AFTER_MOVING_S = 0.04
"""A prompt is classified under both rule sets after the cursor has rested on it for this many seconds."""
MOST_LINES = 7  # of the list in a narrow window, where the two results are below it
NARROW = 100  # columns; below them, the app gives its screens the class -narrow
STEP = Binding.Group("Step")


class ChangeList(LineList, inherit_bindings=False):
    """The list of changed prompts; it does not bind the key ``g``, because the screen uses it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVES,
        *ends("changes", first="To the first line", last="To the last line", keys=("home", "end")),
    ]


class CompareScreen(TraceActions):
    """A screen with the list of changed prompts, and the selected prompt's results before and after the edit."""

    PLACE = "compare"
    HELP = """\
What the last run of the Instructions screen changes, prompt by prompt; or one trace as it was recorded and as today's
rules would have it (`r`).

The prompts are grouped by what changes and by the edited line that caused it, `←` and its file and line, if undoing
that line alone would undo the change; otherwise by `several lines`.

Lines that differ begin with `-` before and `+` after, words that differ are underlined; `±` marks scores that moved.
`✗` in the list: the prompt is an approved case.
"""
    DEFAULT_CSS = """
    CompareScreen {
        #split { height: 1fr; }
        #side { width: 2fr; max-width: 76; }
        #state {
            height: auto; max-height: 5; padding: 0 1; background: $surface; color: $text-muted;
        }
        #changes { height: 1fr; padding: 0 0 0 1; }
        #both { width: 3fr; padding: 0 1; scrollbar-size-vertical: 1; }
        &.-wide #both { border-left: solid $panel; }
        &.-narrow #split { layout: vertical; }
        &.-narrow #side { width: 1fr; max-width: 100%; height: 8; }
        &.-narrow #both { width: 1fr; height: 1fr; border-top: solid $panel; }
        &.-empty #split { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "step(1)", "Next change", id="compare.next", group=STEP),
        Binding("p", "step(-1)", "Previous change", id="compare.previous", group=STEP),
        Binding("g", "next_group", "Next group of changes", id="compare.group", group=STEP),
        Binding("d", "differences", "Diff", id="compare.differences", tooltip="Show all, or only differences"),
        Binding("f", "kind", "Kind", id="compare.kind", tooltip="Show one kind of change, then the next, then all"),
        Binding("escape", "back", "Back to all changes", id="compare.back", show=False),
        Binding("J,shift+down", "scroll(4)", "Scroll down", id="compare.down", show=False),
        Binding("K,shift+up", "scroll(-4)", "Scroll up", id="compare.up", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._run: CompletedRun | None = None
        self._single = ""  # the id of the trace, if only one is shown
        self._kind = ""
        self._only = True
        self._found: SideBySide | None = None

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="split"):
            with Vertical(id="side"):
                yield Static("", id="state", markup=False)
                yield ChangeList(id="changes")
            with VerticalScroll(id="both"):
                yield Static("", id="detail", markup=False)
        yield Static(NOTHING_YET, id="empty", markup=False)

    def on_mount(self) -> None:
        self._only = self.recall("only", True)
        self._kind = self.recall("kind", "")
        self.changes.focus()
        self._take_run()

    @property
    def changes(self) -> ChangeList:
        """Return the widget with the list of changed prompts."""
        return self.query_one(ChangeList)

    def opened(self, message: Message) -> None:
        if not isinstance(message, OpenCompare):
            return
        self._take_run()
        if not message.trace_id or (message.is_of_last_run and self._run is not None):
            self._single = self._kind = ""
            self._show_list()
            self.changes.go_to(message.trace_id)
        else:
            self._single = message.trace_id
            self._show_list()
        self.changes.focus()

    def data_changed(self) -> None:
        self._take_run()

    def _take_run(self) -> None:
        run = self.app.last_run
        if run is not self._run or run is None:
            self._run = run
            self._show_list()

    def _show_list(self) -> None:
        if self._single:
            line = ListLine(self._single, self._single_text(), "", "plain", self._single)
            groups = [Group(ListLine("single", "one trace, recorded and today", "", "plain"), [line])]
        else:
            run = self._run
            groups = list(blast_view.cause_groups(run.figures, run.causes, only=self._kind)) if run else []
        nothing = NO_CHANGE if self._run else NOTHING_YET
        self.show_empty("" if groups else nothing)
        self.query_one("#state", Static).update(self._state())
        opened = blast_view.keys_to_expand(groups)
        self.changes.show(groups, opened=opened)
        if self.changes.current is None or not self.changes.current.value:
            first = next((group for group in groups if group.head.key in opened and group.lines), None)
            self.changes.go_to(first.lines[0].key if first else "")
        self._fit()
        self._look()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        # In a narrow window, the two results are below the list, which is made only as high as its lines need.
        width = self.app.size.width
        above = sum(len(textwrap.wrap(line, width - 2)) for line in self._state().splitlines())
        self.query_one("#side").styles.height = (
            above + min(MOST_LINES, self.changes.row_count) if width < NARROW else None
        )

    def _single_text(self) -> str:
        found = self._found
        return " ".join(found.prompt.text.split()) if found and found.prompt.id == self._single else self._single

    def _state(self) -> str:
        if self._single:
            return "esc: back to all changes"
        if self._run is None:
            return ""
        which = f"only {self._kind} · " if self._kind else ""
        figures = self._run.figures
        verdict = f" · {figures.verdict}" if figures.verdict and not figures.errors else ""
        noun = "change" if len(figures.changes) == 1 else "changes"
        changes = f"{which}{len(figures.changes):,} {noun} against {blast_view.base_text(figures)}{verdict}"
        return "\n".join([changes, headline(figures), *blast_view.verdict_sentence(figures)])

    def chosen(self) -> tuple[str, str]:
        line = self.changes.current
        if line is None or not line.value:
            return "", ""
        task_type = self._found.before.outcome.task_type if self._found else ""
        return line.key, task_type

    @on(LineList.Moved)
    def _moved(self) -> None:
        self.debounce("look", AFTER_MOVING_S, self._look)

    def _look(self) -> None:
        line = self.changes.current
        if line is None or not line.value:
            return
        sides: tuple[Side, Side | None] = (RECORDED, None)
        if not self._single and self._run is not None:
            sides = self._run.figures.sides
        trace_id = line.key
        self.in_thread("judge", lambda _stop: [self._sides(trace_id, sides)], self._show_sides)

    def _sides(self, trace_id: str, sides: tuple[Side, Side | None]) -> SideBySide | str:
        """Classify a prompt under both rule sets, ``sides``; None stands for today's rules. Return why if it fails."""
        try:
            with opened(self.app.state_dir) as corpus:
                return side_by_side(corpus, trace_id, base=sides[0], candidate=sides[1])
        except (SideError, StorageError) as error:
            return str(error)

    def _show_sides(self, found: SideBySide | str) -> None:
        if isinstance(found, str):
            self._found = None
            self.query_one("#detail", Static).update(found)
            return
        is_new = self._found is None or self._found.prompt.id != found.prompt.id
        self._found = found
        if self._single and is_new:
            self._show_list()
        self._show_detail()
        if is_new:
            self.query_one("#both").scroll_to(y=0, animate=False)

    def _show_detail(self) -> None:
        if self._found is not None:
            run = self.app.last_run  # causes may still arrive while the prompt is displayed
            cause = run.causes.get(self._found.prompt.id) if run and not self._single else None
            text = detail(self._found, only_differences=self._only, cause=cause)
            self.query_one("#detail", Static).update(text)

    def labelled(self, trace_id: str) -> None:
        """Go to the next changed prompt if the trace that was just labelled, ``trace_id``, is the selected one."""
        if self.changes.current is not None and self.changes.current.key == trace_id:
            self.action_step(1)

    def action_step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) changed prompt."""
        self.changes.step(by)

    def action_next_group(self) -> None:
        """Go to the first changed prompt of the next group."""
        self.changes.step(1, groups=True)

    def action_differences(self) -> None:
        """Switch between showing both results completely and showing only their differences."""
        self._only = not self._only
        self.remember(only=self._only)
        self._show_detail()

    def action_kind(self) -> None:
        """Show only the prompts of the next kind of change; after the last kind, show all."""
        order = ["", *(kind for kind, _changes in (self._run.figures.groups() if self._run else ()))]
        self._kind = next_of(self._kind if self._kind in order else "", order)
        self.remember(kind=self._kind)
        self._show_list()

    def action_back(self) -> None:
        """Show all changed prompts again; if they are shown already, return to the previous screen."""
        is_filtered, self._kind, self._single = bool(self._kind), "", ""
        self._show_list()
        if not is_filtered:
            self.app.go_back()

    def action_scroll(self, lines: int) -> None:
        """Scroll the results of the prompt by a number of lines; a negative number scrolls up."""
        self.query_one("#both").scroll_relative(y=lines, animate=False)

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        self.app.post_message(OpenTrace(message.line.key))
