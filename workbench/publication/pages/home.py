"""The first questions: how many prompts, how often it fails, how long it takes, what it says and why it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.publication.page import render

if TYPE_CHECKING:
    import sqlite3

    from datasette.utils.asgi import Request, Response

    from workbench.publication.history import History

HOW_MANY_PROMPTS = "select coalesce(sum(prompts), 0) from prompts_by_class where origin = 'hook'"


async def view(history: History, request: Request) -> Response:
    """Answer them from the roll-ups."""
    return await render(history, request, "home.html", place="", prompts=await history.read(_prompts))


def _prompts(db: sqlite3.Connection) -> int:
    return int(db.execute(HOW_MANY_PROMPTS).fetchone()[0])
