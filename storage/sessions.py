"""What a session has been told already, and whether a prompt was just answered by another registration.

Told things are rows that are only ever added; a reset is a row too, and what is older
than it no longer counts. So it does not matter in which order the spool brings them in.
"""

from __future__ import annotations

import os
import time

from storage import lean, traces

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    Told = tuple[str, str, str, int]  # trace_id, kind, ref, tokens

CLAIMS = "claims"
DUPLICATE_WITHIN_NS = 2_000_000_000
LOCK_ATTEMPTS = 10
SPOOLED_LIMIT = 32

WHAT_WAS_TOLD = "select trace_id, kind, ref, tokens from sessions where session_id = :session_id"


class SessionState:
    """What was injected into a session since it began or the host last dropped its context."""

    __slots__ = ("approaches", "guardrails", "items", "tokens")

    def __init__(self, told: Iterable[Told] = ()) -> None:
        rows = sorted(set(told))
        last_reset = max((trace_id for trace_id, kind, _, _ in rows if kind == "reset"), default="")
        counting = [row for row in rows if row[0] > last_reset]
        self.guardrails: frozenset[str] = frozenset(ref for _, kind, ref, _ in counting if kind == "guardrail")
        self.approaches: frozenset[str] = frozenset(ref for _, kind, ref, _ in counting if kind == "approach")
        self.items: frozenset[str] = frozenset(ref for _, kind, ref, _ in counting if kind == "item")
        self.tokens: int = sum(tokens for _, _, _, tokens in counting)


def session_state(state_dir: str, session_id: str, *, db: sqlite3.Connection | None) -> SessionState:
    """Return what the session was told, also where that still waits in the spool.

    Never raises; a session without an id was told nothing.
    """
    session_id = traces.short(session_id)
    if not session_id:
        return SessionState()
    try:
        told = list(db.execute(WHAT_WAS_TOLD, {"session_id": session_id})) if db is not None else []
    except traces.FAILURES:
        told = []
    return SessionState([*told, *_waiting(state_dir, session_id)])


def reset_session(state_dir: str, session_id: str, *, db: sqlite3.Connection | None = None) -> str:
    """Forget what the session was told, its host having dropped it: "stored", "spooled" or "lost"."""
    session_id = traces.short(session_id)
    own = traces.new_trace_id()
    rows: dict[str, traces.Rows] = {"sessions": [(session_id, own, "reset", "", 0)]}
    if not session_id or traces.keep(state_dir, rows, db=db):
        return "stored"
    from storage import log, spool

    try:
        spool.put(state_dir, own, status="reset", tables=rows)
    except traces.FAILURES as failure:
        log.append(state_dir, stage="session", reason=f"reset was lost: {failure!r}", session_id=session_id)
        return "lost"
    return "spooled"


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


def _waiting(state_dir: str, session_id: str) -> list[Told]:
    try:
        if not any(name.endswith(".json") for name in os.listdir(f"{state_dir}/spool")):
            return []
    except (OSError, ValueError):
        return []
    from storage import spool

    found = []
    for tables in spool.peek(state_dir, limit=SPOOLED_LIMIT):
        columns, rows = tables.get("sessions", ([], []))
        if tuple(columns) == traces.TABLES["sessions"]:
            found += [(str(row[1]), str(row[2]), str(row[3]), _number(row[4])) for row in rows if row[0] == session_id]
    return found


def _number(value: traces.Value) -> int:
    return value if isinstance(value, int) else 0


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
