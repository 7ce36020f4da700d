"""Store experiments, which compare two variants (arms) on the same prompts, and read what the hook did in each session.

Each prompt has one result per arm. An experiment that queries a language model is stored before its first call, and
each answer as soon as it arrives, so that an interrupted experiment can be continued. Other experiments are stored when
they are complete.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from storage import traces
from storage.base import fast_stdlib
from storage.base.paced_writes import transaction
from storage.traces import queries
from storage.traces.labels import IS_NEWEST

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

KEEP_THE_EXPERIMENT = """
    insert into experiments (id, at, question, arms, report, plan) values (:id, :at, :question, :arms, :report, :plan)
"""
REPLACE_THE_REPORT = "update experiments set report = :report where id = :id"
WHICH_EXPERIMENTS_ARE_KEPT = "select * from experiments order by id desc limit :limit"
WHAT_IS_THIS_EXPERIMENT = "select * from experiments where id = :id"
WHAT_CAME_OF_EACH_SESSION = f"""
    select traces.session_id,
           count(*) as prompts,
           sum(traces.status = 'shadow') as held_back,
           sum(case when traces.status = 'shadow' then 0 else traces.output_tokens end) as tokens,
           count(labels.id) as labelled,
           coalesce(sum(labels.verdict = 'ok'
               or (labels.verdict = 'class' and labels.task_type = traces.task_type)), 0) as right
    from traces left join labels on labels.trace_id = traces.id and {IS_NEWEST}
    where traces.origin = 'hook' and traces.session_id <> '' and traces.status not in ('skipped', 'error')
      and traces.at >= :since
    group by traces.session_id order by traces.session_id
"""


class UnknownExperimentError(LookupError):
    """Raised if no experiment has the given id, or if the ids of several experiments begin with it."""


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The result of one arm (variant) of an experiment for one prompt.

    ``quality`` is None if the right answer is unknown. ``violations`` is the number of rules that the response breaks,
    None if there was no response. The last four fields are set only for an arm that queries a model: the numbers of
    tokens that the endpoint reported (None if it reported none), the cost in US dollars (None if the price is unknown),
    and why the response counts as failed.
    """

    prompt_id: str
    arm: str
    task_type: str
    tokens: int
    latency_ms: float
    succeeded: bool
    quality: float | None
    violations: int | None
    text: str
    prompt_tokens: int | None = None
    response_tokens: int | None = None
    usd: float | None = None
    fault: str = ""


_RESULT_COLUMNS = tuple(column.name for column in fields(ArmResult))
KEEP_THE_RESULT = f"""
    insert into experiment_results (experiment_id, {", ".join(_RESULT_COLUMNS)})
    values (:experiment_id, {", ".join(f":{name}" for name in _RESULT_COLUMNS)}) on conflict do nothing
"""
WHAT_CAME_OF_EACH_PROMPT = f"""
    select {", ".join(_RESULT_COLUMNS)} from experiment_results where experiment_id = :id order by prompt_id, arm
"""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as it was stored; ``arms``, ``report`` and ``plan`` are plain JSON values.

    ``arms`` describes the two variants. ``plan`` has the data for continuing an experiment that queries a model; it is
    empty for other experiments.
    """

    id: str
    at: str
    question: str
    arms: dict[str, Any]
    report: dict[str, Any]
    plan: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What the hook did for the prompts of one session, and how users labelled these prompts.

    ``held_back`` is the number of prompts for which the hook only recorded a text and did not add it (shadow mode).
    ``tokens`` is the total length of the added texts. ``labelled`` prompts have a label; ``right`` is the number of
    those whose task type is correct according to their label.
    """

    session_id: str
    prompts: int
    held_back: int
    tokens: int
    labelled: int
    right: int


def store(
    db: sqlite3.Connection,
    results: Sequence[ArmResult],
    *,
    question: str,
    arms: dict[str, Any],
    report: dict[str, Any],
    plan: dict[str, Any] | None = None,
) -> Experiment:
    """Store an experiment with all its results in one transaction; return it with its new id."""
    made = Experiment(traces.new_trace_id(), fast_stdlib.utc_now(), question, arms, report, plan or {})
    # NaN is not JSON: an error here says more than the failed check of the column would.
    values = {name: json.dumps(getattr(made, name), allow_nan=False) for name in ("arms", "report", "plan")}
    with transaction(db):
        db.execute(KEEP_THE_EXPERIMENT, {**asdict(made), **values})
        db.executemany(KEEP_THE_RESULT, ({"experiment_id": made.id, **asdict(result)} for result in results))
    return made


def add(db: sqlite3.Connection, experiment_id: str, result: ArmResult) -> None:
    """Store one result of an experiment and commit; do nothing if that result is stored already."""
    with transaction(db):
        db.execute(KEEP_THE_RESULT, {"experiment_id": experiment_id, **asdict(result)})


def replace_report(db: sqlite3.Connection, one: Experiment, report: dict[str, Any]) -> Experiment:
    """Replace the report of a stored experiment; return the experiment with the new report."""
    with transaction(db):
        db.execute(REPLACE_THE_REPORT, {"id": one.id, "report": json.dumps(report, allow_nan=False)})
    return replace(one, report=report)


def newest(db: sqlite3.Connection, *, limit: int) -> list[Experiment]:
    """Return up to ``limit`` experiments, newest first."""
    return [_experiment(row) for row in db.execute(WHICH_EXPERIMENTS_ARE_KEPT, {"limit": limit})]


def find(db: sqlite3.Connection, wanted: str) -> Experiment:
    """Return the only experiment whose id equals or begins with ``wanted``; raises UnknownExperimentError."""
    ids = queries.ids_beginning_with(db, wanted, table="experiments")
    if len(ids) != 1:
        found = f"several experiments begin with {wanted!r}" if ids else f"no experiment {wanted!r}"
        raise UnknownExperimentError(f"{found}; see: enricher ab list")
    return _experiment(db.execute(WHAT_IS_THIS_EXPERIMENT, {"id": ids[0]}).fetchone())


def results(db: sqlite3.Connection, experiment_id: str) -> Iterator[ArmResult]:
    """Yield the results of an experiment, ordered by prompt and arm."""
    for row in db.execute(WHAT_CAME_OF_EACH_PROMPT, {"id": experiment_id}):
        yield ArmResult(**{**dict(row), "succeeded": bool(row["succeeded"])})


def sessions(db: sqlite3.Connection, *, since: str = "") -> list[SessionFigures]:
    """Return, for every session with prompts since the UTC time ``since``, what the hook did in it.

    Imported prompts, prompts of tests, and prompts that the hook skipped or failed on are left out.
    """
    # Stored times have milliseconds: «14:00:00.500Z» would sort before «14:00:00Z».
    found = db.execute(WHAT_CAME_OF_EACH_SESSION, {"since": since.removesuffix("Z")})
    return [SessionFigures(**dict(row)) for row in found]


def _experiment(row: sqlite3.Row) -> Experiment:
    values = (json.loads(row[name]) for name in ("arms", "report", "plan"))
    return Experiment(row["id"], row["at"], row["question"], *values)
