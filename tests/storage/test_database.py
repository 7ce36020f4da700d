"""A database is made whole or not at all, migrated where it stands, refused when newer, moved aside when damaged."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing

import pytest
from sqlite_utils import Database

from storage import database, maintenance, notices, spool, traces
from storage.migrations import migrations

START = "from storage import detached; print(detached.start(state), flush=True)"
LEAVE = START + "\nimport os; os._exit(0)"


def _raw(state):
    return closing(sqlite3.connect(f"{state}/{traces.DATABASE}", isolation_level=None))


def _pragma(state, name):
    with _raw(state) as db:
        return db.execute(f"pragma {name}").fetchone()[0]


def test_a_new_database_is_in_wal_mode_and_can_give_space_back(ready):
    assert _pragma(ready, "journal_mode") == "wal"
    assert _pragma(ready, "auto_vacuum") == 2
    assert sorted(os.listdir(ready)) == ["database.lock", "enricher.db"]


def test_the_schema_version_is_the_number_of_migrations(ready):
    assert len(migrations.pending(Database(memory=True))) == traces.SCHEMA_VERSION
    assert _pragma(ready, "user_version") == traces.SCHEMA_VERSION


@pytest.mark.parametrize("table", sorted(traces.TABLES))
def test_the_hook_and_the_schema_agree_on_the_columns(ready, table):
    with _raw(ready) as db:
        columns = tuple(row[1] for row in db.execute(f"pragma table_info({table})"))

    assert columns == traces.TABLES[table]


def test_every_migration_says_in_one_line_what_it_does():
    for number, migration in enumerate(migrations.pending(Database(memory=True)), start=1):
        assert migration.name.startswith(f"m{number:03d}_")
        assert len(migration.fn.__doc__.splitlines()) == 1


def test_every_view_can_be_asked(ready, whole_trace):
    traces.record(ready, whole_trace(status="skipped", skip_reason="bypass"))
    traces.record(ready, whole_trace(status="error", error="boom"))
    with _raw(ready) as db:
        views = [row[0] for row in db.execute("select name from sqlite_master where type = 'view'")]
        answers = {view: db.execute(f"select * from {view}").fetchall() for view in views}

    assert sorted(views) == [
        "what_people_said",
        "when_each_host_was_last_seen",
        "which_prompts_failed",
        "why_prompts_were_skipped",
    ]
    assert {view: len(rows) for view, rows in answers.items() if rows} == dict.fromkeys(sorted(views)[1:], 1)


def test_an_older_database_is_migrated_where_it_stands(ready, whole_trace, stored):
    trace = whole_trace()
    traces.record(ready, trace)
    with _raw(ready) as db:
        for view in (
            "what_people_said",
            "when_each_host_was_last_seen",
            "which_prompts_failed",
            "why_prompts_were_skipped",
        ):
            db.execute(f"drop view {view}")
        db.execute("delete from _sqlite_migrations where name = 'm006_views'")
        db.execute("pragma user_version = 5")
    assert traces.record(ready, whole_trace()) == "spooled"

    assert maintenance.maintain(ready)
    assert stored(ready, "select min(id), count(*) from traces") == [(trace.id, 2)]
    assert _pragma(ready, "user_version") == traces.SCHEMA_VERSION


def test_a_newer_database_is_refused_clearly_and_left_as_it_is(ready, whole_trace):
    with _raw(ready) as db:
        db.execute("pragma user_version = 99")
        db.execute("pragma wal_checkpoint(truncate)").fetchall()
    with open(f"{ready}/{traces.DATABASE}", "rb") as file:
        before = file.read()
    assert traces.record(ready, whole_trace()) == "spooled"

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
    assert traces.record(ready, trace) == "spooled"

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
    assert traces.record(state, whole_trace()) == "spooled"

    assert stored(state, "select count(*) from traces") == [(1,)]
    assert notices.take(state) == ""


def test_what_a_killed_creation_and_a_deleted_database_left_behind_is_cleared(state, whole_trace, stored):
    os.makedirs(state)
    for leftover in ("enricher.db.new", "enricher.db.new-wal", "enricher.db-wal"):
        with open(f"{state}/{leftover}", "wb") as file:
            file.write(b"x" * 5000)
    traces.record(state, whole_trace())

    assert stored(state, "select count(*) from traces") == [(1,)]
    assert not os.path.exists(f"{state}/enricher.db.new")


def test_a_directory_in_its_place_is_said_in_words(state, whole_trace):
    os.makedirs(f"{state}/{traces.DATABASE}")
    assert traces.record(state, whole_trace()) == "spooled"

    with pytest.raises(database.StorageError, match=r"enricher\.db"):
        database.connect(state)
    assert not maintenance.maintain(state)


def test_maintenance_shortens_the_log_that_every_hook_has_to_read(ready, whole_trace):
    with closing(traces.open_database(ready)) as db:
        while not traces.is_upkeep_due(ready, "stored"):
            traces.record(ready, whole_trace(), db=db)
        assert os.stat(f"{ready}/enricher.db-wal").st_size > traces.WAL_LIMIT_BYTES
        assert maintenance.maintain(ready)
        assert os.stat(f"{ready}/enricher.db-wal").st_size == 0
        assert not traces.is_upkeep_due(ready, "stored")


def test_a_reader_in_the_way_of_maintenance_does_not_hold_up_the_hook(ready, whole_trace):
    with closing(traces.open_database(ready)) as hook, _raw(ready) as reader:
        traces.record(ready, whole_trace(), db=hook)
        reader.execute("begin")
        reader.execute("select count(*) from traces").fetchone()
        traces.record(ready, whole_trace(), db=hook)
        started = time.monotonic()
        assert maintenance.maintain(ready)
        assert time.monotonic() - started < 5
        assert traces.record(ready, whole_trace(), db=hook) == "stored"


def test_the_detached_maintenance_outlives_the_hook_and_holds_nothing_of_it(state, spawn, whole_trace):
    traces.record(state, whole_trace())
    started = time.monotonic()
    output, errors = spawn(LEAVE, state).communicate(timeout=20)
    waited = time.monotonic() - started
    while spool.waiting(state) and time.monotonic() - started < 20:
        time.sleep(0.02)

    assert (output, errors) == ("True\n", "")
    assert waited < 1
    assert spool.waiting(state) == []
    assert not os.path.exists(f"{state}/log")


def test_the_maintenance_is_not_started_again_and_again(state, said):
    answers = said(LEAVE, state, processes=8)

    assert sorted(answers) == ["False"] * 7 + ["True"]
    assert said(LEAVE, state, processes=1) == ["False"]


def test_a_clock_that_went_back_does_not_stop_the_maintenance_for_good(state, said):
    said(LEAVE, state, processes=1)
    os.utime(f"{state}/maintenance", (time.time() + 86400, time.time() + 86400))

    assert said(LEAVE, state, processes=1) == ["True"]
