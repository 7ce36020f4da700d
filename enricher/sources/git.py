"""Run git without side effects: no locks, no prompts, no programs configured by the repository, with a time limit."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time

PATIENCE_S = 20.0
PATIENCE_VARIABLE = "ENRICHER_GIT_PATIENCE_S"
"""The environment variable that overrides the time limit for git, in seconds from 0.05 to 600."""
MOST_BYTES = 64 * 1024 * 1024
# Commands that change nothing must not lock the index, which would make the user's own git fail. The other settings are
# those by which a repository could name programs for git to run, or change what git prints.
PROGRAM = (
    "git", "--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false", "-c", "core.quotePath=false",
)  # fmt: skip


class GitError(Exception):
    """Raised if git is not installed, takes too long or fails.

    ``is_refusal`` is true if git ran and ended with an error of its own.
    """

    def __init__(self, message: str, *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.is_refusal = is_refusal


def ask(folder: str, *words: str) -> bytes:
    """Run ``git`` in ``folder`` and return its output, at most MOST_BYTES of it; raises GitError."""
    patience_s = _patience()
    try:
        with _started(folder, words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                printed, complaint = process.communicate(timeout=patience_s)
            except subprocess.TimeoutExpired:
                _end(process)
                raise GitError(f"git {words[0]} did not end within {patience_s:g} s") from None
    except OSError as failure:
        raise GitError(f"git cannot be started: {failure.strerror or failure}") from failure
    if process.returncode:
        message = complaint.decode("utf-8", "replace").strip().splitlines()
        last = message[-1] if message else f"exit code {process.returncode}"
        reason = next((line for line in message if line.startswith("fatal: ")), last)  # advice may follow the reason
        raise GitError(f"git {words[0]}: {reason}", is_refusal=True)
    return printed[:MOST_BYTES]


def stream(folder: str, words: tuple[str, ...], given: str, *, most: int) -> tuple[bytes, bool]:
    """Run git with ``given`` on stdin; return at most ``most`` bytes of its output, and whether the output is complete.

    Raises GitError as ``ask`` does, but not if git fails after more than ``most`` bytes of output.
    """
    try:
        with _started(folder, words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            printed = _printed(process, given.encode(), most)
            is_whole = len(printed) <= most
            if not is_whole:
                _end(process)
    except OSError as failure:
        raise GitError(f"git cannot be started: {failure.strerror or failure}") from failure
    if process.returncode and is_whole:
        raise GitError(f"git ended with {process.returncode}", is_refusal=True)
    return bytes(printed[:most]), is_whole


def _started(folder: str, words: tuple[str, ...], *, stdin: int, stderr: int) -> subprocess.Popen[bytes]:
    # In a session of its own, git can be killed together with its child processes, which may hold the pipe open.
    return subprocess.Popen(
        [*PROGRAM, "-C", folder, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
        env=_environment(), start_new_session=True,
    )  # fmt: skip


def _printed(process: subprocess.Popen[bytes], given: bytes, most: int) -> bytearray:
    until = time.monotonic() + _patience()
    printed = bytearray()
    if process.stdin is None or process.stdout is None:
        return printed
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(given)  # a pipe accepts a whole batch of commit ids at once, so this does not wait for git
    while len(printed) <= most:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            _end(process)
            raise GitError("git did not end in time")
        chunk = os.read(process.stdout.fileno(), 1 << 20)
        if not chunk:
            break
        printed += chunk
    return printed


def _patience() -> float:
    try:
        return min(max(float(os.environ.get(PATIENCE_VARIABLE, "")), 0.05), 600.0)
    except ValueError:
        return PATIENCE_S


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):  # AttributeError: Windows has no process groups
        process.kill()


def _environment() -> dict[str, str]:
    """Return the environment without variables that point git at another repository, such as those of a git hook.

    Replacement objects (``git replace``) are ignored. Missing objects are never fetched, because a repository may name
    the program that would fetch them. Before version 2.45, git can only prevent this by forbidding all protocols.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    no = dict.fromkeys(("GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"), "0")
    yes = dict.fromkeys(("GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH"), "1")
    return {**kept, **no, **yes, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": "none"}
