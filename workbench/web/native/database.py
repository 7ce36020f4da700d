"""Serve the recorded prompts as a Datasette database that stays fast with many prompts, or if a reader's SQL is slow.

For its page of the database, Datasette 0.65 counts every row of every table, which takes ten seconds for a million
uncached prompts and cannot be interrupted in SQLite. Here, as in Datasette 1.0, counts stop early. SQL that a reader
wrote runs in another process.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from datasette.database import Database, QueryInterrupted, Results

from storage.base import reader
from workbench.web.native import query_processes

if TYPE_CHECKING:
    from collections.abc import Iterable


NAMED = re.compile(r"[:@$](\w+)")


class HistoryDatabase(Database):  # type: ignore[misc]  # Datasette is untyped
    """A Datasette database that counts rows only up to ``counted_up_to``, and runs readers' SQL in other processes."""

    counted_up_to = 10_000
    readers: query_processes.QueryProcesses | None = None

    async def table_counts(self, limit: int = 10) -> dict[str, int | None]:
        """Return the number of rows of each table, or None for a table with more than ``counted_up_to`` rows.

        Only Datasette 1.0 uses ``limit``.
        """
        if hasattr(self, "count_limit"):  # Datasette 1.0, which stops counting by itself
            found: dict[str, int | None] = await super().table_counts(limit)
            return found
        names, most = await self.table_names(), self.counted_up_to
        counts: dict[str, int | None] = await self.execute_fn(
            lambda db: {name: _up_to(most, db, name) for name in names}
        )
        return counts

    async def execute(
        self,
        sql: str,
        params: Any = None,
        truncate: bool = False,  # Datasette passes it by position
        custom_time_limit: float | None = None,
        page_size: int | None = None,
        log_sql_errors: bool = True,
    ) -> Results:
        """Run a query as Datasette does, but in a separate process if the request contains SQL written by a reader."""
        if not query_processes.is_readers.get():
            return await super().execute(sql, params, truncate, custom_time_limit, page_size, log_sql_errors)
        limit_ms = min(self.ds.sql_time_limit_ms, custom_time_limit or self.ds.sql_time_limit_ms)
        most = int(self.ds.max_returned_rows) if truncate else 0
        most += most == (page_size or self.ds.page_size)  # as in Datasette: one more row shows that more follow
        # One row more than is shown tells that rows were cut off.
        question = query_processes.ReaderQuery(sql, _plain(sql, params), limit_ms, most and most + 1)
        if self.readers is None:
            address = reader.address(str(self.path)) + "&immutable=1" * (not self.is_mutable)
            self.readers = query_processes.QueryProcesses(address)
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self.readers.threads, self.readers.ask, question)
        if answer.refusal is None:
            rows, description = _as_sqlite_has_them(answer)
            return Results(rows[:most] if most else rows, bool(most) and len(rows) > most, description)
        if answer.refusal.args == ("interrupted",):
            raise QueryInterrupted(answer.refusal, sql, params)
        raise answer.refusal

    def close(self) -> None:
        """Close the database, and kill the processes that run readers' SQL."""
        if self.readers is not None:
            self.readers.close()
        super().close()


def adopt(database: Database) -> None:
    """Make ``database`` a HistoryDatabase, in place, if a plain ``datasette serve`` has opened it."""
    if type(database) is Database:
        database.__class__ = HistoryDatabase  # in place: Datasette has handed this object out already


def _plain(sql: str, params: Any) -> Any:
    """Return a query's parameters as a plain dictionary or list, which can be sent to another process.

    Datasette's own mapping cannot be sent, because it computes some values only when they are looked up.
    """
    if not isinstance(params, dict):
        return list(params or ())
    found = {}
    for name in NAMED.findall(sql):
        with suppress(KeyError):  # it only looks like a parameter, for example in a quoted text
            found[name] = params[name]
    return found


def _as_sqlite_has_them(answer: query_processes.QueryResult) -> tuple[list[sqlite3.Row], Iterable[Any]]:
    """Return the result of another process as Datasette expects it: sqlite3.Row objects and a cursor description."""
    named = ", ".join('null as "{}"'.format(name.replace('"', '""')) for name in answer.names)
    # Only a cursor can make sqlite3.Row objects; those of the other process cannot be pickled.
    with closing(sqlite3.connect(":memory:")) as db:
        cursor = db.execute(f"select {named or 'null'}")
        return [sqlite3.Row(cursor, row) for row in answer.rows], cursor.description[: len(answer.names)]


def _up_to(most: int, db: sqlite3.Connection, table: str) -> int | None:
    name = table.replace('"', '""')
    rows = int(db.execute(f'select count(*) from (select 1 from "{name}" limit {most + 1:d})').fetchone()[0])
    return rows if rows <= most else None
