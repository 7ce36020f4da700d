"""The description of the history for Datasette: titles, columns with their units, the canned queries.

0.65 reads all of it from its metadata; 1.0 reads the queries, and the sort order of tables, from its configuration.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.web.native.questions import QUESTIONS, Question
from workbench.web.native.tables import HIDDEN, TABLES, Table
from workbench.web.native.tables.remembered import PUBLISHED

TITLE = "Prompt history"
ABOUT = "What was asked of coding agents, what the enricher added, and why. Times are UTC, durations milliseconds."


def described(database: str, *, plugin: dict[str, object]) -> dict[str, Any]:
    """Return the arguments that describe the database to the installed version of Datasette."""
    import datasette

    of_plugins = {"plugins": {"enricher": plugin}}
    if datasette.__version__.startswith("0."):
        return {"metadata": {**metadata(database), **of_plugins}}
    return {"metadata": metadata(database), "config": {**configuration(database), **of_plugins}}


def metadata(database: str) -> dict[str, Any]:
    """Return titles and descriptions; for 0.65 also queries and sort orders, which 1.0 ignores in its metadata."""
    return {
        "title": TITLE,
        "description": ABOUT,
        "databases": {
            database: {
                "description": ABOUT,
                "tables": {
                    **{table.name: _words(table) | _order(table) for table in (*TABLES, PUBLISHED)},
                    **{name: {"hidden": True} for name in HIDDEN},
                },
                "queries": _queries(),
            }
        },
    }


def configuration(database: str) -> dict[str, Any]:
    """Return the queries and sort orders that Datasette 1.0 reads from its configuration."""
    orders = {table.name: _order(table) for table in (*TABLES, PUBLISHED) if _order(table)}
    hidden = {name: {"hidden": True} for name in HIDDEN}
    return {"databases": {database: {"tables": {**orders, **hidden}, "queries": _queries()}}}


def _words(table: Table) -> dict[str, Any]:
    return {"title": table.title, "description": table.about, "columns": dict(table.columns)}


def _order(table: Table) -> dict[str, str]:
    wanted = {"sort_desc": table.newest_by, "label_column": table.label}
    return {key: value for key, value in wanted.items() if value}


@cache
def _queries() -> dict[str, dict[str, Any]]:
    return {question.name: _query(question) for question in QUESTIONS}


def _query(question: Question) -> dict[str, Any]:
    typed = "; ".join(f"{name}: {meaning}" for name, meaning in question.parameters.items())
    asked = {"params": list(question.parameters)} if question.parameters else {}
    about = f"{question.about} Parameters: {typed}." if typed else question.about
    return {"title": question.title, "description": about, "hide_sql": True, "sql": question.sql.strip(), **asked}
