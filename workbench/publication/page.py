"""What all pages share: who may see them, how they are rendered, what is said where something is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasette.utils.asgi import Forbidden, NotFound, Response

from workbench.publication import looks
from workbench.publication.history import History, find

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from datasette.app import Datasette
    from datasette.utils.asgi import Request

    View = Callable[[History, Request], Awaitable[Response]]

SHEETS = ("enricher.css", "records.css", "versions.css")
PLACES = (
    ("", "Home"),
    ("traces", "Traces"),
    ("compare", "Compare"),
    ("instructions", "Instructions"),
    ("coverage", "Coverage"),
)


def shown(view: View) -> Callable[..., Awaitable[Response]]:
    """Return the view as Datasette calls it: with the served history, for those who may see it."""

    async def answered(datasette: Datasette, request: Request) -> Response:
        history = find(datasette)
        if history is None:
            raise NotFound("No database of the enricher is served here.")
        if not await history.is_allowed(request):
            raise Forbidden("You may not see this database.")
        return await view(history, request)

    return answered


async def render(history: History, request: Request, template: str, *, status: int = 200, **context: Any) -> Response:
    """Return a page of ours; ``place`` in the context is the part of the address that its entry in the menu has."""
    sheets = [looks.address(history.datasette, sheet) for sheet in SHEETS]
    context = {"history": history, "places": PLACES, "place": None, "sheets": sheets, **context}
    body = await history.datasette.render_template(f"enricher/{template}", context, request=request)
    return Response.html(body, status=status)


async def missing(history: History, request: Request, *, what: str, why: str) -> Response:
    """Return a page (404) that says what is not there, and what to do about it."""
    return await render(history, request, "missing.html", status=404, what=what, why=why)
