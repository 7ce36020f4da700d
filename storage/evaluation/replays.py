"""Store replays, which evaluate recorded prompts under changed rules, and the outcomes that the changed rules altered.

Prompt texts are not copied: a result refers to the trace (record) of its prompt, and is deleted with it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from storage import traces
from storage.base import fast_stdlib
from storage.base.paced_writes import transaction
from storage.traces import queries
from storage.traces.trace_pages import ABOVE_ALL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

KEEP_A_RESULT = """
    insert into replay_results (replay_id, trace_id, kinds, cause, before, after)
    select :replay_id, :trace_id, :kinds, :cause, :before, :after
    where exists (select 1 from traces where id = :trace_id)
"""
WHICH_REPLAYS_WERE_KEPT = "select * from replays where :before = '' or id < :before order by id desc limit :limit"
WHAT_IS_THIS_REPLAY = "select * from replays where id = :id"
WHAT_CAME_OUT_OTHERWISE = "select * from replay_results where replay_id = :id order by trace_id desc"
WHICH_RESULTS_COME_NEXT = """
    select replay_results.*, coalesce(traces.at, '') as at, coalesce(substr(traces.prompt, 1, :chars), '') as prompt
    from replay_results left join traces on traces.id = replay_results.trace_id
    where replay_id = :id and trace_id >= :trace and trace_id < :before
      and (:kind = '' or instr(kinds, :kind) > 0)
    order by trace_id desc limit :limit
"""
# The unary plus keeps SQLite from reading the table's rows, which have both texts (4 ms, not 70, for 50,000 results).
HOW_MANY_RESULTS_ARE_LEFT = "select count(*) as results from replay_results where +replay_id = :id"
HOW_MANY_CHANGE_IN_EACH_WAY = """
    select kind.value as kind, count(*) as prompts from replay_results, json_each(replay_results.kinds) as kind
    where replay_id = :id group by kind.value
