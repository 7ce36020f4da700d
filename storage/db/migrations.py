"""Create the database's schema, and change that of an older database; the hook never imports this.

``schema.sql`` is the schema with the number ``database.BASE_VERSION``. Every later change is a numbered migration,
which new databases get, too::

    @migrations()
    def m027_notes_of_a_trace(db: Database) -> None:
        ...

A released migration is never changed, nor is ``schema.sql``. ``traces.SCHEMA_VERSION``, which grows with every
migration, is stored in the same transaction that applies them.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from sqlite_utils import Database, Migrations

from storage import traces
from storage.base.paced_writes import transaction

if TYPE_CHECKING:
    import sqlite3

migrations = Migrations("enricher")


def apply(connection: sqlite3.Connection) -> None:
    """Create the schema if the database is empty, then apply the migrations that it lacks in one transaction.

    Other processes wait for the transaction. ``connection`` must be in autocommit mode. ``Migrations.apply`` alone
    would open a deferred transaction, which fails if several processes start at once.
    """
    if not connection.execute("pragma user_version").fetchone()[0]:
        schema = files("storage.db").joinpath("schema.sql").read_text(encoding="utf-8")
        connection.executescript(f"begin; {schema} commit;")
    db = Database(connection, execute_plugins=False)
    with transaction(connection):
        migrations.apply(db)
        connection.execute(f"pragma user_version = {traces.SCHEMA_VERSION:d}")
