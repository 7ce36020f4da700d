"""One Datasette over the history, live or a snapshot, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.publication.description import described

if TYPE_CHECKING:
    from datasette.app import Datasette

DATABASE = "history"
SETTINGS = {
    "suggest_facets": False,
    "facet_time_limit_ms": 500,
    "sql_time_limit_ms": 2000,
    "default_page_size": 50,
    "truncate_cells_html": 400,
    "allow_download": False,
    "allow_csv_stream": True,
    "num_sql_threads": 2,
}


def datasette_over(path: str, *, is_immutable: bool, plugin: dict[str, object] | None = None) -> Datasette:
    """Return a Datasette of either version that serves this one file under the name "history".

    ``plugin`` is the configuration of ours. Nothing is opened for writing.
    """
    from datasette.app import Datasette
    from datasette.database import Database

    ours = described(DATABASE, plugin=plugin or {})
    served = Datasette(memory=False, settings=SETTINGS, **ours)
    served.remove_database("_memory")
    served.add_database(Database(served, path=path, is_mutable=not is_immutable), name=DATABASE)
    return served
