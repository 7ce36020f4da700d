"""Start the maintenance as a process of its own, which the hook neither waits for nor is held up by."""

from __future__ import annotations

import os
import sys
import time

from storage import private

STAMP = "maintenance"
PAUSE_S = 1.0
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from storage.maintenance import main; main(sys.argv[2])"


def start(state_dir: str) -> bool:
    """Start the maintenance unless one was started moments ago; say whether it was.

    Never raises. Its own session and no inherited descriptors: a host that waits for
    the end of the hook's output must not wait for this.
    """
    try:
        private.make_directory(state_dir)
        if not _is_my_turn(f"{state_dir}/{STAMP}"):
            return False
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        command = [sys.executable, "-I", "-c", BOOT, root, state_dir]
        os.posix_spawn(sys.executable, command, os.environ, file_actions=_to_null(), setsid=True)
    except (OSError, ValueError, AttributeError, NotImplementedError) as failure:
        from storage import log

        log.append(state_dir, stage="maintenance", reason=f"cannot be started: {failure!r}")
        return False
    return True


def postpone(state_dir: str, seconds: float) -> None:
    """Let nobody start the maintenance for a while, the reason it failed being likely to last."""
    moment = time.time() + seconds - PAUSE_S
    os.utime(f"{state_dir}/{STAMP}", (moment, moment))


def _is_my_turn(path: str) -> bool:
    """Judge and renew the stamp; a stamp from far in the future is one of a clock that went back."""
    descriptor = private.open_file(path, os.O_RDWR)
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
        status = os.fstat(descriptor)
        age = time.time() - status.st_mtime
        if status.st_size and -600 < age < PAUSE_S:
            return False
        os.ftruncate(descriptor, 0)
        os.write(descriptor, b"started\n")
    except (BlockingIOError, PermissionError):  # another process is judging it right now
        return False
    finally:
        os.close(descriptor)
    return True


def _to_null() -> list[tuple[int, int, str, int, int]]:
    return [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
