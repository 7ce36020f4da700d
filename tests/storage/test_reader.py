"""Reading SQLite without the slow package: the same answers, the fallback too, and no module left in disguise."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from effort import ends
from simulator import ROOT

from storage.base import reader

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys
sys.path.append(sys.argv[1])
{before}
from storage.base import reader
print(reader.open_reader(sys.argv[2]).execute("select text from notes order by text").fetchall())
print(sorted(set(sys.modules) & {{"sqlite3", "datetime", "collections", "functools"}}))
import functools, sqlite3
print(functools.reduce(max, [1, 3, 2]), sqlite3.connect(":memory:").execute("select 4").fetchone())
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a ?#%41 name.db"
    db = sqlite3.connect(path)
    db.execute("pragma journal_mode = wal")
    db.execute("create table notes (text)")
    db.executemany("insert into notes values (?)", [("b",), ("ä",)])
    db.commit()
    db.close()
    return path


def ask(database: Path, before: str = "") -> list[str]:
    program = PROGRAM.format(before=before)
    command = [sys.executable, "-I", "-S", "-c", program, str(ROOT), str(database)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_reads_and_loads_nothing_slow(database: Path) -> None:
    assert ask(database) == ["[('b',), ('ä',)]", "[]", "3 (4,)"]


def test_without_the_private_function_the_public_module_answers_alike(database: Path) -> None:
    said = ask(database, "sys.modules['_functools'] = None")

    assert said[0] == "[('b',), ('ä',)]"
    assert "sqlite3" in said[1]


def test_nothing_can_be_written(database: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        reader.open_reader(str(database)).execute("insert into notes values ('c')")


def test_a_missing_database_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(reader.ReaderError, match=r"none\.db"):
        reader.open_reader(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")

    with pytest.raises(reader.ReaderError, match=r"pipe\.db"):
        reader.open_reader(str(tmp_path / "pipe.db"))


def test_a_query_ends_when_its_time_is_up(database: Path) -> None:
    connection = reader.open_reader(str(database), until=time.perf_counter() + 0.05)

    with ends(), pytest.raises(reader.failures()):
        connection.execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
        ).fetchall()


def test_what_is_there_but_no_file_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(reader.ReaderError, match="not a file"):
        reader.open_reader(str(tmp_path))
