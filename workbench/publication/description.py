"""What Datasette is told of the history: titles, columns with their units, the canned queries."""

from __future__ import annotations

from typing import Any


def described(database: str, *, plugin: dict[str, object]) -> dict[str, Any]:
    """Return the arguments that tell a Datasette of the installed version about the database of that name.

    0.65 reads all of it from its metadata, 1.0 the queries and plugins from its configuration.
    """
    import datasette

    metadata: dict[str, Any] = {"title": "Prompt history", "databases": {database: {"tables": {}}}}
    config: dict[str, Any] = {"plugins": {"enricher": plugin}, "databases": {database: {"queries": {}}}}
    if datasette.__version__.startswith("0."):
        metadata["plugins"] = config["plugins"]
        metadata["databases"][database]["queries"] = config["databases"][database]["queries"]
        return {"metadata": metadata}
    return {"metadata": metadata, "config": config}
