"""Store whether agents followed the workflows of their prompts, and read the figures for the pages.

It is measured in the transcripts of the agent clients, which the readers of a page do not have. Only the result for
each prompt is stored, no text. What was found once stays when the transcript is deleted.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

from enricher.rules.cache import NoRulesError
from storage.base import fast_stdlib
from storage.base.paced_writes import in_turn
from storage.traces import queries
from storage.traces.selection import NO_TESTS, Selection
from storage.traces.trace_pages import IN_BRIEF
from workbench.adherence import JudgedPrompt, has_plan, judged_prompts, workflows_in
from workbench.statistics.intervals import wilson
from workbench.web import filters
from workbench.web.reading.coverage_store import NEWEST_PROMPTS, enough_new

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from workbench.statistics.intervals import Interval

WITH_A_WORKFLOW = Selection(f"{NO_TESTS} and traces.workflow <> '' and traces.status <> 'skipped'")
FOLLOWED = {True: "yes", False: "no", None: "unknown"}
CHECKPOINT = {True: "reached", False: "missed", None: "unknown"}
SETTLED_S = 3600  # the age from which a prompt is measured; its agent may still be working before that
HOW_MANY_WERE_MEASURED = f"""
    select count(own.trace_id), count(*) from (
        select id from {IN_BRIEF} where {WITH_A_WORKFLOW.where} and id < :before order by id desc limit {NEWEST_PROMPTS}
    ) as newest left join workflow_adherence as own on own.trace_id = newest.id
"""
# What was found once is not replaced by "unknown", because a transcript may have been deleted in the meantime.
STORE = """
    insert into workflow_adherence (trace_id, had_plan, followed, checkpoint, measured_at)
    select id, :had_plan, :followed, :checkpoint, :at from traces where id = :trace_id
    on conflict (trace_id) do update
    set followed = excluded.followed, checkpoint = excluded.checkpoint, measured_at = excluded.measured_at
    where excluded.followed <> 'unknown' or followed = 'unknown'
"""
HOW_OFTEN_FOLLOWED = """
    select traces.workflow, own.had_plan, count(*) as prompts,
           sum(own.followed = 'yes') as followed, sum(own.followed = 'no') as not_followed,
           sum(own.checkpoint = 'reached') as reached, sum(own.checkpoint = 'missed') as missed,
           max(own.measured_at) as at
    from workflow_adherence as own join traces on traces.id = own.trace_id
    where traces.origin <> 'test'
    group by traces.workflow, own.had_plan order by own.had_plan desc, prompts desc, traces.workflow
"""


@dataclass(frozen=True, slots=True)
class WorkflowFigures:
    """How often agents followed one workflow, for prompts with a plan (``had_plan``) or without one.

    Of ``prompts``, the agent ``followed`` the workflow after some and not after others (``not_followed``); of the rest
    it is unknown. ``reached`` and ``missed`` say how often it showed, at a checkpoint, that the work is done.
    """

    workflow: str
    had_plan: bool
    prompts: int
    followed: int
    not_followed: int
    reached: int
    missed: int

    @property
    def known(self) -> int:
        """Return the number of prompts for which it is known whether the workflow was followed."""
        return self.followed + self.not_followed

    @property
    def interval(self) -> Interval:
        """Return Wilson's 95 % interval for the share of prompts whose workflow was followed."""
        return wilson(self.followed, self.known)

    def filter(self, *what: str) -> str:
        """Return the filter for these prompts, or those of them with each value in ``what``, such as "followed".

        It is empty if a filter cannot express the workflow's name.
        """
        named = filters.part("workflow", self.workflow)
        values = ("plan" if self.had_plan else "no-plan", *what)
        return " ".join([named, *(f"adherence:{value}" for value in values)]) if named else ""


@dataclass(frozen=True, slots=True)
class MeasuredAdherence:
    """How often each workflow was followed, first with a plan, then without; ``at`` says when it was measured."""

    at: str
    workflows: tuple[WorkflowFigures, ...]

    @property
    def planned(self) -> tuple[int, int]:
        """Return two numbers of prompts with a plan: those whose workflow was followed, and those where it is known."""
        rows = [one for one in self.workflows if one.had_plan]
        return sum(one.followed for one in rows), sum(one.known for one in rows)

    @property
    def interval(self) -> Interval:
        """Return Wilson's 95 % interval for the share of plans that were followed."""
        return wilson(*self.planned)


def adherence(db: sqlite3.Connection) -> MeasuredAdherence | None:
    """Return the stored figures; None if nothing was measured."""
    rows = db.execute(HOW_OFTEN_FOLLOWED).fetchall()
    if not rows:
        return None
    workflows = tuple(WorkflowFigures(str(row[0]), bool(row[1]), *map(int, row[2:7])) for row in rows)
    return MeasuredAdherence(max(str(row[7]) for row in rows), workflows)


def is_due(db: sqlite3.Connection) -> bool:
    """Return whether enough of the prompts that ``measure`` would measure have not been measured yet."""
    measured, prompts = db.execute(HOW_MANY_WERE_MEASURED, {"before": _settled()}).fetchone()
    return bool(prompts - measured >= enough_new(measured))


def _settled() -> str:
    """Return an id that is larger than those of all prompts that are old enough to be measured."""
    return queries.first_id(time.time() - SETTLED_S)


def measure(
    db: sqlite3.Connection,
    cwd: str = "",
    *,
    should_stop: Callable[[], bool] = lambda: False,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> bool:
    """Measure in the transcripts how often agents followed their workflows, and store the result for each prompt.

    This is done for the newest prompts, except those of the last hour. It is unknown for those whose workflow the rules
    in the folder ``cwd`` do not have. Return whether it was measured, which needs rules. ``advance`` is called with
    the number of transcripts that were read and of all; once ``should_stop`` returns True, no more are read and nothing
    is stored. ``db`` must be in autocommit mode. Raises sqlite3.Error if the database cannot be written.
    """

    def goes_on(done: int, total: int) -> bool:
        advance(done, total)
        return not should_stop()

    try:
        workflows = workflows_in(cwd or os.getcwd())
    except (NoRulesError, OSError):
        return False
    before, newest_first = _settled(), queries.export(db, WITH_A_WORKFLOW, with_children=False)
    rows = list(islice(dropwhile(lambda row: str(row["id"]) >= before, newest_first), NEWEST_PROMPTS))
    judged = {one.trace_id: one for one in judged_prompts(rows, workflows, goes_on=goes_on)}
    if should_stop():
        return False
    others = (row for row in rows if row["id"] not in judged)
    unknown = [JudgedPrompt(str(row["id"]), str(row["workflow"]), has_plan(row), None) for row in others]
    in_turn(db, lambda: _store(db, [*judged.values(), *unknown]))
    return True


def _store(db: sqlite3.Connection, judged: Iterable[JudgedPrompt]) -> None:
    at = fast_stdlib.utc_now()
    for one in judged:
        criteria = one.criteria or {}  # None: no transcript has the prompt
        result = {"followed": FOLLOWED[one.is_followed], "checkpoint": CHECKPOINT[criteria.get("evidence")]}
        db.execute(STORE, {"trace_id": one.trace_id, "had_plan": one.had_plan, "at": at, **result})
