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
from workbench.tui.listing import Arrived, FirstLines, Length, Page
from workbench.tui.messages import FilterTraces, OpenTrace
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.row_header import RowHeader
from workbench.tui.widgets.row_view import RowView

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from textual.app import ComposeResult
    from textual.message import Message

STEPS_BETWEEN_LOOKS = 20_000
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


class TracesScreen(WorkbenchScreen):
    """All prompts, newest first."""

    PLACE = "traces"
    HELP = """\
Every prompt that reached the hook, newest first; new ones appear on top while they are typed elsewhere.

The filter takes fields and words: `type:debug guardrail:H3 ms>20 since:2d label:wrong "a phrase" -host:codex`.
All must hold; `-` turns one round, a comma means any of them, `tab` completes.

`+` text was added · `~` added, but a channel ran out of time · `·` silent · `-` skipped · `○` shadow · `!` error.
A `?` behind the task type: too uncertain to be shown.
"""
    DEFAULT_CSS = """
    TracesScreen {
        #split { height: 1fr; }
        #list { width: 1fr; }
        #empty { display: none; padding: 1 2; color: $text-muted; height: 1fr; }
        #list.-empty #empty { display: block; }
        #list.-empty RowView, #list.-empty RowHeader { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="traces.filter", key_display="/"),
        Binding("S", "sort", "Sort", id="traces.sort", tooltip="Sort: newest, slowest, most tokens"),
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

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="split"), Vertical(id="list"):
            yield FilterBar()
            yield RowHeader()
            yield RowView()
            yield Static(NOTHING_YET, id="empty", markup=False)

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

    def opened(self, message: Message) -> None:
        if isinstance(message, FilterTraces):
            self.select(message.text)
        elif isinstance(message, OpenTrace):
            self.select(f"id:{message.trace_id} origin:hook,import,test")
        self.rows.focus()

    def select(self, text: str) -> None:
        """Show what the text selects; one that cannot be understood stays, with what is wrong, over the former list."""
        self.bar.show(text)
        self._selected(text)

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
        self.remember(filter=text)
        self.action_reload()

    @on(FilterBar.Typed)
    def _filter_typed(self, message: FilterBar.Typed) -> None:
        if message.text != self._text:
            self._selected(message.text)

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        self.rows.focus()

    def action_reload(self) -> None:
        """Read the list from its beginning."""
        self._run = self.next_run("list")
        self.load(self._run, self._which, self._sort)

    def action_filter(self) -> None:
        """Go to the filter."""
        self.bar.focus_input()

    def action_sort(self, wanted: str = "") -> None:
        """Sort by the next of the orders, or the one that is wanted."""
        self._sort = wanted or SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        self.remember(sort=self._sort)
        self.action_reload()

    def action_back(self) -> None:
        """Leave what is open; take the filter away where nothing is."""
        if self._text:
            self.select("")

    @on(RowHeader.SortWanted)
    def _sort_wanted(self, message: RowHeader.SortWanted) -> None:
        self.action_sort(message.sort)

    def data_changed(self) -> None:
        if self._run and not self.app.trouble:
            head = self.rows.row_count - self.rows.below
            seen = self._keys(self.rows.seen_pages()) if self._sort == SORTS[0] else ()
            self.catch_up(self._run, self._which, self._row, seen, head)

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
        self._marks = []
        self._top = message.lines[0].id if message.lines else ""
        self.rows.start(message.lines)
        self._show_state()

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
        if not message.lines:
            return
        newest = self.rows.line(0)
        is_in_order = newest is None or message.lines[0].id > newest.id
        if self._sort != SORTS[0] or len(message.lines) > listing.MOST_ARRIVALS or not is_in_order:
            self.action_reload()
            return
        self.rows.arrive(message.lines)
        self._unseen = 0 if self.rows.is_at_top else self._unseen + len(message.lines)
        self._show_state()

    @on(RowView.Moved)
    def _moved(self) -> None:
        if self.rows.is_at_top and self._unseen:
            self._unseen = 0
            self._show_state()

    def _show_state(self) -> None:
        """Say how many there are, in which order, and what is new above."""
        rows = self.rows.row_count
        counted = f"{rows:,}" if self._is_whole else f"{rows:,}+"
        new = f"{self._unseen:,} new ↑ · " if self._unseen else ""
        self.bar.tell(f"{new}{counted} · {SORTS_TOLD[self._sort]}")
        is_empty = not rows and self._is_whole
        self.query_one("#list").set_class(is_empty, "-empty")
        self.query_one("#empty", Static).update(NOTHING_MATCHES if self._text else NOTHING_YET)
