"""``enricher bench workbench``: every wait that the documentation quotes is measured, and nothing is left behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from workbench.bench import COVERAGE, FILTERS, SAVE_COMPLETE, SAVE_FIRST, START, TAIL, YARDSTICK

if TYPE_CHECKING:
    from simulator import Account


@pytest.mark.slow
def test_every_wait_is_measured_and_nothing_is_left_behind(library: Account) -> None:
    library.write("state/workbench.json", '{"traces": {"sort": "slowest"}}')
    rows = json.loads(library.cli("bench", "workbench", "--runs", "3", "--json"))

    names = [YARDSTICK, START, *(f"filter {one}" for one in FILTERS), COVERAGE, SAVE_FIRST, SAVE_COMPLETE, TAIL]
    assert [one["name"] for one in rows] == names
    assert all(0 < one["median_ms"] <= one["p95_ms"] <= one["p99_ms"] for one in rows)
    assert not list(library.config.glob("*.md"))
    assert (library.state / "workbench.json").read_text() == '{"traces": {"sort": "slowest"}}'
    assert len(library.traces()) == 6
