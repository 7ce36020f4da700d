"""The process that measures the coverage of a live history beside its server."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from workbench.web.server import upkeep
from workbench.web.server.upkeep import COMMAND, Measuring, MeasuringError, maintained

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account

PATIENCE_S = 30.0
SERVER = """
import subprocess, sys
own = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]], stdin=subprocess.PIPE)
print("up", flush=True)
own.wait()
"""


@pytest.fixture
def state(library: Account, tmp_path: Path) -> Path:
    """A copy of the library of which nothing was measured yet."""
    library.traces()
    (tmp_path / "state").mkdir()
    with (
        closing(sqlite3.connect(library.state / "enricher.db")) as source,
        closing(sqlite3.connect(tmp_path / "state" / "enricher.db")) as copy,
    ):
        source.backup(copy)
        copy.execute("delete from coverage_measured")
        copy.commit()
    return tmp_path / "state"


def until(holds: Callable[[], object]) -> bool:
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return bool(holds())


def versions_measured(state: Path) -> int:
    with closing(sqlite3.connect(state / "enricher.db")) as db:
        return int(db.execute("select count(*) from coverage_measured").fetchone()[0])


def test_what_is_due_is_measured_while_the_history_is_served(state: Path) -> None:
    began = time.process_time()
    said: list[str] = []
    with maintained(str(state), said.append, every_s=0.05):
        assert until(lambda: versions_measured(state) == 1)

    assert (said, time.process_time() - began < 1.0) == ([], True)


def test_what_cannot_be_measured_is_tried_once(state: Path) -> None:
    with closing(database.connect(str(state))) as db, closing(Measuring(str(state))) as measuring:
        db.execute("update traces set rules_hash = 'ab' || substr(rules_hash, 3)")
        measuring.look(db)
        assert until(measuring.has_ended)
        assert not measuring.look(db)


def test_it_says_once_why_it_failed_and_is_left_alone_then(state: Path) -> None:
    with closing(database.connect(str(state))) as db, closing(Measuring(str(state / "enricher.db"))) as measuring:
        measuring.look(db)
        assert until(measuring.has_ended)
        with pytest.raises(MeasuringError):
            measuring.look(db)
        assert not measuring.look(db)


def test_a_failure_to_measure_is_reported_as_such(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = "import workbench.web.reading.coverage_store as own; own.due = lambda db: 1 / 0; "
    monkeypatch.setattr(upkeep, "COMMAND", command + COMMAND)
    said: list[str] = []
    with maintained(str(state), said.append, every_s=0.05):
        assert until(lambda: said)

    assert said == ["coverage could not be measured: ZeroDivisionError: division by zero"]


def test_it_ends_when_its_server_is_killed(state: Path) -> None:
    sleep = (
        f"import workbench.web.reading.coverage_store as own, time; own.measure = lambda db: time.sleep(60); {COMMAND}"
    )
    server = subprocess.Popen([sys.executable, "-c", SERVER, sleep, state], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    server.stdout.readline()
    server.kill()

    assert server.communicate(timeout=PATIENCE_S) == ("", None)  # the other had this end of the pipe, too
