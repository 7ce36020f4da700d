"""The app in a real terminal, by tmux: start it, press keys, read what it shows."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulator import Account

WAIT_S = 40


@contextmanager
def in_terminal(account: Account) -> Iterator[str]:
    """Start the app in a terminal of 80 by 24 and yield the terminal's name."""
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    name = f"enricher-{time.monotonic_ns()}"
    words = [f"{key}={value}" for key, value in {**account.env, "TERM": "xterm-256color"}.items()]
    code = "from enricher.interfaces.cli import main; main()"
    command = shlex.join(["env", "-i", *words, sys.executable, "-c", code, "workbench"])
    # A pane that died is not always told from one that shows nothing new: the shell writes the end down.
    wrapped = f"{command}; echo $? > {account.home}/ended; sleep 60"
    tmux(name, "new-session", "-d", "-x", "80", "-y", "24", "-c", str(ROOT), "sh", "-c", wrapped)
    try:
        yield name
    finally:
        with suppress(subprocess.CalledProcessError):  # the app has ended, and its terminal with it
            tmux(name, "kill-server")


def pane(name: str, *holds: str, key: str = "") -> str:
    """Return what the terminal shows once it holds all texts; a key may go to an editor that is about to end."""
    end = time.monotonic() + WAIT_S
    while not all(text in (shown := tmux(name, "capture-pane", "-p")) for text in holds):
        assert time.monotonic() < end, shown
        if key:
            press(name, key)
        time.sleep(0.05)
    return shown


def press(name: str, *keys: str) -> None:
    """Press keys, by the names that tmux has for them."""
    tmux(name, "send-keys", *keys)


def tmux(terminal: str, *words: str) -> str:
    """Run a command of tmux in a terminal. Each has its own server: one that all share may just be ending."""
    argv = ["tmux", "-L", terminal, "-f", "/dev/null", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def written(path: Path) -> str:
    """Return what a program has written there, as soon as it has."""
    end = time.monotonic() + WAIT_S
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end, f"{path.name} was never written"
        time.sleep(0.05)
    return path.read_text().strip()
