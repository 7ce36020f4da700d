"""Allow a long replay to start processes while Textual has replaced the standard streams."""

from __future__ import annotations

import contextlib
import sys
import threading
from multiprocessing import resource_tracker

_ONE_AT_A_TIME = threading.Lock()


def allow() -> None:
    """Start the shared-memory resource tracker of ``multiprocessing``; once it runs, this does nothing.

    The tracker is passed the descriptor of ``sys.stderr``, and Textual's replacement of it has none.
    """
    with _ONE_AT_A_TIME, contextlib.redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()
