"""Find the history, live or a snapshot, among the databases that a Datasette serves, and query it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from storage.base import reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasette.app import Datasette
    from datasette.database import Database
    from datasette.utils.asgi import Request

T = TypeVar("T")
IS_IT_OURS = """
    select count(*) = 2 from sqlite_master where type = 'table' and name in ('traces', 'prompts_by_day')
"""
WHAT_WAS_PUBLISHED = "select at, text, prompts, since, until from published"
LABEL_PROMPT = "label-prompt"
"""Datasette's name for the permission to label the prompts of the live history."""
PAGE_LIMIT_MS = 5_000
"""Milliseconds after which SQLite interrupts a page's query, so that it does not occupy one of two read threads."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A snapshot's description of itself: creation time, treatment of texts, number of prompts, and their period."""

    at: str
    text: str
    prompts: int
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class History:
    """One of our databases, served by Datasette; ``publication`` is None for the live history."""

    datasette: Datasette
    database: Database
    publication: Publication | None

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query in one of Datasette's read threads; raises sqlite3.OperationalError after ``PAGE_LIMIT_MS``."""
        from datasette.utils import sqlite_timelimit

        def asked(db: sqlite3.Connection) -> T:
            with sqlite_timelimit(db, PAGE_LIMIT_MS):
                return question(db)

        return cast("T", await self.database.execute_fn(asked))

    def path(self, where: str = "") -> str:
        """Return the address of our page ``where`` (empty for the home page), including the server's base URL."""
        return str(self.datasette.urls.path(f"/-/enricher{'/' * bool(where)}{where}"))

    def session(self, identity: str) -> str:
        """Return the address of a session's page; the id is encoded, because clients may use any text."""
        from datasette.utils import tilde_encode

        return self.path(f"session/{tilde_encode(identity)}")

    def tables(self) -> str:
        """Return the address of Datasette's page of the database."""
        return str(self.datasette.urls.database(self.database.name))

    def table(self, name: str) -> str:
        """Return the address of Datasette's page of a table or view."""
        return str(self.datasette.urls.table(self.database.name, name))

    @property
    def keeps_text(self) -> bool:
        """Whether the history contains texts; False for a snapshot without texts."""
        return self.publication is None or self.publication.text != "hash"

    async def is_allowed(self, request: Request, action: str = "view-database", *, default: bool = True) -> bool:
        """Return whether Datasette's permissions allow the reader this action on the database.

        ``default`` applies only to Datasette 0.65, if no rule covers the action; for 1.0, our plug-in defines the rule.
        """
        actor = request.scope.get("actor")
        if hasattr(self.datasette, "permission_allowed"):
            return bool(
                await self.datasette.permission_allowed(actor, action, resource=self.database.name, default=default)
            )
        from datasette.resources import DatabaseResource

        resource = DatabaseResource(database=self.database.name)
        return bool(await self.datasette.allowed(action=action, resource=resource, actor=actor))

    async def may_label(self, request: Request) -> bool:
        """Return whether the reader may label prompts; in a snapshot everybody may, because nothing is changed."""
        if self.publication:
            return True
        return await self.is_allowed(request, LABEL_PROMPT, default=bool(request.actor))


def find(datasette: Datasette) -> History | None:
    """Return the first served database that is ours, or None if there is none; every database is inspected once."""
    for database in datasette.databases.values():
        known = getattr(database, "_enricher_history", None)
        if known is None and database.path:
            known = _inspected(datasette, database)
            database._enricher_history = known or False  # noqa: SLF001 (False: inspected, and not ours)
        if known:
            return cast("History", known)
    return None


def _inspected(datasette: Datasette, database: Database) -> History | None:
    address = reader.address(str(database.path))
    if not database.is_mutable:
        address += "&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            if not db.execute(IS_IT_OURS).fetchone()[0]:
                return None
            has_row = db.execute("select 1 from sqlite_master where name = 'published'").fetchone()
            row = db.execute(WHAT_WAS_PUBLISHED).fetchone() if has_row else None
    except sqlite3.Error:
        return None
    return History(datasette, database, Publication(*row) if row else None)
