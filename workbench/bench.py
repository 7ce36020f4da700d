"""Measure how long users of the Textual app wait, and how fast recorded prompts are evaluated again under edited rules.

In the app these waits are measured:

- its start, with a real process in a pseudo-terminal, from the creation of the process until the newest prompt is
  painted;
- a filter, from the end of typing until the matching prompts are listed (this and the rest run without a terminal);
- the coverage screen (how often each rule fires), from the key that opens it until it shows the first figures;
- a changed weight in the user's own instructions file, from the save until the first and the complete figures of its
  effect;
- a new prompt, from the end of a real hook process until the prompt is listed.

They are compared with the time of a process that only imports Textual.

A replay, which evaluates recorded prompts again, is measured for several kinds of edit, in prompts per second of one
core and as the time from a save to the figures. The prompts are generated, then imported with the product's own
command, so that their recorded results are those of the current rules. The speed is compared with that of only reading
the same prompts and their recorded inputs from the database, which every replay has to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.home import root_dir, state_dir
from enricher.interfaces.bench import (
    HOOK,
    PROMPT,
    REPLAYED_PER_SECOND,
    SAVE_TO_COMPLETE_MS,
    SAVE_TO_FIRST_MS,
    BenchCase,
    BenchRow,
    event,
    home,
)
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from storage.base import private
from storage.metrics.percentiles import percentile
from storage.traces import trace_pages
from storage.traces.selection import EVERYTHING
from workbench.edits.live import EditTimes, measure
from workbench.replay.corpus import opened
from workbench.replay.replay import Replay
from workbench.replay.rulesets import compared_rules
from workbench.tui.state import NAME as REMEMBERED
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from workbench.replay.corpus import Corpus
    from workbench.replay.rulesets.compared_rules import Side
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
SIZE = (120, 40)  # columns and lines of the terminal
GIVE_UP_S = 60.0
MARK_CHARS = 10  # so few that the list shows them whole
READ = "prompts read, not replayed"
FIRST_S = 1_700_000_000  # the time of the first generated prompt, in 2023; the last must be in the past, too
PROMPTS_PER_SESSION = 5
# All weights but 5, because ``_edits`` replaces a weight w with 10 - w, which would not change 5.
SIGNAL = re.compile(r"^(  - \{phrase: .*weight: )([1-46-9])\}$", re.MULTILINE)


def workbench_rows(state: str, runs: int) -> list[BenchRow]:
    """Measure how long users of the app wait, with the recorded prompts in the folder ``state``.

    Return one row for each wait, and one for importing Textual, with which the waits are compared. Raises ValueError if
    no prompts are recorded in ``state``.
    """
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
    """Restore the file in which the app remembers its state, or delete a new one, at the end of the ``with`` block."""
    before = None
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        before = file.read()
    try:
        yield
    finally:
        private.removed(path)
        if before is not None:
            private.write_file(path, before)


def _import_textual() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import textual.app"], check=True)
    return time.perf_counter() - begun


def _start(state: str, mark: bytes) -> float:
    """Start the app in a pseudo-terminal, then quit it; return the seconds until the text ``mark`` was painted."""
    import fcntl  # this and the following modules are missing on Windows
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
        with contextlib.suppress(OSError):  # Linux reports the end of a pseudo-terminal as an error
            while os.read(leader, 65536):
                pass
        process.wait(GIVE_UP_S)
        os.close(leader)


def _read_until(leader: int, mark: bytes, end: float) -> None:
    seen = b""
    while mark not in seen:
        if time.perf_counter() > end:
            raise TimeoutError("the app did not come up")
        seen = seen[-len(mark) :] + os.read(leader, 65536)  # the mark may be in two pieces


@contextlib.asynccontextmanager
async def _listed(state: str) -> AsyncIterator[Workbench]:
    """Run the app without a terminal for an ``async with`` block, which begins when the prompts are listed."""
    from workbench.tui.app import Workbench

    app = Workbench(state, screen="traces", selection="")
    async with app.run_test(size=SIZE):
        await _until(lambda: _traces(app).rows.row_count)
        yield app


async def _filters(state: str, runs: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {f"filter {text}": [] for text in FILTERS}
    async with _listed(state) as app:
        for _round in range(runs):
            for text in FILTERS:
                begun = time.perf_counter()
                _traces(app).select(text)
                await _until(_traces(app).is_listed)
                found[f"filter {text}"].append(time.perf_counter() - begun)
    return found


async def _coverages(state: str, runs: int) -> list[float]:
    found = []
    for _round in range(runs):
        async with _listed(state) as app:
            begun = time.perf_counter()
            await app.action_go("coverage")
            await _until(lambda app=app: getattr(app.place_screen(), "is_measured", False))  # type: ignore[misc]
            found.append(time.perf_counter() - begun)
    return found


async def _saves(state: str, runs: int) -> dict[str, list[float]]:
    """Save the user's own instructions file ``runs`` times, each time with another weight of a signal.

    Return two lists: the seconds from each save to the first figures of its effect, and to the complete ones.
    """
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
    found = []
    await asyncio.to_thread(_ask, "first")
    async with _listed(state) as app:
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
    screen: TracesScreen = app.place_screen()  # type: ignore[assignment]  # the app was started with this screen
    return screen


async def _until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + GIVE_UP_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the app did not come to it")
        await asyncio.sleep(0.001)


@dataclass(frozen=True, slots=True)
class ReplayRate:
    """The speed, on one core, of evaluating the recorded prompts again after one edit of the instructions.

    ``ratio`` is the time this takes, divided by the time for only reading the prompts from the database. ``judged`` is
    the share of the prompts that had to be evaluated again, and ``changed`` the number of prompts with another result.
    """

    name: str
    prompts_per_second: float
    ratio: float
    judged: float
    changed: int
    runs: int


def _edits() -> dict[str, str]:
    """Return three edited versions of the packaged instructions, keyed by a description of the edit.

    The first edit affects few prompts, the second some, and the third all.
    """
    text = Path(packaged_file()).read_text(encoding="utf-8")
    signal = next(one for one in SIGNAL.finditer(text) if "<" not in one[0])  # edits of <file> etc. affect all prompts
    return {
        "one signal's weight": text[: signal.start()] + f"{signal[1]}{10 - int(signal[2])}}}" + text[signal.end() :],
        "a threshold": text.replace("min_confidence: ", "min_confidence: 0.6 #", 1),  # the old value becomes a comment
        "every prompt judged anew": text.replace("## Task type: chat", "## Task type: talk", 1),
    }


def rates(prompts: int, runs: int) -> tuple[list[ReplayRate], list[EditTimes]]:
    """Measure how fast ``prompts`` generated prompts are evaluated again after each of several edits.

    This is done ``runs`` times, in random order. Return the speed for each edit and for only reading the prompts, and
    the times from saving each edit in the app until its effect is shown.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        _invent(folder, prompts)
        texts = _edits()
        seconds: dict[str, list[float]] = {name: [] for name in (READ, *texts)}
        counts: dict[str, tuple[float, int]] = {}
        with opened(state_dir()) as corpus:
            made = {
                name: compared_rules.from_text(packaged_file(), text, versions=corpus.versions)
                for name, text in texts.items()
            }
            for _ in range(runs):
                # Shuffled, so that no kind of edit always profits from what the previous one left in caches.
                for name in random.sample(list(seconds), len(seconds)):
                    began = time.process_time()  # not affected by what else runs on the computer
                    if name == READ:
                        _read(corpus)
                    else:
                        counts[name] = _replay(corpus, made[name])
                    seconds[name].append(time.process_time() - began)
        before = Path(packaged_file()).read_text(encoding="utf-8")
        saves = [measure(state_dir(), packaged_file(), name, before=before, after=text) for name, text in texts.items()]
    floor = statistics.median(seconds[READ])
    found = [_rate(name, prompts, times, floor, *counts.get(name, (0.0, 0))) for name, times in seconds.items()]
    return found, saves


