"""A connection for a worker that can be told to stop, also in the middle of a query."""

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
"""A look takes the interpreter from whoever has it; between two, SQLite reads some ten thousand rows."""


@contextlib.contextmanager
def reading(screen: WorkbenchScreen, *, drain: bool = False) -> Iterator[sqlite3.Connection]:
    """Yield a connection of this worker; what goes wrong because the worker was cancelled is left unsaid."""
    worker = get_current_worker()
    try:
        with screen.database(drain=drain) as db:
            db.set_progress_handler(lambda: worker.is_cancelled, STEPS_BETWEEN_LOOKS)
            yield db
    except (StorageError, sqlite3.Error):
        if not worker.is_cancelled:
            raise
