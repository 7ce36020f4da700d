"""Measure the hook as a host feels it, always against a yardstick in the same paired run.

Machines differ and are noisy, so a figure is the median of ratios of neighbouring
runs: the whole hook process to ``python -I -S -c pass`` of the same interpreter.
"""

from __future__ import annotations

import gc
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import classify
from enricher.home import root_dir
from enricher.rules import cache
from storage.lean import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROMPT = (
    "the export test fails with KeyError 'total' since the last merge, please find out why and fix it; "
    "the report module was changed there and nobody looked at the rounding of the totals after that one"
)
"""About 200 characters, as the targets say."""

PARAGRAPH = (
    "We moved the importer to its own package and since then the nightly run stops after the third file. "
    "Please look at how the reader closes its handles, keep the public functions as they are, and add a test. "
)
CLASSIFICATIONS = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """One measured command: milliseconds, and the median of its paired ratios to the first one."""

    name: str
    median_ms: float
    p99_ms: float
    ratio: float
    p99_ratio: float
    runs: int


def percentile(values: list[float], share: float) -> float:
    """Return the value that ``share`` of ``values`` do not exceed (nearest rank)."""
    ranked = sorted(values)
    return ranked[max(0, min(len(ranked) - 1, -(-len(ranked) * int(share * 100) // 100) - 1))]


def hook_rows(runs: int) -> list[Row]:
    """Measure floor, hook and hook through ``sh`` in one shuffled round-robin; traces are written."""
    with tempfile.TemporaryDirectory() as folder, home(folder):
        launcher = _launcher(folder)
        python = [sys.executable, "-I", "-S"]
        commands = {
            "python -I -S -c pass": [*python, "-c", "pass"],
            "hook": [*python, os.path.join(root_dir(), "enricher", "boot.py"), "claude"],
            "hook through sh": ["sh", "-c", f"sh '{launcher}' claude 2>/dev/null || true"],
        }
        return paired(commands, runs)


def _launcher(folder: str) -> str:
    path = os.path.join(folder, "hook")
    boot = os.path.join(root_dir(), "enricher", "boot.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[ -x "{sys.executable}" ] && exec "{sys.executable}" -I -S "{boot}" "$@"\n')
    return path


class home:  # noqa: N801 (reads as a statement: with home(folder))
    """State and configuration in a folder of their own while measuring."""

    NAMES = ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME", "AOPS")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.before = {name: os.environ.pop(name, None) for name in self.NAMES}

    def __enter__(self) -> None:
        os.environ["ENRICHER_HOME"] = os.environ["ENRICHER_CONFIG_HOME"] = os.path.join(self.folder, "state")

    def __exit__(self, *_failure: object) -> None:
        for name, value in self.before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def paired(commands: dict[str, list[str]], runs: int, *, cwd: str = "") -> list[Row]:
    """Run the commands in shuffled rounds, an event of its own for each; ratios are to the first one."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for warm_up in range(3):
        for command in commands.values():
            _run(command, f"warm-{warm_up}", cwd=cwd)
        time.sleep(0.3)
    for number in range(runs):
        for name in random.sample(list(commands), len(commands)):
            seconds[name].append(_run(commands[name], f"{number}", cwd=cwd))
    floor = next(iter(seconds.values()))
    return [
        Row(
            name,
            median_ms=statistics.median(times) * 1000,
            p99_ms=percentile(times, 0.99) * 1000,
            ratio=statistics.median(own / base for own, base in zip(times, floor, strict=True)),
            p99_ratio=percentile(times, 0.99) / percentile(floor, 0.99),
            runs=runs,
        )
        for name, times in seconds.items()
    ]


def event(session: str, prompt: str = PROMPT, *, cwd: str = "") -> bytes:
    """Return an event as Claude Code sends it, of a session of its own."""
    fields = {
        "session_id": f"bench-{os.getpid()}-{session}", "transcript_path": "", "cwd": cwd or tempfile.gettempdir(),
        "prompt_id": session, "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    }  # fmt: skip
    return dumps(fields).encode()


def _run(command: list[str], session: str, *, cwd: str = "") -> float:
    given = event(session, cwd=cwd)
    started = time.perf_counter()
    subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def burst(at_once: int) -> dict[str, float]:
    """Start ``at_once`` hooks together; return how many answered, how many traces arrived, and the wall time."""
    from enricher.home import state_dir
    from storage import database, queries

    with tempfile.TemporaryDirectory() as folder, home(folder):
        command = [sys.executable, "-I", "-S", os.path.join(root_dir(), "enricher", "boot.py"), "claude"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        started = time.perf_counter()
        running = [subprocess.Popen(command, **pipes) for _ in range(at_once)]  # type: ignore[call-overload]
        answers = [one.communicate(event(f"burst-{at}"))[0] for at, one in enumerate(running)]
        wall = time.perf_counter() - started
        db = database.connect(state_dir())
        arrived = queries.stats(db, queries.Filter()).prompts
        db.close()
    good = sum(1 for one, answer in zip(running, answers, strict=True) if one.returncode == 0 and answer)
    return {"hooks": at_once, "answered": good, "traces": arrived, "wall_ms": round(wall * 1000, 1)}


def classification_rows() -> list[Row]:
    """Measure classification alone by prompt size, in this process; the ratio is to the smallest."""
    table = cache.load("", wait_ms=30_000)[0].table
    gc.disable()  # as in the hook's process
    rows: list[Row] = []
    for name, prompt in _sizes():
        repeats = CLASSIFICATIONS if len(prompt) < 10_000 else CLASSIFICATIONS // 5
        times = list(_times(lambda text=prompt: classify(text, table), repeats))  # type: ignore[misc]
        base = rows[0] if rows else None
        rows.append(
            Row(
                name,
                median_ms=statistics.median(times) * 1000,
                p99_ms=percentile(times, 0.99) * 1000,
                ratio=statistics.median(times) * 1000 / base.median_ms if base else 1.0,
                p99_ratio=percentile(times, 0.99) * 1000 / base.p99_ms if base else 1.0,
                runs=repeats,
            )
        )
    return rows


def _sizes() -> Iterator[tuple[str, str]]:
    for name, size in (("200 B", 200), ("2 KB", 2048), ("16 KB", 16 << 10), ("100 KB", 100 << 10), ("1 MB", 1 << 20)):
        yield name, (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size]


def _times(action: Callable[[], object], repeats: int) -> Iterator[float]:
    for _ in range(20):
        action()
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        yield time.perf_counter() - started
