"""The roll-ups: after whatever happens they are what counting everything anew gives."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from storage import traces
from storage.db import database, merge
from storage.erasure import retention, trace_rows
from storage.metrics import rollups
from storage.traces import spool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

TABLES = ("prompts_by_class", "prompts_by_day", "latencies_by_day", "latencies_overall")
DAY_US = 86_400_000_000
FIRST_US = 1_793_000_000_000_000


@pytest.fixture
def db(state: str) -> Iterator[sqlite3.Connection]:
    with closing(database.connect(state)) as db:
        yield db


def counted(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {table: [tuple(row) for row in db.execute(f"select * from {table}")] for table in TABLES}


def counted_anew(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    for query in rollups.START_AGAIN:
        db.execute(query)
    rollups.catch_up(db)
    return counted(db)


def prompts(db: sqlite3.Connection) -> int:
    return int(db.execute("select coalesce(sum(prompts), 0) from prompts_by_class").fetchone()[0])


@pytest.fixture
def some_traces(whole_trace: Callable[..., traces.Trace]) -> Callable[..., list[traces.Trace]]:
    """Traces of some days and kinds, told apart by chance."""

    def make(chance: random.Random, count: int) -> list[traces.Trace]:
        found = []
        for _ in range(count):
            moment = FIRST_US + chance.randrange(4) * DAY_US + chance.randrange(DAY_US)
            status = chance.choice(("ok", "silent", "skipped", "error"))
            found.append(
                whole_trace(
                    id=f"{moment:014x}{chance.getrandbits(40):010x}",
                    at=f"2026-11-0{1 + (moment - FIRST_US) // DAY_US}T12:00:00.000Z",
                    host=chance.choice(("claude", "codex")),
                    origin=chance.choice(("hook", "hook", "import", "test")),
                    status=status,
                    skip_reason="slash_command" if status == "skipped" else "",
                    latency_ms=chance.choice((0.0, 3.5, 12.5, 900.0)),
                    stages=[("read", 1.5), ("rules", 0.5)][: chance.randrange(3)],
                    guardrails=[("H5", "Evidence", 3.0), ("H3", "Verify", 2.0)][: chance.randrange(3)],
                )
            )
        return found

    return make


def _add(state: str, db: sqlite3.Connection, found: list[traces.Trace]) -> None:
    for trace in found:
        spool.record(state, trace)
    database.connect(state).close()


@pytest.mark.parametrize("seed", range(12))
def test_after_anything_they_are_what_counting_anew_gives(
    state: str,
    db: sqlite3.Connection,
    tmp_path_factory: pytest.TempPathFactory,
    some_traces: Callable[..., list[traces.Trace]],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    monkeypatch.setattr(rollups, "BATCH_ROWS", 3)
    monkeypatch.setattr(trace_rows, "BATCH_TRACES", 2)
    chance = random.Random(seed)

    def forget() -> None:
        ids = [row[0] for row in db.execute("select id from traces order by rowid")]
        chosen = ids[-chance.randrange(1, 4) :] if chance.random() < 0.5 else chance.sample(ids, len(ids) // 3)
        trace_rows.delete(db, chosen)

    def merge_another() -> None:
        other = str(tmp_path_factory.mktemp("other") / "state")
        with closing(database.connect(other)) as theirs:
            _add(other, theirs, some_traces(chance, 3))
            rollups.catch_up(theirs)
        merge.merge(db, f"{other}/{traces.DATABASE}", state_dir=state)

    def catch_up_a_little() -> None:
        stops = iter([False, True])
        rollups.catch_up(db, should_stop=lambda: next(stops))

    steps = (
        lambda: _add(state, db, some_traces(chance, chance.randrange(1, 6))),
        forget,
        merge_another,
        catch_up_a_little,
        lambda: rollups.catch_up(db),
        lambda: retention.prune(db, retention.Bounds(rows=6)),
    )
    for _ in range(14):
        chance.choice(steps)()
    rollups.catch_up(db)

    assert prompts(db) == db.execute("select count(*) from traces").fetchone()[0]
    assert counted(db) == counted_anew(db)


def test_a_row_number_that_is_given_again_is_counted_again(
    state: str, db: sqlite3.Connection, whole_trace: Callable[..., traces.Trace]
) -> None:
    first, second = whole_trace(), whole_trace(task_type="test")
    _add(state, db, [first])
    rollups.catch_up(db)
    trace_rows.delete(db, [first.id])
    _add(state, db, [second])

    left = rollups.catch_up(db)

    found = [tuple(row) for row in db.execute("select task_type, prompts from prompts_by_class")]
    assert (left, found) == (0, [("test", 1)])


def test_after_everything_is_forgotten_no_row_is_left(
    state: str, db: sqlite3.Connection, some_traces: Callable[..., list[traces.Trace]]
) -> None:
    _add(state, db, some_traces(random.Random(1), 20))
    rollups.catch_up(db)

    trace_rows.delete(db, [row[0] for row in db.execute("select id from traces")])

    assert counted(db) == {table: [] for table in TABLES}


def test_all_is_counted_anew_where_another_program_deleted_the_newest_rows(
    state: str, db: sqlite3.Connection, some_traces: Callable[..., list[traces.Trace]]
) -> None:
    _add(state, db, some_traces(random.Random(2), 10))
    rollups.catch_up(db)
    db.execute("delete from traces where rowid > 5")
    _add(state, db, some_traces(random.Random(3), 7))

    rollups.catch_up(db)

    assert prompts(db) == 12


def test_tests_and_imports_are_in_no_latency(
    state: str, db: sqlite3.Connection, whole_trace: Callable[..., traces.Trace]
) -> None:
    _add(state, db, [whole_trace(origin=origin) for origin in ("hook", "import", "test")])
    rollups.catch_up(db)

    found = db.execute("select kind, name, measurements from latencies_overall order by kind, name").fetchall()
    assert [tuple(row) for row in found] == [
        ("channel", "external", 1), ("stage", "classify", 1), ("stage", "read", 1), ("total", "total", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("latency_ms", [0.001, 0.5, 1.0, 12.345, 900.0, 60_000.0])
def test_a_bucket_is_at_most_two_and_a_half_percent_off(latency_ms: float) -> None:
    assert rollups.middle_ms(rollups.bucket(latency_ms)) == pytest.approx(latency_ms, rel=0.0254)


def test_somebody_who_writes_meanwhile_gets_a_turn(
    state: str, db: sqlite3.Connection, some_traces: Callable[..., list[traces.Trace]], spawn: Any
) -> None:
    _add(state, db, some_traces(random.Random(4), 300))
    code = """
import sqlite3, time
db = sqlite3.connect(state + "/enricher.db", timeout=60, isolation_level=None)
print("ready", flush=True)
for _ in range(20):
    db.execute("begin immediate")
    db.execute("commit")
    time.sleep(0.01)
"""
    writer = spawn(code, state)
    assert writer.stdout is not None
    writer.stdout.readline()
    while writer.poll() is None:
        for query in rollups.START_AGAIN:
            db.execute(query)
        rollups.catch_up(db)

    assert writer.returncode == 0  # it fails where the database stays locked for ten seconds
