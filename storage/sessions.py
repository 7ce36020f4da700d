"""What a session has been told already, and whether a prompt was just answered by another registration.

A session's memory is a small file of its own, one line for each thing told, because
reading it must cost the next prompt nothing; the database gets the same rows with
the traces. A reset empties the file.
"""

from __future__ import annotations

import os
import time

from storage import lean, private, traces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "sessions"
CLAIMS = "claims"
DUPLICATE_WITHIN_NS = 2_000_000_000
LOCK_ATTEMPTS = 10
LIMIT_BYTES = 256 * 1024
FORGOTTEN_AFTER_S = 30 * 24 * 3600


class SessionState:
    """What was injected into a session since it began or the host last dropped its context."""

    __slots__ = ("tokens", "told")

    def __init__(self) -> None:
        self.told: list[str] = []
        self.tokens = 0


def session_state(state_dir: str, session_id: str) -> SessionState:
    """Return what the session was told, as sorted ``kind:ref``, and what that cost in tokens.

    Never raises; a session without an id was told nothing.
    """
    state = SessionState()
    if not session_id:
        return state
    told: set[str] = set()
    try:
        lines = private.read_file(_path(state_dir, session_id), LIMIT_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        lines = []
    for line in lines:
        tokens, _, name = line.partition(" ")
        state.tokens += int(tokens) if tokens.isdecimal() else 0
        if name:
            told.add(name)
    state.told = sorted(told)
    return state


def tell(state_dir: str, session_id: str, injected: Iterable[tuple[str, str]], *, tokens: int) -> bool:
    """Remember what the session has now been told and say whether that worked."""
    if not session_id:
        return False
    names = [f"{kind}:{' '.join(ref.split())}" for kind, ref in injected]
    lines = [f"{tokens if at == 0 else 0} {name}" for at, name in enumerate(names or [""])]
    try:
        private.make_directory(f"{state_dir}/{FOLDER}")
        descriptor = private.open_file(_path(state_dir, session_id), os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, traces.storable("\n".join(lines) + "\n").encode())
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return False
    return True


def reset_session(state_dir: str, session_id: str) -> bool:
    """Forget what the session was told, its host having dropped it; say whether there was anything."""
    try:
        os.unlink(_path(state_dir, session_id))
    except OSError:
        return False
    return True


def forget_old(state_dir: str, *, older_than_s: float = FORGOTTEN_AFTER_S) -> None:
    """Remove the memories of sessions that ended long ago."""
    try:
        with os.scandir(f"{state_dir}/{FOLDER}") as entries:
            old = [one.path for one in entries if time.time() - one.stat(follow_symlinks=False).st_mtime > older_than_s]
    except OSError:
        return
    for path in old:
        os.unlink(path)


def _path(state_dir: str, session_id: str) -> str:
    name = lean.keyed_hash(b"session", traces.storable(session_id).encode())
    return f"{state_dir}/{FOLDER}/{name}"


def claim(state_dir: str, session_id: str, prompt_hmac: str) -> bool:
    """Say whether this process is the first in 2 s to see this prompt in this session.

    Of any number of processes that ask at once, one hears yes. Never raises; in doubt,
    and for a session without an id, the answer is yes.
    """
    if not session_id:
        return True
    mark = lean.keyed_hash(b"", f"{traces.short(session_id)}\n{prompt_hmac}".encode())
    try:
        descriptor = _open_claims(state_dir)
        try:
            return _claimed(descriptor, mark)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return True


def _open_claims(state_dir: str) -> int:
    path = f"{state_dir}/{CLAIMS}"
    try:
        return os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0))  # reading a FIFO must not wait
    except FileNotFoundError:
        from storage import private

        private.make_directory(state_dir)
        return private.open_file(path, os.O_RDWR)


def _claimed(descriptor: int, mark: str) -> bool:
    """Read, judge and rewrite the claims under their lock.

    The monotonic clock is one for all processes and no one sets it back; after a
    restart of the machine, older times lie in the future and no longer count.
    """
    is_locked = _lock(descriptor)
    now = time.monotonic_ns()
    recent = [
        line for line in os.read(descriptor, 65536).decode("ascii", "replace").split("\n") if _is_recent(line, now)
    ]
    if any(line.startswith(mark) for line in recent):
        return False
    if is_locked:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, "".join(f"{line}\n" for line in [*recent[-1000:], f"{mark} {now}"]).encode())
    return True


def _is_recent(line: str, now: int) -> bool:
    _mark, _space, taken = line.partition(" ")
    return taken.isdecimal() and 0 <= now - int(taken) < DUPLICATE_WITHIN_NS


def _lock(descriptor: int) -> bool:
    """Take the lock that closing the file gives back; nobody holds it for long unless stopped."""
    for attempt in range(LOCK_ATTEMPTS):
        try:
            os.lockf(descriptor, os.F_TLOCK, 0)
        except (PermissionError, BlockingIOError):
            time.sleep(0.0005 * attempt)
        else:
            return True
    return False
