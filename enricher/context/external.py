"""Run the channels that are external programs: in parallel, each in its own process group, killed at its deadline.

Protocol (docs/channels.md): ``{"v":1,"prompt","cwd","session_id","task_type","deadline_ms"}`` on stdin,
``{"items":[{"text","ref","score"}]}`` on stdout, at most 64 KB, exit code 0. Every process
that a channel starts inherits the environment variable ``ENRICHER_CHANNEL``; a sweep after the
answer uses it to find and kill processes that left their group.
"""

from __future__ import annotations

import os
import select
import time

from enricher.context import Candidate, ChannelResult, redact_item
from storage.base.fast_stdlib import dumps, loads

LARGEST_ANSWER = 64 * 1024
LONGEST_NAME = 80
SIGKILL, SIGPIPE, SIGXFSZ = 9, 13, 25  # numbers: the module ``signal`` would load ``enum``
LEAVING_S = 0.02  # for the exit after stdout was closed; the exit code shows whether the program failed
STARTING_S = 0.1
"""Seconds for starting all programs, in order of priority; those not started by then are skipped.

The built-in channels need time, too.
"""
MOST_DESCRIPTORS = 1024  # the usual limit of open files
LOOK_S = 0.001  # ``poll`` waits for descriptors, not for the exit of a process

MARK = "ENRICHER_CHANNEL"
"""Environment variable that marks all processes of the channels; its value is ``end:pid:state``.

``end`` is the last deadline in milliseconds of ``time.monotonic``, ``pid`` the hook's, ``state`` the state folder.
"""
OVERDUE_MS = 2000  # after ``end``, another hook may kill these processes, because their own hook did not
ROUNDS, BETWEEN_ROUNDS_S = 10, 0.02  # a killed process may have started another one before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.context import ChannelRule


class ChannelProcess:
    """A started program: the unsent rest of its request, its output so far, its pipes and its deadline."""

    __slots__ = (
        "answer", "channel", "ended_at", "from_child", "pending", "pid", "problem", "started_at", "status",
        "to_child",
    )  # fmt: skip

    def __init__(self, channel: ChannelRule) -> None:
        self.channel = channel
        self.pending = b""
        self.answer = bytearray()
        self.status = self.problem = ""
        self.started_at = self.ended_at = time.monotonic()
        self.pid = 0
        self.to_child = self.from_child = -1

    def start(self, request: bytes, environment: dict[str, str]) -> None:
        """Start the program and send the request; a program that cannot be started ends with status ``error``."""
        self.pending = request
        child_in, self.to_child = os.pipe()
        self.from_child, child_out = os.pipe()
        for end in (self.to_child, self.from_child):
            os.set_blocking(end, False)  # neither a full pipe nor a slow program may keep the hook waiting
        try:
            if self.channel.handler:
                self.pid = _fork(self.channel.handler, child_in, child_out, environment[MARK])
            else:
                self.pid = _spawn(self.channel.command, child_in, child_out, environment)
        except (OSError, ValueError) as failure:
            self.finish("error", f"{(self.channel.command or self.channel.handler)[0]} cannot be started: {failure}")
        finally:
            os.close(child_in)
            os.close(child_out)
        if self.pid:
            self.write()

    def is_open(self) -> bool:
        """Return whether the program may still write output."""
        return self.from_child >= 0

    def until(self) -> float:
        if self.is_open():
            return self.started_at + self.channel.deadline_ms / 1000
        return self.ended_at + LEAVING_S

    def write(self) -> None:
        """Send as much of the request as fits into the pipe; a program that has closed its stdin may still answer."""
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
        """Read all available output; at end of file, close the pipes."""
        while self.is_open():
            try:
                piece = os.read(self.from_child, LARGEST_ANSWER)
            except BlockingIOError:
                return
            self.answer += piece
            if len(self.answer) > LARGEST_ANSWER:
                self.finish("error", "the answer is larger than 64 KB")
            elif not piece:
                self._close()

    def check_exit(self, end: float) -> None:
        """Check whether a program that has closed its stdout has exited; a non-zero exit code counts as an error.

        One that is still running at ``end``, or LEAVING_S seconds after stdout was closed, counts as successful.
        """
        try:
            gone, how = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            gone, how = self.pid, 0  # it has been reaped already
        if gone:
            code = os.waitstatus_to_exitcode(how)
            self.finish("error" if code else "ok", f"exit code {code}" if code else "")
        elif time.monotonic() >= min(self.until(), end):
            self.finish("ok")

    def finish(self, status: str, problem: str = "") -> None:
        """Set the status of the answer, close both pipes and kill the process group; only the first call counts."""
        if self.status:
            return
        self.status, self.problem = status, problem
        if self.is_open():
            self._close()
        if self.pid:
            _end_group(self.pid)

    def _close(self) -> None:
        self.ended_at = time.monotonic()
        for end in (self.to_child, self.from_child):
            if end >= 0:
                os.close(end)
        self.to_child = self.from_child = -1


