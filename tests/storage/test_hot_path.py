"""What the hook loads of the storage, and what a record costs beside ``import sqlite3``."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import pytest

from storage import database

ROOT = __file__.rsplit("/tests/", 1)[0]
LIST_MODULES = """
import __future__, os, sqlite3, time
before = set(sys.modules)
from storage import key, sessions, traces
trace = traces.Trace()
trace.session_id, trace.status = "s", "ok"
db = traces.open_database(state)
key.load(state); sessions.claim(state, "s", "x"); sessions.session_state(state, "s", db=db)
assert traces.record(state, trace, db=db) == "stored"
print(*sorted(set(sys.modules) - before))
"""
RECORD = """
import os
from storage import traces
trace = traces.Trace()
trace.session_id, trace.status, trace.prompt, trace.output_tokens = "s", "ok", "x" * 200, 60
trace.stages = [(str(number), 1.0) for number in range(9)]
trace.scores = [("task_type", str(number), 1.0, []) for number in range(6)]
trace.injected = [("guardrail", "H5"), ("guardrail", "H3")]
if traces.record(state, trace) != "stored": sys.exit(1)
os._exit(0)
"""
IMPORT = "import os, sqlite3; os._exit(0)"
ROUNDS = 21


def test_a_record_loads_four_small_modules_beside_sqlite3(ready, spawn):
    spawn(LIST_MODULES, ready).communicate()  # makes the key and the claims
    output, errors = spawn(LIST_MODULES, ready).communicate()

    assert errors == ""
    assert set(output.split()) - {"_json", "_blake2"} == {
        "storage",
        "storage.key",
        "storage.lean",
        "storage.sessions",
        "storage.traces",
    }


@pytest.mark.slow
def test_a_whole_record_costs_a_fraction_of_importing_sqlite3(ready):
    boot = f"import sys; sys.path.insert(0, {ROOT!r}); state = {ready!r}\n"
    commands = [[sys.executable, "-I", "-S", "-c", boot + code] for code in (IMPORT, RECORD)]
    ratios = []
    for _ in range(ROUNDS):
        imported, recorded = (_seconds(command) for command in commands)
        ratios.append(recorded / imported)

    assert statistics.median(ratios) < 1.5
    database.connect(ready).close()


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - started
