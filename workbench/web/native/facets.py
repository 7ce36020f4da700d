"""Make facets and word search on Datasette's page of recorded prompts fast, even with a million prompts.

Facets (the values of a column with their numbers of prompts) are read from precomputed sums, which have only a few
thousand rows. Datasette counts the prompts itself if the sums are incomplete or do not cover all filters of the page.

Datasette's own search collects every match before it shows one. Here the word index is read from the newest prompt on
and only as far as needed, so that a search for a word that is in every prompt takes no longer than for a rare one.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any, cast

from datasette.facets import ColumnFacet
from datasette.filters import FilterArguments
from datasette.utils import path_with_added_args, path_with_removed_args

from storage.metrics import rollups
from storage.traces import search
from workbench.web.reading.history import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = tuple[str, int]
    from datasette.utils.asgi import Request

SUMMED = {
    "traces": ("prompts_by_class", {name: name for name in (
        "origin", "host", "status", "task_type", "search_intent", "workflow", "rules_hash",
    )}),
    "trace_guardrails": ("prompts_by_day where facet = 'guardrail'", {"guardrail_id": "value"}),
}  # fmt: skip
"""By table: the SQL source of its precomputed sums, and the names that the table's columns have in it."""
LOOKUPS = {"": "=", "exact": "=", "not": "<>"}
HOW_MANY = """
    select {0}, sum(prompts) as prompts from (select * from {1}) where {2}
    group by {0} order by prompts desc, {0} limit {3:d}
"""
CHANGES_THE_ROWS = ("_where", "_search", "_through", "_filter")
MOST_FOUND = 1_000  # newest matches of a search, so that a word that is in every prompt costs little
WHICH_HOLD_THE_WORDS = f"""id in (
    select trace_numbers.trace_id from trace_numbers where trace_numbers.number in (
        select rowid from prompts_fts where prompts_fts match :searched_words order by rowid desc limit {MOST_FOUND}
    )
)"""
NOTHING = '""'  # a full-text query that matches no prompt
PART = re.compile(r'"([^"]*)"?|(\S+)')  # a phrase in quotes, whose last one may still be missing, or a word


class SummedFacet(ColumnFacet):  # type: ignore[misc]  # Datasette is untyped
    """A replacement for Datasette's ``ColumnFacet`` that reads the counts from precomputed sums, if these suffice."""

    async def facet_results(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the facets in Datasette's form, and the names of the columns for which counting took too long."""
        columns = [one["config"].get("column") or one["config"]["simple"] for one in self.get_configs()]
        chosen = self._chosen()
        if not columns or chosen is None or not set(columns) <= set(self._sums()[1]):
            return await self._counted()
        found = await self._summed(columns, chosen)
        if found is None:
            return await self._counted()
        sources = [one["source"] for one in self.get_configs()]
        return [self._as_json(*one) for one in zip(columns, sources, found, strict=True)], []

    async def _counted(self) -> tuple[list[dict[str, Any]], list[str]]:
        return cast("tuple[list[dict[str, Any]], list[str]]", await super().facet_results())

    def _sums(self) -> tuple[str, dict[str, str]]:
        """Return the SQL source of the sums for the page's table, and a mapping from its columns to those of the sums.

        Both are empty if there are no sums for the table.
        """
        history = find(self.ds)
        is_ours = history is not None and self.database == history.database.name
        return SUMMED.get(self.table, ("", {})) if is_ours else ("", {})

    def _chosen(self) -> list[tuple[str, str]] | None:
        """Return the page's filters as SQL conditions with their values; None if the sums cannot express a filter."""
        chosen, known = [], self._sums()[1]
        for key, value in self.get_querystring_pairs():
            column, _, lookup = key.partition("__")
            if column in known and lookup in LOOKUPS:
                chosen.append((f"{known[column]} {LOOKUPS[lookup]} ?", value))
            elif not key.startswith("_") or key.startswith(CHANGES_THE_ROWS):
                return None  # other parameters with "_" only sort, page or choose columns
        return chosen

    async def _summed(self, columns: Sequence[str], chosen: Sequence[tuple[str, str]]) -> list[list[Row]] | None:
        source, known = self._sums()
        where = " and ".join(["true", *(condition for condition, _value in chosen)])
        # One value more than is shown tells that the list was cut off.
        values, limit = [value for _condition, value in chosen], self.get_facet_size() + 1

        def counted(db: sqlite3.Connection) -> list[list[Row]] | None:
            if rollups.waiting(db):  # the sums do not contain these prompts yet, so Datasette counts itself
                return None
            return [
                [tuple(row) for row in db.execute(HOW_MANY.format(known[column], source, where, limit), values)]
                for column in columns
            ]

        try:
            return cast("list[list[Row]] | None", await self.ds.get_database(self.database).execute_fn(counted))
        except sqlite3.Error:  # it took too long
            return None

    def _as_json(self, column: str, source: str, rows: list[Row]) -> dict[str, Any]:
        size = self.get_facet_size()
        return {
            "name": column,
            "type": self.type,
            "hideable": source != "metadata",
            "toggle_url": self.ds.urls.path(path_with_removed_args(self.request, {"_facet": column})),
            "results": [self._value(column, *row) for row in rows[:size]],
            "truncated": len(rows) > size,
        }

    def _value(self, column: str, value: str, count: int) -> dict[str, Any]:
        pairs = self.get_querystring_pairs()
        selected = {key: value for key in (column, f"{column}__exact") if (key, value) in pairs}
        toggle = path_with_removed_args if selected else path_with_added_args
        path = toggle(self.request, selected or {column: value})
        address = self.ds.absolute_url(self.request, self.ds.urls.path(path))
        return {"value": value, "label": value, "count": count, "toggle_url": address, "selected": bool(selected)}


def with_summed_facets(classes: Sequence[Sequence[type]]) -> list[list[type]]:
    """Return the facet classes of all plugins, with Datasette's ``ColumnFacet`` replaced by ``SummedFacet``."""
    return [[SummedFacet if one is ColumnFacet else one for one in own] for own in classes]


def filtered(request: Request) -> FilterArguments:
    """Return the SQL condition, and its description for the reader, for a search (the URL parameter ``_search``).

    There is no condition if there are no words.
    """
    words = request.args.get("_search") or ""
    box = {"supports_search": True, "search": words}
    if not words:
        return FilterArguments([], extra_context=box)
    sentence = f'where the prompt holds "{words}", of the newest {MOST_FOUND:,} that do'
    return FilterArguments([WHICH_HOLD_THE_WORDS], {"searched_words": searched(words)}, [sentence], box)


def searched(words: object) -> str:
    """Return the full-text query for the words that a user typed, or a query that matches nothing if there are none.

    A typed word matches whole words only, which takes a hundredth of the time of matching the beginnings of words.
    Typed with a star, ``word*`` also matches longer words that begin with it.
    """
    parts = (found[1] or found[2] or "" for found in PART.finditer(str(words or "")))
    tokens = ((search.TOKEN.findall(part), "*" * part.endswith("*")) for part in parts)
    return " ".join(f'"{" ".join(found)}"{star}' for found, star in tokens if found) or NOTHING
