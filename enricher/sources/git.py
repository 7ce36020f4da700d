"""Run git without side effects: no locks, no prompts, no programs configured by the repository, with a timeout."""

from __future__ import annotations

import os
import subprocess

TIMEOUT_S = 20.0
MOST_BYTES = 64 * 1024 * 1024
PROGRAM = (
    "git", "--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false", "-c", "core.quotePath=false",
)  # fmt: skip


class GitError(Exception):
    """git is not installed, timed out or failed; the message tells which."""


def ask(folder: str, *arguments: str, timeout_s: float = TIMEOUT_S) -> bytes:
    """Run ``git`` in ``folder`` and return its output, at most MOST_BYTES of it; raises GitError."""
    try:
        with subprocess.Popen(
            [*PROGRAM, "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as process:
            return _answer(process, arguments[0], timeout_s)
    except OSError as failure:
        raise GitError(f"git cannot be started: {failure.strerror or failure}") from failure


def _answer(process: subprocess.Popen[bytes], name: str, timeout_s: float) -> bytes:
    try:
        output, complaint = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise GitError(f"git {name} took longer than {timeout_s:g} s") from None
    if process.returncode:
        message = complaint.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"git {name}: {message[-1] if message else f'exit code {process.returncode}'}")
    return output[:MOST_BYTES]


def environment() -> dict[str, str]:
    """Return the environment without variables that point git at another repository, as they do inside a git hook.

    Replacement objects (``git replace``) are ignored and missing objects are never fetched: a repository may name
    the program that would fetch them, and git before 2.45 can only forbid that by protocol.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    no = dict.fromkeys(("GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"), "0")
    yes = dict.fromkeys(("GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH"), "1")
    return {**kept, **no, **yes, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none"}
