"""Insert imported traces, which no hook call of this installation recorded: in batches, each once, without spool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage import traces
from storage.base.turns import transaction
from storage.traces.intake import UNACCEPTABLE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    Tables = dict[str, traces.Rows]

WHICH_OF_A_SESSION = "select id, origin, status, prompt_hmac from traces where session_id = :session_id"
WHICH_AT_A_MOMENT = "select id, prompt_hmac from traces where id >= :moment and id < :moment || 'g'"
IS_IT_THERE = "select 1 from traces where id = :id"


def of_a_session(db: sqlite3.Connection, session_id: str) -> list[sqlite3.Row]:
    """Return id, origin, status and prompt_hmac of a session's traces; ``session_id`` in its stored form."""
    return db.execute(WHICH_OF_A_SESSION, {"session_id": session_id}).fetchall()


def at_a_moment(db: sqlite3.Connection, moment: str) -> list[tuple[str, str]]:
    """Return id and prompt_hmac of the traces whose id begins with the 14 hex digits ``moment``."""
    return [(row[0], row[1]) for row in db.execute(WHICH_AT_A_MOMENT, {"moment": moment})]


def add(db: sqlite3.Connection, batch: Sequence[Tables]) -> tuple[int, int]:
    """Insert the traces that are missing in one transaction; return how many were added and how many rejected.

    Each element of ``batch`` holds the rows of one trace, by table in the order of ``traces.TABLES``, parents first.
    Raises sqlite3.Error if the database cannot be written.
    """
    try:
        with transaction(db):
            added = sum(_put(db, tables) for tables in batch)
    except UNACCEPTABLE:
        if len(batch) == 1:
            return 0, 1
        counts = [add(db, [single]) for single in batch]
        return sum(one for one, _ in counts), sum(refused for _, refused in counts)
    return added, 0


def _put(db: sqlite3.Connection, tables: Tables) -> bool:
    if db.execute(IS_IT_THERE, {"id": tables["traces"][0][0]}).fetchone():
        return False
    for table, rows in tables.items():
        if rows:
            db.executemany(traces.insertion(table, traces.TABLES[table]), rows)
    return True
