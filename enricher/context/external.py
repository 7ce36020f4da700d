"""Channels that are programs: started together, each its own process group, killed at its deadline.

Protocol: ``{"v":1,"prompt","cwd","session_id","task_type","deadline_ms"}`` on
stdin, ``{"items":[{"text","ref","score"}]}`` on stdout, at most 64 KB.
"""

from __future__ import annotations

import os
import select
import time

from enricher.context import Candidate, Gathered, presentable
from storage.lean import dumps, loads

LARGEST_ANSWER = 64 * 1024
SIGKILL = 9

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.context import Channel


class Running:
    """A started program: what is left to tell it, what it has said, when its time is up."""

    __slots__ = ("answer", "channel", "ended_at", "from_child", "pending", "pid", "started_at", "status", "to_child")

    def __init__(self, channel: Channel, request: bytes) -> None:
        self.channel = channel
        self.pending = request
        self.answer = bytearray()
        self.status = "timeout"
        self.started_at = self.ended_at = time.monotonic()
        child_in, self.to_child = os.pipe()
        self.from_child, child_out = os.pipe()
        os.set_blocking(self.to_child, False)
        os.set_blocking(self.from_child, False)
        try:
            self.pid = _spawn(channel.command, child_in, child_out)
        except OSError:
            self.pid = 0
            self.finish("error")
        finally:
            os.close(child_in)
            os.close(child_out)

    def until(self) -> float:
        return self.started_at + self.channel.deadline_ms / 1000

    def write(self) -> None:
        """Hand over as much of the request as fits; a program that does not want it may still answer."""
        try:
            self.pending = self.pending[os.write(self.to_child, self.pending) :]
        except BlockingIOError:
            return
        except OSError:
            self.pending = b""
        if not self.pending:
            os.close(self.to_child)
            self.to_child = -1

    def read(self) -> None:
        try:
            piece = os.read(self.from_child, LARGEST_ANSWER)
        except BlockingIOError:
            return
        self.answer += piece
        if len(self.answer) > LARGEST_ANSWER:
            self.finish("error")
        elif not piece:
            self.finish("ok")

    def finish(self, status: str) -> None:
        """Close both ends and end the whole process group; the first status given stays."""
        if self.from_child < 0:
            return
        self.status = status
        self.ended_at = time.monotonic()
        for end in (self.to_child, self.from_child):
            if end >= 0:
                os.close(end)
        self.to_child = self.from_child = -1
        if self.pid:
            _kill_group(self.pid)


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, SIGKILL)
        os.waitpid(leader, 0)
    except (ProcessLookupError, ChildProcessError):
        return


def _spawn(command: list[str], child_in: int, child_out: int) -> int:
    actions = [
        (os.POSIX_SPAWN_DUP2, child_in, 0),
        (os.POSIX_SPAWN_DUP2, child_out, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    return os.posix_spawnp(command[0], command, os.environ, file_actions=actions, setpgroup=0)


def start(channels: list[Channel], request: dict[str, Any]) -> list[Running]:
    """Start all channels; whoever starts them collects them, whatever happens in between."""
    return [Running(channel, _request(request, channel)) for channel in channels]


def collect(running: list[Running], *, until: float) -> list[Gathered]:
    """Wait for the answers within each channel's deadline and ``until`` (of ``perf_counter``); leave none running."""
    end = time.monotonic() + until - time.perf_counter()
    try:
        while open_ones := [one for one in running if one.from_child >= 0]:
            now = time.monotonic()
            for one in open_ones:
                if now >= min(one.until(), end):
                    one.finish("timeout")
            waiting = [one for one in open_ones if one.from_child >= 0]
            _exchange(waiting, until=min(end, *(one.until() for one in open_ones)))
    finally:
        for one in running:
            one.finish("timeout")
    return [_gathered(one) for one in running]


def _gathered(one: Running) -> Gathered:
    items = items_of(bytes(one.answer)) if one.status == "ok" else []
    status = "error" if items is None else one.status if one.status != "ok" or items else "empty"
    return Gathered(
        one.channel.name,
        status,
        latency_ms=round((one.ended_at - one.started_at) * 1000, 2),
        candidates=[presentable(Candidate(*item)) for item in items or []],
    )


def _request(request: dict[str, Any], channel: Channel) -> bytes:
    return (dumps({"v": 1, **request, "deadline_ms": channel.deadline_ms}) + "\n").encode()


def _exchange(running: list[Running], *, until: float) -> None:
    if not running:
        return
    poll = select.poll()
    ends = {}
    for one in running:
        ends[one.from_child] = one
        poll.register(one.from_child, select.POLLIN)
        if one.to_child >= 0:
            ends[one.to_child] = one
            poll.register(one.to_child, select.POLLOUT)
    for end, _event in poll.poll(max(0.0, (until - time.monotonic()) * 1000)):
        one = ends[end]
        if end == one.to_child:
            one.write()
        elif end == one.from_child:
            one.read()


def items_of(answer: bytes) -> list[tuple[str, str, float]] | None:
    """Return the (text, ref, score) items of an answer, or None where it does not follow the protocol."""
    try:
        value = loads(answer.decode())
    except (ValueError, RecursionError):
        return None
    offered = value.get("items") if isinstance(value, dict) else None
    if not isinstance(offered, list):
        return None
    return [item for item in map(_item, offered) if item is not None]


def _item(value: object) -> tuple[str, str, float] | None:
    if not isinstance(value, dict):
        return None
    text, ref, score = value.get("text"), value.get("ref"), value.get("score", 1.0)
    if not isinstance(text, str) or not text.strip() or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return text, ref if isinstance(ref, str) else "", min(1.0, max(0.0, float(score)))
