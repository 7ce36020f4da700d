"""A terminal for clients that show a hook's message only on their screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROWS, COLUMNS = 40, 160
# What a terminal answers when it is asked where the cursor is and what it can do.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>]*[ -/]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def is_shown(words: str, command: list[str], *, cwd: Path, env: dict[str, str], seconds: float = 30.0) -> bool:
    """Run a command in a terminal until ``words`` are on its screen; say whether they ever were."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, env | {"TERM": "xterm-256color"})
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        return _appears(_blackened(words.encode()), screen, time.monotonic() + seconds)
    finally:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(screen)


def _appears(words: bytes, screen: int, deadline: float) -> bool:
    seen = b""
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 0.2)[0]:
            continue
        try:
            piece = os.read(screen, 65536)
        except OSError:
            return False
        for question, answer in ANSWERS.items():
            if question in piece:
                os.write(screen, answer)
        seen += piece
        if words in _blackened(seen):
            return True
    return False


def _blackened(seen: bytes) -> bytes:
    """Return what is drawn without its blanks, which a client may draw by moving the cursor."""
    return b"".join(_CONTROL.sub(b" ", seen).split())
