"""The thread that keeps a live history up to date while it is served, through a connection of its own."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from typing import TYPE_CHECKING

from storage.db import database
from workbench.web.reading.upkeep import catch_up
from workbench.web.server.measuring import Measuring, MeasuringError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_EVERY_S = 2.0
PATIENCE_MS = 250
"""Milliseconds that the thread waits for other writers; hooks and commands have priority."""


@contextlib.contextmanager
def kept_up(state_dir: str, tell: Callable[[str], None], *, every_s: float = LOOK_EVERY_S) -> Iterator[None]:
    """Keep sums, word index and coverage current in a thread while open; ``tell`` is called with each error text."""
    end = threading.Event()
    thread = threading.Thread(target=_keep_up, args=(state_dir, end, tell, every_s), name="upkeep")
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _keep_up(state_dir: str, end: threading.Event, tell: Callable[[str], None], every_s: float) -> None:
    said = ""
    with contextlib.closing(Measuring(state_dir)) as measuring:
        while not end.is_set():
            try:
                with contextlib.closing(database.connect(state_dir)) as db:
                    db.execute(f"pragma busy_timeout = {PATIENCE_MS:d}")
                    _follow(db, measuring, end, every_s)
            except (database.StorageError, sqlite3.Error, OSError, MeasuringError) as failure:
                if not database.is_busy(failure) and str(failure) != said:
                    said = str(failure)
                    tell(f"sums, search and coverage are not up to date: {said}")
            end.wait(every_s)


def _follow(db: sqlite3.Connection, measuring: Measuring, end: threading.Event, every_s: float) -> None:
    """Update sums and index after each write by another connection, and start measuring; return once ``end`` is set."""
    done = None
    while not end.is_set():
        version = db.execute("pragma data_version").fetchone()[0]
        is_news = version != done and not catch_up(db, should_stop=end.is_set, with_coverage=False)
        if is_news or measuring.has_ended():
            measuring.look(db)
        done = version if is_news else done
        end.wait(every_s)
