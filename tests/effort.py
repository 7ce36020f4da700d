"""What an action costs, judged so that a busy machine does not matter: processor time, and a limit for hangs.

No test of ``make test`` asserts how much time passed on the wall. What must not
wait is run under ``ends``; what must stay cheap is held to processor time.
"""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

HANG_S = 30


@contextmanager
def ends(seconds: float = HANG_S) -> Iterator[None]:
    """Fail if the block is still running after ``seconds``: it waits for something that never comes."""

    def hangs(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"still running after {seconds} s")

    former = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def processor_s(action: Callable[[], object], *, runs: int = 3) -> float:
    """Return the seconds of processor time of the cheapest run, in this thread only."""
    return min(_processor_s(action) for _ in range(runs))


def _processor_s(action: Callable[[], object]) -> float:
    started = time.thread_time()
    action()
    return time.thread_time() - started
