"""Read the list of the Traces screen in threads, and update it while it is displayed.

Only a few thousand of the list's lines are kept in memory, besides the id at the end of each page.
"""

from __future__ import annotations

from textual import on, work
from textual.worker import get_current_worker

from storage.traces import search, trace_pages
from storage.traces.selection import EVERYTHING, Selection
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.widgets.lists.row_view import RowHeader, RowView
from workbench.tui.workers import listing
from workbench.tui.workers.listing import Arrived, FirstLines, Length, Page, Queue, TypesToday

SORTS = ("newest", "slowest", "largest")
JUDGE_AFTER_S = 0.2
"""The visible prompts are judged by today's rules after the list has rested for this many seconds."""


class TraceList(TraceActions):
    """Base class of a screen with a table of traces that is updated when the database changes.

    The list is sometimes read anew from its beginning; the parameter ``run`` is the number of such a reading.
    """

    def __init__(self) -> None:
        super().__init__()
        self._which: Selection = EVERYTHING
        self._sort = SORTS[0]
        self._is_queue = False
        self._run = 0  # of the list that was requested last
        self._listed = 0  # the run of the list that is displayed
        self._marks: list[str] = []  # ids after which the second and later pages begin
        self._top = ""  # the id of the first line when the list was read
        self._row = 0  # the highest row number in the database that was read
        self._is_whole = False
        self._unseen = 0
        self._keep = ""  # the id of the trace that is to be selected after the next reading
        self._database = 1
        self._whys: dict[str, str] = {}
        self._done: set[str] = set()
        """Ids of the traces that were labelled since the queue of prompts to label was read."""
        self._note = ""
        self._judging_run = 0
        """The number of the run that judges by the present rules; earlier runs used rules from before a save."""
        self._judged: set[str] = set()
        """Ids of the traces that were judged by today's rules since the rules may last have changed."""

    def show_state(self) -> None:
        """Show the number of traces, the sort order, and how many new traces are above the visible ones."""
        raise NotImplementedError

    @property
    def rows(self) -> RowView:
        """Return the table of traces."""
        return self.query_one(RowView)

    def chosen(self) -> tuple[str, str]:
        line = self.rows.current
        return (line.id, line.task_type) if line else ("", "")

    def is_listed(self) -> bool:
        """Return whether the table shows lines of the list that was requested last."""
        return self._listed == self._run

    def action_reload(self) -> None:
        """Read the list, or the queue of prompts to label, again from its beginning."""
        self._run = self.next_run("list")
        if self._is_queue:
            self.load_queue(self._run)
        else:
            self.load(self._run, self._which, self._sort)

    def data_changed(self) -> None:
        if not self._run or self.app.trouble:
            return
        if self._database != self.app.databases:
            self._database = self.app.databases
            self.action_reload()
            return
        self.in_turn("tail", self._catch_up)

    def _catch_up(self) -> None:
        head = self.rows.row_count - self.rows.below
        # Only then do pages of the database have the order of the list.
        seen = self._keys(self.rows.seen_pages()) if self._sort == SORTS[0] and not self._is_queue else ()
        self.catch_up(self._run, self._which, self._row, seen, head)

    @work(thread=True, exclusive=True, group="traces.list", exit_on_error=False)
    def load(self, run: int, which: Selection, sort: str) -> None:
        """Read the first lines of the list, then the id of the last trace on each further page."""
        with self.reading() as db:
            listing.read_list(db, self.post_message, run=run, which=which, sort=sort)

    @work(thread=True, exclusive=True, group="traces.list", exit_on_error=False)
    def load_queue(self, run: int) -> None:
        """Read the queue of prompts to label, beginning with those whose labels would help most."""
        with self.reading() as db:
            listing.read_queue(db, self.post_message, run=run)

    @work(thread=True, exclusive=True, group="traces.pages", exit_on_error=False)
    def load_pages(self, run: int, which: Selection, wanted: tuple[tuple[int, str], ...]) -> None:
        """Read pages of the list; for each, ``wanted`` contains its number and the id after which it begins."""
        with self.reading() as db:
            listing.read_pages(db, self.post_message, run=run, which=which, wanted=wanted)

    @work(thread=True, exclusive=True, group="traces.tail", exit_on_error=False)
    def catch_up(self, run: int, which: Selection, row: int, seen: tuple[tuple[int, str], ...], head: int) -> None:
        """Read the traces written since the last reading, and the current state of those in the visible lines.

        ``listing.read_news`` describes the parameters.
        """
        with self.reading() as db:
            listing.read_news(db, self.post_message, run=run, which=which, row=row, seen=seen, head=head)

    @work(thread=True, exclusive=True, group="traces.search", exit_on_error=False)
    def index_prompts(self, run: int) -> None:
        """Add prompts to the word index; when it is complete, read the list again, now searching with the index."""
        worker = get_current_worker()
        with self.reading() as db:
            left = search.catch_up(db, should_stop=lambda: worker.is_cancelled)
        if not left and not worker.is_cancelled:
            self.app.call_from_thread(self._is_indexed, run)

    def _is_indexed(self, run: int) -> None:
        if self.is_latest("list", run):
            self.action_reload()

    def on_screen_resume(self) -> None:
        self.instructions_written()  # perhaps: the rules may have been edited on another screen
        super().on_screen_resume()

    def instructions_written(self) -> None:
        self._judged.clear()
        self._judging_run = self.next_run("today")
        self.rest()

    @on(RowView.Shown)
    def rest(self) -> None:
        """Judge the visible prompts by today's rules as soon as the list is not moved any more."""
        self.debounce("today", JUDGE_AFTER_S, lambda: self.in_turn("today", self._judge_visible))

    def _judge_visible(self) -> None:
        shown = (rows.visible_ids() for rows in self.query(RowView))  # none while the app ends
        ids = [one for found in shown for one in found if one not in self._judged]
        if ids and not self.app.trouble:
            self.judge(self._judging_run, ids)

    @work(thread=True, exclusive=True, group="traces.today", exit_on_error=False)
    def judge(self, run: int, trace_ids: list[str]) -> None:
        """Judge prompts by the rules as they are saved now, to mark those that get another task type."""
        listing.judge_today(self.app.state_dir, self.post_message, run=run, trace_ids=trace_ids)

    @on(TypesToday)
    def _types_today(self, message: TypesToday) -> None:
        if not self.is_latest("today", message.run):
            return
        self._judged.update(message.task_types)
        for rows in self.query(RowView):
            rows.show_today(message.task_types)

    def _keys(self, pages: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """Return the page numbers, each with the id after which the page begins; skip pages with an unknown id."""
        before = [self._top + trace_pages.ABOVE_ALL, *self._marks]  # the first page begins with the top line itself
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
        if self._listed == message.run:  # it continues the list that is already displayed
            self.rows.add_page(0, message.lines)
            self.rows.set_length(len(message.lines))
        else:
            self._listed = message.run
            self.rows.start(message.lines, keep=self._keep)
        self._keep = ""
        self.query_one(RowHeader).show_sort("" if self._is_queue else self._sort)
        self.show_state()
        if message.is_unindexed:
            self.index_prompts(message.run)

    @on(Queue)
    def _queue(self, message: Queue) -> None:
        if self.is_latest("list", message.run):
            self._whys, self._done = message.whys, set()
            self._first_lines(FirstLines(message.run, message.lines, message.row, self._which, is_whole=True))

    @on(Length)
    def _length(self, message: Length) -> None:
        if self.is_latest("list", message.run):
            self._marks, self._is_whole = message.marks, message.is_final
            self.rows.set_length(message.rows)
            self.show_state()

    @on(Page)
    def _page(self, message: Page) -> None:
        if self.is_latest("list", message.run):
            self.rows.add_page(message.number, message.lines)

    @on(Arrived)
    def _arrived(self, message: Arrived) -> None:
        if not self.is_latest("list", message.run):
            return
        self._row = max(self._row, message.row)
        self.rows.update_lines({line.id: line for line in message.fresh})
        if not message.lines or self._is_queue:
            return
        newest = self.rows.line(0)
        is_in_order = newest is None or message.lines[0].id > newest.id  # imported prompts are older
        if self._sort != SORTS[0] or len(message.lines) > listing.MOST_ARRIVALS or not is_in_order:
            self._keep = "" if self.rows.is_at_top else self.chosen()[0]
            self.action_reload()
            return
        self.rows.add_newer(message.lines)
        self._unseen = 0 if self.rows.is_at_top else self._unseen + len(message.lines)
        self.show_state()