"""

PROMPT_CHARS = 500  # of a prompt, for display


class UnknownReplayError(LookupError):
    """Raised if no stored replay has an id that begins with the given text, or if more than one has."""


@dataclass(frozen=True, slots=True)
class ChangedPrompt:
    """A prompt whose outcome is different under the changed rules of a replay.

    ``kinds`` says in what respects it differs, and ``cause`` what caused it. ``before`` and ``after`` are the outcomes
    under the old and the changed rules, as JSON values.
    """

    trace_id: str
    kinds: tuple[str, ...]
    cause: str
    before: dict[str, Any]
    after: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredReplay:
    """A replay, which evaluated ``prompts`` prompts under two versions of the rules, ``base`` and ``candidate``.

    ``diff`` is the unified diff between the files of the two versions. ``context`` is ``recorded`` if the recorded
    answers of the channels (sources of facts) were used, ``today`` if the channels were queried again. ``store`` fills
    in ``id`` and ``at`` if they are empty.
    """

    base: str
    base_hash: str
    candidate: str
    candidate_hash: str
    selection: str
    diff: str
    verdict: str
    prompts: int
    changed: int
    figures: dict[str, Any]
    context: str = "recorded"
    id: str = ""
    at: str = ""


_COLUMNS = tuple(column.name for column in fields(StoredReplay))
KEEP_A_REPLAY = f"insert into replays ({', '.join(_COLUMNS)}) values ({', '.join(f':{name}' for name in _COLUMNS)})"


@dataclass(frozen=True, slots=True)
class PreviewedResult:
    """The result of a replay for one prompt, with the time and the beginning of that prompt for display.

    ``prompt`` is empty if the prompt's text was not stored.
    """

    result: ChangedPrompt
    at: str
    prompt: str


def store(db: sqlite3.Connection, replay: StoredReplay, results: Iterable[ChangedPrompt]) -> str:
    """Store a replay and ``results``, its prompts with a changed outcome, in one transaction; return the replay's id.

    Ids sort by time. A result is left out if the trace of its prompt was deleted in the meantime.
    """
    identity = replay.id or traces.new_trace_id()
    row = {**asdict(replay), "figures": json.dumps(replay.figures)}
    row |= {"id": identity, "at": replay.at or fast_stdlib.utc_now()}
    with transaction(db):
        db.execute(KEEP_A_REPLAY, row)
        db.executemany(KEEP_A_RESULT, (_row(identity, result) for result in results))
    return identity


def listing(db: sqlite3.Connection, *, limit: int = 100, before: str = "") -> list[StoredReplay]:
    """Return up to ``limit`` stored replays, newest first; with ``before``, only those with a smaller id."""
    return [_kept(row) for row in db.execute(WHICH_REPLAYS_WERE_KEPT, {"limit": limit, "before": before})]


def find(db: sqlite3.Connection, identity: str) -> StoredReplay:
    """Return the only stored replay whose id begins with ``identity``; raises UnknownReplayError."""
    ids = queries.ids_beginning_with(db, identity, table="replays")
    if len(ids) != 1:
        raise UnknownReplayError(f"{'several' if ids else 'no'} kept replays begin with {identity!r}")
    return _kept(db.execute(WHAT_IS_THIS_REPLAY, {"id": ids[0]}).fetchone())


def show(db: sqlite3.Connection, identity: str) -> tuple[StoredReplay, list[ChangedPrompt]]:
    """Return the only stored replay whose id begins with ``identity``, and its results, newest prompt first.

    Raises UnknownReplayError.
    """
    replay = find(db, identity)
    return replay, [_result(row) for row in db.execute(WHAT_CAME_OUT_OTHERWISE, {"id": replay.id})]


def window(
    db: sqlite3.Connection, identity: str, *, kind: str = "", trace: str = "", before: str = ABOVE_ALL, limit: int
) -> list[PreviewedResult]:
    """Return up to ``limit`` results of a replay with trace ids smaller than ``before``, newest prompt first.

    ``identity`` is the replay's complete id. ``kind``, one of ``workbench.replay.compare.KINDS``, selects results with
    that kind of change, and ``trace`` selects those whose trace id begins with it; if empty, they select all results.
    """
    named = {
        # As JSON, because the quotes keep a kind from being found within the name of another.
        "id": identity, "kind": json.dumps(kind) if kind else "", "trace": trace,
        "before": min(before, trace + ABOVE_ALL), "limit": limit, "chars": PROMPT_CHARS,
    }  # fmt: skip
    return [
        PreviewedResult(_result(row), row["at"], row["prompt"]) for row in db.execute(WHICH_RESULTS_COME_NEXT, named)
    ]


def by_kind(db: sqlite3.Connection, replay: StoredReplay) -> dict[str, int]:
    """Return how many prompts of a replay have each kind of change; a prompt with two kinds counts for both."""
    left = db.execute(HOW_MANY_RESULTS_ARE_LEFT, {"id": replay.id}).fetchone()[0]
    if left == replay.changed:  # none was deleted since, so that the stored counts are still right
        counted: dict[str, int] = replay.figures["by_kind"]
        return counted
    return dict(db.execute(HOW_MANY_CHANGE_IN_EACH_WAY, {"id": replay.id}))


def _row(identity: str, result: ChangedPrompt) -> dict[str, str]:
    return {
        "replay_id": identity,
        "trace_id": result.trace_id,
        "kinds": json.dumps(result.kinds),
        "cause": result.cause,
        "before": json.dumps(result.before),
        "after": json.dumps(result.after),
    }


def _kept(row: sqlite3.Row) -> StoredReplay:
    return StoredReplay(**{**dict(row), "figures": json.loads(row["figures"])})


def _result(row: sqlite3.Row) -> ChangedPrompt:
    return ChangedPrompt(
        row["trace_id"], tuple(json.loads(row["kinds"])), row["cause"],
        json.loads(row["before"]), json.loads(row["after"]),
    )  # fmt: skip
