"""Keep one-line messages to the user until an agent client can show them; each is shown once.

A message that is added again within a day of being shown is ignored. The folder exists only while a message waits, so
that the hook needs one system call to find out.
"""

from __future__ import annotations

import os
import time

from storage import traces
from storage.base import fast_stdlib, private

NAME = "notices"
SHOWN = "notices-shown"
AGAIN_AFTER_S = 24 * 3600
LIMIT_BYTES = 2000


def add(state_dir: str, text: str) -> bool:
    """Store a message for the user; return False if it was shown within the last day or cannot be stored."""
    content = " ".join(traces.storable(text).split()).encode()[:LIMIT_BYTES]
    name = fast_stdlib.keyed_hash(b"", content)  # one file for each text, so that it is shown once a day
    try:
        if _was_shown(f"{state_dir}/{SHOWN}/{name}"):
            return False
        folder = f"{state_dir}/{NAME}"
        private.make_directory(folder)  # ``take`` may remove it before the write, which then creates it again
        private.write_into(folder, name, content)
    except (OSError, ValueError):
        return False
    return True


def take(state_dir: str) -> str:
    """Return the waiting messages, one per line, and mark them as shown.

    If several processes call this at the same time, each message goes to one of them.
    """
    try:
        names = _waiting(f"{state_dir}/{NAME}")
    except (OSError, ValueError):
        return ""
    texts = [text for name in names if (text := _take_one(state_dir, name))]
    _remove_if_empty(f"{state_dir}/{NAME}")
    return "\n".join(texts)


def withdraw(state_dir: str, *beginnings: str) -> None:
    """Delete the waiting messages that begin with one of ``beginnings``, because what they report may have changed."""
    folder = f"{state_dir}/{NAME}"
    starts = tuple(" ".join(traces.storable(one).split()).encode() for one in beginnings)
    try:
        for name in _waiting(folder):
            if private.read_file(f"{folder}/{name}", LIMIT_BYTES).startswith(starts):
                os.unlink(f"{folder}/{name}")
    except OSError:  # no message waits, or another process is showing them
        return
    _remove_if_empty(folder)


def _waiting(folder: str) -> list[str]:
    # A name that begins with a dot is of a file that is still being written.
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def _was_shown(path: str) -> bool:
    try:
        return 0 <= time.time() - os.stat(path).st_mtime < AGAIN_AFTER_S
    except FileNotFoundError:
        return False


def _take_one(state_dir: str, name: str) -> str:
    waiting, shown = f"{state_dir}/{NAME}/{name}", f"{state_dir}/{SHOWN}/{name}"
    try:
        text = private.read_file(waiting, LIMIT_BYTES).decode("utf-8", "replace")  # ``add`` may cut a character in two
        private.make_directory(f"{state_dir}/{SHOWN}")
        os.rename(waiting, shown)  # the process whose rename succeeds shows the message
        os.utime(shown)
    except OSError:
        return ""
    return text


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:  # not empty: another message was added meanwhile
        return
