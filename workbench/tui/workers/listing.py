"""Read what the Traces screen shows, in its threads and in pieces: the list, new traces, the selected trace.

Nothing here touches a widget.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storage.traces import queries, search, trace_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from storage.traces.selection import Selection
    from storage.traces.trace_pages import TraceLine

FIRST_LINES = 60
"""Number of rows that are shown first; it fills most terminals, so that nobody has to wait for a whole page."""
SHOW_FIRST_S, SHOW_EVERY_S = 0.02, 0.05  # a slow filter shows what it has found after 20 ms, then every 50 ms
MOST_ARRIVALS = 1_000
"""If more new traces than this arrive (after an import, for example), the whole list is read again."""
LONGEST_QUEUE = 500
CANDIDATES = 5_000
"""The queue of prompts to label is chosen from this many of the newest prompts without a label."""
SOON_INDEXED = 2_000
"""So many prompts can be added to the word index without a noticeable delay before a search."""
VALUES_FROM = 10_000
"""The filter completes values that occur in this many of the newest traces; older values can be typed in full."""
BEING_INDEXED = "words are being indexed"
HOW_MANY_OF_EACH = f"""
    select {{column}} as value, count(*) as prompts from (
        select {{column}} from traces where origin <> 'test' order by id desc limit {VALUES_FROM}
    ) where value <> '' group by value order by prompts desc, value limit 50
"""
WHICH_GUARDRAILS = f"""
    select guardrail_id as value, count(*) as prompts from trace_guardrails
    where trace_id in (select id from traces order by id desc limit {VALUES_FROM})
    group by value order by prompts desc, value limit 50
"""
COMPLETED = {
    "type": "task_type", "intent": "search_intent", "workflow": "workflow", "host": "host", "project": "project",
    "version": "rules_hash",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FirstLines:
    """The first lines of the list.

    ``row`` is the database row number of the trace that was written last, and ``which`` the selection as it was
    executed. ``is_whole`` means that the list has no further lines, ``is_unindexed`` that the search words were looked
    up without the word index, and ``note`` is a remark for the user.
    """

    lines: list[TraceLine]
    row: int
    which: Selection
    is_whole: bool
    is_unindexed: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue of prompts to label.

    ``row`` is the database row number of the trace that was written last; ``whys`` maps each trace id to the reason why
    a label for that trace would help.
    """

    lines: list[TraceLine]
    row: int
    whys: dict[str, str]