def _end_group(leader: int) -> None:
    try:
        os.killpg(leader, SIGKILL)
        os.waitpid(leader, os.WNOHANG)  # without waiting: a process that is blocked on a disk cannot exit
    except (ProcessLookupError, PermissionError, ChildProcessError):
        return


def _spawn(command: list[str], child_in: int, child_out: int, environment: dict[str, str]) -> int:
    actions = [
        (os.POSIX_SPAWN_DUP2, child_in, 0),
        (os.POSIX_SPAWN_DUP2, child_out, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    # Python ignores SIGPIPE and SIGXFSZ; the program must not inherit that.
    return os.posix_spawnp(
        command[0], command, environment, file_actions=actions, setpgroup=0, setsigdef=[SIGPIPE, SIGXFSZ]
    )


def _fork(words: list[str], child_in: int, child_out: int, mark: str) -> int:
    # A fork saves time: this process has already loaded most of the modules that the program needs.
    pid = os.fork()
    if pid == 0:
        _run_as_program(words, child_in, child_out, mark)
    try:
        os.setpgid(pid, pid)
    except OSError:  # the child has ended
        return pid
    return pid


def _run_as_program(words: list[str], child_in: int, child_out: int, mark: str) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_WRONLY)
        for own, target in ((child_in, 0), (child_out, 1), (nothing, 2)):
            os.dup2(own, target)
        os.closerange(3, MOST_DESCRIPTORS)  # in particular, the ends of the other programs' pipes
        os.environ[MARK] = mark
        from enricher.model.handlers import main

        main(words)
        code = 0
    finally:
        os._exit(code)


def start(channels: list[ChannelRule], request: dict[str, Any], state: str) -> list[ChannelProcess]:
    """Start the programs of all channels; the caller must pass the result to ``collect``, even after an exception.

    Nothing is started if this process was itself started by a channel: a channel that prompts an agent would otherwise
    start itself again without end.
    """
    if MARK in os.environ:
        return []
    running = [ChannelProcess(channel) for channel in sorted(channels, key=lambda one: -one.priority)]
    longest_ms = max(channel.deadline_ms for channel in channels)
    environment = {**os.environ, MARK: f"{int(time.monotonic() * 1000) + longest_ms}:{os.getpid()}:{state}"}
    try:
        latest = time.monotonic() + STARTING_S
        for one in running:
            if time.monotonic() < latest:
                one.start(_request(request, one.channel), environment)
            else:
                one.finish("timeout", "not started: the machine is too busy")
    except BaseException:
        _end(running)
        raise
    return running


def collect(running: list[ChannelProcess], *, until: float) -> list[ChannelResult]:
    """Wait for the answers of the programs, and return the result of each; kill the programs that are too late.

    Each program may run until its channel's deadline, but not beyond ``until`` (a time of ``perf_counter``). Output
    that has already arrived counts, even if the built-in channels have used up the time.
    """
    end = time.monotonic() + until - time.perf_counter()
    try:
        _exchange(running, until=0.0)
        while waiting := [one for one in running if _is_awaited(one, end)]:
            _exchange(waiting, until=min(end, *(one.until() for one in waiting)))
    finally:
        _end(running)
    return [_gathered(one) for one in running]


def _is_awaited(one: ChannelProcess, end: float) -> bool:
    """Kill the program if its deadline or ``end`` has passed, and return whether its answer is still awaited."""
    if not one.status and not one.is_open():
        one.check_exit(end)
    elif not one.status and time.monotonic() >= min(one.until(), end):
        one.finish("timeout")
    return not one.status


def _end(running: list[ChannelProcess]) -> None:
    for one in running:
        one.finish("timeout")


def _gathered(one: ChannelProcess) -> ChannelResult:
    items = items_of(bytes(one.answer)) if one.status == "ok" else []
    status, problem = one.status, one.problem
    if items is None:
        status, problem = "error", 'the answer is not {"items": [...]}'
    elif status == "ok" and not items:
        status = "empty"
    found = ChannelResult(
        one.channel.name,
        status,
        latency_ms=round((one.ended_at - one.started_at) * 1000, 2),
        candidates=[redact_item(_candidate(item)) for item in items or []],
        problem=problem,
        is_program=True,
    )
    found.model = next((model for item in items or [] if (model := _text(item, "model"))), "")[:LONGEST_NAME]
    found.fallback = any(item.get("fallback") is True for item in items or [])
    return found


def _request(request: dict[str, Any], channel: ChannelRule) -> bytes:
    return (dumps({"v": 1, **request, "deadline_ms": channel.deadline_ms}) + "\n").encode()


def _exchange(running: list[ChannelProcess], *, until: float) -> None:
    poll = select.poll()
    ends = {}
    for one in running:
        if one.from_child >= 0:
            ends[one.from_child] = one
            poll.register(one.from_child, select.POLLIN)
        if one.to_child >= 0:
            ends[one.to_child] = one
            poll.register(one.to_child, select.POLLOUT)
    left = max(0.0, until - time.monotonic())
    if any(not one.is_open() and not one.status for one in running):
        left = min(left, LOOK_S)
    for end, _event in poll.poll(left * 1000):
        one = ends[end]
        if end == one.to_child:
            one.write()
        elif end == one.from_child:
            one.read()


def items_of(answer: bytes) -> list[dict[str, Any]] | None:
    """Return the well-formed items of an answer, or None if the answer does not follow the protocol."""
    try:
        value = loads(answer.decode())
    except (ValueError, RecursionError):
        return None
    offered = value.get("items") if isinstance(value, dict) else None
    if not isinstance(offered, list):
        return None
    return [item for item in offered if isinstance(item, dict) and _is_item(item)]


def _is_item(item: dict[str, Any]) -> bool:
    score = item.get("score", 1.0)
    is_number = not isinstance(score, bool) and isinstance(score, int | float)  # ``true`` is a number in Python
    return is_number and bool(_text(item, "text").strip())


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _candidate(item: dict[str, Any]) -> Candidate:
    score = float(min(1, max(0, item.get("score", 1.0))))
    ref, date = _text(item, "ref"), _text(item, "date")[: len("2026-11-21")]
    label = _text(item, "label") or ref
    if date and date not in label:
        label = f"{label}, {date}" if label else date
    return Candidate(_text(item, "text"), ref, score, label=label, date=date)


def start_sweep(state: str) -> None:
    """Start a detached process that kills what the channels left running; the prompt does not wait for it."""
    from storage.state import detached

    own = os.getpid()
    detached.start(state, "channels", lambda: sweep(state, own))


def sweep(state: str, over: int) -> None:
    """Kill the processes that the channels of the hook with the pid ``over`` have left running.

    Processes of other hooks' channels are killed, too, if their last deadline passed more than OVERDUE_MS ago.
    Only Linux exposes the environment of other processes (``/proc``); elsewhere only the processes that
    stayed in their group are killed.
    """
    for _round in range(ROUNDS):
        found = [pid for pid in _processes() if _is_left(pid, state, over)]
        for pid in found:
            _kill(pid)
        if not found:
            return
        time.sleep(BETWEEN_ROUNDS_S)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _is_left(pid: int, state: str, over: int) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return False
    lead = f"{MARK}=".encode()
    mark = next((one[len(lead) :].decode(errors="surrogateescape") for one in variables if one.startswith(lead)), "")
    until, _, rest = mark.partition(":")
    whose, _, where = rest.partition(":")
    if where != state or not until.isdecimal():  # another installation's, or not ours
        return False
    return whose == str(over) or int(until) + OVERDUE_MS < time.monotonic() * 1000


def _kill(pid: int) -> None:
    try:
        os.kill(pid, SIGKILL)
    except OSError:
        return
