"""The Traces screen: a table over all prompts, a filter above it, one trace beside it.

The screen holds the keys of pages and a few hundred lines, never the list; all reading is done in threads.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static
from textual.worker import get_current_worker

from storage import windows
from storage.database import StorageError
from storage.selection import EVERYTHING, Selection, SelectionError, parse
from workbench.tui import listing
from workbench.tui.listing import Arrived, Chosen, FirstLines, Length, Page, Queue, Values
from workbench.tui.messages import FilterTraces, OpenTrace
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.row_header import RowHeader
from workbench.tui.widgets.row_view import RowView

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from textual.app import ComposeResult
    from textual.message import Message

STEPS_BETWEEN_LOOKS = 200_000
"""A look takes the interpreter from whoever has it; between two, SQLite reads some ten thousand rows."""
READ_AFTER_S = 0.03
"""A trace is read when the cursor rests on it for so long: holding a key down reads none."""
SORTS = ("newest", "slowest", "largest")
SORTS_TOLD = {"newest": "newest first", "slowest": "slowest first", "largest": "most tokens first"}
NOTHING_YET = """\
There is no prompt yet.

  enricher install         lets your agent clients ask the hook; the next prompt appears here
  enricher demo            types sample prompts at a real hook
  enricher trace import    reads the conversations that you had already

This screen may stay open: what arrives is shown at once."""
NOTHING_MATCHES = """\
No trace matches this filter.

  /         change it
  escape    take it away"""
NOTHING_TO_LABEL = """\
Every prompt that was judged has a label, or there is none.

  l         back to the list"""


class TracesScreen(TraceActions):
    """All prompts, newest first."""

    PLACE = "traces"
    HELP = """\
Every prompt that reached the hook, newest first; new ones appear on top while they are typed elsewhere.

The filter takes fields and words: `type:debug guardrail:H3 ms>20 since:2d label:wrong "a phrase" -host:codex`.
All must hold; `-` turns one round, a comma means any of them, `tab` completes. Words are found from their beginning.

