"""Measure how long users of the app wait: for its start, a filter, the coverage, a save, and a new prompt.

The start is measured with a real process in a pseudo-terminal, from its creation until the newest prompt is painted.
The rest is measured in the app without a terminal: a filter from the end of typing; coverage from the key that opens
its screen until the first figures; a changed weight in the user's own layer from the save until the first and the
complete figures. The new prompt is a real hook call, measured from the end of its process until its line is in the
table. The yardstick in the same run is a process that only imports Textual.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from enricher.interfaces.bench import HOOK, PROMPT, BenchCase, BenchRow, event, home
from storage.metrics.percentiles import percentile
from storage.traces import trace_pages
from storage.traces.selection import EVERYTHING
from workbench.tui.state import NAME as REMEMBERED
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.tui.app import Workbench
    from workbench.tui.screens.editing.instructions import InstructionsScreen
    from workbench.tui.screens.traces import TracesScreen

COVERAGE = "first coverage"
SAVE_FIRST, SAVE_COMPLETE = "save to the first figures", "save to the complete figures"
YARDSTICK = "python -c 'import textual.app'"
START, TAIL = "start to the first rows", "a prompt arrives"
FILTERS = ("type:debug", "type:framework status:error", "guardrail:H9", "ms>300", "label:wrong", "since:1d ms<1")
LAYER = """\
# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {{phrase: "worked yesterday", weight: {weight}}}
```
"""
ENTRY = "from enricher.interfaces.cli import main; main()"
SIZE = (120, 40)
GIVE_UP_S = 60.0
MARK_CHARS = 10


def workbench_rows(state: str, runs: int) -> list[BenchRow]:
    """Return a row with the times of the yardstick and of each wait, measured with the history in ``state``."""
    with open_database(state) as db:
        newest = trace_pages.page(db, EVERYTHING, limit=1)
    if not newest:
        raise ValueError(f"{state} has no traces to measure with")
    mark = " ".join(newest[0].prompt.split())[:MARK_CHARS].encode()
    seconds: dict[str, list[float]] = {YARDSTICK: [], START: []}
    with _restored(os.path.join(state, REMEMBERED)):
        for number in range(runs + 1):
            yardstick, start = _import_textual(), _start(state, mark)
            if number:  # the first round fills the disk cache
                seconds[YARDSTICK].append(yardstick)
                seconds[START].append(start)
        seconds |= asyncio.run(_filters(state, runs))
        seconds[COVERAGE] = asyncio.run(_coverages(state, runs))
        seconds |= asyncio.run(_saves(state, runs))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        seconds[TAIL] = asyncio.run(_arrivals(os.environ["ENRICHER_HOME"], runs))
    floor = seconds[YARDSTICK]
    return [
        replace(BenchRow.of(name, times, floor), p95_ms=percentile(times, 0.95) * 1000)
        for name, times in seconds.items()
    ]


@contextlib.contextmanager
def _restored(path: str) -> Iterator[None]:
    """Restore the file with the app's remembered state at the end of the ``with`` block."""
    before = None
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        before = file.read()
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        if before is not None:
            from storage.base import private

            private.write_file(path, before)


def _import_textual() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import textual.app"], check=True)
    return time.perf_counter() - begun


def _start(state: str, mark: bytes) -> float:
    """Start the app in a pseudo-terminal and quit it by key; return the seconds until the text ``mark`` is painted."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    environment = {**os.environ, "ENRICHER_HOME": state, "TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
    command = [sys.executable, "-c", ENTRY, "workbench", "--screen", "traces", "--where", ""]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    try:
        _read_until(leader, mark, begun + GIVE_UP_S)
        return time.perf_counter() - begun
    finally:
        os.write(leader, b"q")
        with contextlib.suppress(OSError):
            while os.read(leader, 65536):
                pass
        process.wait(GIVE_UP_S)
        os.close(leader)


def _read_until(leader: int, mark: bytes, end: float) -> None:
    seen = b""
    while mark not in seen:
        if time.perf_counter() > end:
            raise TimeoutError("the app did not come up")
        seen = seen[-len(mark) :] + os.read(leader, 65536)


async def _filters(state: str, runs: int) -> dict[str, list[float]]:
    from workbench.tui.app import Workbench

    app = Workbench(state, screen="traces", selection="")
    found: dict[str, list[float]] = {f"filter {text}": [] for text in FILTERS}
    async with app.run_test(size=SIZE):
        await _until(lambda: _traces(app).rows.row_count)
        for _round in range(runs):
            for text in FILTERS:
                begun = time.perf_counter()
                _traces(app).select(text)
                await _until(_traces(app).is_listed)
                found[f"filter {text}"].append(time.perf_counter() - begun)
    return found


async def _coverages(state: str, runs: int) -> list[float]:
    from workbench.tui.app import Workbench

    found = []
    for _round in range(runs):
        app = Workbench(state, screen="traces", selection="")
        async with app.run_test(size=SIZE):
            await _until(lambda app=app: _traces(app).rows.row_count)  # type: ignore[misc]
            begun = time.perf_counter()
            await app.action_go("coverage")
            await _until(lambda app=app: getattr(app.place_screen(), "is_measured", False))  # type: ignore[misc]
            found.append(time.perf_counter() - begun)
    return found


async def _saves(state: str, runs: int) -> dict[str, list[float]]:
    """Save the user's own layer again and again, each time with another weight."""
    from workbench.edits import instructions_file as files
    from workbench.tui.app import Workbench

    found: dict[str, list[float]] = {SAVE_FIRST: [], SAVE_COMPLETE: []}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        files.save(files.own_file(), LAYER.format(weight=1), over=None)
        app = Workbench(state, screen="instructions", instructions=files.own_file())
        async with app.run_test(size=SIZE):
            screen: InstructionsScreen = app.place_screen()  # type: ignore[assignment]
            await _until(lambda: screen.figures and screen.figures.is_complete)
            for number in range(runs):
                before, screen.editor.text = screen.figures, LAYER.format(weight=2 + number % 2)
                await _until(lambda: screen.is_unsaved)
                begun = time.perf_counter()
                screen.action_save()
                await _until(lambda before=before: screen.figures is not before)  # type: ignore[misc]
                found[SAVE_FIRST].append(time.perf_counter() - begun)
                await _until(lambda: screen.figures and screen.figures.is_complete)
                found[SAVE_COMPLETE].append(time.perf_counter() - begun)
    return found


async def _arrivals(state: str, runs: int) -> list[float]:
    from workbench.tui.app import Workbench

    app = Workbench(state, screen="traces", selection="")
    found = []
    await asyncio.to_thread(_ask, "first")
    async with app.run_test(size=SIZE):
        await _until(lambda: _traces(app).rows.row_count)
        for number in range(runs):
            before = _traces(app).rows.row_count
            await asyncio.to_thread(_ask, str(number))
            begun = time.perf_counter()
            await _until(lambda before=before: _traces(app).rows.row_count > before)  # type: ignore[misc]
            found.append(time.perf_counter() - begun)
    return found


def _ask(session: str) -> None:
    given = event(session, BenchCase(HOOK, prompt=PROMPT))
    subprocess.run(HOOK, input=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def _traces(app: Workbench) -> TracesScreen:
    screen: TracesScreen = app.place_screen()  # type: ignore[assignment]  # the screen that it was started with
    return screen


async def _until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + GIVE_UP_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the app did not come to it")
        await asyncio.sleep(0.001)
