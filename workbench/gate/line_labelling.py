"""Call a line of an added text right or wrong, and take that back; used by the command, the app and the pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from storage.traces import line_labels, queries, storable
from workbench.gate import cases
from workbench.gate.cases import CasesError

if TYPE_CHECKING:
    import sqlite3

    from storage.traces.line_labels import Line, Row


def judge(db: sqlite3.Connection, trace_id: str, number: int, verdict: str, *, because: str = "") -> Row:
    """Store whether a line was right; raises UnknownLineError. The reason is redacted before it is stored."""
    judged = named(db, trace_id, line_labels.line(queries.show(db, trace_id), number))
    reason = redact(storable(" ".join(because.split())))[0]
    return line_labels.add(db, trace_id, judged, verdict, because=reason)


def named(db: sqlite3.Connection, trace_id: str, judged: Line) -> Line:
    """Return the line with the name of its approach, which the text does not contain; other lines are unchanged."""
    if judged.kind != line_labels.APPROACH or judged.rule:
        return judged
    try:
        approach = cases.case_of(db, trace_id, "ok").says.approach
    except CasesError:  # the rules of that time are not known any more
        return judged
    return replace(judged, rule=approach or "")
