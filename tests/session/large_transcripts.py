"""``python -m tests.session.large_transcripts RUNS``: what a transcript of 200 MB costs the hook.

The hook runs without a transcript, with a short one and with a large one; ratios are to the first.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from enricher.interfaces.bench import HOOK, BenchCase, empty_project, home, paired, turns
from enricher.interfaces.cli.bench import print_rows

LARGE_BYTES = 200 << 20
POINTING = "do the same for the other one"


def main(runs: str = "40") -> None:
    """Print a row for each transcript."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        small, large = Path(folder, "small.jsonl"), Path(folder, "large.jsonl")
        small.write_bytes(turns(20))
        block = turns(200)
        large.write_bytes(block * (LARGE_BYTES // len(block) + 1))
        empty = empty_project(folder)
        cases = {
            "no transcript": BenchCase(HOOK, cwd=empty),
            "short transcript": BenchCase(HOOK, cwd=empty, transcript=str(small)),
            "200 MB transcript": BenchCase(HOOK, cwd=empty, transcript=str(large)),
            "200 MB, other one": BenchCase(HOOK, cwd=empty, transcript=str(large), prompt=POINTING),
        }
        print_rows(paired(cases, int(runs)), is_json=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
