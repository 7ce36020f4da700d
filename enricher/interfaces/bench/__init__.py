"""Measure the hook as an agent client experiences it, always relative to a baseline measured in the same rounds.

Machines differ and are noisy, so a figure is the median of the ratios of paired runs: the time of
the whole hook process divided by that of ``python -I -S -c pass`` in the same round.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.home import root_dir
from enricher.interfaces.bench.targets import TRANSCRIPT_MS
from storage.base.fast_stdlib import dumps
from storage.metrics.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UPKEEP_S = 0.7
"""Seconds to pause after each warm-up, so that the background work after a prompt has ended."""

PROMPT = (
    "the export test fails with KeyError 'total' since the last merge, please find out why and fix it; "
    "the report module was changed there and nobody looked at the rounding of the totals after that one"
)
"""A prompt of about 200 characters, the size for which the targets are defined."""
LARGE_BYTES = 200 << 20
POINTING = "do the same for the other one"
NONE, SHORT, LARGE, LARGE_POINTING = "no transcript", "short transcript", "200 MB transcript", "200 MB, other one"


@dataclass(frozen=True, slots=True)
class BenchRow:
    """The results of a measured command: milliseconds, and the median of its paired ratios to the first command.

    ``p95_ms`` is None where it is not reported.
    """

    name: str
    median_ms: float
    p99_ms: float
    ratio: float
    p99_ratio: float
    runs: int
    p95_ms: float | None = None

    @classmethod
    def of(cls, name: str, times: list[float], base: list[float]) -> BenchRow:
        """Return a row from the run times in seconds of a command and of the first command; they need not be paired."""
        middle, high = statistics.median(times), percentile(times, 0.99)
        ratios = middle / statistics.median(base), high / percentile(base, 0.99)
        return cls(name, middle * 1000, high * 1000, *ratios, len(times))


class home:  # noqa: N801 (reads as a statement: with home(folder))
    """Use a separate folder for state and configuration while measuring."""

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


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A command to measure, with its state folder, working directory, transcript, prompt and environment variables.

    ``forgets`` is a file that is deleted before each run, so that no run depends on the one before.
    """

    command: list[str]
    state: str = ""
    cwd: str = ""
    transcript: str = ""
    prompt: str = PROMPT
    environment: Mapping[str, str] = field(default_factory=dict)
    forgets: str = ""


def interpreter(*words: str) -> list[str]:
    """Return a command line that starts this interpreter, ignoring site packages and ``PYTHON*`` variables."""
    return [sys.executable, "-I", "-S", *words]


def empty_project(folder: str) -> str:
    """Create an empty folder as working directory, so that local files do not affect the figures; return its path."""
    path = os.path.join(folder, "empty")
    os.mkdir(path)
    return path


FLOOR = BenchCase(interpreter("-c", "pass"))
HOOK = interpreter(os.path.join(root_dir(), "enricher", "boot.py"), "claude")


def paired(cases: Mapping[str, BenchCase], runs: int) -> list[BenchRow]:
    """Run all cases in shuffled rounds, each in a new session; return a row for each, with ratios to the first case.

    Each case is first run three times, with a pause for its background work, so that one-time work is not measured.
    """
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for warm_up in range(3):
        for case in cases.values():
            _run(case, f"warm-{warm_up}")
        time.sleep(UPKEEP_S)
    for number in range(runs):
        for name in random.sample(list(cases), len(cases)):
            seconds[name].append(_run(cases[name], f"{name}-{number}"))
    floor = next(iter(seconds.values()))
    return [
        BenchRow(
            name,
            median_ms=statistics.median(times) * 1000,
            p99_ms=percentile(times, 0.99) * 1000,
            ratio=statistics.median(own / base for own, base in zip(times, floor, strict=True)),
            p99_ratio=percentile(times, 0.99) / percentile(floor, 0.99),
            runs=runs,
        )
        for name, times in seconds.items()
    ]


def event(session: str, case: BenchCase) -> bytes:
    """Return a prompt event as Claude Code sends it, as JSON with a session id derived from ``session``."""
    fields = {
        "session_id": f"bench-{os.getpid()}-{session}", "transcript_path": case.transcript,
        "cwd": case.cwd or tempfile.gettempdir(), "prompt_id": session, "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit", "prompt": case.prompt,
    }  # fmt: skip
    return dumps(fields).encode()


def _run(case: BenchCase, session: str) -> float:
    given = event(session, case)
    environment = {**os.environ, **case.environment, **({"ENRICHER_HOME": case.state} if case.state else {})}
    if case.forgets:
        Path(case.forgets).unlink(missing_ok=True)
    started = time.perf_counter()
    subprocess.run(
        case.command, input=given, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - started


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Run ``work`` ``times`` times in this process, and return the seconds of each run."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return spent


def session_rows(runs: int, *, large_bytes: int = LARGE_BYTES) -> list[BenchRow]:
    """Measure the hook with each transcript; return a row for each, with ratios to the hook without a transcript."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        small, large = Path(folder, "small.jsonl"), Path(folder, "large.jsonl")
        small.write_bytes(turns(20))
        _write_large(large, large_bytes)
        empty = empty_project(folder)
        cases = {
            NONE: BenchCase(HOOK, cwd=empty),
            SHORT: BenchCase(HOOK, cwd=empty, transcript=str(small)),
            LARGE: BenchCase(HOOK, cwd=empty, transcript=str(large)),
            LARGE_POINTING: BenchCase(HOOK, cwd=empty, transcript=str(large), prompt=POINTING),
        }
        return paired(cases, runs)


def missed(rows: list[BenchRow]) -> list[str]:
    """Return the names of the rows that, by their ratio, are over ``TRANSCRIPT_MS`` slower than the first row."""
    return [row.name for row in rows if (row.ratio - 1) * rows[0].median_ms > TRANSCRIPT_MS]


def turns(count: int) -> bytes:
    """Return a transcript of ``count`` turns in Claude Code's format: prompt, tool call with a long result, answer."""
    lines = []
    for number in range(count):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": f"/p/module_{number}.py"},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "some line of a file\n" * 200}
        answer = {"type": "text", "text": f"It is in module_{number}.py; module_{number + 1}.py is not changed yet."}
        lines += [
            {"type": "user", "message": {"role": "user", "content": f"please look at module_{number}.py again"}},
            {"type": "assistant", "message": {"id": f"a{number}", "role": "assistant", "content": [call]}},
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"type": "text"}},
            {"type": "assistant", "message": {"id": f"b{number}", "role": "assistant", "content": [answer]}},
        ]
    return b"".join(dumps(line).encode() + b"\n" for line in lines)


def _write_large(path: Path, size: int) -> None:
    block = turns(200)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)
