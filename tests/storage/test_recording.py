"""Every trace arrives once, byte for byte, and costs the prompt next to nothing, whatever state the disk is in."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing

import pytest

from storage import traces
from storage.base import log
from storage.db import database
from storage.state import sessions
from storage.traces import spool

WRITE_ONE = """
from storage.traces import spool
from storage import traces
trace = traces.Trace()
trace.session_id, trace.status, trace.prompt, trace.output_tokens = "s", "ok", sys.argv[2], 1
trace.stages = [("read", 1.0), ("classify", 2.0)]
print(spool.record(state, trace), flush=True)
import os; os._exit(0)
"""
WRITE_FIRST = WRITE_ONE.replace(
    "import os;", "from storage.db import maintenance; maintenance.maintain(state); import os;"
)
HOLD = """
import sqlite3
db = sqlite3.connect(state + "/enricher.db", isolation_level=None)
db.execute("begin immediate")
print("held", flush=True)
import time; time.sleep(60)
"""
AWKWARD = "a\x00b\r\n\ttab \u2028 🦊 e\u0301 \x1b[31m ' \" ; -- \\ \ufeff end \n\n"
HOSTILE = [
    pytest.param("a\x00b", id="NUL"),
    pytest.param("x" * 1_000_000, id="1 MB"),
    pytest.param("lone \ud800 and \udfff", id="lone surrogates"),
    pytest.param("../../etc/passwd", id="path"),
    pytest.param("", id="empty"),
    pytest.param("'; drop table traces; --", id="SQL"),
]


@pytest.mark.conformance("E25", "E27")
def test_what_is_stored_is_what_was_recorded_byte_for_byte(ready, whole_trace, stored):
    trace = whole_trace(prompt=AWKWARD, output_text=AWKWARD[::-1], approach=AWKWARD)
    assert spool.record(ready, trace) == "spooled"

    assert stored(ready, "select prompt, output_text, approach from traces") == [(AWKWARD, AWKWARD[::-1], AWKWARD)]


def test_inputs_come_back_as_they_went_in_also_what_utf8_cannot_hold(ready, whole_trace, stored):
    inputs = {"text": AWKWARD + "\ud800", "numbers": [1, -2.5, 1e300, 2**70], "none": None, "nested": {"a": [True]}}
    spool.record(ready, whole_trace(inputs=inputs))

    assert json.loads(str(stored(ready, "select inputs from traces")[0][0])) == inputs


def test_every_child_row_arrives_in_its_order(ready, whole_trace, stored):
    spool.record(ready, whole_trace())

    assert stored(ready, "select position, stage, latency_ms from trace_stages") == [
        (0, "read", 1.5),
        (1, "classify", 0.25),
    ]
    assert stored(ready, "select ref, kept from trace_items order by position") == [("a.py:1", 1), ("b.py", 0)]
    assert stored(ready, "select count(*) from trace_scores") == [(2,)]
    assert stored(ready, "select guardrail_id from trace_guardrails") == [("H5",)]


def test_a_version_of_the_instructions_is_written_once_and_stored_once(ready, stored):
    written = []
    for _ in range(3):
        spool.put_version(ready, "cafe", lambda: written.append("again") or "# rules")
        assert stored(ready, "select hash, text from instructions_versions") == [("cafe", "# rules")]

    assert written == ["again"]
    assert os.stat(f"{ready}/{spool.VERSIONS}/cafe").st_size == 0


def test_what_is_no_version_disturbs_none(ready, stored):
    spool.put_version(ready, "cafe", lambda: "# rules")
    os.mkdir(f"{ready}/{spool.VERSIONS}/folder")
    os.mkfifo(f"{ready}/{spool.VERSIONS}/fifo")
    os.symlink("/etc/passwd", f"{ready}/{spool.VERSIONS}/link")
    for name in (".half.tmp", "no hash", os.fsdecode(b"\xff")):
        with open(f"{ready}/{spool.VERSIONS}/{name}", "w", encoding="utf-8") as file:
            file.write("x")

    assert stored(ready, "select hash, text from instructions_versions") == [("cafe", "# rules")]


def test_the_same_trace_recorded_twice_is_one_trace(ready, whole_trace, stored):
    trace = whole_trace()
    for _ in ("first", "again, once the first one is in the database"):
        spool.record(ready, trace)
        assert stored(ready, "select count(*) from traces") == [(1,)]

    assert (spool.waiting(ready), spool.refused(ready)) == ([], 0)
    assert stored(ready, "select count(*) from trace_stages") == [(2,)]


@pytest.mark.conformance("P37")
def test_of_sixteen_writers_at_once_every_trace_arrives_once(ready, said, stored):
    outcomes = said(WRITE_ONE, ready, processes=16)

    assert outcomes == ["spooled"] * 16
    assert sorted(stored(ready, "select prompt, count(*) from traces group by prompt")) == sorted(
        (str(number), 1) for number in range(16)
    )
    assert stored(ready, "select count(*) from trace_stages") == [(32,)]


def test_of_sixteen_first_processes_each_finds_or_makes_the_same_database(state, said, stored):
    outcomes = said(WRITE_FIRST, state, processes=16, bare=False)

    assert outcomes == ["spooled"] * 16
    assert stored(state, "select count(*), count(distinct prompt) from traces") == [(16, 16)]
    assert spool.waiting(state) == []
    assert not os.path.exists(f"{state}/{log.NAME}")


def test_a_locked_database_costs_the_prompt_neither_time_nor_a_trace(ready, spawn, whole_trace, stored):
    holder = spawn(HOLD, ready)
    assert holder.stdout.readline() == "held\n"
    outcomes = [spool.record(ready, whole_trace()) for _ in range(3)]
    holder.kill()
    holder.communicate()

    assert outcomes == ["spooled"] * 3  # recorded while the other process held the database
    assert stored(ready, "select count(*) from traces") == [(3,)]
    assert spool.waiting(ready) == []


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("column", ["id", "session_id", "host", "prompt", "task_type"])
def test_hostile_text_is_kept_and_breaks_nothing(tmp_path, state, whole_trace, stored, hostile, column):
    trace = whole_trace(**{column: hostile})
    assert spool.record(state, trace) == "spooled"
    assert os.listdir(tmp_path) == ["state"]

    ((kept,),) = stored(state, f"select {column} from traces")
    limited = column in ("id", "session_id")
    assert kept == (traces.short(hostile) if limited else traces.storable(hostile))
    assert spool.refused(state) == 0


def test_identifiers_that_begin_alike_stay_different_when_they_are_shortened():
    assert traces.short("x" * 1_000_000) != traces.short("x" * 999_999)
    assert len(traces.short("x" * 1_000_000)) <= traces.ID_LIMIT


def test_surrogates_are_replaced_one_for_one_so_that_offsets_hold():
    assert traces.storable("a\ud800b\udfff🦊") == "a\ufffdb\ufffd🦊"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_lacks_is_stored_as_unknown(ready, whole_trace, stored, number):
    spool.record(ready, whole_trace(confidence=number))

    assert stored(ready, "select confidence from traces") == [(None,)]


@pytest.mark.conformance("E23")
def test_a_trace_that_the_schema_refuses_is_kept_aside_and_told(ready, whole_trace, stored):
    assert spool.record(ready, whole_trace(confidence=1.5)) == "spooled"
    spool.record(ready, whole_trace())

    assert stored(ready, "select count(*) from traces") == [(1,)]
    assert spool.refused(ready) == 1
    assert _log(ready)[0]["stage"] == "spool"


@pytest.mark.conformance("E23")
def test_a_trace_that_is_lost_leaves_one_record_with_time_session_stage_and_reason(state, whole_trace):
    trace = whole_trace(inputs={"not json": {1, 2}})

    assert spool.record(state, trace) == "lost"
    (record,) = _log(state)
    assert (record["stage"], record["session_id"]) == ("record", "s1")
    assert trace.id in record["reason"]
    assert record["at"] >= trace.at


def test_a_record_opens_no_database(ready, spawn):
    code = WRITE_ONE.replace("import os; os._exit(0)", "print('sqlite3' in sys.modules)")

    assert spawn(code, ready, "x").communicate(timeout=60) == ("spooled\nFalse\n", "")


def test_ids_sort_by_time_and_differ_when_the_clock_stands_still_or_goes_back(monkeypatch):
    early = traces.new_trace_id()
    late = traces.new_trace_id()
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    still = {traces.new_trace_id() for _ in range(1000)}

    assert early[:14] <= late[:14]
    assert len(still) == 1000
    assert all(len(one) == 24 and one < early for one in still)


def test_a_clock_that_goes_back_loses_nothing(state, whole_trace, stored, monkeypatch):
    now = time.time_ns()
    for seconds in (0, -3600, -7200):
        monkeypatch.setattr(time, "time_ns", lambda moment=now + seconds * 10**9: moment)
        spool.record(state, whole_trace())
    monkeypatch.setattr(time, "time", lambda: now / 1e9 - 86400)

    assert stored(state, "select count(*) from traces") == [(3,)]


@pytest.mark.parametrize("umask", [0o000, 0o777], ids=["umask 000", "umask 777"])
def test_everything_is_readable_by_its_owner_only(state, whole_trace, modes, umask):
    before = os.umask(umask)
    try:
        spool.record(state, whole_trace())
        sessions.record_injected(state, "s1", [("guardrail", "H5")], tokens=9)
        spool.put_version(state, "cafe", lambda: "# rules")
        with closing(database.connect(state)):
            spool.record(state, whole_trace())
            log.append(state, stage="test", reason="x")
            spool.record(f"{state}/deeper/still", whole_trace())
            found = modes(state)
    finally:
        os.umask(before)

    assert {
        "enricher.db",
        "enricher.db-wal",
        "enricher.db-shm",
        "log",
        "spool",
        "versions/cafe",
        "deeper/still/spool",
    } <= set(found)
    assert os.stat(state).st_mode & 0o777 == 0o700
    assert {mode for path, mode in found.items() if os.path.isdir(f"{state}/{path}")} == {0o700}
    assert {mode for path, mode in found.items() if os.path.isfile(f"{state}/{path}")} == {0o600}


def test_a_full_disk_loses_the_trace_and_nothing_else(tmp_path, spawn):
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.system(f"mount -t tmpfs -o size=800k tmpfs {folder} 2>/dev/null") != 0:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        state = str(folder / "state")
        database.connect(state).close()
        with open(folder / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
            while True:
                filler.write(b"x" * 1024)
        outcome, errors = spawn(WRITE_ONE, state, "full").communicate(timeout=60)
        (folder / "filler").unlink()
        after, _ = spawn(WRITE_ONE, state, "room").communicate(timeout=60)
        with closing(database.connect(state)) as db:
            kept = [row[0] for row in db.execute("select prompt from traces")]
    finally:
        os.system(f"umount {folder}")

    assert (outcome.strip(), errors) in [("lost", ""), ("spooled", "")]
    assert (after.strip(), kept[-1]) == ("spooled", "room")


def test_a_process_that_may_write_nothing_goes_on(ready, spawn):
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n" + WRITE_ONE
    outcome, errors = spawn(code, ready, "x", bare=False).communicate(timeout=60)

    assert (outcome, errors) == ("lost\n", "")


@pytest.mark.parametrize("where", ["a file/state", "read-only/state"])
def test_a_home_that_cannot_be_written_loses_the_trace_and_nothing_else(tmp_path, whole_trace, where):
    (tmp_path / "a file").write_text("")
    (tmp_path / "read-only").mkdir(mode=0o500)
    outcome = _as_nobody(lambda: spool.record(str(tmp_path / where), whole_trace()))

    assert outcome == "lost"


def _as_nobody(action):
    """Return what ``action`` returns in a process without the rights of root, who may write anywhere."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(65534)
        os.write(writing, action().encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def _log(state):
    with open(f"{state}/{log.NAME}", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