def _read(corpus: Corpus) -> None:
    for row in corpus.prompts():
        json.loads(row.inputs)


def _replay(corpus: Corpus, rules: Side) -> tuple[float, int]:
    """Evaluate all prompts again; return the share that had to be, and the number of those with another result."""
    run = Replay(corpus, rules)
    radius = run.complete_blast_radius(processes=1)
    return run.judged / max(1, radius.prompts), radius.changed


def _rate(name: str, prompts: int, times: list[float], floor: float, judged: float, changed: int) -> ReplayRate:
    median = statistics.median(times)
    return ReplayRate(name, prompts / median, median / floor, judged, changed, len(times))


def missed(found: list[ReplayRate], saves: list[EditTimes]) -> list[str]:
    """Return the names of the measurements that are slower than the project's targets; empty if none is."""
    slow = [one.name for one in found if one.prompts_per_second < REPLAYED_PER_SECOND]
    late = [one.name for one in saves if one.first_ms > SAVE_TO_FIRST_MS or one.complete_ms > SAVE_TO_COMPLETE_MS]
    return [*slow, *(f"save: {name}" for name in late)]


def _invent(folder: str, prompts: int) -> None:
    path = os.path.join(folder, "prompts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in _prompts(prompts))
    program = f"import sys; sys.path.insert(0, sys.argv.pop(1)); {ENTRY}"
    command = [sys.executable, "-c", program, root_dir(), "trace", "import", path, "--yes"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)


def _prompts(count: int) -> Iterator[dict[str, object]]:
    """Yield ``count`` records to import, with prompts made of one to six example sentences from the instructions."""
    chance = random.Random(count)  # the same prompts in every run
    compiled = compile_layers([Layer("packaged", packaged_file())])
    examples = [example for rule in compiled.classes for example in rule.examples]
    for number in range(count):
        text = " ".join(chance.sample(examples, chance.choice((1, 1, 2, 3, 6))))
        yield {
            "id": f"p{number}", "prompt": f"{text} ({number})", "session_id": f"s{number // PROMPTS_PER_SESSION}",
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST_S + 60 * number)),
        }  # fmt: skip
