"""Run work in a background process that the hook does not wait for.

The hook forks this process, which is faster than starting a new interpreter. For each kind of work there is a lock
file, called its stamp, so that only one process at a time does it.
"""

from __future__ import annotations

import os
import time

from storage.base import private

MAINTENANCE = "maintenance"
"""The name of the stamp (lock file) of the process that imports recorded prompts into the database."""
POSTPONED_AT_MOST_S = 600  # a stamp with a time further in the future means that the clock was set back

MOST_DESCRIPTORS = 65_536  # SC_OPEN_MAX may be a thousand million, and old kernels close the descriptors one by one
NICENESS = 5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def start(state_dir: str, stamp: str, work: Callable[[], None]) -> bool:
    """Start ``work`` in a background process unless it is postponed or running; return whether it was started.

    The work is running if a process has locked its stamp file, and postponed if that file's time is in the future. The
    child gets its own session and no inherited descriptors, because an agent client that waits for the end of the
    hook's output must not wait for the child. Never raises: a failure is logged. If the work was not started, the spool
    is cut down to its maximum size, because prompts may not be imported.
    """
    try:
        if not _is_needed(f"{state_dir}/{stamp}"):
            return False
        if fork(state_dir, stamp, work):
            return True
    except (OSError, ValueError) as failure:
        _log_failure(state_dir, stamp, failure)
    from storage.traces import intake

    try:
        intake.make_room(state_dir)
    except OSError as failure:  # another process may be importing the files, or the disk may be full
        _log_failure(state_dir, stamp, failure)
    return False


def fork(state_dir: str, stage: str, work: Callable[[], None], *, keep: int = -1, niceness: int = NICENESS) -> bool:
    """Run ``work`` in a forked process; return whether the process was started.

    ``stage`` names the work in the log if it fails. ``keep`` is a descriptor that stays open in the child; ``niceness``
    is added to its priority number.
    """
    try:
        if os.fork() == 0:
            _live_on(state_dir, stage, work, keep=keep, niceness=niceness)
    except (OSError, AttributeError) as failure:  # Windows has no ``os.fork``
        _log_failure(state_dir, stage, failure)
        return False
    return True


def _log_failure(state_dir: str, stage: str, failure: Exception) -> None:
    from storage.base import log

    log.append(state_dir, stage=stage, reason=f"cannot be started: {failure!r}")


def find_libraries() -> None:
    """Make installed libraries importable in a child of the hook, which has the standard library only."""
    import sys

    if sys.flags.no_site:
        import site

        site.main()


def postpone(state_dir: str, seconds: float, stamp: str = MAINTENANCE) -> None:
    """Prevent the work with the stamp ``stamp`` from being started for ``seconds``.

    This is called when the work was just done, or would fail again at once.
    """
    moment = time.time() + seconds
    os.utime(f"{state_dir}/{stamp}", (moment, moment))


def claim(state_dir: str, stamp: str = MAINTENANCE) -> int:
    """Lock the stamp file and return its descriptor, to be closed for unlocking; -1 if another process has the lock."""
    path = f"{state_dir}/{stamp}"
    private.make_directory(os.path.dirname(path))
    descriptor = private.open_file(path, os.O_RDWR)
    if private.lock(descriptor):
        return descriptor
    os.close(descriptor)
    return -1


def _is_needed(path: str) -> bool:
    """Return whether the work is neither postponed nor running, so that it should be started.

    A process that does the work looks for new work once more when it has released the lock, so that nothing is
    forgotten.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except FileNotFoundError:
        return True
    try:
        os.lockf(descriptor, os.F_TEST, 0)
        return not 0 < os.fstat(descriptor).st_mtime - time.time() < POSTPONED_AT_MOST_S
    except (BlockingIOError, PermissionError):  # another process holds the lock
        return False
    finally:
        os.close(descriptor)


def _live_on(state_dir: str, stage: str, work: Callable[[], None], *, keep: int, niceness: int) -> None:
    """Run the work in the forked child, then end the process; never returns."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        if keep > 3:
            os.closerange(3, keep)  # all else that the hook inherited; a negative end would not mean "nothing" here
        os.closerange(max(3, keep + 1), min(os.sysconf("SC_OPEN_MAX"), MOST_DESCRIPTORS))
        os.chdir("/")  # the folder of the prompt can then be removed or unmounted
        os.nice(niceness)
        if os.path.isdir(state_dir):  # otherwise the folder was removed meanwhile, and must not be created again
            work()
    except BaseException as failure:  # whatever it is: this process must not continue with the hook's code
        if os.path.isdir(state_dir):
            from storage.base import log

            log.append(state_dir, stage=stage, reason=f"{type(failure).__name__}: {failure}")
    finally:
        os._exit(0)
