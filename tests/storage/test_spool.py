"""The spool is bounded, loses nothing it need not, and takes nothing in twice: by two drains, by one that is killed."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
from contextlib import closing

import pytest

from storage import traces
from storage.db import database
from storage.state import detached
from storage.traces import intake, spool

DRAIN = """
import sqlite3
from storage.traces import intake
db = sqlite3.connect(state + "/enricher.db", timeout=60, isolation_level=None)
print("draining", flush=True)
print(intake.drain(state, db).taken, flush=True)
"""


@pytest.fixture
def spooled(ready, whole_trace):
    """Return a function that puts so many traces into the spool, and the ids they have."""

    def put(count, **changed):
        made = [whole_trace(**changed) for _ in range(count)]
        for trace in made:
            spool.put(ready, trace.id, status=trace.status, tables=traces.flatten(trace))
        return sorted(trace.id for trace in made)

    return put


def _bare(state):
    """Open the database without taking the spool in."""
    return closing(sqlite3.connect(f"{state}/{traces.DATABASE}", isolation_level=None))


def _ids(state):
    with _bare(state) as db:
        return [row[0] for row in db.execute("select id from traces order by id")]


def test_a_drain_takes_everything_in_and_leaves_nothing_behind(ready, spooled):
    ids = spooled(3)
    with _bare(ready) as db:
        result = intake.drain(ready, db)

    assert (result.taken, result.refused, result.left) == (3, 0, 0)
    assert _ids(ready) == ids
    assert os.listdir(f"{ready}/{spool.NAME}") == []


def test_two_drains_at_once_take_each_trace_in_once(ready, spooled, said):
    ids = spooled(200)
    outputs = said(DRAIN, ready, processes=2)

    assert sum(int(output.split()[1]) for output in outputs) == 200
    assert _ids(ready) == ids
    assert spool.waiting(ready) == []


@pytest.mark.slow
def test_a_drain_that_is_killed_at_any_point_loses_nothing_and_doubles_nothing(ready, spooled, spawn):
    ids = spooled(300)
    chance = random.Random(1)
    for _ in range(12):
        process = spawn(DRAIN, ready)
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        process.communicate()
        assert sorted({*_ids(ready), *(name.split(".")[0] for name in spool.waiting(ready))}) == ids
    with closing(database.connect(ready)) as db:
        children = db.execute("select count(*) from trace_stages").fetchone()[0]

    assert _ids(ready) == ids
    assert children == 2 * len(ids)


def test_a_locked_database_leaves_the_spool_as_it_was(ready, spooled):
    spooled(3)
    with _bare(ready) as holder, _bare(ready) as db:
        holder.execute("begin immediate")
        db.execute("pragma busy_timeout = 0")
        with pytest.raises(Exception, match="locked"):
            intake.drain(ready, db)

    assert len(spool.waiting(ready)) == 3
    assert not db_in_transaction(ready)


def db_in_transaction(state):
    with _bare(state) as db:
        return db.in_transaction


def test_when_there_is_no_room_the_oldest_of_the_least_useful_goes_first(ready, spooled, monkeypatch):
    monkeypatch.setattr(intake, "LIMIT_FILES", 4)
    error, ok = spooled(1, status="error"), spooled(1)
    skipped = spooled(3, status="skipped", skip_reason="bypass")
    silent = spooled(2, status="silent")
    intake.make_room(ready)

    assert [name.split(".")[0] for name in spool.waiting(ready)] == sorted([*error, *ok, *silent])
    assert not {*skipped} & {name.split(".")[0] for name in spool.waiting(ready)}
    assert spool.dropped(ready) == 3


def test_a_hook_that_can_start_nothing_and_make_no_room_goes_on(ready, spooled, monkeypatch):
    monkeypatch.setattr(intake, "LIMIT_FILES", 1)
    monkeypatch.setattr(os, "fork", _refused)
    spooled(2)
    os.mkdir(f"{ready}/{spool.NAME}/.dropped")  # so that dropped files cannot be counted

    assert not detached.start(ready, detached.MAINTENANCE, lambda: None)


def _refused():
    raise BlockingIOError("no more processes")


def test_room_is_counted_in_bytes_too(ready, spooled, monkeypatch):
    monkeypatch.setattr(intake, "LIMIT_BYTES", 20_000)
    ids = spooled(10, prompt="x" * 4000)
    intake.make_room(ready)

    assert [name.split(".")[0] for name in spool.waiting(ready)] == ids[-len(spool.waiting(ready)) :]
    assert 1 <= len(spool.waiting(ready)) < 5
    assert spool.dropped(ready) == 10 - len(spool.waiting(ready))


def test_a_record_beyond_all_measure_is_lost_and_not_kept_half(ready, whole_trace):
    os.rename(f"{ready}/{traces.DATABASE}", f"{ready}/elsewhere")

    assert spool.record(ready, whole_trace(output_text="x" * (spool.LIMIT_FILE_BYTES + 1))) == "lost"
    assert spool.waiting(ready) == []


FOREIGN = {
    "empty.json": b"",
    "text.json": b"hello",
    "binary.ok.json": bytes(range(256)),
    "list.ok.json": b"[]",
    "deep.ok.json": b"[" * 100_000,
    "no-tables.ok.json": b'{"v":1}',
    "no-rows.ok.json": b'{"v":1,"tables":{}}',
    "unknown-table.ok.json": b'{"v":1,"tables":{"sqlite_master":[["sql"],[["x"]]]}}',
    "unknown-column.ok.json": b'{"v":1,"tables":{"traces":[["id","x) --"],[["a","b"]]]}}',
    "ragged.ok.json": b'{"v":1,"tables":{"traces":[["id"],[["a","b"]]]}}',
    "null.ok.json": b'{"v":1,"tables":{"traces":[["id"],[null]]}}',
    "rows-are-text.ok.json": b'{"v":1,"tables":{"traces":[["id"],"a"]}}',
    "nested.ok.json": b'{"v":1,"tables":{"traces":[["id"],[[{"a":1}]]]}}',
    "columns-nested.ok.json": b'{"v":1,"tables":{"traces":[[["id"]],[["a"]]]}}',
    "huge-int.ok.json": b'{"v":1,"tables":{"traces":[["prompt_chars"],[[99999999999999999999999]]]}}',
    "large.ok.json": b"x" * (spool.LIMIT_FILE_BYTES + 1),
    "notes.txt": b"not json at all",
}


@pytest.mark.conformance("E23")
def test_what_is_no_trace_is_moved_aside_counted_and_logged_and_the_rest_arrives(ready, spooled):
    ids = spooled(2)
    folder = f"{ready}/{spool.NAME}"
    for name, content in FOREIGN.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
    os.mkfifo(f"{folder}/fifo.ok.json")
    os.mkdir(f"{folder}/folder.ok.json")
    os.symlink("/etc/passwd", f"{folder}/link.ok.json")
    with _bare(ready) as db:
        result = intake.drain(ready, db)

    assert (result.taken, result.refused) == (2, len(FOREIGN) + 3)
    assert _ids(ready) == ids
    assert spool.refused(ready) == len(FOREIGN) + 3
    assert spool.waiting(ready) == []
    with open(f"{ready}/log", encoding="utf-8") as log:
        assert len(log.readlines()) == result.refused


def test_what_lies_aside_is_bounded(ready, monkeypatch, spooled):
    monkeypatch.setattr(intake, "LIMIT_REFUSED", 3)
    spooled(1)
    for number in range(9):
        with open(f"{ready}/{spool.NAME}/{number}.ok.json", "w", encoding="utf-8") as file:
            file.write("no")
    database.connect(ready).close()

    assert spool.refused(ready) == 3


def test_a_record_of_a_later_version_waits_for_that_version(ready, spooled):
    spooled(1)
    (name,) = spool.waiting(ready)
    path = f"{ready}/{spool.NAME}/{name}"
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    record["v"] += 1
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file)
    with _bare(ready) as db:
        result = intake.drain(ready, db)

    assert (result.taken, result.refused, result.left) == (0, 0, 1)
    assert spool.waiting(ready) == [name]


def test_what_a_killed_process_left_half_written_is_no_trace_and_goes_in_time(ready, spooled):
    spooled(1)
    half = f"{ready}/{spool.NAME}/.123.tmp"
    with open(half, "w", encoding="utf-8") as file:
        file.write('{"v":1,')
    database.connect(ready).close()
    fresh = os.path.exists(half)
    os.utime(half, (0, 0))
    database.connect(ready).close()

    assert (fresh, os.path.exists(half)) == (True, False)
    assert spool.refused(ready) == 0
