"""Store users' labels, which say whether a prompt was classified correctly, and list prompts that could get a label.

A prompt can have several labels; the newest one counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.base import fast_stdlib

if TYPE_CHECKING:
    import sqlite3

    Row = dict[str, object]

VERDICTS = ("ok", "wrong")
"""The two labels that only judge the task type of a prompt; any other label is the name of the correct task type."""

IS_NEWEST = "labels.id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id)"
"""The condition on a row of ``labels`` that it is the newest label of its trace."""
LABEL_THE_TRACE = """
    insert into labels (trace_id, labelled_at, verdict, task_type)
    values (:id, :labelled_at, :verdict, :task_type)
"""
TAKE_THE_LABEL_BACK = """
    delete from labels where id = (
        select max(id) from labels
        where trace_id = :id and labelled_at = :labelled_at and verdict = :verdict and task_type = :task_type
    )
"""
WHAT_WAS_THE_LABEL = "select verdict, task_type, labelled_at from labels where trace_id = :id order by id desc limit 1"
# The text of a prompt is empty if the setting ``log`` keeps no texts.
WHICH_CAN_HAVE_A_LABEL = """
    select traces.id, traces.session_id, traces.prompt, traces.task_type, traces.confidence,
           (select score from trace_scores
            where trace_id = traces.id and facet = 'task_type' and name = traces.task_type) as best,
           (select max(score) from trace_scores
            where trace_id = traces.id and facet = 'task_type' and name <> traces.task_type) as second,
           exists (select 1 from labels where labels.trace_id = traces.id) as is_labelled
    from traces
    where traces.origin <> 'test' and traces.status not in ('skipped', 'error') and trim(traces.prompt) <> ''
    order by traces.id desc limit :limit
"""


@dataclass(frozen=True, slots=True)
class LabelCandidate:
    """A classified prompt that a user could label.

    ``margin`` is the difference in points between the chosen task type and the next best one.
    """

    id: str
    session_id: str
    prompt: str
    task_type: str
    confidence: float
    margin: float
    is_labelled: bool = False


def add(db: sqlite3.Connection, trace_id: str, verdict: str) -> Row:
    """Store a user's label for a trace ("ok", "wrong", or the correct task type); return it as a row.

    If that is its newest label already, nothing is stored, and that label is returned.
    """
    is_class = verdict not in VERDICTS
    entry: Row = {
        "id": trace_id,
        "labelled_at": fast_stdlib.utc_now(),
        "verdict": "class" if is_class else verdict,
        "task_type": verdict if is_class else "",
    }
    if is_newest(db, trace_id, verdict) and (known := newest(db, trace_id)):
        return {**entry, "labelled_at": known["labelled_at"]}
    db.execute(LABEL_THE_TRACE, entry)
    return entry


def is_newest(db: sqlite3.Connection, trace_id: str, verdict: str) -> bool:
    """Return whether ``verdict`` is already the newest label of the trace."""
    known = newest(db, trace_id)
    return known is not None and verdict == (known["task_type"] or known["verdict"])


def take_back(db: sqlite3.Connection, entry: Row) -> None:
    """Delete a label, given as the row that ``add`` returned; an earlier label of the trace then counts again."""
    db.execute(TAKE_THE_LABEL_BACK, entry)


def newest(db: sqlite3.Connection, trace_id: str) -> Row | None:
    """Return the newest label of the trace as a row; None if it has none."""
    row = db.execute(WHAT_WAS_THE_LABEL, {"id": trace_id}).fetchone()
    return None if row is None else dict(row)


def candidates(db: sqlite3.Connection, *, limit: int) -> list[LabelCandidate]:
    """Return up to ``limit`` prompts that a user could label, newest first.

    These are classified prompts whose text is stored, without those of tests.
    """
    return [
        LabelCandidate(trace_id, session, prompt, task_type, confidence or 0.0, _lead(best, second), bool(is_labelled))
        for trace_id, session, prompt, task_type, confidence, best, second, is_labelled in db.execute(
            WHICH_CAN_HAVE_A_LABEL, {"limit": limit}
        )
    ]


def _lead(best: float | None, second: float | None) -> float:
    return max(0.0, (best or 0.0) - (second or 0.0))
