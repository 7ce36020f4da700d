"""Start work as a process of its own, which the hook neither waits for nor is held up by.

The hook forks: an interpreter that is loaded already costs the hook a third of
starting another, and the child nothing at all.
"""

from __future__ import annotations

import os
import time

from storage.base import private

MAINTENANCE = "maintenance"
"""The stamp of what takes the spool in."""
POSTPONED_AT_MOST_S = 600  # a stamp from further in the future is one of a clock that went back

MOST_DESCRIPTORS = 65_536

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def start(state_dir: str, stamp: str, work: Callable[[], None]) -> bool:
    """Start ``work`` unless somebody holds its stamp or it was postponed; say whether it was started.

    Never raises. Its own session and no inherited descriptors: a host that waits for
    the end of the hook's output must not wait for this.
    """
    try:
        if not _is_needed(f"{state_dir}/{stamp}"):
            return False
        if fork(state_dir, stamp, work):
            return True
    except (OSError, ValueError) as failure:
        _log_failure(state_dir, stamp, failure)
    from storage.traces import intake

    intake.make_room(state_dir)
    return False


def fork(state_dir: str, stage: str, work: Callable[[], None]) -> bool:
    """Do ``work`` in a process of its own and say whether it was started; what fails is logged under ``stage``."""
    try:
        if os.fork() == 0:
            _live_on(state_dir, stage, work)
    except (OSError, AttributeError) as failure:
        _log_failure(state_dir, stage, failure)
        return False
    return True


def _log_failure(state_dir: str, stage: str, failure: Exception) -> None:
    from storage.base import log

    log.append(state_dir, stage=stage, reason=f"cannot be started: {failure!r}")


def postpone(state_dir: str, seconds: float, stamp: str = MAINTENANCE) -> None:
    """Let nobody start this work for a while: it has just been done, or the reason it failed is likely to last."""
    moment = time.time() + seconds
    os.utime(f"{state_dir}/{stamp}", (moment, moment))


def claim(state_dir: str, stamp: str = MAINTENANCE) -> int:
    """Return the descriptor that makes this process the only one at that work until it is closed, -1 where one is."""
    path = f"{state_dir}/{stamp}"
    private.make_directory(os.path.dirname(path))
    descriptor = private.open_file(path, os.O_RDWR)
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
    except (BlockingIOError, PermissionError):
        os.close(descriptor)
        return -1
    return descriptor


def _is_needed(path: str) -> bool:
    """Look whether one is around: who holds the stamp looks at the spool once more after letting go of it."""
    try:
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except FileNotFoundError:
        return True
    try:
        os.lockf(descriptor, os.F_TEST, 0)
        return not 0 < os.fstat(descriptor).st_mtime - time.time() < POSTPONED_AT_MOST_S
    except (BlockingIOError, PermissionError):
        return False
    finally:
        os.close(descriptor)


def _live_on(state_dir: str, stage: str, work: Callable[[], None]) -> None:
    """Do the work in the forked child; does not return."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.closerange(3, min(os.sysconf("SC_OPEN_MAX"), MOST_DESCRIPTORS))  # whatever else the hook inherited
        os.chdir("/")
        os.nice(5)
        if os.path.isdir(state_dir):  # else it was removed meanwhile, and nothing may bring it back
            work()
    except BaseException as failure:
        from storage.base import log

        log.append(state_dir, stage=stage, reason=f"{type(failure).__name__}: {failure}")
    finally:
        os._exit(0)
