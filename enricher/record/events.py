"""Send one event per queried channel to the file and the socket that the user has configured for them, if any.

This happens after the prompt was answered and must not delay anything: all events together get 50 ms, no reply is
awaited, and failures are only counted. docs/channels.md describes the fields.
"""

from __future__ import annotations

import os
import stat
import time

from storage.base import private
from storage.base.fast_stdlib import dumps, utc_now, within

TOPIC = "onex.evt.omniclaude.context-enrichment.v1"
MOST_S = 0.05
"""Seconds for all events of a prompt together; ``OMNICLAUDE_EMIT_TIMEOUT`` (seconds) can only lower this."""
LARGEST_FILE = 8 << 20
"""Bytes above which the file of events is renamed to ``.1``, so that at most two such files exist."""
ANSWERED = ("ok", "empty")
FAILED = ("timeout", "error")
"""ANSWERED and FAILED are the statuses of channels that were queried; any other status leads to no event."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from enricher.context import ChannelResult
    from enricher.record import Run
    from enricher.respond import Enrichment


class TooLateError(BaseException):  # no ``except Exception`` on the way may catch it
    """Raised if sending events takes longer than the time limit."""


def send(run: Run) -> None:
    """Send the events of a prompt, and count in its trace how many arrived at every sink (file, socket).

    Never raises. Failures are described in the log and counted in the trace.
    """
    if run.inputs is None or run.enrichment is None:
        return
    asked = [one for one in run.inputs.channels if one.status in ANSWERED + FAILED]
    if not asked:
        return
    lines = [dumps(_event(one, run.enrichment, run)).encode() + b"\n" for one in asked]
    reasons = _deliver(lines, str(run.settings.get("events.file", "")), str(run.settings.get("events.socket", "")), run)
    if reasons:
        from storage.base import log

        reason = f"{len(lines)} not sent: {'; '.join(reasons)}"
        log.append(run.state, stage="events", reason=reason, session_id=run.trace.session_id)
    sent = 0 if reasons else len(lines)
    run.trace.inputs["events"] = {"sent": sent, "failed": len(lines) - sent}


def _event(one: ChannelResult, enrichment: Enrichment, run: Run) -> dict[str, Any]:
    """Return the event for a channel's result; some values appear under two keys, as different consumers expect."""
    own = [item for item in enrichment.items if item.channel == one.name]
    score = max((item.score for item in own), default=None)
    success = one.status in ANSWERED
    was_dropped = bool(own) and not any(item.kept for item in own)
    return {
        "topic": TOPIC,
        "timestamp": utc_now(),
        "correlation_id": run.trace.id,
        "session_id": run.trace.session_id,
        "channel": one.name,
        "model_name": one.model,
        "outcome": "error" if not success else "hit" if own else "miss",
        "latency_ms": round(max(0.0, one.latency_ms), 3),
        # row[5]: the tokens of the channel's facts that are in the added text (``after_answer.describe``)
        "tokens_after": next((row[5] for row in run.trace.channels if row[0] == one.name), 0),
        "similarity_score": score,
        "was_dropped": was_dropped,
        "name": one.name,
        "model_used": one.model,
        "relevance_score": score,
        "fallback_used": one.fallback,
        "success": success,
        "kept": not was_dropped,
    }


def _deliver(lines: list[bytes], file: str, socket: str, run: Run) -> list[str]:
    """Write the lines to each sink within the shared time limit; return the reason for each sink that failed."""
    until = time.monotonic() + _patience(os.environ.get("OMNICLAUDE_EMIT_TIMEOUT", ""))
    reasons = []
    if file:
        path = os.path.join(run.state, os.path.expanduser(file))
        reasons.append(_attempt(lambda: _append(path, b"".join(lines)), f"file {file}", until))
    if socket:
        path = os.path.join(run.state, os.path.expanduser(socket))
        reasons.append(_attempt(lambda: _send_to_socket(path, b"".join(lines), until), f"socket {socket}", until))
    return [reason for reason in reasons if reason]


def _patience(asked: str) -> float:
    try:
        return min(MOST_S, max(0.001, float(asked)))  # a timer of 0 seconds would never ring
    except ValueError:
        return MOST_S


def _attempt(action: Callable[[], None], sink: str, until: float) -> str:
    try:
        within(max(0.001, until - time.monotonic()), _ring, action)
    except TooLateError:
        return f"{sink}: too slow"
    except (OSError, ValueError) as failure:
        return f"{sink}: {failure.__class__.__name__}"
    return ""


def _ring() -> None:
    raise TooLateError


def _append(path: str, content: bytes) -> None:
    """Append ``content`` to the file; if the file is full, first rename it to ``.1``, so that a new one begins."""
    private.make_directory(os.path.dirname(path))
    _rotate(path)
    descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
    try:
        # The setting may name a pipe or a device.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _rotate(path: str) -> None:
    """Rename a full file of events, so that a new one is begun; a lock makes sure that only one process does so."""
    try:
        if os.lstat(path).st_size <= LARGEST_FILE:
            return
        descriptor = os.open(path, os.O_RDWR | private.NOFOLLOW | private.NONBLOCK)  # a lock needs write access
    except OSError:
        return
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
        # Another process may have renamed the file after it was opened here.
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            os.replace(path, f"{path}.1")
    except OSError:
        return
    finally:
        os.close(descriptor)


def _send_to_socket(path: str, content: bytes, until: float) -> None:
    """Send ``content`` to the process that listens on the socket, without waiting for a reply.

    ``until`` is the deadline, as a time of ``time.monotonic``.
    """
    try:
        import _socket as sockets  # ``socket`` loads selectors and enum, which the hook must not
    except ImportError:
        import socket as sockets  # type: ignore[no-redef]
    line = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        line.settimeout(max(0.001, until - time.monotonic()))
        line.connect(path)
        while content:
            line.settimeout(max(0.001, until - time.monotonic()))
            content = content[line.send(content) :]
    finally:
        line.close()
