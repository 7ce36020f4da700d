"""What the hook loads of the storage, and what a record costs beside the bare interpreter."""

from __future__ import annotations

import os
import statistics
import sys

import pytest

from storage.db import database

ROOT = __file__.rsplit("/tests/", 1)[0]
LIST_MODULES = """
import __future__, os, time
before = set(sys.modules)
from storage.state import detached, key, sessions
from storage.traces import spool
from storage import traces
trace = traces.Trace()
trace.session_id, trace.status = "s", "ok"
key.load(state); sessions.claim(state, "s", "x"); sessions.session_state(state, "s")
sessions.record_injected(state, "s", [("guardrail", "H5")], tokens=9)
spool.put_version(state, "cafe", lambda: "# rules")
assert spool.record(state, trace) == "spooled"
detached.start(state, detached.MAINTENANCE, lambda: None)
print(*sorted(set(sys.modules) - before))
"""
RECORD = """
import os
from storage.traces import spool
from storage import traces
trace = traces.Trace()
trace.session_id, trace.status, trace.prompt, trace.output_tokens = "s", "ok", "x" * 200, 60
trace.stages = [(str(number), 1.0) for number in range(9)]
trace.scores = [("task_type", str(number), 1.0, []) for number in range(6)]
trace.injected = [("guardrail", "H5"), ("guardrail", "H3")]
if spool.record(state, trace) != "spooled": sys.exit(1)
os._exit(0)
"""
BARE = "import os; os._exit(0)"
ROUNDS = 21


def test_a_prompt_loads_seven_small_modules_and_no_sqlite3(ready, spawn):
    spawn(LIST_MODULES, ready).communicate()  # makes the key and the claims
    output, errors = spawn(LIST_MODULES, ready).communicate()

    assert errors == ""
    assert set(output.split()) - {"_json", "_blake2"} == {
        "storage",
        "storage.base",
        "storage.state",
        "storage.state.detached",
        "storage.state.key",
        "storage.base.fast_stdlib",
        "storage.base.private",
        "storage.state.sessions",
        "storage.traces.spool",
        "storage.traces",
    }


@pytest.mark.timed
def test_a_whole_record_costs_a_fraction_of_starting_the_interpreter(ready):
    boot = f"import sys; sys.path.insert(0, {ROOT!r}); state = {ready!r}\n"
    commands = [[sys.executable, "-I", "-S", "-c", boot + code] for code in (BARE, RECORD)]
    ratios = []
    for _ in range(ROUNDS):
        bare, recorded = (_milliseconds(command) for command in commands)
        ratios.append(recorded / bare)

    assert statistics.median(ratios) < 1.5
    database.connect(ready).close()


def _milliseconds(command: list[str]) -> float:
    """Return the processor time that the command took, which a busy machine disturbs less than the clock."""
    _, status, usage = os.wait4(os.posix_spawn(command[0], command, os.environ), 0)
    assert status == 0
    return (usage.ru_utime + usage.ru_stime) * 1000
