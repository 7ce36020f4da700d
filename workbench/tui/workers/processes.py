"""What a replay of a long history needs to start other processes while the app holds the terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
from multiprocessing import resource_tracker

_ONE_AT_A_TIME = threading.Lock()


def allow() -> None:
    """Start what keeps book of shared memory for ``multiprocessing``; once it runs, this does nothing.

    It is handed the descriptor of ``sys.stderr``, and the stand-in that Textual has put there has none.
    """
    with _ONE_AT_A_TIME, contextlib.redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()
