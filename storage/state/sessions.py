"""Record what was already added to each session, and detect that another hook process just answered the same prompt.

The state of a session is one small file with a line per answered prompt, so that reading it adds almost no time to the
next prompt. The file is removed when the agent client drops the session's context; the traces contain the same data.
"""

from __future__ import annotations

import os
import time

from storage import traces
from storage.base import fast_stdlib, private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "sessions"
CLAIMS = "claims"
CLAIMS_BYTES = 65_536  # at most this much of the file of claims is read: more than a thousand claims
DUPLICATE_WITHIN_NS = 2_000_000_000
LOCK_PATIENCE_S = 0.022  # no process holds the lock for long unless it is stopped
LIMIT_BYTES = 256 * 1024  # of a session's file
FORGOTTEN_AFTER_S = 30 * 24 * 3600


class SessionState:
    """The record of what a session was given since it began, or since the agent client last dropped its context.

    ``injected`` lists the added facts, guardrails and approaches as ``kind:ref``, such as ``guardrail:H3``; ``tokens``
    is the total length of the added texts.
    """

    __slots__ = ("injected", "tokens")

    def __init__(self) -> None:
        self.injected: list[str] = []
        self.tokens = 0


def session_state(state_dir: str, session_id: str) -> SessionState:
    """Return the state of a session, which says what was already added to it.

    Never raises; for a session without an id, the state says that nothing was added.
    """
    state = SessionState()
    if not session_id:
        return state
    try:
        lines = private.read_file(path_of(state_dir, session_id), LIMIT_BYTES).splitlines()
    except (OSError, ValueError):
        return state
    injected: set[str] = set()
    for line in filter(None, lines):
        tokens, names = _parse(line)
        state.tokens += tokens
        injected.update(names)
    state.injected = sorted(injected)
    return state


def record_injected(state_dir: str, session_id: str, injected: Iterable[tuple[str, str]], *, tokens: int) -> bool:
    """Append what was just added to a session to that session's file; return whether this succeeded.

    ``injected`` has pairs (kind, ref); ``tokens`` is the length of the added text. The line is appended by a single
    write, so that concurrent processes lose nothing. It begins with a line break, so that it stays readable after a
    line that a full disk cut off.
    """
    if not session_id:
        return False
    names = [traces.storable(f"{kind}:{ref}") for kind, ref in injected]
    line = f"\n{fast_stdlib.dumps([tokens, names])}\n".encode()
    try:
        _append(state_dir, session_id, line)
    except (OSError, ValueError) as failure:
        from storage.base import log

        reason = f"what the session was told is not remembered: {failure!r}"
        log.append(state_dir, stage="session", reason=reason, session_id=session_id)
        return False
    return True


def reset_session(state_dir: str, session_id: str) -> bool:
    """Delete the state of a session whose context the agent client dropped; return whether there was any."""
    if not session_id:
        return False
    try:
        return private.removed(path_of(state_dir, session_id))
    except (OSError, ValueError) as failure:
        from storage.base import log

        log.append(state_dir, stage="session", reason=f"cannot be reset: {failure!r}", session_id=session_id)
        return False


def forget_old(state_dir: str) -> None:
    """Remove the files of sessions to which nothing was added for a month."""
    for path in private.unchanged_for(f"{state_dir}/{FOLDER}", FORGOTTEN_AFTER_S):
        private.removed(path)  # unless the session has just been reset


def _parse(line: bytes) -> tuple[int, list[str]]:
    """Return the number of tokens and the ``kind:ref`` names in one line of a session's file.

    If the line is cut off or has another format, return 0 and an empty list.
    """
    try:
        value = fast_stdlib.loads(line.decode())
    except (ValueError, RecursionError):
        return 0, []
    match value:
        case [int(tokens), list(names)]:
            return max(0, tokens), [name for name in names if isinstance(name, str)]
    return 0, []


def _append(state_dir: str, session_id: str, line: bytes) -> None:
    path = path_of(state_dir, session_id)
    try:
        descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        private.make_directory(f"{state_dir}/{FOLDER}")
        descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    try:
        if os.fstat(descriptor).st_size > LIMIT_BYTES:  # more than is ever read: start again
            os.ftruncate(descriptor, 0)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def path_of(state_dir: str, session_id: str) -> str:
    """Return the path of the file that lists what was added to a session."""
    name = fast_stdlib.keyed_hash(b"session", traces.storable(session_id).encode())
    return f"{state_dir}/{FOLDER}/{name}"


def claim(state_dir: str, session_id: str, prompt_hmac: str) -> bool:
    """Return whether this process is to answer the prompt, because no other process has seen it in the last 2 s.

    Equal prompts of different sessions are different prompts. Exactly one of any number of concurrent processes gets
    True. Never raises; on errors, and for a session without an id, the answer is True.
    """
    if not session_id:
        return True
    mark = fast_stdlib.keyed_hash(b"", f"{traces.short(session_id)}\n{prompt_hmac}".encode())
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
        os.unlink(path)  # a link: its target is not ours to write
    else:
        if private.is_own(os.fstat(descriptor)):
            return descriptor
        os.close(descriptor)
        os.unlink(path)
    return private.open_file(path, os.O_RDWR)


def _claimed(descriptor: int, mark: str) -> bool:
    """Record that the prompt with the hash ``mark`` was seen; return False if it was seen less than two seconds ago.

    The file of recorded hashes is locked while it is read and written. Times are from the monotonic clock, which all
    processes share; after a restart of the machine, older times lie in the future and no longer count.
    """
    is_locked = private.lock(descriptor, patience_s=LOCK_PATIENCE_S)
    now = time.monotonic_ns()
    lines = os.read(descriptor, CLAIMS_BYTES).decode("ascii", "replace").split("\n")
    recent = [line for line in lines if _is_recent(line, now)]
    if any(line.startswith(mark) for line in recent):
        return False
    if is_locked:
        content = "".join(f"{line}\n" for line in [*recent[-1000:], f"{mark} {now}"]).encode()
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, content)
        if os.fstat(descriptor).st_size > len(content):  # truncating to 0 before would make closing wait for the disk
            os.ftruncate(descriptor, len(content))
    return True


def _is_recent(line: str, now: int) -> bool:
    _mark, _space, taken = line.partition(" ")
    return taken.isdecimal() and 0 <= now - int(taken) < DUPLICATE_WITHIN_NS
