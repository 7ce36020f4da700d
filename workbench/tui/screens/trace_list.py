"""Read the list of the Traces screen in threads, and update it while it is displayed.

Only a few thousand of the list's lines are kept in memory, besides the id at the end of each page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from storage.traces import search, trace_pages
from workbench.tui.screens.filtered import FilteredScreen
from workbench.tui.screens.trace_actions import TraceActions
from workbench.tui.widgets.lists.row_view import RowHeader, RowView
from workbench.tui.workers import listing
from workbench.tui.workers.listing import Arrived, FirstLines, Length, Page, Queue

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from workbench.tui.screens.base import ShouldStop

SORTS = ("newest", "slowest", "largest")
JUDGE_AFTER_S = 0.2
"""The visible prompts are judged by today's rules after the list has rested for this many seconds."""


class TraceList(FilteredScreen, TraceActions):
    """Base class of a screen with a table of traces that is updated when the database changes."""

    def __init__(self) -> None:
        super().__init__()
        self._sort = SORTS[0]
        self._is_queue = False
        self._is_listed = False  # whether the table shows lines of the list that was requested last
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
        return self._is_listed

    def action_reload(self) -> None:
        """Read the list, or the queue of prompts to label, again from its beginning."""
        self._is_listed = False
        for what in ("pages", "tail", "index"):  # results that are still being read belong to the earlier list
            self.next_run(what)
        which, sort = self._which, self._sort
        if self._is_queue:
            self.read("list", listing.label_queue, self._show_queue)
        else:
            self.read_each("list", lambda db, _should_stop: listing.read_list(db, which, sort), self._show_part)

    def data_changed(self) -> None:
        if not self._is_begun or self.app.trouble:
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
        which, row = self._which, self._row

        def news(db: sqlite3.Connection, _should_stop: ShouldStop) -> Iterable[Arrived | Page]:
            return listing.read_news(db, which, row=row, seen=seen, head=head)

        self.read_each("tail", news, self._show_part)

    def on_screen_resume(self) -> None:
        self.instructions_written()  # perhaps: the rules may have been edited on another screen
        super().on_screen_resume()

    def instructions_written(self) -> None:
        self._judged.clear()
        self.next_run("today")  # prompts that are still being judged are judged by the earlier rules
        self.rest()

    @on(RowView.Shown)
    def rest(self) -> None:
        """Classify the visible prompts by today's rules as soon as the list stops scrolling."""
        self.debounce("today", JUDGE_AFTER_S, lambda: self.in_turn("today", self._judge_visible))

    def _judge_visible(self) -> None:
        shown = (rows.visible_ids() for rows in self.query(RowView))  # none while the app ends
        ids = [one for found in shown for one in found if one not in self._judged]
        if ids and not self.app.trouble:
            self.in_thread("today", lambda _stop: [listing.types_today(self.app.state_dir, ids)], self._show_today)

    def _show_today(self, task_types: dict[str, str]) -> None:
        """Mark the prompts that get another task type by the rules as they are saved now."""
        self._judged.update(task_types)
        for rows in self.query(RowView):
            rows.show_today(task_types)

    def _keys(self, pages: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """Return the page numbers, each with the id after which the page begins; skip pages with an unknown id."""
        before = [self._top + trace_pages.ABOVE_ALL, *self._marks]  # the first page begins with the top line itself
        return tuple((number, before[number]) for number in pages if number < len(before))

    @on(RowView.PagesWanted)
    def _pages_wanted(self, message: RowView.PagesWanted) -> None:
        which = self._which
        if wanted := self._keys(message.pages):
            self.read_each("pages", lambda db, _stop: listing.read_pages(db, which, wanted), self._show_part)

    def _show_part(self, part: FirstLines | Length | Page | Arrived) -> None:
        if isinstance(part, FirstLines):
            self._show_first_lines(part)
        elif isinstance(part, Length):
            self._marks, self._is_whole = part.marks, part.is_final
            self.rows.set_length(part.rows)
            self.show_state()
        elif isinstance(part, Page):
            self.rows.add_page(part.number, part.lines)
        else:
            self._add_arrived(part)

    def _show_first_lines(self, first: FirstLines) -> None:
        self._row, self._unseen, self._is_whole = first.row, 0, first.is_whole
        self._which, self._note, self._marks = first.which, first.note, []
        self._top = first.lines[0].id if first.lines else ""
        if self._is_listed:  # it continues the list that is already displayed
            self.rows.add_page(0, first.lines)
            self.rows.set_length(len(first.lines))
        else:
            self._is_listed = True
            self.rows.start(first.lines, keep=self._keep)
        self._keep = ""
        self.query_one(RowHeader).show_sort("" if self._is_queue else self._sort)
        self.show_state()
        if first.is_unindexed:
            self.read_each("index", _index_prompts, lambda _done: self.action_reload())

    def _show_queue(self, queue: Queue) -> None:
        self._whys, self._done = queue.whys, set()
        self._show_first_lines(FirstLines(queue.lines, queue.row, self._which, is_whole=True))

    def _add_arrived(self, arrived: Arrived) -> None:
        self._row = max(self._row, arrived.row)
        self.rows.update_lines({line.id: line for line in arrived.fresh})
        if not arrived.lines or self._is_queue:
            return
        newest = self.rows.line(0)
        is_in_order = newest is None or arrived.lines[0].id > newest.id  # imported prompts are older
        if self._sort != SORTS[0] or len(arrived.lines) > listing.MOST_ARRIVALS or not is_in_order:
            self._keep = "" if self.rows.is_at_top else self.chosen()[0]
            self.action_reload()
            return
        self.rows.add_newer(arrived.lines)
        self._unseen = 0 if self.rows.is_at_top else self._unseen + len(arrived.lines)
        self.show_state()


def _index_prompts(db: sqlite3.Connection, should_stop: ShouldStop) -> Iterable[bool]:
    """Add prompts to the word index, and yield once when it is complete: the list can then be searched with it."""
    if not search.catch_up(db, should_stop=should_stop):
        yield True
