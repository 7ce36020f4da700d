"""``examples/ab`` runs, and shows what its README names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "examples" / "ab" / "run.sh"


@pytest.mark.slow
def test_the_demo_shows_a_dry_run_a_budget_that_ends_it_and_a_report_with_intervals_and_cost() -> None:
    env = {"PATH": os.environ["PATH"], "PYTHON_OF_ENRICHER": sys.executable}
    ended = subprocess.run(["sh", str(RUN)], env=env, capture_output=True, text=True, check=False)
    said = " ".join(ended.stdout.split())

    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"together: 40 calls, about [\d,]+ prompt tokens .* at most 0\.\d+ USD", said)
    assert re.search(
        r"With a budget of 0\.015 USD: (?!0|40)\d+ calls, then budget: 0\.0\d+ of 0\.0150 USD are spent", said
    )
    assert "40 calls of test-model in all, none twice" in said
    for metric in ("tokens", "latency_ms", "success", "quality", "violations"):
        assert re.search(rf"{metric} [\d.]+ [\d.]+ -?[\d.]+ -?[\d.]+ … -?[\d.]+ ", said), metric
    assert re.search(
        r"40 of 40 calls: [\d,]+ prompt tokens, [\d,]+ response tokens; 0\.\d+ USD \(a 0\.\d+, b 0\.\d+\)", said
    )
    assert re.search(r"(changed|inconclusive): \d+ of 20 responses in 20 sessions differ", said)
