"""The columns that a table's page shows unless the reader chooses others: those that fit a screen.

Datasette has no setting for them, only its parameter ``_col``, which is added here to the requests for wide tables.
Addresses of data (``.json``, ``.csv``) are left as they are: they have all columns unless they name some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from datasette.utils import path_with_added_args

from workbench.web.native.description import source
from workbench.web.reading.history import find

if TYPE_CHECKING:
    from datasette.app import Datasette
    from datasette.utils.asgi import Request

    from workbench.web.native.query_processes import App
    from workbench.web.reading.history import History

CHOOSES = "_col"
EVERY_COLUMN = "_every_column"
"""The parameter with which a table's page shows all of its columns."""


def of(table: str) -> tuple[str, ...]:
    """Return the usual columns of a wide table beside its primary key; empty if all of them are shown."""
    return tuple(source()["tables"].get(table, {}).get("shown", ()))


def all_columns(history: History, table: str, request: Request) -> str:
    """Return the address of the same page with all columns; empty if it has them."""
    if not of(table) or EVERY_COLUMN in request.args:
        return ""
    return str(path_with_added_args(request, {CHOOSES: None, EVERY_COLUMN: "1"}, path=history.table(table)))


def with_usual_columns(app: App, datasette: Datasette) -> App:
    """Return the application wrapped so that the pages of wide tables show their usual columns."""

    async def answer(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await app(await _narrowed(datasette, scope), receive, send)

    return answer


async def _narrowed(datasette: Datasette, scope: dict[str, Any]) -> dict[str, Any]:
    """Return the scope of the request, with ``_col`` if it is for the page of a wide table and names no columns."""
    folder, _, table = str(scope.get("path", "")).rpartition("/")
    columns = of(table) if scope["type"] == "http" else ()
    history = find(datasette) if columns else None
    if history is None or not folder or not history.tables().endswith(folder):  # a proxy may take the base URL away
        return scope
    asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if {name for name, _value in asked} & {CHOOSES, EVERY_COLUMN}:
        return scope
    known = set(await history.database.table_columns(table))  # a snapshot of an earlier version may lack some
    query = urlencode([*asked, *((CHOOSES, column) for column in columns if column in known)])
    return {**scope, "query_string": query.encode("latin-1")}
