"""Store and read violations of rules that were found in the code an agent wrote after a prompt."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from storage import traces
from storage.base import fast_stdlib
from storage.base.paced_writes import transaction
from storage.traces import queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

MOST = 500
"""The number of violations that are stored for a prompt at most; further ones are dropped."""
FORGET_THOSE_BEFORE = "delete from rule_violations where trace_id = :id"
COLUMNS = ", ".join(traces.TABLES["rule_violations"][2:])  # those besides the key
WHICH_OF_THE_TRACE = f"select {COLUMNS} from rule_violations where trace_id = :id order by position"
RESOLVE_IT = """
    update rule_violations set resolved = 1, resolution_notes = :notes, resolved_at = :at
    where trace_id = :id and position = :position
"""


@dataclass(frozen=True, slots=True)
class PromptRuleViolation:
    """A violation of a rule in an agent's code; a row of ``rule_violations`` without its trace and position.

    ``guardrails`` has the ids, separated by blanks, of guardrails that the code violates although they were added to
    the prompt. ``created_at`` and ``resolved_at`` are UTC times.
    """

    rule_id: str
    rule_name: str
    rule_domain: str
    severity: str
    file: str
    line: int
    message: str
    suggestion: str
    guardrails: str = ""
    resolved: bool = False
    resolution_notes: str = ""
    created_at: str = ""
    resolved_at: str = ""


def store(db: sqlite3.Connection, trace_id: str, found: Sequence[PromptRuleViolation]) -> None:
    """Store the violations in code that an agent wrote after a trace's prompt, in place of those stored for it before.

    Raises sqlite3.IntegrityError for a trace that does not exist, and for a value that the table does not allow.
    """
    now = fast_stdlib.utc_now()
    insertion = traces.insertion("rule_violations", traces.TABLES["rule_violations"])
    with transaction(db):
        db.execute(FORGET_THOSE_BEFORE, {"id": trace_id})
        for position, one in enumerate(found[:MOST]):
            values = astuple(replace(one, created_at=one.created_at or now))
            storable = (traces.storable(value) if isinstance(value, str) else value for value in values)
            db.execute(insertion, (trace_id, position, *storable))


def of_trace(db: sqlite3.Connection, trace_id: str) -> list[PromptRuleViolation]:
    """Return the stored violations of a trace, in the order in which they were found."""
    return [PromptRuleViolation(**queries.readable(row)) for row in db.execute(WHICH_OF_THE_TRACE, {"id": trace_id})]


def resolve(db: sqlite3.Connection, trace_id: str, position: int, *, notes: str = "") -> bool:
    """Mark one violation of a trace as resolved; return whether it exists.

    ``position`` is its number among those of the trace, counted from 0.
    """
    named = {"id": trace_id, "position": position, "notes": notes, "at": fast_stdlib.utc_now()}
    return db.execute(RESOLVE_IT, named).rowcount > 0
