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
    from collections.abc import Callable
    from typing import Self

if TYPE_CHECKING:
    from pathlib import Path

ROWS, COLUMNS = 40, 160
# What a terminal answers when it is asked where the cursor is and what it can do.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>]*[ -/]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


class Terminal:
    """A command on a screen of its own; killed with all its children when the block ends."""

    def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
        self.seen = b""
        self.child, self.screen = pty.fork()
        if self.child == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, env | {"TERM": "xterm-256color"})
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.screen)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.screen, keys.encode())

    def press_until(self, keys: str, is_done: Callable[[], bool], *, attempts: int = 10) -> bool:
        """Press keys until that had its effect; a client that is just drawing may not yet be listening."""
        for _ in range(attempts):
            self.type(keys)
            if self._watch(is_done, seconds=2.0):
                return True
        return False

    def shows(self, words: str, *, seconds: float = 30.0) -> bool:
        """Wait until ``words`` are drawn from now on; say whether they were."""
        self.seen = b""
        return self._watch(lambda: self.has_drawn(words), seconds=seconds)

    def has_drawn(self, words: str) -> bool:
        """Say whether ``words`` were drawn since ``shows`` was last asked."""
        return _drawn(words.encode()) in _drawn(self.seen)

    def _watch(self, is_done: Callable[[], bool], *, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if is_done():
                return True
            if select.select([self.screen], [], [], 0.2)[0] and not self._read():
                return is_done()
        return is_done()

    def _read(self) -> bool:
        try:
            piece = os.read(self.screen, 65536)
        except OSError:
            return False
        for question in ANSWERS.keys() & set(_CONTROL.findall(piece)):
            os.write(self.screen, ANSWERS[question])
        self.seen += piece
        return bool(piece)


def _drawn(seen: bytes) -> bytes:
    """Return what is on the screen without its blanks, which a client may draw by moving the cursor."""
    return b"".join(_CONTROL.sub(b" ", seen).split())
