"""Define the functions (plugin hooks) that Datasette calls to show the recorded prompts.

Every Datasette in this Python environment imports the module, so the functions change nothing unless a database of
recorded prompts is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from datasette import hookimpl

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Generator

    from datasette.app import Datasette
    from datasette.filters import FilterArguments
    from datasette.permissions import Action, PermissionSQL
    from datasette.utils.asgi import Request
    from jinja2 import Environment
    from markupsafe import Markup

    from workbench.web.charts import Chart
    from workbench.web.reading.history import History


@hookimpl
def startup(datasette: Datasette) -> None:
    """Turn the database of recorded prompts into a HistoryDatabase if a plain ``datasette serve`` has opened it."""
    if history := _history(datasette):
        from workbench.web.native import database

        database.adopt(history.database)


@hookimpl
def register_routes(datasette: Datasette) -> list[tuple[str, Callable[..., Any]]]:
    """Return the addresses under ``/-/enricher`` with the views that answer them."""
    del datasette
    from workbench.web.pages import ROUTES

    return ROUTES


@hookimpl(optionalhook=True)
def register_actions(datasette: Datasette) -> list[Action]:
    """Register the permission to label prompts.

    Only Datasette 1.0 calls this, because 0.65 has no list of permissions.
    """
    if _history(datasette) is None:
        return []
    from datasette.permissions import Action
    from datasette.resources import DatabaseResource

    from workbench.web.reading.history import LABEL_PROMPT

    return [Action(name=LABEL_PROMPT, description="Label prompts of the history", resource_class=DatabaseResource)]


@hookimpl(optionalhook=True)
def permission_resources_sql(datasette: Datasette, actor: dict[str, Any] | None, action: str) -> PermissionSQL | None:
    """Allow every signed-in reader to label prompts, except in a snapshot or if another rule denies it.

    Only Datasette 1.0 calls this.
    """
    from workbench.web.reading.history import LABEL_PROMPT

    history = _history(datasette) if actor and action == LABEL_PROMPT else None
    if history is None or history.publication:
        return None
    from datasette.permissions import PermissionSQL

    return PermissionSQL.allow(reason="signed in to the live history")


@hookimpl
def extra_css_urls(view_name: str, datasette: Datasette) -> list[str]:
    """Return the style sheets to add to Datasette's own pages."""
    from workbench.web import page

    del view_name
    sheets = ("enricher.css", "tables.css") if _history(datasette) else ()
    return [page.address(datasette, sheet) for sheet in sheets]


@hookimpl
def extra_js_urls(view_name: str, datasette: Datasette) -> list[str]:
    """Return the script that adds names for screen readers to the controls on Datasette's own pages.

    Our pages need no script.
    """
    from workbench.web import page

    del view_name
    return [page.address(datasette, "tables.js")] if _history(datasette) else []


@hookimpl(trylast=True)
def asgi_wrapper(datasette: Datasette) -> Callable[..., Any]:
    """Wrap Datasette's application in our own handling of requests.

    Requests with SQL that a reader wrote are marked, so that this SQL runs in another process. Wide tables show only
    their usual columns. Host names and passwords are checked if the plugin's configuration says so.
    """
    from datasette.utils import StartupError

    from workbench.web.native import description, query_processes
    from workbench.web.server import guard

    try:
        asked = guard.configured(datasette.plugin_config("enricher"), base=datasette.setting("base_url"))
    except guard.ConfigurationError as error:
        raise StartupError(str(error)) from error

    # trylast makes this the outermost wrapper, so that requests to other plugins are checked, too.
    def wrapped(app: query_processes.App) -> query_processes.App:
        inner = query_processes.mark_requests(description.with_usual_columns(app, datasette))
        return guard.guarded(inner, asked) if asked else inner

    return wrapped


@hookimpl
def prepare_connection(conn: sqlite3.Connection, database: str, datasette: Datasette) -> None:
    """Add the SQL functions that the canned queries use, and limit what queries of readers can do."""
    if _served(datasette, database):  # other databases stay as they are
        from workbench.web.native import query_processes

        query_processes.add_to(conn)
        query_processes.keep_in_bounds(conn)


@hookimpl
def render_cell(
    row: sqlite3.Row, value: object, column: str, table: str | None, database: str, datasette: Datasette
) -> Markup | None:
    """Render a cell of Datasette's tables for people: an id as a link, a duration with its unit, Markdown as HTML.

    Return None if Datasette is to render the cell.
    """
    history = _served(datasette, database)
    if history is None:
        return None
    from workbench.web.native import cells

    return cells.shown(history, value, column=column, table=table, row=row)


@hookimpl
def prepare_jinja2_environment(env: Environment, datasette: Datasette) -> None:
    """Define the functions that templates of Datasette's pages call to show our menu and a canned query's chart."""
    from workbench.web import page

    async def enricher_top(request: object) -> page.Top | None:
        history = _history(datasette)
        return await page.top_of_datasette(history, request) if history else None

    def enricher_prompts_by_day(columns: list[str], rows: list[list[object]]) -> Chart | None:
        from workbench.web.pages import home

        history = _history(datasette)
        return home.prompts_by_day(history, columns, rows) if history and rows else None

    env.globals.update(enricher_top=enricher_top, enricher_prompts_by_day=enricher_prompts_by_day)


@hookimpl(wrapper=True)
def handle_exception(
    datasette: Datasette, request: Request, exception: Exception
) -> Generator[None, list[object], list[object]]:
    """Answer a request for an unknown address with our 404 page, which has links to what exists.

    It replaces Datasette's own response, because 0.65 answers with status 500 if no view raised the exception.
    """
    answers = yield
    history = _history(datasette)
    if history is None or getattr(exception, "status", None) != 404:
        return answers
    from workbench.web.page import not_found

    return [not_found(history, request, exception)]


@hookimpl
def table_actions(datasette: Datasette, database: str, table: str, request: Request) -> list[dict[str, str]]:
    """Return the links to add to the menu of a table's page: one to all columns, unless these are shown already."""
    history = _served(datasette, database)
    if request is None or history is None:  # Datasette's documentation allows for no request
        return []
    from workbench.web.native import description

    every = description.all_columns(history, table, request)
    return [{"href": every, "label": "All columns"}] if every else []


@hookimpl(trylast=True)
def filters_from_request(request: Request, database: str, table: str, datasette: Datasette) -> FilterArguments | None:
    """Return our own condition for the word search in the table ``traces``; None for other tables.

    Datasette calls this hook after all others of its kind, because it would otherwise remove the search box.
    """
    if table != "traces" or not _served(datasette, database):
        return None
    from workbench.web.native import facets

    return facets.filtered(request)


@hookimpl(wrapper=True)
def register_facet_classes() -> Generator[None, list[list[type]], list[list[type]]]:
    """Make Datasette read the facets of recorded prompts from precomputed sums, instead of counting rows."""
    classes = yield
    from workbench.web.native import facets

    return facets.with_summed_facets(classes)


def _history(datasette: Datasette) -> History | None:
    from workbench.web.reading.history import find

    return find(datasette)


def _served(datasette: Datasette, database: str) -> History | None:
    """Return the history if it is the database with this name."""
    history = _history(datasette)
    return history if history is not None and history.database.name == database else None
