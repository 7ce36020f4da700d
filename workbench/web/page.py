"""What all pages use: permission checks, rendering of HTML and CSV, the 404 page, and links to static files."""

from __future__ import annotations

import csv
import io
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from datasette.utils.asgi import Forbidden, NotFound, Request, Response

from workbench.web.reading.history import History, find

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from datasette.app import Datasette

    View = Callable[[History, Request], Awaitable[Response]]


SHEETS = ("enricher.css", "pages.css")
PLACES = (
    ("", "Home"),
    ("traces", "Traces"),
    ("compare", "Compare"),
    ("instructions", "Instructions"),
    ("coverage", "Coverage"),
)
VERDICT_LOOKS = {"identical": "good", "changed": "quiet", "regressed": "bad", "inconclusive": "warn"}
"""For each verdict on a replay, the CSS class that shows it."""
DATA = "Data"
"""The menu's entry for Datasette's page of the database, which lists its questions and tables."""
CSV_TYPE = "text/csv; charset=utf-8"
STATIC = Path(__file__).parent / "plugin" / "static"
MARK_DIGITS = 10
"""Digits of the content's hash in the address of a static file, which allows browsers to keep the file for a year."""


class Top(NamedTuple):
    """The menu: address, name, and whether it is the current page; ``published_at`` is empty in the live history."""

    links: list[tuple[str, str, bool]]
    published_at: str


def shown(view: View) -> Callable[..., Awaitable[Response]]:
    """Wrap a view for Datasette: pass it the served history.

    The wrapped view raises NotFound if no history is served, and Forbidden if the reader may not see it.
    """

    async def answered(datasette: Datasette, request: Request) -> Response:
        history = find(datasette)
        if history is None:
            raise NotFound("No database of the enricher is served here.")
        if not await history.is_allowed(request):
            raise Forbidden("You may not see this database.")
        return await view(history, request)

    return answered


async def render(history: History, request: Request, template: str, *, status: int = 200, **context: Any) -> Response:
    """Return one of our pages as a response; ``place`` in the context is the address part of its menu entry."""
    sheets = [address(history.datasette, sheet) for sheet in SHEETS]
    context = {"history": history, "top": top(history, context.get("place")), "sheets": sheets, **context}
    body = await history.datasette.render_template(f"enricher/{template}", context, request=request)
    return Response.html(body, status=status)


async def missing(history: History, request: Request, *, what: str, why: str) -> Response:
    """Return a 404 page that shows what is missing (``what``), and why or what to do (``why``)."""
    return await refusal(history, request, status=404, what=what, why=why)


async def refusal(history: History, request: Request, *, status: int, what: str, why: str) -> Response:
    """Return a page with this HTTP status that shows what is wrong (``what``), and why or what to do (``why``)."""
    return await render(history, request, "missing.html", status=status, what=what, why=why)


async def not_found(history: History, request: Request, exception: Exception) -> Response:
    """Return the 404 response for an unknown address: JSON for .json, plain text for .csv, otherwise a page."""
    message = str(exception)
    what = f"Nothing is at {request.path}." if message in ("", "404") else message
    if request.path.endswith(".json"):
        return Response.json({"ok": False, "error": what, "status": 404, "title": None}, status=404)
    if request.path.endswith(".csv"):
        return Response.text(what, status=404)
    return await missing(history, request, what=what, why="The pages are named above, questions and tables under Data.")


async def top_of_datasette(history: History, request: object) -> Top | None:
    """Return the menu for one of Datasette's own pages; None if the reader may not see the history."""
    if not isinstance(request, Request) or not await history.is_allowed(request):
        return None
    return top(history, DATA)


def top(history: History, chosen: str | None) -> Top:
    """Return the menu of all pages; ``chosen`` is the address part of the current page's entry, or ``DATA``."""
    links = [(history.path(where), name, where == chosen) for where, name in PLACES]
    published_at = history.publication.at if history.publication else ""
    return Top([*links, (history.tables(), DATA, chosen == DATA)], published_at)


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """Return the rows with a header line as a CSV response."""
    return Response(csv_lines([columns, *rows]), content_type=CSV_TYPE)


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV text."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def address(datasette: Datasette, name: str) -> str:
    """Return the address of one of our static files, with a hash of its content appended."""
    return f"{datasette.urls.static_plugins('prompt-enricher', name)}?{_mark(name)}"


@cache
def _mark(name: str) -> str:
    return sha256((STATIC / name).read_bytes()).hexdigest()[:MARK_DIGITS]
