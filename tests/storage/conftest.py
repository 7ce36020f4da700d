"""What the storage tests share: a state directory, whole traces, and processes that are as bare as the hook's."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage import traces
from storage.db import database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
BOOT = f"import sys; sys.path.insert(0, {str(ROOT)!r}); state = sys.argv[1]\n"


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "state")


@pytest.fixture
def ready(state: str) -> str:
    """A state directory with a database in it."""
    database.connect(state).close()
    return state


@pytest.fixture
def whole_trace() -> Callable[..., traces.Trace]:
    def make(**changed: object) -> traces.Trace:
        trace = traces.Trace()
        trace.host, trace.session_id, trace.status = "claude", "s1", "ok"
        trace.prompt, trace.prompt_hmac, trace.prompt_chars = "fix the login test", "ab" * 16, 18
        trace.task_type, trace.confidence, trace.topics = "debug", 0.7, ["login"]
        trace.inputs = {"skills": ["tdd"], "spent": 0}
        trace.output_text, trace.output_tokens = "## Prompt Enrichment\n**Classification**: debug\n", 9
        trace.latency_ms, trace.rules_hash = 12.5, "cafe"
        trace.scores = [
            ("task_type", "debug", 7.0, [["fix", 0, 3, 4]]),
            ("task_type", "test", 3.0, []),
        ]
        trace.stages = [("read", 1.5), ("classify", 0.25)]
        trace.channels = [("external", "ok", 3.5, 2, 1, 30, "", "")]
        trace.items = [
            ("external", "a.py:1", "def login", "name", 0.9, True),
            ("external", "b.py", "x", "", 0.1, False),
        ]
        trace.guardrails = [("H5", "Error messages are primary evidence", 3.0)]
        trace.injected = [("guardrail", "H5"), ("item", "a.py:1")]
        for name, value in changed.items():
            setattr(trace, name, value)
        return trace

    return make


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start ``code`` as a process that finds our packages, its first argument being ``state``."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, state: str, *arguments: str, bare: bool = True) -> subprocess.Popen[str]:
        flags = ["-I", "-S"] if bare else ["-I"]
        command = [sys.executable, *flags, "-c", BOOT + code, state, *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def said(spawn: Callable[..., subprocess.Popen[str]]) -> Callable[..., list[str]]:
    """Run ``code`` in several processes at once and return what each printed."""

    def run(code: str, state: str, *, processes: int, bare: bool = True) -> list[str]:
        started = [spawn(code, state, str(number), bare=bare) for number in range(processes)]
        ended = [process.communicate(timeout=60) for process in started]
        assert [errors for _, errors in ended] == [""] * processes
        return [output.strip() for output, _ in ended]

    return run


@pytest.fixture
def stored() -> Callable[..., list[tuple[object, ...]]]:
    """Ask the database of a state directory, its spool taken in."""

    def ask(state: str, question: str) -> list[tuple[object, ...]]:
        with closing(database.connect(state)) as db:
            return [tuple(row) for row in db.execute(question)]

    return ask


@pytest.fixture
def modes() -> Callable[[str], dict[str, int]]:
    def walk(folder: str) -> dict[str, int]:
        found = {}
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                path = os.path.join(parent, name)
                found[os.path.relpath(path, folder)] = os.stat(path).st_mode & 0o777
        return found

    return walk
