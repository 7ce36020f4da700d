"""Read what the Traces screen shows, in its threads, and post it in pieces: the list, new traces, the selected trace.

Nothing here touches a widget. Each message carries the number of the run that sent it, so that the screen can ignore
messages of earlier runs.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

from storage.traces import queries, search, trace_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from storage.traces.selection import Selection
    from storage.traces.trace_pages import TraceLine

    Post = Callable[[Message], object]

FIRST_LINES = 60
"""Number of rows that are posted first; it fills most terminals, so that nobody has to wait for a whole page."""
POST_FIRST_S, POST_EVERY_S = 0.02, 0.05  # a slow filter posts what it has found after 20 ms, then every 50 ms
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


@dataclass
class FirstLines(Message):
    """Sent when the first lines of the list have been found.

    ``row`` is the database row number of the trace that was written last, and ``which`` the selection as it was
    executed. ``is_whole`` means that the list has no further lines, ``is_unindexed`` that the search words were looked
    up without the word index, and ``note`` is a remark for the user.
    """

    run: int
    lines: list[TraceLine]
    row: int
    which: Selection
    is_whole: bool
    is_unindexed: bool = False
    note: str = ""


@dataclass
class Queue(Message):
    """Sent when the queue of prompts to label has been read.

    ``row`` is the database row number of the trace that was written last; ``whys`` maps each trace id to the reason why
    a label for that trace would help.
    """

    run: int
    lines: list[TraceLine]
    row: int
    whys: dict[str, str]


@dataclass
class Length(Message):
    """Sent while the rows of the list are counted, with the number found so far.

    ``marks`` contains the id of the last trace of each page.
    """

    run: int
    rows: int
    marks: list[str]
    is_final: bool


@dataclass
class TypesToday(Message):
    """Sent when prompts of the list have been judged by today's rules; see ``why.task_types_today``."""

    run: int
    task_types: dict[str, str]


@dataclass
class Page(Message):
    """Sent when a requested page of the list has been read; ``number`` is the number of the page."""

    run: int
    number: int
    lines: list[TraceLine]


@dataclass
class Arrived(Message):
    """Sent when the traces that were written after the list was read have been found.

    ``row`` is the database row number of the trace that was written last, and ``fresh`` has the current state of lines
    that were read before.
    """

    run: int
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


def read_list(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, sort: str) -> None:
    """Post the first lines of the list as soon as they are found, then the id of the last row of each page.

    If ``sort`` is another order than "newest", only the first lines in that order are posted.
    """
    row = trace_pages.last_row(db)
    if sort != "newest":
        post(FirstLines(run, trace_pages.ranking(db, which, by=sort), row, which, is_whole=True))
        return
    if which.words and search.waiting(db) <= SOON_INDEXED:
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes: a slow search finds the same
            search.catch_up(db)
    which = search.with_index(which, db)  # after catching up: only a complete index is used
    is_unindexed = bool(search.expression(which.words)) and not which.match
    note = BEING_INDEXED if is_unindexed else ""
    lines: list[TraceLine] = []
    posted, posted_at = 0, time.monotonic()
    for line in trace_pages.stream(db, which):
        lines.append(line)
        is_due = time.monotonic() - posted_at > (POST_EVERY_S if posted else POST_FIRST_S)
        if is_due or (not posted and len(lines) == FIRST_LINES):
            posted, posted_at = len(lines), time.monotonic()
            post(FirstLines(run, lines[:], row, which, is_whole=False, note=note))  # a copy: this thread adds to it
    is_whole = len(lines) < trace_pages.PAGE_ROWS
    post(FirstLines(run, lines, row, which, is_whole=is_whole, is_unindexed=is_unindexed, note=note))
    if not is_whole:
        _find_pages(db, post, run=run, which=which, behind=lines[-1].id)


def _find_pages(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, behind: str) -> None:
    marks, posted_at = [behind], time.monotonic()
    for mark in trace_pages.marks(db, which, behind=behind):
        marks.append(mark)
        if time.monotonic() - posted_at > POST_EVERY_S:
            posted_at = time.monotonic()
            post(Length(run, len(marks) * trace_pages.PAGE_ROWS, marks[:], is_final=False))
    rows = len(marks) * trace_pages.PAGE_ROWS + trace_pages.rest(db, which, behind=marks[-1])
    post(Length(run, rows, marks, is_final=True))


def read_pages(
    db: sqlite3.Connection, post: Post, *, run: int, which: Selection, wanted: tuple[tuple[int, str], ...]
) -> None:
    """Post the requested pages; ``wanted`` contains the number of each page and the id after which it begins."""
    for number, before in wanted:
        post(Page(run, number, trace_pages.page(db, which, before=before)))


def read_news(
    db: sqlite3.Connection,
    post: Post,
    *,
    run: int,
    which: Selection,
    row: int,
    seen: tuple[tuple[int, str], ...],
    head: int,
) -> None:
    """Post the traces written after the database row ``row``, and the current state of lines that were read before.

    The lines read again are the newest ``head`` lines and the visible pages ``seen``, which has the form of ``wanted``
    in ``read_pages``.
    """
    newest = trace_pages.last_row(db)
    # One more than allowed, so that the screen notices that there are too many.
    lines = trace_pages.written_since(db, which, after=row, limit=MOST_ARRIVALS + 1) if newest > row else []
    fresh = trace_pages.page(db, which, limit=min(trace_pages.PAGE_ROWS, head)) if head else []
    post(Arrived(run, lines, newest, fresh))
    read_pages(db, post, run=run, which=which, wanted=seen)


def judge_today(state_dir: str, post: Post, *, run: int, trace_ids: Sequence[str]) -> None:
    """Judge the prompts with these ids by the rules as they are saved now, and post the task types that differ."""
    from workbench.coverage.why import task_types_today
    from workbench.replay.corpus import opened

    with opened(state_dir) as corpus:
        post(TypesToday(run, task_types_today(corpus, trace_ids)))


def read_queue(db: sqlite3.Connection, post: Post, *, run: int) -> None:
    """Post the queue of prompts without a label, beginning with those whose labels would help most."""
    from storage.traces import labels
    from workbench.gate import queue

    ordered = queue.order(labels.candidates(db, limit=CANDIDATES))[:LONGEST_QUEUE]
    lines = trace_pages.lines(db, [one.id for one in ordered])
    post(Queue(run, lines, trace_pages.last_row(db), {one.id: one.why for one in ordered}))


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
