"""Append failures to the file ``log``, one line of JSON each; the file's size is limited."""

from __future__ import annotations

import os

from storage.base import fast_stdlib

NAME = "log"
LIMIT_BYTES = 1024 * 1024
ERROR, WARNING, DEBUG = "ERROR", "WARNING", "DEBUG"
"""Log levels: ERROR if the hook could not answer in its documented form; WARNING for any other failure.

DEBUG is for an expected event, which is logged only if the setting ``log_level`` is "debug".
"""


def append(state_dir: str, *, stage: str, reason: str, session_id: str = "", level: str = WARNING) -> bool:
    """Append a line to the log and return whether that succeeded; a full file is first renamed to ``log.1``.

    ``stage`` names the part of the program that failed.
    """
    from storage.base import private

    fields = {"at": fast_stdlib.utc_now(), "level": level, "stage": stage, "session_id": session_id[:128]}
    line = fast_stdlib.dumps({**fields, "reason": reason[:2000]})
    path = f"{state_dir}/{NAME}"
    try:
        private.make_directory(state_dir)
        _rotate(path)
        descriptor = private.open_file(path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, line.encode() + b"\n")
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return False
    return True


def _rotate(path: str) -> None:
    try:
        if os.stat(path).st_size > LIMIT_BYTES:
            os.replace(path, f"{path}.1")
    except FileNotFoundError:
        return
