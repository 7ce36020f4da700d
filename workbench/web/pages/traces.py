"""Build the list of recorded prompts: a filter, and the matching prompts page by page, also as JSON or CSV."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from datasette.utils.asgi import AsgiStream, Response

from storage.metrics import facets
from storage.traces import filter_text, search, trace_pages
from storage.traces.filter_text import FIELDS, SelectionError
from storage.traces.trace_pages import ABOVE_ALL, TraceLine
from workbench.web import filters
from workbench.web.evidence import excerpt
from workbench.web.page import CSV_TYPE, csv_lines, render

if TYPE_CHECKING:
    from datasette.utils.asgi import Request

    from storage.metrics.facets import Facet
    from workbench.web.reading.history import History

ROWS_OF_DATA = 1_000  # in a JSON response, which has a link to the next rows; a CSV response has all
COLUMNS = tuple(field.name for field in fields(TraceLine))
NAMES = {
    "type": "Task type", "intent": "Search intent", "workflow": "Workflow", "guardrail": "Guardrail",
    "status": "Status", "label": "Label", "host": "Agent client", "version": "Instructions",
}  # fmt: skip
MOST_VALUES = 8  # of each facet, such as the task type, and those that the filter selects
VERSION_DIGITS = 12  # of a hash; enough to find the version
TOO_LONG = "this filter took too long: name a shorter time, like since:2d"
PAGE_ROWS = 50
SORTS = ("newest", *trace_pages.RANKINGS)


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet, such as the task type "debug", by which a reader can narrow the list of prompts.

    ``prompts`` is the number of prompts that have it, and ``is_chosen`` whether the filter selects it. ``filter`` is
    the filter after a click: with the value added, or removed if it was chosen. It is None if filters cannot express
    the value.
    """

    value: str
    prompts: int
    filter: str | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The list that a request asks for: its filter (``text``), its order, and the id after which the page begins."""

    text: str
    sort: str
    before: str

    def query(self, **changed: str) -> str:
        """Return the query string for the same list with some values changed; values that are empty are left out."""
        named = {"q": self.text, "sort": self.sort if self.sort != SORTS[0] else "", "before": self.before, **changed}
        return urlencode({name: value for name, value in named.items() if value})


def list_query(request: Request) -> ListQuery:
    """Parse the query string of a request for the list; an unknown sort order is replaced by the default."""
    sort = request.args.get("sort") or ""
    return ListQuery(
        (request.args.get("q") or "").strip(),
        sort if sort in SORTS else SORTS[0],
        request.args.get("before") or "",
    )


async def view(history: History, request: Request) -> Response:
    """Return the page with the prompts that match the filter, and the facets with which readers can narrow it."""
    wanted, error = list_query(request), None
    shown: dict[str, Any] = {}
    try:
        found, narrower = await asyncio.gather(
            history.read(lambda db: listing(db, wanted.text, sort=wanted.sort, before=wanted.before)),
            history.read(lambda db: facets.facets(db, filter_text.parse(wanted.text))),
        )
        shown = {
            "found": found,
            "narrower": narrower,
            "facets": [
                (name, narrower.by_field[field].prompts, _values(narrower.by_field[field], wanted))
                for field, name in NAMES.items()
            ],
            "in_datasette": filters.in_datasette(wanted.text),
        }
    except SelectionError as refused:
        error = refused
    except sqlite3.OperationalError as refused:
        if "interrupted" not in str(refused):  # SQLite's word for a query that took too long
            raise
        error = SelectionError(TOO_LONG, 0, "")
    return await render(
        history, request, "traces.html",
        status=400 if error else 200,
        place="traces",
        wanted=wanted,
        error=error,
        sorts=SORTS,
        fields=FIELDS,
        excerpt=excerpt,
        first=ABOVE_ALL,
        **shown,
    )  # fmt: skip


async def rows(history: History, request: Request) -> Response | AsgiStream:
    """Return the prompts that match the filter as data: one page of them as JSON, or all of them as CSV."""
    wanted = list_query(request)
    try:  # before a CSV response begins, as its status cannot be changed then
        found = await _some(history, wanted, wanted.before)
    except SelectionError as error:
        return Response.json({"error": error.text, "at": error.position, "remedy": error.remedy}, status=400)
    if request.url_vars["format"] == "csv":
        return AsgiStream(lambda out: _stream(history, wanted, out), content_type=CSV_TYPE)
    older = f"{history.path('traces')}.json?{wanted.query(before=found.older)}" if found.older else None
    return Response.json(
        {
            "filter": wanted.text,
            "sort": wanted.sort,
            "rows": [asdict(line) for line in found.lines],
            "older": older,
        }
    )


def _values(facet: Facet, wanted: ListQuery) -> tuple[FacetValue, ...]:
    """Return the values of a facet that the page lists: the most frequent ones, and all that the filter selects."""
    found = []
    for place, one in enumerate(facet.values):
        value = one.value[:VERSION_DIGITS] if facet.field == "version" else one.value
        is_chosen = filters.has(wanted.text, facet.field, value)
        if place < MOST_VALUES or is_chosen:
            change = filters.without_part if is_chosen else filters.with_part
            after = change(wanted.text, facet.field, value) if filters.part(facet.field, value) else None
            found.append(FacetValue(value, one.prompts, after, is_chosen))
    return tuple(found)


async def _some(history: History, wanted: ListQuery, before: str) -> TracePage:
    return await history.read(lambda db: listing(db, wanted.text, sort=wanted.sort, before=before, limit=ROWS_OF_DATA))


async def _stream(history: History, wanted: ListQuery, out: Any) -> None:
    before: str | None = wanted.before
    await out.write(csv_lines([COLUMNS]))
    while before is not None:
        found = await _some(history, wanted, before)
        await out.write(csv_lines(tuple(asdict(line).values()) for line in found.lines))
        before = found.older


@dataclass(frozen=True, slots=True)
class TracePage:
    """One page of the list of prompts; ``words`` are the filter's search words.

    ``older`` and ``newer`` are the ids of the prompts after which the next and the previous page begin, or None if
    there is no such page. ``newer`` is ``ABOVE_ALL`` (greater than any id) if the previous page is the first one.
    """

    lines: list[TraceLine]
    older: str | None
    newer: str | None
    words: tuple[str, ...]


def listing(db: sqlite3.Connection, text: str, *, sort: str, before: str, limit: int = PAGE_ROWS) -> TracePage:
    """Return the page of prompts that match the filter ``text`` and follow the prompt with the id ``before``.

    If ``sort`` is an order other than by time, only the first ``trace_pages.LONGEST_RANKING`` prompts are listed.
    Raises storage.traces.filter_text.SelectionError if the filter is malformed.
    """
    which = search.with_index(filter_text.parse(text), db)
    if sort in trace_pages.RANKINGS:
        return _ranked(trace_pages.ranking(db, which, by=sort), before=before, limit=limit, words=which.words)
    lines = trace_pages.page(db, which, before=before or ABOVE_ALL, limit=limit + 1)
    newer = None
    if before:  # beyond the last prompt, there is only the way back to the first page
        newer = trace_pages.newer(db, which, than=lines[0].id, limit=limit) if lines else ABOVE_ALL
    return TracePage(lines[:limit], lines[limit - 1].id if len(lines) > limit else None, newer, which.words)


def _ranked(lines: list[TraceLine], *, before: str, limit: int, words: tuple[str, ...]) -> TracePage:
    # An id that is not in the ranking leads to its first page.
    start = next((place + 1 for place, line in enumerate(lines) if line.id == before), 0)
    newer = None
    if start:
        newer = lines[start - limit - 1].id if start > limit else ABOVE_ALL
    older = lines[start + limit - 1].id if len(lines) > start + limit else None
    return TracePage(lines[start : start + limit], older, newer, words)
