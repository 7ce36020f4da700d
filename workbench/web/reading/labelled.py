"""How often labels confirm the task types, and which task types are confused with which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.traces import line_labels
from workbench.statistics.intervals import wilson
from workbench.web import filters

if TYPE_CHECKING:
    import sqlite3

    from storage.traces.line_labels import KeepRates
    from workbench.statistics.intervals import Interval

HOW_MANY_OF_EACH = """
    select traces.task_type, case labels.verdict when 'ok' then traces.task_type else labels.task_type end as expected,
           count(*) as prompts
    from labels join traces on traces.id = labels.trace_id
    where labels.id = (select max(newer.id) from labels as newer where newer.trace_id = labels.trace_id)
    and traces.origin <> 'test'
    group by traces.task_type, expected order by prompts desc, traces.task_type, expected
"""

HAS_LINE_LABELS = "select 1 from sqlite_master where name = 'line_labels'"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Labelled prompts that got one task type and should have got another; ``expected`` is empty if none was named."""

    got: str
    expected: str
    prompts: int

    @property
    def filter(self) -> str:
        """The filter that selects exactly these prompts; empty if one of the names cannot be written in a filter."""
        named = (
            filters.part("type", self.got),
            filters.part("should", self.expected) if self.expected else "label:wrong",
        )
        return " ".join(named) if all(named) else ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """The newest label of each prompt: ``correct`` of ``prompts`` confirm the task type, the others are confusions."""

    prompts: int
    correct: int
    confusions: tuple[Confusion, ...]

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the share that is correct."""
        return wilson(self.correct, self.prompts)


def labelled(db: sqlite3.Connection) -> Labelled:
    """Return the figures of all labels in the history, the most frequent confusion first."""
    rows = [Confusion(str(got), str(expected), int(prompts)) for got, expected, prompts in db.execute(HOW_MANY_OF_EACH)]
    wrong = tuple(one for one in rows if one.got != one.expected)
    prompts = sum(one.prompts for one in rows)
    return Labelled(prompts, prompts - sum(one.prompts for one in wrong), wrong)


def judged_lines(db: sqlite3.Connection) -> KeepRates | None:
    """Return the shares of judged lines that were right; None without any, as in a snapshot of an earlier version."""
    kept = line_labels.keep_rates(db) if db.execute(HAS_LINE_LABELS).fetchone() else None
    return kept if kept and kept.total.judged else None
