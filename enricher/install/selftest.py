"""Send a real event through the registered command and check the answer.

The test uses a temporary state folder, so that it never appears in the user's
statistics, sessions or database.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from typing import Any

from enricher.install import launcher
from enricher.prompt.project import identify
from enricher.record import after_answer
from storage.base import private
from storage.state import detached

PROMPT = (
    "the login test fails with a KeyError, fix it:\n"
    "Traceback (most recent call last):\n"
    '  File "tests/test_login.py", line 38, in test_login\n'
    "KeyError: 'user'"
)
TIMEOUT_SECONDS = 20.0
DISCARD_ATTEMPTS = 20
_MARKERS = ("CLAUDE", "COPILOT_", "CURSOR_", "GEMINI_", "OPENCODE")


class SelfTest:
    """The result of running the command: its output and duration; ``fault`` is empty if it worked."""

    __slots__ = ("context", "fault", "milliseconds", "notice")

    def __init__(self, *, fault: str = "", context: str = "", notice: str = "", milliseconds: float = 0.0) -> None:
        self.fault, self.context, self.notice, self.milliseconds = fault, context, notice, milliseconds

    def __str__(self) -> str:
        if self.fault:
            return self.fault
        result = f"{len(self.context)} characters of context" if self.context else "nothing to add"
        return f"answered in {self.milliseconds:.0f} ms: {result}"


def run(host: str, command: str) -> SelfTest:
    """Run the registered command of a client with an event of that client, and return the outcome."""
    folder = tempfile.mkdtemp(prefix="enricher-selftest-")
    try:
        return _run_in(folder, host, command)
    finally:
        _discard(folder)


def _discard(folder: str) -> None:
    """Delete the folder, with retries because a background compilation may still be writing to it."""
    for _ in range(DISCARD_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)


def _run_in(folder: str, host: str, command: str) -> SelfTest:
    state = _temporary_state(folder)
    started = time.perf_counter()
    try:
        done = _call(["sh", "-c", command], event(host, folder), state)
    except subprocess.TimeoutExpired:
        return SelfTest(fault=f"no answer within {TIMEOUT_SECONDS:.0f} s")
    outcome = _evaluate(host, done)
    outcome.milliseconds = (time.perf_counter() - started) * 1000
    if not outcome.fault and not _has_trace(state):
        outcome.fault = _failure_reason(host, folder, state) or outcome.notice or "it ran, but recorded nothing"
    return outcome


def _temporary_state(folder: str) -> str:
    state = os.path.join(folder, "state")
    # Background work would outlive the temporary folder, so none may start.
    for work in (detached.MAINTENANCE, after_answer.upkeep_stamp(identify(folder))):
        private.make_directory(os.path.dirname(os.path.join(state, work)))
        private.write_file(os.path.join(state, work), b"not here")
        detached.postpone(state, TIMEOUT_SECONDS * 2, work)
    if os.path.exists(launcher.path()):
        shutil.copy(launcher.path(), state)  # the portable command looks for it there
    return state


def _call(command: list[str], payload: dict[str, Any], state: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_MARKERS)}
    environment["ENRICHER_HOME"] = state
    environment["ENRICHER_MODEL_URL"] = ""  # a model would cost, and could answer after the folder was deleted
    return subprocess.run(
        command,
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=payload["cwd"],
        env=environment,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def event(host: str, cwd: str) -> dict[str, Any]:
    """Return a prompt event as the client sends it."""
    session = "enricher-selftest"
    shared = {"session_id": session, "cwd": cwd, "prompt": PROMPT}
    named = {
        "claude": "UserPromptSubmit",
        "codex": "UserPromptSubmit",
        "gemini": "BeforeAgent",
        "opencode": "chat.message",
    }
    if host == "copilot":
        return {"sessionId": session, "timestamp": 0, "cwd": cwd, "prompt": PROMPT}
    if host == "cursor":
        return {"conversation_id": session, "generation_id": "1", "hook_event_name": "beforeSubmitPrompt", **shared}
    extra = {"codex": {"turn_id": "1", "model": "", "permission_mode": "default"}}.get(host, {})
    return {**shared, "transcript_path": "", "hook_event_name": named[host], **extra}


def _evaluate(host: str, done: subprocess.CompletedProcess[bytes]) -> SelfTest:
    if done.returncode:
        return SelfTest(fault=f"exit code {done.returncode}; only 0 lets every prompt through")
    if not done.stdout.strip():
        return SelfTest()
    try:
        answer = json.loads(done.stdout)
        return _read(host, answer if isinstance(answer, dict) else {})
    except ValueError:
        return SelfTest(fault=f"printed something other than one JSON object: {done.stdout[:120]!r}")


def _read(host: str, answer: dict[str, Any]) -> SelfTest:
    notice = str(answer.get("systemMessage") or answer.get("user_message") or "")
    flat = {"copilot": "additionalContext", "opencode": "additionalContext", "cursor": "additional_context"}.get(host)
    inside = answer if flat else answer.get("hookSpecificOutput") or {}
    return SelfTest(context=str(inside.get(flat or "additionalContext") or ""), notice=notice)


def _has_trace(state: str) -> bool:
    spool = os.path.join(state, "spool")
    return os.path.exists(os.path.join(state, "enricher.db")) or (os.path.isdir(spool) and bool(os.listdir(spool)))


def _failure_reason(host: str, folder: str, state: str) -> str:
    """Return the missing file, or the last line of the interpreter's stderr, which the registered command discards."""
    python, boot = launcher.target(launcher.path())
    for file in (launcher.path(), python, boot):
        if not file or not os.path.exists(file):
            return f"{file or 'the interpreter'} is gone"
    try:
        done = _call([python, "-I", "-S", boot, host], event(host, folder), state)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    complaint = done.stderr.decode(errors="replace").strip().splitlines()
    return complaint[-1] if complaint and done.returncode else ""
