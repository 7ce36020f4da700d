"""A connection for a worker that can be cancelled, even in the middle of a query."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from storage.db.database import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.tui.screens.base import WorkbenchScreen

STEPS_BETWEEN_LOOKS = 200_000
"""SQLite steps between two checks, some ten thousand rows; each check takes the interpreter lock from other threads."""


@contextlib.contextmanager
def reading(screen: WorkbenchScreen, *, drain: bool = False) -> Iterator[sqlite3.Connection]:
    """Yield a connection whose queries end when this worker is cancelled; the resulting errors are suppressed."""
    worker = get_current_worker()
    try:
        with screen.database(drain=drain) as db:
            db.set_progress_handler(lambda: worker.is_cancelled, STEPS_BETWEEN_LOOKS)
            yield db
    except (StorageError, sqlite3.Error):
        if not worker.is_cancelled:
            raise
