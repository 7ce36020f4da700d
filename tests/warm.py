"""Commands in a process that is warm: a server that has imported everything, and forks for each command.

Starting Python and importing a command takes ten times as long as most commands run.
A forked child has the same modules that a cold one would import, and its own
environment, folder, standard streams and exit code. It also finds the packaged rules compiled and checked in memory,
as a process does that compiles them a second time. What depends on a cold start
(import hygiene, the console script, the hook itself) is tested in cold processes.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]
HANGS_AFTER_S = 240
"""A command that runs for so long hangs; the longest take 10 seconds, and ten times that beside a load."""

# Most commands import these when they need them, which costs more than the rest of what they do.
NEEDED_LATER = (
    "enricher.erasure",
    "enricher.interfaces.library.prompts",
    "enricher.interfaces.library.resources",
    "enricher.prompt.redaction.assigned_values",
    "enricher.prompt.redaction.assignments",
    "enricher.prompt.redaction.sentences",
    "enricher.prompt.redaction.shapes",
    "enricher.sources.code.indexing.index",
    "enricher.sources.code.search",
    "enricher.structured.templates",
    "rich.console",
    "rich.table",
    "workbench.edits.progress",
    "workbench.experiments",
    "workbench.gate",
    "workbench.tuning.suggest",
)

# The child that a request forks leaves the loop, so that the command runs at the top level of the program and ends
# like any other: with its own exception handling, exit handlers and exit code. Its parent only waits for that code.
SERVER = """
import gc, importlib, json, os, pkgutil, socket, sys
root, fileno, *more = sys.argv[1:]
sys.path[:0] = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
import enricher.interfaces.cli, workbench.commands
for package in (enricher.interfaces.cli, workbench.commands):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name != "enricher.interfaces.cli.enrich":
            importlib.import_module(module.name)
from enricher.rules.lint import check
from enricher.rules.layers import Layer, packaged_file
check([Layer("packaged", packaged_file())])
for name in more:
    importlib.import_module(name)
gc.collect(); gc.freeze()
gc.set_threshold(20_000, 20)  # as in the tests themselves
requests = socket.socket(fileno=int(fileno))
with open("/proc/self/comm", "w") as name:
    name.write("warm server")
while True:
    message, streams, _flags, _sender = socket.recv_fds(requests, 1 << 20, 4)
    if not message:
        os._exit(0)
    if os.fork() == 0:
        break
    for stream in streams:
        os.close(stream)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
requests.close()
reply = streams.pop()
command = os.fork()
if command:
    os.write(reply, b"%d\\n" % command)
    _command, status, used = os.wait4(command, 0)
    os.write(reply, b"%d %f\\n" % (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime))
    os._exit(0)
os.close(reply)
for number, stream in enumerate(streams):
    os.dup2(stream, number)
    os.close(stream)
request = json.loads(message)
with open("/proc/self/comm", "w") as name:
    name.write(request["mark"])
os.environ.clear()
os.environ.update(request["env"])
os.chdir(request["cwd"])
os.umask(request["umask"])
sys.argv = ["enricher", *request["words"]]
sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))
del check, Layer, packaged_file, more
del root, fileno, message, streams, reply, command, number, stream, request, name, requests
try:
    enricher.interfaces.cli.main()
    code = 0
except SystemExit as end:
    if not isinstance(end.code, int | None):
        raise
    code = end.code or 0
import atexit, threading
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush(); sys.stderr.flush()
os._exit(code & 0xFF)
"""


def note_processor_time(seconds: float) -> None:
    """Do nothing; ``processes.py`` puts here what counts the processor time of warm commands."""


_servers: dict[tuple[int, tuple[str, ...]], tuple[socket.socket, subprocess.Popen[bytes]]] = {}


def mark(state: str | Path) -> str:
    """Return the name that processes of this account's warm commands go by, where the kernel tells it."""
    return f"warm{zlib.crc32(str(state).encode()):x}"


