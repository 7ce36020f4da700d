"""Measure how a transcript slows the whole hook: none, a short one, and one of 200 MB, in one shuffled run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from enricher.interfaces.bench import HOOK, Case, Row, empty_project, home, paired
from enricher.interfaces.bench.targets import TRANSCRIPT_MS
from storage.base.lean import dumps

LARGE_BYTES = 200 << 20
POINTING = "do the same for the other one"
NONE, SHORT, LARGE, LARGE_POINTING = "no transcript", "short transcript", "200 MB transcript", "200 MB, other one"


def session_rows(runs: int, *, large_bytes: int = LARGE_BYTES) -> list[Row]:
    """Measure the hook once per transcript; return a row for each, with ratios to the hook without a transcript."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        small, large = Path(folder, "small.jsonl"), Path(folder, "large.jsonl")
        small.write_bytes(turns(20))
        _write_large(large, large_bytes)
        empty = empty_project(folder)
        cases = {
            NONE: Case(HOOK, cwd=empty),
            SHORT: Case(HOOK, cwd=empty, transcript=str(small)),
            LARGE: Case(HOOK, cwd=empty, transcript=str(large)),
            LARGE_POINTING: Case(HOOK, cwd=empty, transcript=str(large), prompt=POINTING),
        }
        return paired(cases, runs)


def missed(rows: list[Row]) -> list[str]:
    """Return the names of the rows whose paired ratio means over ``TRANSCRIPT_MS`` more than the first row."""
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
        said = {"type": "text", "text": f"It is in module_{number}.py; module_{number + 1}.py is not changed yet."}
        lines += [
            {"type": "user", "message": {"role": "user", "content": f"please look at module_{number}.py again"}},
            {"type": "assistant", "message": {"id": f"a{number}", "role": "assistant", "content": [call]}},
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"type": "text"}},
            {"type": "assistant", "message": {"id": f"b{number}", "role": "assistant", "content": [said]}},
        ]
    return b"".join(dumps(line).encode() + b"\n" for line in lines)


def _write_large(path: Path, size: int) -> None:
    block = turns(200)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(block)
