"""Count how often each value occurs among selected prompts: the facets by which a list can be narrowed down.

If every column that the selection uses is also in the stored sums (``storage.metrics.rollups``), the counts are exact:
they come from the sums, to which the few prompts that are not included yet are added. Otherwise only the newest
matching prompts are counted, so that a page loads as fast with a million prompts as with a thousand; every facet says
how many prompts were counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.metrics import rollups
from storage.metrics.overview import Count
from storage.traces import search, trace_pages
from storage.traces.labels import IS_NEWEST
from storage.traces.selection import EVERYTHING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from storage.traces.selection import Selection

    Row = Sequence[str]

NEWEST = 10_000
"""Number of newest prompts to count if there are too many to count all of them.

Their guardrails and labels can be read in 0.1 s from a database of a million traces.
"""
NEWEST_WITH_WORDS = 5_000
"""The same for prompts found by a word search, which take twice as long to read: they are scattered over the table."""
LITTLE = 2_000
"""The stored sums are used if at most this many prompts are not in them yet; these prompts are counted one by one."""
COLUMNS = {
    "status": "status", "type": "task_type", "intent": "search_intent", "workflow": "workflow", "host": "host",
    "version": "rules_hash",
}  # fmt: skip
ROLLED_UP_FIELDS = frozenset({"origin", *COLUMNS.values()})
NAMED = re.compile(r"\btraces\.(\w+)")

_CLASSES = ", ".join(f"traces.{column}" for column in COLUMNS.values())
HOW_MANY_OF_EACH_CLASS = f"""
    with traces_of_class as materialized (
        select {_CLASSES}, traces.prompts from prompts_by_class as traces where {{where}}
        union all
        select {_CLASSES}, 1 from traces where traces.rowid > (select up_to from rolled_up) and {{where}}
    )
""" + " union all ".join(
    f"select '{field}', {column}, sum(prompts) from traces_of_class group by {column}"
    for field, column in COLUMNS.items()
)
HOW_MANY_HAVE_EACH_GUARDRAIL = """
    select min(value), sum(prompts) from (
        select value, prompts from prompts_by_day
        where facet = 'guardrail' and origin in ('hook', 'import')
        union all
        select own.guardrail_id, count(distinct own.trace_id)
        from traces cross join trace_guardrails as own on own.trace_id = traces.id
        where traces.rowid > (select up_to from rolled_up) and traces.origin <> 'test' group by 1
    ) group by value collate nocase
"""
HOW_MANY_HAVE_EACH_LABEL = f"""
    select labels.verdict, count(*) from labels cross join traces on traces.id = labels.trace_id
    where traces.origin <> 'test' and {IS_NEWEST}
    group by labels.verdict
"""
WHICH_GUARDRAILS_HAVE_THEY = """
    select min(guardrail_id), count(distinct own.trace_id)
    from json_each(:ids) as wanted cross join trace_guardrails as own on own.trace_id = wanted.value
    group by guardrail_id collate nocase
"""
WHICH_LABELS_HAVE_THEY = f"""
    select labels.verdict, count(*) from json_each(:ids) as wanted cross join labels on labels.trace_id = wanted.value
    where {IS_NEWEST}
    group by labels.verdict
"""
NO_LABEL = "none"


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of one field, each with the number of prompts that have it, most frequent first.

    ``prompts`` is the number of prompts counted; ``is_all`` says whether these are all matching prompts or only the
    newest. ``field`` is the name by which a filter text refers to the field (``storage.traces.selection``), as in
    ``field:value``.
    """

    field: str
    values: tuple[Count, ...]
    prompts: int
    is_all: bool


@dataclass(frozen=True, slots=True)
class Facets:
    """How often each value of several fields occurs among the selected prompts, by the name of the field.

    A prompt without a value is not counted in that facet. A prompt with several guardrails is counted for each of them.
    ``prompts`` and ``is_all`` are those of most facets; for guardrails and labels, fewer prompts may be counted.
    """

    by_field: dict[str, Facet]
    prompts: int
    is_all: bool