def run(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    given: str | None = None,
    umask: int = 0o022,
    more: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run ``enricher`` with these words like ``subprocess.run(…, text=True)`` would.

    ``more`` names further modules that it finds imported.
    Raises ``subprocess.TimeoutExpired``, with the command killed, if it hangs.
    """
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write((given or "").encode())
        stdin.seek(0)
        streams = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
        code = _exit_code(_asked(_connection(more), words, streams, env, cwd, umask), words)
        output = []
        for stream in (stdout, stderr):
            stream.seek(0)
            output.append(stream.read().decode().replace("\r\n", "\n"))
        return subprocess.CompletedProcess(list(words), code, *output)


@dataclass
class Started:
    """A command that runs on, with the part of ``subprocess.Popen`` that the tests use."""

    pid: int
    stdout: IO[str]
    stderr: IO[str]
    returncode: int | None = None
    _reply: IO[bytes] = field(kw_only=True)

    def poll(self) -> int | None:
        """Return the exit code, None while the command runs."""
        return self.wait(0)

    def wait(self, timeout: float) -> int | None:
        """Return the exit code as soon as there is one, None if the command still runs after ``timeout`` seconds."""
        if self.returncode is None and select.select([self._reply], [], [], timeout)[0]:
            self.returncode = _ended(self._reply.readline())
            self._reply.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Return the rest of what is printed, and what is said on stderr, once the command has ended.

        Raises ``subprocess.TimeoutExpired`` after ``timeout`` seconds, with the command killed.
        """
        if self.wait(timeout) is None:
            self.send_signal(signal.SIGKILL)
            raise subprocess.TimeoutExpired([str(self.pid)], timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()


def start(words: Sequence[str], *, env: Mapping[str, str], cwd: Path, more: tuple[str, ...] = ()) -> Started:
    """Start ``enricher`` with these words like ``subprocess.Popen(…, text=True)`` would, without any input.

    What it prints must fit into a pipe until it is read. ``more`` names further modules that it finds imported.
    """
    with open(os.devnull) as stdin:
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        try:
            reading = _asked(_connection(more), words, [stdin.fileno(), its_out, its_err], env, cwd, 0o022)
        finally:
            os.close(its_out)
            os.close(its_err)
    reply = open(reading, "rb", buffering=0)
    return Started(int(reply.readline()), open(out), open(err), _reply=reply)


def _asked(
    connection: socket.socket, words: Sequence[str], streams: list[int], env: Mapping[str, str], cwd: Path, umask: int
) -> int:
    """Ask a server for a command; return the descriptor from which its process id and its exit code can be read."""
    named = mark(env.get("ENRICHER_HOME", ""))
    request = {"words": words, "env": dict(env), "cwd": str(cwd), "mark": named, "umask": umask}
    reading, writing = os.pipe()
    try:
        socket.send_fds(connection, [json.dumps(request).encode()], [*streams, writing])
    finally:
        os.close(writing)
    return reading


def _exit_code(reading: int, words: Sequence[str]) -> int:
    """Read the command's process id, then the code that it ended with."""
    told = b""
    with open(reading, "rb", buffering=0) as reply:
        while told.count(b"\n") < 2:
            if not select.select([reply], [], [], HANGS_AFTER_S)[0]:
                os.kill(int(told.split()[0]), 9)
                raise subprocess.TimeoutExpired(list(words), HANGS_AFTER_S)
            piece = reply.read(64)
            assert piece, f"the server of warm commands is gone: {words}"
            told += piece
    return _ended(told.splitlines()[1])


def _ended(told: bytes) -> int:
    """Return the exit code out of what the server tells of the end of a command."""
    code, seconds = told.split()
    note_processor_time(float(seconds))
    return int(code)


def _connection(more: tuple[str, ...] = ()) -> socket.socket:
    """Return the socket to this process's server, started on first use (a fork of a test must not share it).

    ``more`` names modules that the server imports besides those of the commands; each such list has its own server.
    """
    own = os.getpid(), more
    if own not in _servers:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = {"PYTHONPATH": os.environ["PYTHONPATH"]} if more and os.environ.get("PYTHONPATH") else {}
        server = subprocess.Popen(
            [sys.executable, "-I", "-c", SERVER, str(ROOT), str(theirs.fileno()), *NEEDED_LATER, *more],
            pass_fds=[theirs.fileno()],
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **path},
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        _servers[own] = ours, server
        atexit.register(_end, ours, server)
    return _servers[own][0]


def _end(connection: socket.socket, server: subprocess.Popen[bytes]) -> None:
    connection.close()
    try:
        server.wait(5)
    except subprocess.TimeoutExpired:  # a process that a test left running has a copy of the connection
        server.kill()
        server.wait()