@dataclass(frozen=True, slots=True)
class Length:
    """The number of rows of the list that were counted so far; ``marks`` has the id of the last trace of each page."""

    rows: int
    marks: list[str]
    is_final: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the list of prompts: its number, counted from 0, and its lines."""

    number: int
    lines: list[TraceLine]


@dataclass(frozen=True, slots=True)
class Arrived:
    """The traces that were written after the list was read.

    ``row`` is the database row number of the trace that was written last, and ``fresh`` has the current state of lines
    that were read before.
    """

    lines: list[TraceLine]
    row: int
    fresh: list[TraceLine]


@dataclass(frozen=True, slots=True)
class ChosenTrace:
    """The trace under the cursor, in the form that ``storage.traces.queries.show`` returns.

    ``trace`` is None if it was deleted in the meantime; ``session`` is empty if the session was not requested.
    """

    trace: dict[str, Any] | None
    session: list[TraceLine]


def read_list(db: sqlite3.Connection, which: Selection, sort: str) -> Iterator[FirstLines | Length]:
    """Yield the first lines of the list as soon as they are found, then the id of the last row of each page.

    If ``sort`` is another order than "newest", only the first lines in that order are yielded.
    """
    row = trace_pages.last_row(db)
    if sort != "newest":
        yield FirstLines(trace_pages.ranking(db, which, by=sort), row, which, is_whole=True)
        return
    if which.words and search.waiting(db) <= SOON_INDEXED:
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes: a slow search finds the same
            search.catch_up(db)
    which = search.with_index(which, db)  # after catching up: only a complete index is used
    is_unindexed = bool(search.expression(which.words)) and not which.match
    note = BEING_INDEXED if is_unindexed else ""
    lines: list[TraceLine] = []
    shown, shown_at = 0, time.monotonic()
    for line in trace_pages.stream(db, which):
        lines.append(line)
        is_due = time.monotonic() - shown_at > (SHOW_EVERY_S if shown else SHOW_FIRST_S)
        if is_due or (not shown and len(lines) == FIRST_LINES):
            shown, shown_at = len(lines), time.monotonic()
            yield FirstLines(lines[:], row, which, is_whole=False, note=note)  # a copy: the list will grow
    is_whole = len(lines) < trace_pages.PAGE_ROWS
    yield FirstLines(lines, row, which, is_whole=is_whole, is_unindexed=is_unindexed, note=note)
    if not is_whole:
        yield from _find_pages(db, which, behind=lines[-1].id)


def _find_pages(db: sqlite3.Connection, which: Selection, *, behind: str) -> Iterator[Length]:
    marks, shown_at = [behind], time.monotonic()
    for mark in trace_pages.marks(db, which, behind=behind):
        marks.append(mark)
        if time.monotonic() - shown_at > SHOW_EVERY_S:
            shown_at = time.monotonic()
            yield Length(len(marks) * trace_pages.PAGE_ROWS, marks[:], is_final=False)
    rows = len(marks) * trace_pages.PAGE_ROWS + trace_pages.rest(db, which, behind=marks[-1])
    yield Length(rows, marks, is_final=True)


def read_pages(db: sqlite3.Connection, which: Selection, wanted: tuple[tuple[int, str], ...]) -> Iterator[Page]:
    """Yield the requested pages; ``wanted`` contains the number of each page and the id after which it begins."""
    for number, before in wanted:
        yield Page(number, trace_pages.page(db, which, before=before))


def read_news(
    db: sqlite3.Connection, which: Selection, *, row: int, seen: tuple[tuple[int, str], ...], head: int
) -> Iterator[Arrived | Page]:
    """Yield the traces written after the database row ``row``, and the current state of lines already displayed.

    The lines that are read again are the newest ``head`` lines and the visible pages. ``seen`` has the number of each
    visible page and the id after which it begins.
    """
    newest = trace_pages.last_row(db)
    # One more than allowed, so that the screen notices that there are too many.
    lines = trace_pages.written_since(db, which, after=row, limit=MOST_ARRIVALS + 1) if newest > row else []
    fresh = trace_pages.page(db, which, limit=min(trace_pages.PAGE_ROWS, head)) if head else []
    yield Arrived(lines, newest, fresh)
    yield from read_pages(db, which, seen)


def types_today(state_dir: str, trace_ids: Sequence[str]) -> dict[str, str]:
    """Judge prompts by the rules as they are saved now; see ``why.task_types_today`` for what is returned."""
    from workbench.coverage.why import task_types_today
    from workbench.replay.corpus import opened

    with opened(state_dir) as corpus:
        return task_types_today(corpus, trace_ids)


def label_queue(db: sqlite3.Connection) -> Queue:
    """Return the queue of prompts without a label, beginning with those whose labels would help most."""
    from storage.traces import labels
    from workbench.gate import queue

    ordered = queue.order(labels.candidates(db, limit=CANDIDATES))[:LONGEST_QUEUE]
    lines = trace_pages.lines(db, [one.id for one in ordered])
    return Queue(lines, trace_pages.last_row(db), {one.id: one.why for one in ordered})


def chosen_trace(db: sqlite3.Connection, trace_id: str, with_session: bool) -> ChosenTrace:
    """Return the trace ``trace_id`` with its labels and sources, and its session if ``with_session`` is true."""
    trace: dict[str, Any] | None = None
    with contextlib.suppress(queries.UnknownTraceError):
        trace = queries.show(db, trace_id)
        trace["label_history"] = trace_pages.label_history(db, trace_id)
        trace["sources"] = trace_pages.sources(db, str(trace["rules_hash"]))
    session = trace_pages.session(db, trace["session_id"]) if trace and with_session else []
    return ChosenTrace(trace, session)


def completion_values(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the values of each filter field that occur in the newest traces, most frequent first, for completion."""
    values = {field: _values(db, HOW_MANY_OF_EACH.format(column=column)) for field, column in COMPLETED.items()}
    return {**values, "guardrail": _values(db, WHICH_GUARDRAILS)}


def _values(db: sqlite3.Connection, query: str) -> tuple[str, ...]:
    return tuple(str(row["value"]) for row in db.execute(query))
