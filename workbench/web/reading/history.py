"""Find the database of recorded prompts (the history) among those that a Datasette serves, and query it.

It is either the live history of this machine, or a snapshot of one that was written to be shown to others.
"""

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
# Two names, because a database of another program may have a table ``traces``, too.
IS_IT_OURS = """
    select count(*) = 2 from sqlite_master where type = 'table' and name in ('traces', 'prompts_by_day')
"""
WHAT_WAS_PUBLISHED = "select at, text, prompts, since, until from published"
LABEL_PROMPT = "label-prompt"  # Datasette's permission to label prompts of the live history
PAGE_LIMIT_MS = 5_000  # then a query for a page is interrupted, because only two threads run these queries


@dataclass(frozen=True, slots=True)
class Publication:
    """The description of a snapshot, which is stored in its table ``published``.

    ``at`` is when it was written, and ``text`` how texts were treated: "redacted", "hash" (left out) or "full".
    ``prompts`` is the number of its prompts, which were recorded from ``since`` to ``until``.
    """

    at: str
    text: str
    prompts: int
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class History:
    """The database of recorded prompts that Datasette serves; ``publication`` is None if it is the live history."""

    datasette: Datasette
    database: Database
    publication: Publication | None

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Call ``question`` with a connection, in a thread of Datasette, and return its result.

        Raises sqlite3.OperationalError if a query takes longer than ``PAGE_LIMIT_MS``.
        """
        from datasette.utils import sqlite_timelimit

        def asked(db: sqlite3.Connection) -> T:
            with sqlite_timelimit(db, PAGE_LIMIT_MS):
                return question(db)

        return cast("T", await self.database.execute_fn(asked))

    def path(self, where: str = "") -> str:
        """Return the address of one of our pages; ``where`` is a name like "traces", or empty for the home page."""
        return str(self.datasette.urls.path(f"/-/enricher{'/' * bool(where)}{where}"))

    def session(self, identity: str) -> str:
        """Return the address of a session's page; the session id is encoded, because clients may use any text."""
        from datasette.utils import tilde_encode

        return self.path(f"session/{tilde_encode(identity)}")

    def tables(self) -> str:
        """Return the address of Datasette's own page of the database, which lists its tables and queries."""
        return str(self.datasette.urls.database(self.database.name))

    def table(self, name: str) -> str:
        """Return the address of Datasette's own page of a table or view of the database."""
        return str(self.datasette.urls.table(self.database.name, name))

    @property
    def keeps_text(self) -> bool:
        """Return whether the database has the texts of prompts; False only for a snapshot written without them."""
        return self.publication is None or self.publication.text != "hash"

    async def is_allowed(self, request: Request, action: str = "view-database", *, default: bool = True) -> bool:
        """Return whether Datasette's permissions allow the reader who sends ``request`` this action on the database.

        Datasette 0.65 uses ``default`` if none of its rules is about the action. For 1.0, the plugin has a rule of its
        own instead, in ``permission_resources_sql``.
        """
        if hasattr(self.datasette, "permission_allowed"):  # Datasette 0.65
            name = self.database.name
            return bool(await self.datasette.permission_allowed(request.actor, action, resource=name, default=default))
        from datasette.resources import DatabaseResource

        resource = DatabaseResource(database=self.database.name)
        return bool(await self.datasette.allowed(action=action, resource=resource, actor=request.actor))

    async def may_label(self, request: Request) -> bool:
        """Return whether the reader who sends ``request`` may label prompts.

        Everybody may in a snapshot, because it is not changed: the label is sent to the reader as a file.
        """
        if self.publication:
            return True
        return await self.is_allowed(request, LABEL_PROMPT, default=bool(request.actor))


def find(datasette: Datasette) -> History | None:
    """Return the first database of recorded prompts that is served; None if there is none.

    Whether a database has recorded prompts is remembered, so that its file is opened only once to find out.
    """
    for database in datasette.databases.values():
        known = getattr(database, "_enricher_history", None)
        if known is None and database.path:
            known = _inspected(datasette, database)
            database._enricher_history = known or False  # noqa: SLF001 (False: inspected, and not ours)
        if known:
            return cast("History", known)
    return None


def _inspected(datasette: Datasette, database: Database) -> History | None:
    # A connection of its own: Datasette's can only be used in functions that are awaited.
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
