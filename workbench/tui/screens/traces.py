"""The Traces screen: a table of all recorded prompts with a filter above it, and one prompt's trace next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from storage.traces import ORIGINS
from storage.traces.filter_text import parse
from storage.traces.trace_pages import among
from workbench.tui import welcome
from workbench.tui.messages import FilterTraces, OpenTrace
from workbench.tui.panes.detail import Detail
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.screens.trace_list import SORTS, TraceList
from workbench.tui.widgets.choice import next_of
from workbench.tui.widgets.lists.row_view import RowHeader, RowView
from workbench.tui.widgets.search_bar import FilterBar
from workbench.tui.workers import listing

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.message import Message

    from storage.traces.selection import Selection
    from workbench.tui.messages import Counted
    from workbench.tui.workers.listing import ChosenTrace

READ_AFTER_S = 0.06
"""Seconds that the cursor must rest on a trace before it is read; while a key is held down, none is read."""
SORT_TEXTS = {"newest": "newest first", "slowest": "slowest first", "largest": "most tokens first"}
NOTHING_YET = """\
No prompts are recorded yet.

  enricher install         lets your agent clients ask the hook
  enricher demo            types sample prompts at a real hook
  enricher trace import    reads the conversations that you had already
                           (here: ctrl+p, "Import past conversations")

This screen may stay open: what arrives is shown at once."""
NOTHING_MATCHES = """\
No trace matches this filter.

  /         change it
  escape    take it away"""
NOTHING_TO_LABEL = """\
Every prompt that was judged has a label, or there is none.

  l         back to the list"""


class TracesScreen(TraceList):
    """The screen with all recorded prompts, newest first."""

    PLACE = "traces"
    SHOWS_SAVES = True
    HELP = """\
Every prompt that reached the hook, newest first; new ones appear on top while they are typed elsewhere.

The filter takes fields and words: `type:debug guardrail:H3 ms>20 since:2d label:wrong "a phrase" -host:codex`.
All must hold; `-` turns one round, a comma means any of them, `tab` completes. Words are found from their beginning.

`+` text was added, `~` added though a channel ran out of time, `·` silent, `-` skipped, `!` error. Where
text would have been added: `○` shadow, the hook only records; `◇` imported from a past conversation.
A `?` behind the task type: too uncertain to be shown. `debug → docs`: by the rules as they are saved now it is docs.
`✓` labelled right, `✗` wrong, `→` another class. The keys for it (`y`, `x`, `c`) write a golden case, too, if the
prompt was typed in a git repository; `ctrl+z` takes both back.

