"""``enricher publish`` as the process that a person starts, and what it answers.

The process has Datasette imported already (``warm.py``), unless a test starts it cold.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import warm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulator import Account

COMMAND = Path(sys.executable).parent / "enricher"
DATASETTE = Path(sys.executable).parent / "datasette"
START_S = 30
SERVING = ("datasette.app", "uvicorn", "workbench.web.plugin")
"""What every server imports."""


@dataclass
class Answered:
    """Status, headers in lower case, text."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Published:
    """A running server; ``end`` sends the signal and returns the exit code and what it said on stderr."""

    process: subprocess.Popen[str] | warm.Started
    url: str

    def get(self, path: str = "", **headers: str) -> Answered:
        return fetch(self.url.rstrip("/") + "/" + path.lstrip("/"), **headers)

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        _out, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def environment(account: Account, **more: str) -> dict[str, str]:
    """Return the account's environment, with the Datasette that these tests run on."""
    path = {"PYTHONPATH": os.environ["PYTHONPATH"]} if os.environ.get("PYTHONPATH") else {}
    return account.env | path | more


def run(account: Account, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``enricher publish`` to its end."""
    return warm.run(["publish", *words], env=environment(account, **more), cwd=account.project, more=SERVING)


@contextmanager
def published(account: Account, *words: str, is_cold: bool = False, **more: str) -> Iterator[Published]:
    """Start it, read the address that it prints, and see that it is gone afterwards."""
    start = _cold if is_cold else _warm
    process = start(account, words, more)
    assert process.stdout
    try:
        url = process.stdout.readline().strip()
        if not url:
            raise AssertionError(process.communicate(timeout=60)[1])
        yield Published(process, url)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        process.stdout.close()


def _warm(account: Account, words: Sequence[str], more: Mapping[str, str]) -> warm.Started:
    return warm.start(["publish", *words], env=environment(account, **more), cwd=account.project, more=SERVING)


def _cold(account: Account, words: Sequence[str], more: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [COMMAND, "publish", *words],
        env=environment(account, **more),
        cwd=account.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def fetch(url: str, **headers: str) -> Answered:
    """Ask for one page; headers are named with underscores."""
    asked = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return Answered(answer.status, _low(answer.headers), answer.read().decode())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Answered(refusal.code, _low(refusal.headers), refusal.read().decode())


def keep_open(url: str) -> HTTPConnection:
    """Return a connection on which a page was asked for and which stays open, as browsers leave it."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
    connection.request("GET", parts.path)
    connection.getresponse().read()
    return connection


def until_answered(url: str, **headers: str) -> Answered:
    """Ask again and again until somebody answers."""
    give_up_at = time.monotonic() + START_S
    while True:
        try:
            return fetch(url, **headers)
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)


def _low(headers: object) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}  # type: ignore[attr-defined]
