"""A Datasette over a history, and its pages as a test reads them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette


async def over(path: str | Path, *, is_immutable: bool = False) -> Datasette:
    """Return a started Datasette over that database file."""
    served = datasette_over(str(path), is_immutable=is_immutable)
    await served.invoke_startup()
    return served


async def page(served: Datasette, path: str) -> str:
    """Return the text of one of our pages."""
    return str((await served.client.get(f"/-/enricher/{path}")).text)


async def data(served: Datasette, path: str) -> Any:
    """Return the data of one of our pages."""
    return (await served.client.get(f"/-/enricher/{path}")).json()


def words(text: str) -> str:
    """Return what a person reads of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
