"""Describe the database of recorded prompts to Datasette: titles, columns with their units, and canned queries.

The descriptions are in ``metadata.yaml``. Datasette 0.65 takes all of them as metadata; 1.0 takes the queries, and the
sort order of tables, as configuration. Neither has a setting for the columns that a wide table shows at first. There is
only the URL parameter ``_col``, which is added here to requests for such a table. Requests for data (``.json``,
``.csv``) are not changed: they get all columns unless they name some.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import yaml

from workbench.web.reading.history import find

if TYPE_CHECKING:
    from datasette.app import Datasette
    from datasette.utils.asgi import Request

    from workbench.web.native.query_processes import App
    from workbench.web.reading.history import History

ORDER = ("sort_desc", "label_column", "hidden")  # keys in metadata.yaml that are configuration in Datasette 1.0
CHOOSES = "_col"
EVERY_COLUMN = "_every_column"  # our URL parameter for all columns; Datasette ignores it


def described(database: str, *, plugin: dict[str, object]) -> dict[str, Any]:
    """Return the keyword arguments with the descriptions, in the form that the installed version of Datasette expects.

    ``database`` is the name under which the file is served, and ``plugin`` the configuration of our plugin.
    """
    import datasette

    of_plugins = {"plugins": {"enricher": plugin}}
    if datasette.__version__.startswith("0."):
        return {"metadata": {**metadata(database), **of_plugins}}
    return {"metadata": metadata(database), "config": {**configuration(database), **of_plugins}}


def metadata(database: str) -> dict[str, Any]:
    """Return Datasette's metadata for the database: titles, descriptions, queries and sort orders.

    Datasette 1.0 ignores the queries and sort orders in the metadata.
    """
    written = {"title": source()["title"], "description": source()["description"]}
    tables = {name: _table(deepcopy(one)) for name, one in source()["tables"].items()}
    own = {**written, "title": "Questions and tables", "tables": tables, "queries": queries()}
    return {**written, "databases": {database: own}}


def configuration(database: str) -> dict[str, Any]:
    """Return the queries and sort orders in the form of Datasette 1.0's configuration."""
    orders = {name: {key: one[key] for key in ORDER if key in one} for name, one in source()["tables"].items()}
    sorted_tables = {name: one for name, one in orders.items() if one}
    return {"databases": {database: {"tables": sorted_tables, "queries": queries()}}}


def _table(table: dict[str, Any]) -> dict[str, Any]:
    if table.pop("shown", None):
        table["description"] += " The menu beside the title has “All columns”; the page of a row has them, too."
    return table


@cache
def source() -> dict[str, Any]:
    """Return the content of ``metadata.yaml``."""
    text = files("workbench.web.native").joinpath("metadata.yaml").read_text(encoding="utf-8")
    # CSafeLoader is seven times as fast, and missing where PyYAML was built without libyaml.
    content: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content


@cache
def queries() -> dict[str, dict[str, Any]]:
    """Return the canned queries by name; fragments of SQL that several queries share have been filled in.

    The title of each begins with its group, and the description ends with its parameters.
    """
    return {name: _query(dict(one)) for name, one in source()["queries"].items()}


def _query(query: dict[str, Any]) -> dict[str, Any]:
    typed = "; ".join(f"{name}: {source()['parameters'][name]}" for name in query.get("params", ()))
    about = f"{query['description']} Parameters: {typed}." if typed else query["description"]
    sql = query["sql"]
    for name, text in reversed(source()["fragments"].items()):  # a fragment may contain one that is defined before it
        sql = sql.replace(f"{{{name}}}", text)
    title = f"{query.pop('group')}: {query['title'][0].lower()}{query['title'][1:]}"
    return {**query, "title": title, "description": about, "hide_sql": True, "sql": sql}


def usual_columns(table: str) -> tuple[str, ...]:
    """Return the columns that a wide table shows at first, besides its primary key; empty if it shows all columns."""
    return tuple(source()["tables"].get(table, {}).get("shown", ()))


def all_columns(history: History, table: str, request: Request) -> str:
    """Return the address of the requested page of a table with all columns; empty if it shows them already."""
    if not usual_columns(table) or EVERY_COLUMN in request.args:
        return ""
    from datasette.utils import path_with_added_args

    return str(path_with_added_args(request, {CHOOSES: None, EVERY_COLUMN: "1"}, path=history.table(table)))


def with_usual_columns(app: App, datasette: Datasette) -> App:
    """Wrap an ASGI application so that pages of wide tables show only their usual columns, unless others are chosen."""

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await app(await _narrowed(datasette, scope), receive, send)

    return answer


async def _narrowed(datasette: Datasette, scope: dict[str, Any]) -> dict[str, Any]:
    """Return the ASGI scope of a request, with the usual columns added to its query string if necessary.

    They are added as ``_col`` if the request is for the page of a wide table and does not name any columns.
    """
    folder, _, table = str(scope.get("path", "")).rpartition("/")
    columns = usual_columns(table) if scope["type"] == "http" else ()
    history = find(datasette) if columns else None
    if history is None or not folder or not history.tables().endswith(folder):  # a proxy may remove the base URL
        return scope
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if {name for name, _value in parameters} & {CHOOSES, EVERY_COLUMN}:
        return scope
    known = set(await history.database.table_columns(table))  # a snapshot of an earlier version may lack some
    query = urlencode([*parameters, *((CHOOSES, column) for column in columns if column in known)])
    return {**scope, "query_string": query.encode("latin-1")}
