"""The coverage that is kept for readers: of which versions, over which prompts, and when it is measured again."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.erasure import trace_rows
from workbench.coverage.coverage import measure
from workbench.coverage.rule_positions import in_force
from workbench.replay.corpus import Corpus
from workbench.web.reading import coverage_store
from workbench.web.reading.coverage_store import coverage
from workbench.web.server.upkeep import catch_up

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from simulator import Account


@pytest.fixture
def db(library: Account, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of the library of which nothing was measured yet."""
    library.traces()
    shutil.copytree(library.state, tmp_path / "state")
    with closing(database.connect(str(tmp_path / "state"))) as db:
        yield db


def versions(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("select rules_hash from coverage_measured")]


def test_it_is_what_the_workbench_measures_of_the_version_in_use(
    db: sqlite3.Connection, library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in library.env.items():
        monkeypatch.setenv(name, value)
    catch_up(db)
    (version,) = versions(db)
    own = measure(Corpus(db), in_force(str(library.project)))
    kept = coverage(db, version)

    assert (kept.rules_hash, kept.prompts, kept.unmatched, kept.clusters, kept.labels) == (
        own.rules_hash, own.prompts, own.unmatched, own.clusters, own.labels,
    )  # fmt: skip
    assert [(row.name, row.fired, row.tokens, row.examples) for row in kept.rows] == [
        (row.name, row.fired, row.tokens, row.examples) for row in own.rows
    ]


def test_which_rules_always_speak_together_is_kept(
    db: sqlite3.Connection, library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in library.env.items():
        monkeypatch.setenv(name, value)
    columns = ", ".join(row[1] for row in db.execute("pragma table_info(traces)") if row[1] != "id")
    for number in range(6):
        copied = f"select id || '{number}', {columns} from traces where prompt like 'why does the nightly%' limit 1"
        db.execute(f"insert into traces (id, {columns}) {copied}")
    coverage_store.measure(db)
    (version,) = versions(db)
    own = measure(Corpus(db), in_force(str(library.project)))

    told = [[(row.label, row.name, row.line) for row in one.rows] for one in coverage(db, version).overlaps]
    assert told and told == [[(row.label, row.name, row.line) for row in one.rows] for one in own.overlaps]


def test_it_is_not_measured_again_without_new_prompts(db: sqlite3.Connection) -> None:
    coverage_store.measure(db)
    db.execute("update coverage_measured set judged_again = 77")

    coverage_store.measure(db)

    assert db.execute("select judged_again from coverage_measured").fetchone()[0] == 77


def test_it_is_measured_again_with_a_twentieth_more(db: sqlite3.Connection) -> None:
    coverage_store.measure(db)
    db.execute("update coverage_measured set judged_again = 77, at = '2001-01-01T00:00:00.000Z'")

    coverage_store.measure(db)

    assert db.execute("select judged_again from coverage_measured").fetchone()[0] == 0


def test_a_version_whose_files_were_not_stored_is_left_out(db: sqlite3.Connection) -> None:
    db.execute("update traces set rules_hash = 'ab' || substr(rules_hash, 3)")

    coverage_store.measure(db)

    assert versions(db) == []


def test_nothing_is_kept_of_a_measurement_that_was_stopped(db: sqlite3.Connection) -> None:
    looks = iter((False,))

    coverage_store.measure(db, should_stop=lambda: next(looks, True))

    assert versions(db) == []


def test_nothing_is_kept_of_prompts_that_were_forgotten_meanwhile(db: sqlite3.Connection) -> None:
    own = db.execute("select id from traces where status <> 'skipped' order by id desc limit 1").fetchone()[0]
    looks = iter((False, True))

    def forget_it_after_it_was_read() -> bool:
        if next(looks, False):
            trace_rows.delete(db, [own])
        return False

    coverage_store.measure(db, should_stop=forget_it_after_it_was_read)

    assert versions(db) == []


def test_forgetting_a_prompt_forgets_what_was_measured_on_it(db: sqlite3.Connection) -> None:
    coverage_store.measure(db)
    before = versions(db)

    oldest = db.execute("select id from traces order by id limit 1").fetchone()[0]
    trace_rows.delete(db, [oldest])

    assert (len(before), versions(db)) == (1, [])
    assert db.execute("select count(*) from rule_coverage").fetchone()[0] == 0
