"""Who uses the processor while tests run: ``python -m tests.processes [arguments of pytest]``.

``time`` misses processes that detach themselves (upkeep, indexing, compiling of rules). This program adopts every
orphan, so the kernel reports the processor time of each to it; a plugin in every pytest process notes the time of the
processes that tests wait for. Prints seconds of processor time by kind of process and by file of tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(os.path.dirname(__file__))
import warm

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
NOTES = "TESTS_PROCESSES"
"""The environment variable with the file into which the plugin writes."""

SET_CHILD_SUBREAPER = 36  # linux/prctl.h
SAMPLED_EVERY_S = 0.03
WORKER = "a worker of pytest with all that it waited for"
SERVER = "server of warm commands"
COMMAND = "warm command"
KINDS = {
    "exec(eval(": WORKER,
    "enricher/boot.py": "hook",
    "rules.compiling.compiler": "compiling rules",
    "recv_fds": SERVER,
    "enricher.interfaces.cli": "cold command",
}
STARTING = "_execute_child"

_until_now = [0.0]
_file = os.environ.get(NOTES, os.devnull)


def kind(words: Sequence[str]) -> str:
    """Return a short name for what a process does, from its command line."""
    program = os.path.basename(words[0]) if words else "unknown"
    if not program.startswith("python"):
        return program
    line = " ".join(words)
    own = next((name for mark, name in KINDS.items() if mark in line), "")
    return own or " ".join(" ".join(words[1:])[:50].split())


def pytest_sessionstart() -> None:
    """Note the processor time of each process that this one waits for."""
    started: dict[int, list[str]] = {}
    start, wait = getattr(subprocess.Popen, STARTING), os.waitpid

    def start_and_remember(self: Any, args: Any, *more: Any) -> None:
        start(self, args, *more)
        started[self.pid] = [os.fsdecode(word) for word in ([args] if isinstance(args, str | bytes) else args)]

    def wait_and_note(process: int, options: int) -> tuple[int, int]:
        if process == -1:
            return wait(process, options)
        ended, status, used = os.wait4(process, options)
        if ended:
            _note(kind(started.pop(ended, [])), used.ru_utime + used.ru_stime)
        return ended, status

    setattr(subprocess.Popen, STARTING, start_and_remember)
    os.waitpid = wait_and_note
    warm.note_processor_time = lambda seconds: _note(COMMAND, seconds)


def pytest_runtest_setup(item: Any) -> None:
    """Note what was used between two tests."""
    _note_own(item.nodeid)


def pytest_runtest_teardown(item: Any) -> None:
    """Note what the test used in its own process."""
    _note_own(item.nodeid)


def pytest_sessionfinish() -> None:
    """Note what is left."""
    _note_own("")


def _note_own(test: str) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    now = used.ru_utime + used.ru_stime
    _note("pytest itself", now - _until_now[0], test)
    _until_now[0] = now


def _note(name: str, seconds: float, test: str = "") -> None:
    file = (test or os.environ.get("PYTEST_CURRENT_TEST", "")).partition("::")[0]
    with open(_file, "a") as notes:
        notes.write(json.dumps([name, seconds, file]) + "\n")


def _look_at_orphans(seen: dict[int, tuple[str, str]], stop: threading.Event) -> None:
    """Remember kind and state folder of each orphan: an ended process no longer has a command line."""
    while not stop.wait(SAMPLED_EVERY_S):
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) in seen:
                continue
            try:
                if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) != os.getpid():
                    continue
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
                environment = (folder / "environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if words:
                seen[int(folder.name)] = kind(words), environment.partition("ENRICHER_HOME=")[2].partition("\0")[0]


def main(arguments: Sequence[str]) -> None:
    """Run pytest, adopt what it leaves, and print who used how much."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    seen: dict[int, tuple[str, str]] = {}
    kinds, number, files = Counter[str](), Counter[str](), Counter[str]()
    total = wall = 0.0
    with tempfile.NamedTemporaryFile("r") as notes:
        env = os.environ | {NOTES: notes.name, "PYTHONPATH": str(ROOT / "tests")}
        begin = time.monotonic()
        pytest = subprocess.Popen([sys.executable, "-m", "pytest", "-p", "processes", *arguments], env=env, cwd=ROOT)
        stop = threading.Event()
        threading.Thread(target=_look_at_orphans, args=(seen, stop), daemon=True).start()
        while True:
            try:
                process = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
            except ChildProcessError:
                break
            name = Path(f"/proc/{process}/comm").read_text().strip()
            _, status, used = os.wait4(process, 0)
            seconds = used.ru_utime + used.ru_stime
            total += seconds
            if process == pytest.pid:
                wall, code = time.monotonic() - begin, os.waitstatus_to_exitcode(status)
                continue
            unseen = SERVER if name == "warm server" else f"too short to be seen ({name})"
            what, home = seen.pop(process, (unseen, ""))
            kinds[f"detached: {what}"] += seconds
            number[f"detached: {what}"] += 1
            if home:
                print(f"{seconds:.2f} s detached: {what} {home}")
        stop.set()
        for what, seconds, file in map(json.loads, notes):
            if what != WORKER:
                kinds[what] += seconds
                number[what] += 1
                files[file] += seconds
    del kinds[f"detached: {SERVER}"]  # counts the commands that it waited for
    kinds["not seen: servers of warm commands, pytest's own first process"] = total - sum(kinds.values())
    print(f"{wall:.0f} s on the clock, {total:.0f} s of processor time:")
    for what, seconds in kinds.most_common():
        print(f"{seconds:8.1f} s {number[what]:6d} {what}")
    print("and by file, without what detached itself:")
    for file, seconds in files.most_common(60):
        print(f"{seconds:8.1f} s {file}")
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