`+` text was added · `~` added, but a channel ran out of time · `·` silent · `-` skipped · `○` shadow · `!` error.
A `?` behind the task type: too uncertain to be shown. `✓` labelled right, `✗` wrong, `→` another class.
"""
    DEFAULT_CSS = """
    TracesScreen {
        #split { height: 1fr; }
        #list { width: 1fr; }
        #empty { display: none; padding: 1 2; color: $text-muted; height: 1fr; }
        #list.-empty #empty { display: block; }
        #list.-empty RowView, #list.-empty RowHeader { display: none; }
        &.-narrow Detail { display: none; width: 1fr; border-left: none; }
        &.-narrow.-reading Detail { display: block; }
        &.-narrow.-reading #list { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="traces.filter", key_display="/"),
        *TraceActions.BINDINGS,
        Binding("s", "session", "Session", id="traces.session", tooltip="The prompts of the session, in order"),
        Binding("l", "queue", "Queue", id="traces.queue", tooltip="Label the most instructive prompts first"),
        Binding("S", "sort", "Sort", id="traces.sort", show=False, tooltip="Sort: newest, slowest, most tokens"),
        Binding("n", "step(1)", "Next trace, also while reading", id="traces.next", show=False),
        Binding("N", "step(-1)", "Previous trace, also while reading", id="traces.previous", show=False),
        Binding("R", "reload", "Read the list again", id="traces.reload", show=False),
        Binding("escape", "back", "Back, or take the filter away", id="traces.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._which: Selection = EVERYTHING
        self._text: str | None = None
        self._sort = SORTS[0]
        self._run = 0
        self._marks: list[str] = []
        self._top = ""
        self._row = 0
        self._is_whole = False
        self._unseen = 0
        self._listed = 0
        self._database = 1
        self._whys: dict[str, str] = {}
        self._keep = ""
        self._is_queue = False
        self._note = ""
        self._shows_session = False

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="split"):
            with Vertical(id="list"):
                yield FilterBar()
                yield RowHeader()
                yield RowView()
                yield Static(NOTHING_YET, id="empty", markup=False)
            yield Detail()

    def on_mount(self) -> None:
        remembered = self.recall("sort", SORTS[0])
        self._sort = remembered if remembered in SORTS else SORTS[0]
        given = self.app.selection
        self.select(self.recall("filter", "") if given is None else given)
        self.rows.focus()

    @property
    def rows(self) -> RowView:
        """The table."""
        return self.query_one(RowView)

    @property
    def bar(self) -> FilterBar:
        """The filter bar."""
        return self.query_one(FilterBar)

    @property
    def detail(self) -> Detail:
        """The pane beside the table."""
        return self.query_one(Detail)

    def chosen(self) -> tuple[str, str]:
        line = self.rows.current
        return (line.id, line.task_type) if line else ("", "")

    # What is listed

    def is_listed(self) -> bool:
        """Say whether the first lines of what is selected are in the table."""
        return self._listed == self._run

    def opened(self, message: Message) -> None:
        if isinstance(message, FilterTraces):
            self.select(message.text)
        elif isinstance(message, OpenTrace):
            self.select(f"id:{message.trace_id} origin:hook,import,test")
            self.add_class("-reading")
        self.rows.focus()

    def select(self, text: str) -> None:
        """Show what the text selects; one that cannot be understood stays, with what is wrong, over the former list."""
        self.bar.show(text)
        self._selected(text)
        self.remember(filter=self._text or "")

    def _selected(self, text: str) -> None:
        try:
            self._which = parse(text)
        except SelectionError as error:
            self.bar.complain(str(error))
            if self._text is None:
                self._text = ""
                self.action_reload()
            return
        self.bar.complain("")
        self._text = text
        self._is_queue = False
        self.action_reload()

    @on(FilterBar.Typed)
    def _filter_typed(self, message: FilterBar.Typed) -> None:
        if message.text != self._text:
            self._selected(message.text)

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.remember(filter=self._text or "")  # not before: half a word is no filter to come back to
        self.rows.focus()

    @on(FilterBar.Entered)
    def _filter_entered(self) -> None:
        self.load_values()

    def action_reload(self) -> None:
        """Read the list from its beginning."""
        self._run = self.next_run("list")
        if self._is_queue:
            self.load_queue(self._run)
        else:
            self.load(self._run, self._which, self._sort)

    def action_filter(self) -> None:
        """Go to the filter."""
        self.remove_class("-reading")
        self.bar.focus_input()

    def action_sort(self, wanted: str = "") -> None:
        """Sort by the next of the orders, or the one that is wanted."""
        self._sort = wanted or SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        self._is_queue = False
        self.remember(sort=self._sort)
        self.action_reload()

    def action_queue(self) -> None:
        """List what to label first, or go back to the list."""
        self._is_queue = not self._is_queue
        self.action_reload()

    def action_back(self) -> None:
        """Leave what is open; take the filter away where nothing is."""
        if self.has_class("-reading") and self.has_class("-narrow"):
            self.rows.focus()
            self.remove_class("-reading")
        elif self.focused is not self.rows and self.rows.row_count:
            self.rows.focus()
        elif self._shows_session:
            self.action_session()
        elif self._is_queue:
            self.action_queue()
        elif self._text or self.bar.is_wrong:
            self.select("")

    @on(RowHeader.SortWanted)
    def _sort_wanted(self, message: RowHeader.SortWanted) -> None:
        self.action_sort(message.sort)

    def data_changed(self) -> None:
        if not self._run or self.app.trouble:
            return
        if self._database != self.app.databases:
            self._database = self.app.databases
            self.action_reload()
            return
        head = self.rows.row_count - self.rows.below
        seen = self._keys(self.rows.seen_pages()) if self._sort == SORTS[0] and not self._is_queue else ()
        self.catch_up(self._run, self._which, self._row, seen, head)
        self._read_chosen()

    # The threads

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that lets go as soon as its worker is cancelled; a cancelled one fails silently."""
        worker = get_current_worker()
        try:
            with self.database(drain=False) as db:
                db.set_progress_handler(lambda: worker.is_cancelled, STEPS_BETWEEN_LOOKS)
                yield db
        except StorageError:
            if not worker.is_cancelled:
                raise

    @work(thread=True, exclusive=True, group="traces.list", exit_on_error=False)
    def load(self, run: int, which: Selection, sort: str) -> None:
        """Read the first lines, then where every further page ends."""
        with self._reading() as db:
            listing.read_list(db, self.post_message, run=run, which=which, sort=sort)

    @work(thread=True, exclusive=True, group="traces.list", exit_on_error=False)
    def load_queue(self, run: int) -> None:
        """Read what to label first."""
        with self._reading() as db:
            listing.read_queue(db, self.post_message, run=run)

    @work(thread=True, exclusive=True, group="traces.pages", exit_on_error=False)
    def load_pages(self, run: int, which: Selection, wanted: tuple[tuple[int, str], ...]) -> None:
        """Read pages by the keys that they begin behind."""
        with self._reading() as db:
            listing.read_pages(db, self.post_message, run=run, which=which, wanted=wanted)

    @work(thread=True, exclusive=True, group="traces.tail", exit_on_error=False)
    def catch_up(self, run: int, which: Selection, row: int, seen: tuple[tuple[int, str], ...], head: int) -> None:
        """Read what was written since, and what is in sight as it is now."""
        with self._reading() as db:
            listing.read_news(db, self.post_message, run=run, which=which, row=row, seen=seen, head=head)

    @work(thread=True, exclusive=True, group="traces.chosen", exit_on_error=False)
    def read_trace(self, run: int, trace_id: str, with_session: bool) -> None:
        """Read the trace under the cursor with everything beside it."""
        with self._reading() as db:
            listing.read_chosen(db, self.post_message, run=run, trace_id=trace_id, with_session=with_session)

    @work(thread=True, exclusive=True, group="traces.values", exit_on_error=False)
    def load_values(self) -> None:
        """Read what the fields of the filter can be completed with."""
        with self._reading() as db:
            listing.read_values(db, self.post_message)

    @work(thread=True, exclusive=True, group="traces.search", exit_on_error=False)
    def index_prompts(self, run: int) -> None:
        """Take prompts into the index of words, then search again with it."""
        from storage import search

        worker = get_current_worker()
        with self._reading() as db:
            left = search.catch_up(db, should_stop=lambda: worker.is_cancelled)
        if not left and not worker.is_cancelled:
            self.app.call_from_thread(self._is_indexed, run)

    def _is_indexed(self, run: int) -> None:
        if self.is_latest("list", run):
            self.action_reload()

    # What the threads bring

    def _keys(self, pages: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """Return the pages with the ids that they begin behind, as far as these are known."""
        before = [self._top + windows.ABOVE_ALL, *self._marks]
        return tuple((number, before[number]) for number in pages if number < len(before))

    @on(RowView.PagesWanted)
    def _pages_wanted(self, message: RowView.PagesWanted) -> None:
        if wanted := self._keys(message.pages):
            self.load_pages(self._run, self._which, wanted)

    @on(FirstLines)
    def _first_lines(self, message: FirstLines) -> None:
        if not self.is_latest("list", message.run):
            return
        self._row, self._unseen, self._is_whole = message.row, 0, message.is_whole
        self._which, self._note, self._marks = message.which, message.note, []
        self._top = message.lines[0].id if message.lines else ""
        if self._listed == message.run:  # more of what is shown already
            self.rows.put(0, message.lines)
            self.rows.set_length(len(message.lines))
        else:
            self._listed = message.run
            self.rows.start(message.lines, keep=self._keep)
        self._keep = ""
        self.query_one(RowHeader).show_sort("" if self._is_queue else self._sort)
        self._show_state()
        if message.is_unindexed:
            self.index_prompts(message.run)

    @on(Queue)
    def _queue(self, message: Queue) -> None:
        if self.is_latest("list", message.run):
            self._whys = message.whys
            self._first_lines(FirstLines(message.run, message.lines, message.row, self._which, is_whole=True))

    @on(Length)
    def _length(self, message: Length) -> None:
        if self.is_latest("list", message.run):
            self._marks, self._is_whole = message.marks, message.is_final
            self.rows.set_length(message.rows)
            self._show_state()

    @on(Page)
    def _page(self, message: Page) -> None:
        if self.is_latest("list", message.run):
            self.rows.put(message.number, message.lines)

    @on(Arrived)
    def _arrived(self, message: Arrived) -> None:
        if not self.is_latest("list", message.run):
            return
        self._row = max(self._row, message.row)
        self.rows.renew({line.id: line for line in message.fresh})
        if not message.lines or self._is_queue:
            return
        newest = self.rows.line(0)
        is_in_order = newest is None or message.lines[0].id > newest.id
        if self._sort != SORTS[0] or len(message.lines) > listing.MOST_ARRIVALS or not is_in_order:
            self._keep = "" if self.rows.is_at_top else self.chosen()[0]
            self.action_reload()
            return
        self.rows.arrive(message.lines)
        self._unseen = 0 if self.rows.is_at_top else self._unseen + len(message.lines)
        self._show_state()

    @on(Values)
    def _values(self, message: Values) -> None:
        self.bar.offer(message.values)

    # The trace that is chosen

    @on(RowView.Moved)
    def _moved(self) -> None:
        if self.rows.is_at_top and self._unseen:
            self._unseen = 0
            self._show_state()
        elif self._is_queue:
            self._show_state()
        self.set_timer(READ_AFTER_S, self._read_chosen)

    def _read_chosen(self) -> None:
        trace_id, _task_type = self.chosen()
        if trace_id:
            self.read_trace(self.next_run("chosen"), trace_id, self._shows_session)
        else:
            self.detail.show(None)

    @on(Chosen)
    def _chosen(self, message: Chosen) -> None:
        if self.is_latest("chosen", message.run):
            self.detail.show(message.trace, message.session if self._shows_session else None)

    @on(RowView.Opened)
    def _opened(self) -> None:
        self.add_class("-reading")
        self.detail.focus()

    def action_session(self) -> None:
        """Show the session of the trace, or the trace again."""
        self._shows_session = not self._shows_session
        if self._shows_session:
            self.add_class("-reading")
            self.detail.focus()
        self._read_chosen()

    def action_step(self, rows: int) -> None:
        """Go to another trace without leaving the one that is read."""
        self.rows.action_move(rows)

    def labelled(self, trace_id: str) -> None:
        if self._is_queue and self.chosen()[0] == trace_id:
            self.rows.action_move(1)

    def _show_state(self) -> None:
        """Say how many there are, in which order, and what is new above."""
        rows = self.rows.row_count
        counted = f"{rows:,}" if self._is_whole else f"{rows:,}+"
        new = f"{self._unseen:,} new ↑" if self._unseen else ""
        told = SORTS_TOLD[self._sort]
        parts = [f"{counted} to label", self._whys.get(self.chosen()[0], "")] if self._is_queue else [counted, told]
        self.bar.tell(" · ".join(part for part in (new, *parts, self._note) if part))
        self.query_one("#list").set_class(not rows and self._is_whole, "-empty")
        hint = NOTHING_TO_LABEL if self._is_queue else NOTHING_MATCHES if self._text else NOTHING_YET
        self.query_one("#empty", Static).update(hint)
