"""``enricher bench hook``, ``burst`` and ``intent``: the hook process as a host starts it, and classification alone."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from enricher.classify import verdict
from enricher.home import root_dir
from enricher.interfaces.bench import FLOOR, HOOK, Case, Row, empty_project, event, home, paired
from enricher.rules import cache
from storage.metrics.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARAGRAPH = (
    "We moved the importer to its own package and since then the nightly run stops after the third file. "
    "Please look at how the reader closes its handles, keep the public functions as they are, and add a test. "
)
CLASSIFICATIONS = 1000


def hook_rows(runs: int) -> list[Row]:
    """Measure bare interpreter, hook, and hook through ``sh`` in one shuffled round-robin; traces are written."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        launcher, empty = _launcher(folder), empty_project(folder)
        through_sh = Case(["sh", "-c", f"sh '{launcher}' claude 2>/dev/null || true"], cwd=empty)
        cases = {"python -I -S -c pass": FLOOR, "hook": Case(HOOK, cwd=empty), "hook through sh": through_sh}
        return paired(cases, runs)


def _launcher(folder: str) -> str:
    path = os.path.join(folder, "hook")
    boot = os.path.join(root_dir(), "enricher", "boot.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[ -x "{sys.executable}" ] && exec "{sys.executable}" -I -S "{boot}" "$@"\n')
    return path


def burst(at_once: int) -> dict[str, float]:
    """Start ``at_once`` hooks together; return the number of answers and of stored traces, and the wall time."""
    from enricher.home import state_dir
    from storage.db import database
    from storage.traces import queries

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        case = Case(HOOK, cwd=empty_project(folder))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        started = time.perf_counter()
        running = [subprocess.Popen(case.command, **pipes) for _ in range(at_once)]  # type: ignore[call-overload]
        answers = [one.communicate(event(f"burst-{at}", case))[0] for at, one in enumerate(running)]
        wall = time.perf_counter() - started
        db = database.connect(state_dir())
        arrived = queries.stats(db, queries.Filter()).prompts
        db.close()
    good = sum(1 for one, answer in zip(running, answers, strict=True) if one.returncode == 0 and answer)
    return {"hooks": at_once, "answered": good, "traces": arrived, "wall_ms": round(wall * 1000, 1)}


def classification_rows() -> list[Row]:
    """Measure classification alone by prompt size, in this process; the ratio is to the smallest."""
    rules, _layers = cache.load("", wait_ms=30_000)
    gc.disable()  # as the hook's process does
    rows: list[Row] = []
    for name, prompt in _sizes():
        repeats = CLASSIFICATIONS if len(prompt) < 10_000 else CLASSIFICATIONS // 5
        times = list(_times(lambda text=prompt: verdict(text, rules), repeats))  # type: ignore[misc]
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
