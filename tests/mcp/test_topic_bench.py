"""``enricher bench topics``: figures for every size that was asked for, against a yardstick of the same run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from enricher.interfaces.bench import BenchRow, missed

if TYPE_CHECKING:
    from simulator import Account

WORDS_OF_A_THOUSAND_MS = 6.0
"""What the yardstick takes on a machine that does nothing else; the ratio is what a busy one keeps."""


@pytest.mark.timed
@pytest.mark.conformance("S1-6.9a", "S1-6.15a")
def test_the_index_is_measured_at_every_size(account: Account) -> None:
    rows = {row["name"]: row for row in json.loads(account.cli("bench", "topics", "--json", "--n", "100,1000,10000"))}

    kinds, sizes = ("words", "build", "list", "add"), (100, 1000, 10_000)
    assert list(rows) == [f"{kind} {size}" for size in sizes for kind in kinds]
    assert all(row["median_ms"] > 0 and row["runs"] >= 3 for row in rows.values())
    assert {rows[f"words {size}"]["ratio"] for size in sizes} == {1.0}
    assert rows["build 1000"]["ratio"] * WORDS_OF_A_THOUSAND_MS < 100
    assert rows["add 10000"]["median_ms"] < 1


@pytest.mark.parametrize("sizes", ["", "x", "0", "100,,1000", "-5"])
def test_sizes_are_numbers(account: Account, sizes: str) -> None:
    assert "is not a list of numbers above 0" in account.cli("bench", "topics", "--n", sizes, exit_code=2)


@pytest.mark.parametrize(
    ("name", "median_ms", "is_missed"),
    [
        ("build 1000", 49.0, False), ("build 1000", 51.0, True), ("build 100000", 5001.0, True),
        ("build 50", 9e9, False), ("add 10000", 0.9, False), ("add 10000", 1.1, True), ("words 1000", 9e9, False),
    ],
)  # fmt: skip
def test_a_missed_target_is_named(name: str, median_ms: float, is_missed: bool) -> None:
    row = BenchRow(name, median_ms=median_ms, p99_ms=median_ms, ratio=1.0, p99_ratio=1.0, runs=1)

    assert missed("topics", [row]) == [name] * is_missed
