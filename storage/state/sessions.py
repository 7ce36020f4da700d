"""What a session has been told already, and whether a prompt was just answered by another registration.

A session's memory is a small file of its own, one line for each thing told, because
reading it must cost the next prompt nothing; the database gets the same rows with
the traces. A reset removes the file.
"""

from __future__ import annotations

import os
import time

from storage import traces
from storage.base import lean, private

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
    try:
        lines = private.read_file(_path(state_dir, session_id), LIMIT_BYTES).splitlines()
    except (OSError, ValueError):
        return state
    told: set[str] = set()
    for line in filter(None, lines):
        tokens, names = _parse(line)
        state.tokens += tokens
        told.update(names)
    state.told = sorted(told)
    return state


def tell(state_dir: str, session_id: str, injected: Iterable[tuple[str, str]], *, tokens: int) -> bool:
    """Remember what the session has now been told and say whether that worked.

    One write at the end of the file, so that processes that tell at once lose nothing,
    on a line of its own also behind one that a full disk cut off.
    """
    if not session_id:
        return False
    names = [traces.storable(f"{kind}:{ref}") for kind, ref in injected]
    line = f"\n{lean.dumps([tokens, names])}\n".encode()
    try:
        _append(state_dir, session_id, line)
    except (OSError, ValueError) as failure:
        from storage.base import log

        reason = f"what the session was told is not remembered: {failure!r}"
        log.append(state_dir, stage="session", reason=reason, session_id=session_id)
        return False
    return True


def reset_session(state_dir: str, session_id: str) -> bool:
    """Forget what the session was told, its host having dropped it; say whether there was anything."""
    if not session_id:
        return False
    try:
        os.unlink(_path(state_dir, session_id))
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as failure:
        from storage.base import log

        log.append(state_dir, stage="session", reason=f"cannot be reset: {failure!r}", session_id=session_id)
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


def _parse(line: bytes) -> tuple[int, list[str]]:
    """Return what one line holds, nothing where it was cut off or is not ours."""
    try:
        value = lean.loads(line.decode())
    except (ValueError, RecursionError):
        return 0, []
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not isinstance(value[0], int)
        or not isinstance(value[1], list)
    ):
        return 0, []
    return max(0, value[0]), [name for name in value[1] if isinstance(name, str)]


def _append(state_dir: str, session_id: str, line: bytes) -> None:
    path = _path(state_dir, session_id)
    try:
        descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        private.make_directory(f"{state_dir}/{FOLDER}")
        descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    try:
        if os.fstat(descriptor).st_size > LIMIT_BYTES:  # beyond what is ever read: begin anew
            os.ftruncate(descriptor, 0)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


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
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)
    except FileNotFoundError:
        private.make_directory(state_dir)
    except OSError:
        os.unlink(path)  # a link: what it leads to is not ours to write
    else:
        if private.is_own(os.fstat(descriptor)):
            return descriptor
        os.close(descriptor)
        os.unlink(path)
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
        content = "".join(f"{line}\n" for line in [*recent[-1000:], f"{mark} {now}"]).encode()
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, content)
        if os.fstat(descriptor).st_size > len(content):  # not to 0 first: the disk would be waited for when closing
            os.ftruncate(descriptor, len(content))
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
