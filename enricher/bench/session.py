"""Measure what a transcript costs the whole hook: none, a short one, and 200 MB, in one shuffled run."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from enricher.bench import PROMPT, Row, home, percentile
from enricher.home import root_dir
from storage.lean import dumps

LARGE_BYTES = 200 << 20
TARGET_MS = 20.0
"""What a transcript of 200 MB may add to the median of the hook."""
POINTING = "do the same for the other one"
NONE, SHORT, LARGE, LARGE_POINTING = "no transcript", "short transcript", "200 MB transcript", "200 MB, other one"


def session_rows(runs: int, *, large_bytes: int = LARGE_BYTES) -> list[Row]:
    """Return one row per transcript; the ratios are to the hook without one."""
    with tempfile.TemporaryDirectory() as folder, home(folder):
        small, large = Path(folder, "small.jsonl"), Path(folder, "large.jsonl")
        small.write_bytes(_turns(20))
        _write_large(large, large_bytes)
        cases = {
            NONE: ("", PROMPT),
            SHORT: (str(small), PROMPT),
            LARGE: (str(large), PROMPT),
            LARGE_POINTING: (str(large), POINTING),
        }
        seconds: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(-3, runs):
            for name in random.sample(list(cases), len(cases)):
                taken = _run(*cases[name], session=f"{name}-{number}", cwd=folder)
                seconds[name] += [taken] if number >= 0 else []
    return [_row(name, times, seconds[NONE]) for name, times in seconds.items()]


def missed(rows: list[Row]) -> list[str]:
    """Return the names of the rows whose paired ratio to the first means more than TARGET_MS beyond it."""
    return [row.name for row in rows if (row.ratio - 1) * rows[0].median_ms > TARGET_MS]


def _row(name: str, times: list[float], floor: list[float]) -> Row:
    return Row(
        name,
        median_ms=statistics.median(times) * 1000,
        p99_ms=percentile(times, 0.99) * 1000,
        ratio=statistics.median(own / base for own, base in zip(times, floor, strict=True)),
        p99_ratio=percentile(times, 0.99) / percentile(floor, 0.99),
        runs=len(times),
    )


def _turns(count: int) -> bytes:
    """Return turns as Claude Code records them: a prompt, a tool call with a long result, an answer."""
    lines = []
    for number in range(count):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": f"/p/module_{number}.py"},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "some line of a file\n" * 200}
        said = {"type": "text", "text": f"It is in module_{number}.py; module_{number + 1}.py is not changed yet."}
        lines += [
            {"type": "user", "message": {"role": "user", "content": f"please look at module_{number}.py again"}},
            {"type": "assistant", "message": {"id": f"a{number}", "role": "assistant", "content": [call]}},
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"type": "text"}},
            {"type": "assistant", "message": {"id": f"b{number}", "role": "assistant", "content": [said]}},
        ]
    return b"".join(dumps(line).encode() + b"\n" for line in lines)


def _write_large(path: Path, size: int) -> None:
    block = _turns(200)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)


def _run(transcript: str, prompt: str, *, session: str, cwd: str) -> float:
    fields = {
        "session_id": f"bench-{os.getpid()}-{session}", "transcript_path": transcript, "cwd": cwd, "prompt_id": session,
        "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    }  # fmt: skip
    command = [sys.executable, "-I", "-S", os.path.join(root_dir(), "enricher", "boot.py"), "claude"]
    begin = time.perf_counter()
    subprocess.run(
        command, input=dumps(fields).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - begin
