"""What Datasette calls.

Every Datasette on the machine imports this: nothing here costs or changes anything where no database of ours is
served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasette import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasette.app import Datasette


@hookimpl
def register_routes(datasette: Datasette) -> list[tuple[str, Callable[..., Any]]]:
    """Add the pages under ``/-/enricher``."""
    del datasette
    from workbench.publication.routes import ROUTES

    return ROUTES


@hookimpl
def extra_css_urls(view_name: str, datasette: Datasette) -> list[str]:
    """Give the tables of a served history the looks of its pages."""
    from workbench.publication.history import find

    del view_name
    return [datasette.urls.static_plugins("prompt-enricher", "enricher.css")] if find(datasette) else []
