"""Measure how long the hook takes for an agent client, as a ratio to a baseline that is timed in the same rounds.

Machines differ and are noisy, so a figure is the median of the ratios of paired runs: the time of
the whole hook process divided by that of ``python -I -S -c pass`` in the same round. The targets of all benchmarks are
also defined here; a test checks that README and docs quote the same figures.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from enricher.home import root_dir
from storage.base.fast_stdlib import dumps
from storage.metrics.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

UPKEEP_S = 0.7  # the background work after a prompt has ended by then

PROMPT = (
    "the export test fails with KeyError 'total' since the last merge, please find out why and fix it; "
    "the report module was changed there and nobody looked at the rounding of the totals after that one"
)
"""A prompt of about 200 characters, the size for which the targets are defined."""
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu an er in or un".split()
"""The syllables of the words in generated texts."""
SEARCH_P95_MS = {1_000: 50.0, 10_000: 8.0, 100_000: 40.0, 1_000_000: 150.0}
"""Targets: for each number of stored memories, the maximum 95th percentile of the time of a search, in ms."""
LEAST_OVERLAP, OVERLAP_UP_TO = 0.95, 100_000
"""Target: our top 10 must contain this share of a plain FTS5 query's top 3, in stores of up to so many memories."""
REPLAYED_PER_SECOND, SAVE_TO_FIRST_MS, SAVE_TO_COMPLETE_MS = 8_000, 200.0, 1_000.0
"""Targets of ``bench replay``: minimum number of prompts replayed per second and core; maximum milliseconds from saving
an edited rule until the first figures, and until all figures, are there."""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """The measured times of a command, in milliseconds and as ratios to the first command of the benchmark.

    ``p95_ms`` is None if the benchmark does not report it.
    """

    name: str
    median_ms: float
    p99_ms: float
    ratio: float
    p99_ratio: float
    runs: int
    p95_ms: float | None = None

    @classmethod
    def of(cls, name: str, times: list[float], base: list[float], *, high_share: float = 0.99) -> BenchRow:
        """Return the row of a command from its run times and those of the first command (``base``), all in seconds.

        The two lists may have different lengths. ``high_share`` is the percentile that is reported as the 99th.
        """
        middle, high = statistics.median(times), percentile(times, high_share)
        ratios = middle / statistics.median(base), high / percentile(base, high_share)
        return cls(name, middle * 1000, high * 1000, *ratios, len(times))


@contextmanager
def home(folder: str) -> Iterator[None]:
    """Keep the state and the configuration in a separate folder while measuring."""
    before = dict(os.environ)
    os.environ["ENRICHER_HOME"] = os.environ["ENRICHER_CONFIG_HOME"] = os.path.join(folder, "state")
    os.environ.pop("AOPS", None)  # its rules and skills would be added to those that are measured
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


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
    """Create an empty folder in ``folder`` and return its path; in it, no local files affect the measured times."""
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


def turns(count: int) -> bytes:
    """Generate a transcript of ``count`` turns in Claude Code's format: prompt, tool call, its long result, answer."""
    lines = []
    for number in range(count):
        read = {"file_path": f"/p/module_{number}.py"}
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": read}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "some line of a file\n" * 200}
        answer = {"type": "text", "text": f"It is in module_{number}.py; module_{number + 1}.py is not changed yet."}
        lines += [
            {"type": "user", "message": {"role": "user", "content": f"please look at module_{number}.py again"}},
            {"type": "assistant", "message": {"id": f"a{number}", "role": "assistant", "content": [call]}},
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"type": "text"}},
            {"type": "assistant", "message": {"id": f"b{number}", "role": "assistant", "content": [answer]}},
        ]
    return b"".join(dumps(line).encode() + b"\n" for line in lines)


class Target(NamedTuple):
    """The upper limit (``most``) for a figure, such as ``ratio``, in all rows whose names match the pattern ``row``.

    ``suffix`` is appended to the name of a row that misses this target, when it is reported.
    """

    row: str
    figure: str
    most: float
    suffix: str = ""


TARGETS: dict[str, Sequence[Target]] = {
    "hook": (
        Target("hook", "ratio", 2.3),
        Target("hook through sh", "ratio", 2.5),
        Target("hook", "p99_ratio", 2.0, " p99"),
    ),
    "intent": (Target("2 KB", "p99_ms", 1.0), *(Target(size, "p99_ms", 5.0) for size in ("16 KB", "100 KB", "1 MB"))),
    "context": (
        Target("hook, 10,000 memories", "ratio", 2.8),
        Target("hook, 10,000 memories, 5,000 files, transcript", "ratio", 4.0),
    ),
    "topics": (
        Target("build 1000", "median_ms", 50.0),
        Target("build 100000", "median_ms", 5000.0),
        Target("add *", "median_ms", 1.0),
    ),
    "workbench": (
        Target("start to the first rows", "ratio", 2.2),
        Target("filter *", "p99_ms", 200.0),
        Target("first coverage", "median_ms", 1_500.0),
        Target("save to the complete figures", "median_ms", 1_000.0),
        Target("a prompt arrives", "median_ms", 100.0),
    ),
}


def missed(bench: str, rows: Sequence[BenchRow]) -> list[str]:
    """Return the names of the rows that miss a target of the given benchmark."""
    return [
        f"{name}{target.suffix}"
        for target in TARGETS[bench]
        for row in rows
        if fnmatchcase(name := row.name, target.row) and getattr(row, target.figure) > target.most
    ]


def highest_figures(bench: str, rows: Sequence[BenchRow]) -> dict[Target, float]:
    """Return the highest measured value for each target of the benchmark ``bench`` that applies to any of the rows."""
    figures = {
        target: [getattr(row, target.figure) for row in rows if fnmatchcase(row.name, target.row)]
        for target in TARGETS[bench]
    }
    return {target: max(found) for target, found in figures.items() if found}
