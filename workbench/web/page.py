"""Check permissions, render HTML and CSV, refuse requests, and link style sheets, for all pages of the plugin."""

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
"""The CSS class for each verdict on a replay, in which recorded prompts were evaluated again under other rules."""
DATA = "Data"
"""The menu entry that leads to Datasette's own page of the database, with its canned queries and tables."""
CSV_TYPE = "text/csv; charset=utf-8"
STATIC = Path(__file__).parent / "plugin" / "static"
HASH_DIGITS = 10  # of the hash of a file's content; it ends the address, so that browsers may keep the file for a year


class Top(NamedTuple):
    """The menu above every page: for each entry its address, its name, and whether it is the current page.

    ``published_at`` is the time at which a served snapshot was written, and empty if the live history is served.
    """

    links: list[tuple[str, str, bool]]
    published_at: str


def shown(view: View) -> Callable[..., Awaitable[Response]]:
    """Wrap ``view``, which takes the served history and a request, in a function that Datasette can call.

    The returned function raises NotFound if no history is served, and Forbidden if the reader may not see it.
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
    """Render a template as one of our pages, with the menu.

    ``place`` in the context, such as "traces", tells which entry of the menu is the current page.
    """
    sheets = [address(history.datasette, sheet) for sheet in SHEETS]
    context = {"history": history, "top": top(history, context.get("place")), "sheets": sheets, **context}
    body = await history.datasette.render_template(f"enricher/{template}", context, request=request)
    return Response.html(body, status=status)


async def refusal(history: History, request: Request, *, what: str, why: str, status: int = 404) -> Response:
    """Return a page that shows ``what`` is wrong or missing, and the reason or remedy (``why``).

    For an address that ends with .json or .csv, it is JSON or plain text, without the reason.
    """
    if request.path.endswith(".json"):
        # the keys of Datasette's own errors
        return Response.json({"ok": False, "error": what, "status": status, "title": None}, status=status)
    if request.path.endswith(".csv"):
        return Response.text(what, status=status)
    return await render(history, request, "missing.html", status=status, what=what, why=why)


async def not_found(history: History, request: Request, exception: Exception) -> Response:
    """Return the 404 response for an unknown address."""
    message = str(exception)
    what = f"Nothing is at {request.path}." if message in ("", "404") else message  # "404": Datasette found no route
    return await refusal(history, request, what=what, why="The pages are named above, questions and tables under Data.")


async def top_of_datasette(history: History, request: object) -> Top | None:
    """Return the menu to show above one of Datasette's own pages; None if the reader may not see the history."""
    if not isinstance(request, Request) or not await history.is_allowed(request):
        return None
    return top(history, DATA)


def top(history: History, chosen: str | None) -> Top:
    """Return the menu, in which the entry ``chosen`` is marked as the current page; None marks no entry.

    ``chosen`` is the end of the entry's address, or ``DATA`` for the entry "Data".
    """
    links = [(history.path(where), name, where == chosen) for where, name in PLACES]
    published_at = history.publication.at if history.publication else ""
    return Top([*links, (history.tables(), DATA, chosen == DATA)], published_at)


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Response:
    """Return the rows as a CSV response that begins with the names of the columns."""
    return Response(csv_lines([columns, *rows]), content_type=CSV_TYPE)


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows as CSV text."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def address(datasette: Datasette, name: str) -> str:
    """Return the address of the static file ``name`` of this plugin, with a hash of its content appended."""
    return f"{datasette.urls.static_plugins('prompt-enricher', name)}?{_content_hash(name)}"


@cache
def _content_hash(name: str) -> str:
    return sha256((STATIC / name).read_bytes()).hexdigest()[:HASH_DIGITS]
