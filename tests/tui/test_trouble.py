"""What the app does when the database is locked, gone, replaced or damaged: it says so, and goes on by itself."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history
from piloting import notices, run_workbench, screen_text, until

from storage.db import database
from workbench.tui.widgets.lists.row_view import RowView
from workbench.tui.workers import connection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator import Account

    from workbench.tui.app import Workbench


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE_S", 0.1)
    monkeypatch.setattr(connection, "AGAIN_S", 0.1)
    monkeypatch.setattr(database, "PATIENCE_S", 0.1)


def count(app: Workbench) -> int:
    return app.screen.query_one(RowView).row_count


async def test_a_locked_database_is_told_and_read_as_soon_as_it_is_free(library: Account) -> None:
    with closing(sqlite3.connect(library.state / "enricher.db", isolation_level=None)) as other:
        async with run_workbench(library.state) as (app, pilot):
            other.execute("begin immediate")
            library.ask("why is the build red?")
            await until(pilot, lambda: "out of reach" in screen_text(app))
            told = notices(app)
            other.execute("rollback")
            await until(pilot, lambda: count(app) == 7)

            assert "locked" in told
            assert "out of reach" not in screen_text(app)


async def test_a_label_that_cannot_be_written_is_told(library: Account) -> None:
    with closing(sqlite3.connect(library.state / "enricher.db", isolation_level=None)) as other:
        async with run_workbench(library.state) as (app, pilot):
            other.execute("begin immediate")
            await pilot.press("y")
            await until(pilot, lambda: "locked" in notices(app))
            other.execute("rollback")

            assert "Labelled" not in notices(app)


async def test_a_vanished_database_is_told_and_begun_anew(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        for suffix in ("", "-wal", "-shm"):
            (library.state / f"enricher.db{suffix}").unlink(missing_ok=True)
        await until(pilot, lambda: not count(app))

        assert "No prompts are recorded yet" in screen_text(app)
        assert "deleted or replaced" in notices(app)


async def test_a_replaced_database_is_read_anew(library: Account, tmp_path: Path) -> None:
    write_history(tmp_path / "other", 40)
    async with run_workbench(library.state) as (app, pilot):
        for suffix in ("-wal", "-shm"):
            (library.state / f"enricher.db{suffix}").unlink(missing_ok=True)
        os.replace(tmp_path / "other" / "enricher.db", library.state / "enricher.db")
        await until(pilot, lambda: count(app) > 6)

        assert count(app) == 40


async def test_a_damaged_database_is_moved_aside_and_told(library: Account) -> None:
    file = library.state / "enricher.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    async with run_workbench(library.state) as (app, pilot):
        for suffix in ("-wal", "-shm"):
            (library.state / f"enricher.db{suffix}").unlink(missing_ok=True)
        file.write_bytes(b"no database at all, only words " * 2_000)
        library.ask("why is the build red?")
        await until(pilot, lambda: list(library.state.glob("*corrupt*")))
        await until(pilot, lambda: count(app) == 1)

        assert "damaged" in notices(app)


async def test_a_database_of_a_later_version_is_left_alone(library: Account) -> None:
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        db.execute("pragma user_version = 900")
    async with run_workbench(library.state) as (app, pilot):
        await until(pilot, lambda: "upgrade prompt-enricher" in notices(app))

        assert "out of reach" in screen_text(app)


@pytest.mark.slow
async def test_a_filter_that_is_slow_still_shows_what_a_hook_writes_all_the_time(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.tui.messages import DataChanged
    from workbench.tui.screens import trace_list

    news = trace_list.listing.read_news
    done: list[int] = []

    def slowly(db: sqlite3.Connection, *which: object, **asked: object) -> Iterator[object]:
        db.execute("with recursive n(i) as (select 1 union all select i + 1 from n where i < 2e6) select max(i) from n")
        yield from news(db, *which, **asked)
        done.append(1)

    monkeypatch.setattr(trace_list.listing, "read_news", slowly)
    async with run_workbench(library.state) as (app, pilot):
        for _one in range(20):
            app.post_message(DataChanged())
            await pilot.pause(0.05)
            if done:
                break

        assert done


@pytest.mark.parametrize("place", ["instructions", "coverage", "latency", "memories"])
async def test_a_folder_that_was_deleted_under_the_app_ends_nothing(
    library: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.setenv("HOME", str(library.home))
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with run_workbench(library.state, screen=place) as (app, _pilot):
        assert place == app.place_screen().PLACE
        assert "Error" not in notices(app) + screen_text(app)
