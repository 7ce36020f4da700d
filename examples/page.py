"""A page to start from: how many prompts each agent client sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from datasette.utils.asgi import Response

from workbench.web.page import render

if TYPE_CHECKING:
    import sqlite3

    from datasette.utils.asgi import Request

    from workbench.web.reading.history import History

NAME = __name__.rpartition(".")[2]
HOW_MANY_BY_HOST = """
    select host, count(*) as prompts, max(at) as last_at from traces
    where origin <> 'test' group by host order by prompts desc, host
"""


async def view(history: History, request: Request) -> Response:
    """Show the page, or its data if the address ends in .json."""
    rows = await history.read(look_up)
    if request.url_vars.get("format"):
        return Response.json({"rows": rows})
    return await render(history, request, f"{NAME}.html", place=NAME, rows=rows)


def look_up(db: sqlite3.Connection) -> list[dict[str, object]]:
    """Read the rows of the page; the connection is read-only and has a time limit."""
    return [dict(row) for row in db.execute(HOW_MANY_BY_HOST)]
