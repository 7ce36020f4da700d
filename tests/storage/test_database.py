"""A database is made whole or not at all, migrated where it stands, refused when newer, moved aside when damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlite_utils import Database

from storage import traces
from storage.db import database, maintenance, migrations
from storage.state import detached, notices
from storage.traces import intake, spool

START = """
from storage.state import detached
def maintain():
    from storage.db import maintenance
    maintenance.main(state)
print(detached.start(state, detached.MAINTENANCE, maintain), flush=True)
"""
LEAVE = START + "\nimport os; os._exit(0)"
BRIEFLY = "from storage.db import maintenance; maintenance.LINGER_S = 0.0\n"
WHICH_VERSIONS = "select hash, text from instructions_versions"
DIE = """
import os, signal
def die(*_):
    print("about to", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
from storage.db import database
from storage.traces import intake
"""
DIE_AT = {
    "STORE_THE_VERSION": DIE + "intake.fast_stdlib.in_utc = die; database.connect(state)",
    "write_file": DIE + "intake.private.write_file = die; database.connect(state)",
}


def _raw(state):
    return closing(sqlite3.connect(f"{state}/{traces.DATABASE}", isolation_level=None))


def _pragma(state, name):
    with _raw(state) as db:
        return db.execute(f"pragma {name}").fetchone()[0]


def test_a_new_database_is_in_wal_mode_and_can_give_space_back(ready):
    assert _pragma(ready, "journal_mode") == "wal"
    assert _pragma(ready, "auto_vacuum") == 2
    assert sorted(os.listdir(ready)) == ["database.lock", "enricher.db", "screened"]


def test_the_schema_version_is_the_number_of_the_last_migration(ready):
    steps = [int(step.name[1:4]) for step in migrations.migrations.pending(Database(memory=True))]

    assert [database.BASE_VERSION, *steps] == list(range(database.BASE_VERSION, traces.SCHEMA_VERSION + 1))
    assert _pragma(ready, "user_version") == traces.SCHEMA_VERSION


@pytest.mark.parametrize("table", sorted(traces.TABLES))
def test_the_hook_and_the_schema_agree_on_the_columns(ready, table):
    with _raw(ready) as db:
        columns = tuple(row[1] for row in db.execute(f"pragma table_info({table})"))

    assert columns == traces.TABLES[table]


def test_every_view_can_be_asked(ready, whole_trace):
    spool.record(ready, whole_trace(status="skipped", skip_reason="bypass"))
    spool.record(ready, whole_trace(status="error", error="boom"))
    database.connect(ready).close()
    with _raw(ready) as db:
        views = [row[0] for row in db.execute("select name from sqlite_master where type = 'view'")]
        answers = {view: db.execute(f"select * from {view}").fetchall() for view in views}

    assert sorted(views) == [
        "what_people_said",
        "when_each_host_was_last_seen",
        "which_prompts_are_searchable",
        "which_prompts_failed",
        "why_prompts_were_skipped",
    ]
    assert {view: len(rows) for view, rows in answers.items() if rows} == dict.fromkeys(
        sorted({*views} - {"what_people_said", "which_prompts_are_searchable"}), 1
    )


def test_an_older_database_is_migrated_where_it_stands(ready, whole_trace, stored, next_schema):
    trace = whole_trace()
    spool.record(ready, trace)
    database.connect(ready).close()
    next_schema("alter table traces add column made_up text not null default 'yes'")
    assert spool.record(ready, whole_trace()) == "spooled"

    assert maintenance.maintain(ready)
    assert stored(ready, "select name from pragma_table_info('traces') where name = 'made_up'") == [("made_up",)]
    assert stored(ready, "select min(id), count(*), max(made_up) from traces") == [(trace.id, 2, "yes")]
    assert _pragma(ready, "user_version") == traces.SCHEMA_VERSION == database.BASE_VERSION + 1


def test_a_new_database_has_every_later_step(tmp_path, stored, next_schema):
    next_schema("alter table traces add column made_up text not null default 'yes'")
    database.connect(str(tmp_path)).close()

    assert stored(str(tmp_path), "select max(made_up) from traces") == [(None,)]
    assert _pragma(tmp_path, "user_version") == traces.SCHEMA_VERSION


def test_a_step_that_fails_leaves_the_older_database_as_it_is(ready, next_schema):
    next_schema("create table made_up (id)", "insert into nowhere values (1)")

    with pytest.raises(database.StorageError, match="no such table: nowhere"):
        database.connect(ready)
    with _raw(ready) as db:
        assert not db.execute("select 1 from sqlite_master where name = 'made_up'").fetchall()
    assert _pragma(ready, "user_version") == database.BASE_VERSION


def test_a_database_from_before_the_first_schema_is_refused_and_left_as_it_is(ready, whole_trace):
    with _raw(ready) as db:
        db.execute(f"pragma user_version = {database.BASE_VERSION - 1:d}")
    assert spool.record(ready, whole_trace()) == "spooled"

    with pytest.raises(database.OlderDatabaseError, match=r"schema 25.*move the file away .* or set ENRICHER_HOME"):
        database.connect(ready)
    assert not maintenance.maintain(ready)
    assert "move the file away" in notices.take(ready)
    assert _pragma(ready, "user_version") == database.BASE_VERSION - 1
    assert len(spool.waiting(ready)) == 1


def test_a_newer_database_is_refused_clearly_and_left_as_it_is(ready, whole_trace):
    with _raw(ready) as db:
        db.execute("pragma user_version = 99")
        db.execute("pragma wal_checkpoint(truncate)").fetchall()
    with open(f"{ready}/{traces.DATABASE}", "rb") as file:
        before = file.read()
    assert spool.record(ready, whole_trace()) == "spooled"

    with pytest.raises(database.NewerDatabaseError, match=r"schema 99.*upgrade prompt-enricher"):
        database.connect(ready)
    assert not maintenance.maintain(ready)
    assert "upgrade prompt-enricher" in notices.take(ready)
    with open(f"{ready}/{traces.DATABASE}", "rb") as file:
        assert file.read() == before
    assert len(spool.waiting(ready)) == 1


DAMAGE = [
    pytest.param(lambda content: b"no database at all " * 1000, id="another file"),
    pytest.param(lambda content: content[: len(content) // 2], id="cut off"),
    pytest.param(
        lambda content: content[:4096] + os.urandom(len(content) - 4096), id="overwritten behind the first page"
    ),
    pytest.param(lambda content: content[:16] + os.urandom(84) + content[100:], id="header overwritten"),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_database_is_moved_aside_and_a_new_one_started_and_the_person_told(
    ready, whole_trace, stored, damage
):
    path = f"{ready}/{traces.DATABASE}"
    with open(path, "rb") as file:
        damaged = damage(file.read())
    with open(path, "wb") as file:
        file.write(damaged)
    trace = whole_trace()
    assert spool.record(ready, trace) == "spooled"

    assert maintenance.maintain(ready)
    assert stored(ready, "select id from traces") == [(trace.id,)]
    (aside,) = [name for name in os.listdir(ready) if ".corrupt-" in name and not name.endswith(("-wal", "-shm"))]
    with open(f"{ready}/{aside}", "rb") as file:
        assert file.read() == damaged
    assert aside in notices.take(ready)
    assert notices.take(ready) == ""


def test_an_empty_file_in_its_place_is_no_damage(state, whole_trace, stored):
    os.makedirs(state)
    open(f"{state}/{traces.DATABASE}", "w").close()
    assert spool.record(state, whole_trace()) == "spooled"

    assert stored(state, "select count(*) from traces") == [(1,)]
    assert notices.take(state) == ""


def test_what_a_killed_creation_and_a_deleted_database_left_behind_is_cleared(state, whole_trace, stored):
    os.makedirs(state)
    for leftover in ("enricher.db.new", "enricher.db.new-wal", "enricher.db-wal"):
        with open(f"{state}/{leftover}", "wb") as file:
            file.write(b"x" * 5000)
    spool.record(state, whole_trace())

    assert stored(state, "select count(*) from traces") == [(1,)]
    assert not os.path.exists(f"{state}/enricher.db.new")


def test_a_directory_in_its_place_is_said_in_words(state, whole_trace):
    os.makedirs(f"{state}/{traces.DATABASE}")
    assert spool.record(state, whole_trace()) == "spooled"

    with pytest.raises(database.StorageError, match=r"enricher\.db"):
        database.connect(state)
    assert not maintenance.maintain(state)


def test_maintenance_shortens_the_write_ahead_log(ready, whole_trace):
    for _ in range(50):
        spool.record(ready, whole_trace())
    with closing(database.connect(ready)):
        assert os.stat(f"{ready}/enricher.db-wal").st_size > 0
        assert maintenance.maintain(ready)
        assert os.stat(f"{ready}/enricher.db-wal").st_size == 0


def test_a_reader_in_the_way_does_not_hold_up_the_maintenance(ready, whole_trace, stored):
    spool.record(ready, whole_trace())
    with _raw(ready) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from traces").fetchone()
        assert maintenance.maintain(ready)  # the reader goes on reading

    assert stored(ready, "select count(*) from traces") == [(1,)]


def _until(condition, *, seconds=30.0):
    """Wait until the condition holds, and say whether it does."""
    give_up_at = time.monotonic() + seconds
    while not condition() and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return condition()


def _is_around(state):
    """Say whether a maintenance holds its turn; never true of this process, which would give up the lock."""
    turn = detached.claim(state)
    if turn >= 0:
        os.close(turn)
    return turn < 0


def test_the_detached_maintenance_outlives_the_hook_and_holds_nothing_of_it(state, spawn, whole_trace):
    spool.record(state, whole_trace())
    output, errors = spawn(LEAVE, state).communicate(timeout=60)
    assert _until(lambda: _is_around(state))  # the pipes of the process that started it are closed by now
    _until(lambda: not spool.waiting(state))

    assert (output, errors) == ("True\n", "")
    assert spool.waiting(state) == []
    assert not os.path.exists(f"{state}/log")


def test_while_a_maintenance_is_around_nobody_starts_another_and_it_takes_in_what_comes(ready, said, whole_trace):
    assert said(LEAVE, ready, processes=1) == ["True"]
    assert _until(lambda: _is_around(ready))
    for _ in range(3):
        spool.record(ready, whole_trace())
        assert said(LEAVE, ready, processes=1) == ["False"]
        assert _until(lambda: not spool.waiting(ready))

    assert _until(lambda: not _is_around(ready))


@pytest.mark.slow
def test_what_comes_while_the_maintenance_leaves_is_not_forgotten(ready, said, whole_trace):
    for _ in range(25):
        spool.record(ready, whole_trace())
        said(BRIEFLY + LEAVE, ready, processes=1)

    assert _until(lambda: not spool.waiting(ready))


def test_of_many_started_at_once_one_stays(ready, said, whole_trace):
    for _ in range(5):
        spool.record(ready, whole_trace())
    assert "True" in said(LEAVE, ready, processes=8)
    _until(lambda: not spool.waiting(ready))

    assert spool.waiting(ready) == []
    assert said(LEAVE, ready, processes=1) == ["False"]
    assert not os.path.exists(f"{ready}/log")


def test_a_clock_that_went_back_does_not_stop_the_maintenance_for_good(ready, said):
    said(LEAVE, ready, processes=1)
    _until(lambda: os.path.exists(f"{ready}/{detached.MAINTENANCE}"))
    _until(lambda: not _is_around(ready))
    os.utime(f"{ready}/{detached.MAINTENANCE}", (time.time() + 86400, time.time() + 86400))

    assert said(LEAVE, ready, processes=1) == ["True"]


def test_a_database_that_was_locked_gets_its_traces_as_soon_as_it_is_free(ready, spawn, said, whole_trace, stored):
    with _raw(ready) as holder:
        holder.execute("begin immediate")
        spool.record(ready, whole_trace())
        assert said(LEAVE, ready, processes=1) == ["True"]
        time.sleep(1.5)
        assert len(spool.waiting(ready)) == 1
        holder.execute("rollback")

    assert _until(lambda: not spool.waiting(ready))
    assert not os.path.exists(f"{ready}/log")


def test_what_time_alone_does_not_mend_is_put_off_and_the_spool_stays_small(ready, said, whole_trace, monkeypatch):
    with _raw(ready) as db:
        db.execute("pragma user_version = 99")
    monkeypatch.setattr(intake, "LIMIT_FILES", 4)
    for _ in range(9):
        spool.record(ready, whole_trace())
    maintenance.main(ready)

    assert said(LEAVE, ready, processes=1) == ["False"]
    assert len(spool.waiting(ready)) == 4
    assert spool.dropped(ready) == 5


@pytest.mark.parametrize("loss", ["deleted", "damaged"])
def test_what_happens_to_the_database_while_a_maintenance_lingers_loses_nothing_new(
    ready, said, whole_trace, stored, loss
):
    spool.record(ready, whole_trace())
    said(LEAVE, ready, processes=1)
    _until(lambda: not spool.waiting(ready))
    time.sleep(0.2)
    os.unlink(f"{ready}/{traces.DATABASE}")
    if loss == "damaged":
        with open(f"{ready}/{traces.DATABASE}", "wb") as file:
            file.write(b"no database at all " * 1000)
    late = whole_trace()
    spool.record(ready, late)
    assert said(LEAVE, ready, processes=1) == ["False"]
    assert _until(lambda: not spool.waiting(ready))

    assert stored(ready, "select id from traces") == [(late.id,)]


@pytest.mark.parametrize("loss", ["deleted", "damaged"])
def test_a_version_of_the_instructions_is_written_again_for_a_new_database(ready, stored, loss):
    spool.put_version(ready, "cafe", lambda: "# rules")
    assert stored(ready, WHICH_VERSIONS) == [("cafe", "# rules")]
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{ready}/{traces.DATABASE}{suffix}")
    if loss == "damaged":
        with open(f"{ready}/{traces.DATABASE}", "wb") as file:
            file.write(b"no database at all " * 1000)
    assert stored(ready, WHICH_VERSIONS) == []
    spool.put_version(ready, "cafe", lambda: "# rules")

    assert stored(ready, WHICH_VERSIONS) == [("cafe", "# rules")]


def test_a_version_that_waits_for_the_first_database_gets_into_it(state, stored):
    spool.put_version(state, "cafe", lambda: "# rules")

    assert stored(state, WHICH_VERSIONS) == [("cafe", "# rules")]


def test_versions_that_wait_together_were_first_seen_when_each_was_written(ready, stored):
    for name, seconds in (("cafe", 2_000_000_000), ("beef", 1_999_999_999.5)):
        spool.put_version(ready, name, lambda: "# rules")
        os.utime(f"{ready}/{spool.VERSIONS}/{name}", (seconds, seconds))

    seen = stored(ready, "select hash, first_seen_at from instructions_versions order by first_seen_at")

    assert seen == [("beef", "2033-05-18T03:33:19.500Z"), ("cafe", "2033-05-18T03:33:20.000Z")]


@pytest.mark.parametrize("step", ["STORE_THE_VERSION", "write_file"])
def test_a_version_survives_a_kill_before_and_after_it_is_stored(ready, spawn, stored, step):
    spool.put_version(ready, "cafe", lambda: "# rules")
    output, _ = spawn(DIE_AT[step], ready).communicate(timeout=60)
    assert output == "about to\n"

    assert stored(ready, WHICH_VERSIONS) == [("cafe", "# rules")]
    assert os.stat(f"{ready}/{spool.VERSIONS}/cafe").st_size == 0


def test_threads_of_one_process_that_begin_at_once_get_the_same_new_database(tmp_path):
    """What the app does on its first start: a watcher, and a screen that reads."""
    start = threading.Barrier(4)

    def opened(_number):
        start.wait()
        with closing(database.connect(str(tmp_path))) as db:
            return int(db.execute("pragma user_version").fetchone()[0])

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(opened, range(4)))

    assert found == [traces.SCHEMA_VERSION] * 4