@dataclass(frozen=True, slots=True)
class _Counted:
    """How often each value of several fields occurs; ``is_all`` says whether all matching prompts were counted."""

    by_field: dict[str, Counter[str]]
    prompts: int
    is_all: bool

    def facet(self, field: str) -> Facet:
        counts = self.by_field[field]
        found = (Count(value, count) for value, count in counts.items() if value and count)
        ordered = sorted(found, key=lambda one: (-one.prompts, one.value))
        return Facet(field, tuple(ordered), self.prompts, self.is_all)


def facets(db: sqlite3.Connection, which: Selection) -> Facets:
    """Return the facets of the selected prompts, which are counts by value for each field.

    If the prompts are too many to count all while a page loads, only the newest are counted.
    """
    is_rolled_up = rollups.waiting(db) <= LITTLE
    classes = _by_class(db, which) if is_rolled_up and _is_rolled_up(which) else None
    if classes and which.where == EVERYTHING.where:
        questions = HOW_MANY_HAVE_EACH_GUARDRAIL, HOW_MANY_HAVE_EACH_LABEL
        beside = _child_counts(db, questions, classes.prompts, is_all=True)
    else:
        sample, is_all = _newest(db, which, NEWEST_WITH_WORDS if which.words else NEWEST)
        classes = classes or _of_rows([row[1:] for row in sample], is_all=is_all)
        ids, questions = [row[0] for row in sample], (WHICH_GUARDRAILS_HAVE_THEY, WHICH_LABELS_HAVE_THEY)
        beside = _child_counts(db, questions, len(ids), ids=ids, is_all=is_all)
    found = {field: counted.facet(field) for counted in (classes, beside) for field in counted.by_field}
    return Facets(found, classes.prompts, classes.is_all)


def _is_rolled_up(which: Selection) -> bool:
    # A subquery reads other tables than the sums.
    return "select" not in which.where and set(NAMED.findall(which.where)) <= ROLLED_UP_FIELDS


def _by_class(db: sqlite3.Connection, which: Selection) -> _Counted:
    by_field: dict[str, Counter[str]] = {field: Counter() for field in COLUMNS}
    query = HOW_MANY_OF_EACH_CLASS.format(where=f"({which.where})")
    for field, value, prompts in db.execute(query, which.parameters):
        by_field[field][value] = prompts
    return _Counted(by_field, by_field["status"].total(), is_all=True)


def _newest(db: sqlite3.Connection, which: Selection, most: int) -> tuple[list[Row], bool]:
    """Return the newest ``most`` of the selected prompts, and whether these are all of the selected prompts.

    Each row has the prompt's id and its values of the facets.
    """
    body, named = trace_pages.newest_first(db, search.with_index(which, db), few=most)
    cursor = db.cursor()
    cursor.row_factory = None  # plain tuples take half the time
    # One row more than wanted shows that there are more.
    found = cursor.execute(f"select traces.id, {_CLASSES} {body} limit :most", {**named, "most": most + 1}).fetchall()
    return found[:most], len(found) <= most


def _of_rows(rows: Iterable[Row], *, is_all: bool) -> _Counted:
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)  # without rows, ``zip`` yields no columns
    by_field = {field: Counter(column) for field, column in zip(COLUMNS, columns, strict=True)}
    return _Counted(by_field, len(columns[0]), is_all)


def _child_counts(
    db: sqlite3.Connection, questions: tuple[str, str], prompts: int, *, ids: Sequence[str] = (), is_all: bool
) -> _Counted:
    """Count the guardrails and the labels of prompts with the two queries in ``questions``, one for each.

    ``ids`` are the prompts to count if the queries have a parameter for them; otherwise they count all prompts.
    ``prompts`` is the number of prompts counted; those without a label are counted as ``NO_LABEL``.
    """
    guardrails, labels = (_counts(db, query, {"ids": json.dumps(ids)}) for query in questions)
    labels[NO_LABEL] = prompts - labels.total()
    return _Counted({"guardrail": guardrails, "label": labels}, prompts, is_all)


def _counts(db: sqlite3.Connection, query: str, named: dict[str, str]) -> Counter[str]:
    return Counter({str(row[0]): int(row[1]) for row in db.execute(query, named)})