**When one came out wrong**: `w` tells why, `m` asks what it should have been and proposes edits, `enter` takes one,
`ctrl+s` saves it, `esc` returns, `a` approves the prompt as a golden case, `ctrl+g` runs the gate.
"""
    DEFAULT_CSS = """
    TracesScreen {
        #split { height: 1fr; }
        #list { width: 1fr; }
        #list.-empty RowView, #list.-empty RowHeader { display: none; }
        &.-narrow Detail { display: none; width: 1fr; border-left: none; }
        &.-narrow.-reading Detail { display: block; }
        &.-narrow.-reading #list { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="traces.filter", key_display="/"),
        *TraceActions.BINDINGS,
        Binding(
            "s", "session", "Session", id="traces.session", show=False, tooltip="The prompts of the session, in order"
        ),
        Binding("l", "queue", "Queue", id="traces.queue", tooltip="Label the most instructive prompts first"),
        Binding("S", "sort", "Sort", id="traces.sort", show=False, tooltip="Sort: newest, slowest, most tokens"),
        Binding("n", "step(1)", "Next trace, also while reading", id="traces.next", show=False),
        Binding("N", "step(-1)", "Previous trace, also while reading", id="traces.previous", show=False),
        Binding("R", "reload", "Read the list again", id="traces.reload", show=False),
        Binding("escape", "back", "Back, or take the filter away", id="traces.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._shows_session = False
        self._was_reading = False
        """Whether the detail pane had the focus when the session was requested."""
        self._brought = ""
        """The filter that another screen set when it opened this one; empty if none did."""
        self._counted: Counted | None = None
        """The prompts to which the list is restricted, because a number on another screen counts them."""
        self._before: tuple[str, str, Counted | None] = ("", "", None)
        """Filter, selected trace and restriction before another screen opened this one."""

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="split"):
            with Vertical(id="list"):
                yield FilterBar()
                yield RowHeader()
                yield RowView()
                yield Static(NOTHING_YET, id="empty", markup=False)
            yield Detail()

    def on_mount(self) -> None:
        self._sort = self.recall_choice("sort", SORTS)
        given = self.app.selection
        self.select(self.recall("filter", "") if given is None else given)
        if self._text:
            self._load_values()
        self.rows.focus()

    @property
    def detail(self) -> Detail:
        """Return the pane that shows one trace, next to the table."""
        return self.query_one(Detail)

    # Listing

    def opened(self, message: Message) -> None:
        before = (self._text, self.chosen()[0], self._counted)
        self._counted = message.counted if isinstance(message, FilterTraces) else None
        if isinstance(message, FilterTraces):
            self.select(message.text)
        elif isinstance(message, OpenTrace):
            self.select(f"id:{message.trace_id} origin:hook,import,test")  # the default leaves out tests
            self.add_class("-reading")
        self._brought, self._before = self._text, before
        self.rows.focus()

    def select(self, text: str) -> None:
        self.bar.show_scope(self._counted.name if self._counted else "")
        super().select(text)

    def filter_changed(self) -> None:
        self._is_queue = False
        self.action_reload()

    def focus_list(self) -> None:
        self.rows.focus()

    def parsed(self, text: str) -> Selection:
        if self._counted is None:
            return parse(text)
        every = "" if "origin:" in text else f" origin:{','.join(ORIGINS)}"  # tests may have been counted, too
        return among(parse(text + every), self._counted.ids or ())

    @on(FilterBar.Entered)
    def _filter_entered(self) -> None:
        self._load_values()

    def action_filter(self) -> None:
        """Put the cursor into the filter at once, so that the keys typed next go there."""
        self.remove_class("-reading")
        self.app.stylesheet.update(self)  # in a narrow window, what is hidden cannot have the focus
        self.set_focus(self.bar.input)

    def action_sort(self, wanted: str = "") -> None:
        """Sort the table by the order ``wanted``, or by the next sort order if it is empty."""
        self._sort = wanted or next_of(self._sort, SORTS)
        self._is_queue = False
        self.remember(sort=self._sort)
        self.action_reload()

    def action_queue(self) -> None:
        """Switch between the list and the queue of prompts to label, which begins with those whose labels help most."""
        self._is_queue = not self._is_queue
        self.action_reload()

    def action_back(self) -> None:
        """Go back one step: close the session, the detail pane or the queue, clear the filter, or leave the screen."""
        if self._shows_session:
            self.action_session()
            if not self._was_reading:
                self._close_detail()
        elif self.focused is self.detail:
            self._close_detail()
        elif self._is_queue:
            self.action_queue()
        elif self.app.can_go_back and self._text == self._brought:  # a filter that was typed since is cleared first
            self._return()
        elif (self.focused is not self.rows or self.has_class("-reading", "-narrow")) and self.rows.row_count:
            self._close_detail()
        elif self._text or self.bar.is_wrong:
            self.select("")
        elif self._counted and not self.app.can_go_back:
            self._counted = None
            self.select("")
        elif self.app.can_go_back:
            self._return()

    def show_list(self) -> None:
        if self.focused is self.detail:
            self._close_detail()

    def _close_detail(self) -> None:
        self.remove_class("-reading")
        self.rows.focus()

    def _return(self) -> None:
        self.remove_class("-reading")
        text, self._keep, self._counted = self._before
        self.select(text)
        self.app.go_back()

    @on(RowHeader.SortWanted)
    def _sort_wanted(self, message: RowHeader.SortWanted) -> None:
        self.action_sort(message.sort)

    def _load_values(self) -> None:
        """Read the values that are offered to complete the fields of the filter."""
        self.read("values", listing.completion_values, self._offer)

    def _offer(self, values: dict[str, tuple[str, ...]]) -> None:
        self.bar.offer(values)
        if not self.rows.row_count:
            self.show_state()

    # The selected trace

    def data_changed(self) -> None:
        super().data_changed()
        if self._is_begun and not self.app.trouble:
            self.in_turn("chosen", self._read_chosen)

    @on(RowView.Moved)
    def _moved(self) -> None:
        if self.rows.is_at_top and self._unseen:
            self._unseen = 0
            self.show_state()
        elif self._is_queue:
            self.show_state()
        self.debounce("chosen", READ_AFTER_S, self._read_chosen)

    def _read_chosen(self) -> None:
        (trace_id, _task_type), with_session = self.chosen(), self._shows_session
        if trace_id:
            self.read("chosen", lambda db: listing.chosen_trace(db, trace_id, with_session), self._show_chosen)
        else:
            self.detail.show(None)

    def _show_chosen(self, found: ChosenTrace) -> None:
        self.detail.show(found.trace, found.session if self._shows_session else None)

    @on(RowView.Opened)
    def _opened(self) -> None:
        self.add_class("-reading")
        self.detail.focus()

    def action_session(self) -> None:
        """Switch between showing the selected trace and showing its session (all prompts of the conversation)."""
        self._shows_session = not self._shows_session
        if self._shows_session:
            self._was_reading = self.focused is self.detail
            self.add_class("-reading")
            self.detail.focus()
        self._read_chosen()

    def action_step(self, rows: int) -> None:
        """Move the selection by ``rows`` traces without leaving the detail pane."""
        self.rows.action_move(rows)

    def labelled(self, trace_id: str) -> None:
        if not self._is_queue:
            return
        self._done.add(trace_id)
        if self.chosen()[0] == trace_id:
            self.rows.action_move(1)
        self.show_state()

    def show_state(self) -> None:
        rows = self.rows.row_count
        counted = f"{rows:,}" if self._is_whole else f"{rows:,}+"
        new = f"{self._unseen:,} new ↑" if self._unseen else ""
        order = SORT_TEXTS[self._sort]
        queue = (f"{rows - len(self._done):,} to label", self._whys.get(self.chosen()[0], ""))
        parts = queue if self._is_queue else (counted, order)
        self.bar.show_result(" · ".join(part for part in (new, *parts, self._note) if part))
        self.query_one("#list").set_class(not rows and self._is_whole, "-empty")
        hint = NOTHING_TO_LABEL if self._is_queue else NOTHING_MATCHES if self._text else NOTHING_YET
        doubts = [] if self._is_queue else self.bar.value_warnings()
        self.query_one("#empty", Static).update("\n\n".join([hint, *doubts]))
        # Not after a second database was opened: then there was a history, which was deleted while the app was open.
        if hint is NOTHING_YET and not rows and self._is_whole and self.app.databases == 1:
            welcome.begin(self.app)
