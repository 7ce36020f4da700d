"""The docs quote the targets that ``enricher bench`` holds a run to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enricher.interfaces.bench import (
    REPLAYED_PER_SECOND,
    SAVE_TO_COMPLETE_MS,
    SAVE_TO_FIRST_MS,
    TARGETS,
    BenchRow,
    missed,
)
from enricher.interfaces.bench.context import EVERYTHING, MANY
from enricher.interfaces.cli.bench import report
from workbench.bench import COVERAGE, FILTERS, SAVE_COMPLETE, START, TAIL

ROOT = Path(__file__).parents[2]
MOST = {(bench, one.row, one.figure): one.most for bench, every in TARGETS.items() for one in every}


@pytest.mark.parametrize(
    ("file", "sentence", "figures"),
    [
        pytest.param(
            "docs/performance.md",
            "the targets are #, through `sh` #, and # for the p99",
            [
                MOST["hook", "hook", "ratio"],
                MOST["hook", "hook through sh", "ratio"],
                MOST["hook", "hook", "p99_ratio"],
            ],
            id="hook",
        ),
        pytest.param(
            "docs/performance.md",
            "the targets are # prompts/s, first figures within # ms, complete ones for 5,000 prompts within # s",
            [REPLAYED_PER_SECOND, SAVE_TO_FIRST_MS, SAVE_TO_COMPLETE_MS / 1000],
            id="replay",
        ),
        pytest.param(
            "docs/performance.md",
            "targets: p99 below # ms at 2 KB, which is missed here, and below # ms at any size",
            [MOST["intent", "2 KB", "p99_ms"], MOST["intent", "1 MB", "p99_ms"]],
            id="intent",
        ),
        pytest.param(
            "docs/performance.md",
            "The targets are # with 10,000 memories, which is missed, and # with everything",
            [MOST["context", MANY, "ratio"], MOST["context", EVERYTHING, "ratio"]],
            id="context",
        ),
        pytest.param(
            "docs/mcp.md",
            "building it for 1,000 memories below # ms, for 100,000 below # s, adding one below # ms",
            [
                MOST["topics", "build 1000", "median_ms"],
                MOST["topics", "build 100000", "median_ms"] / 1000,
                MOST["topics", "add *", "median_ms"],
            ],
            id="topics",
        ),
        pytest.param(
            "docs/workbench.md",
            "the targets are # times importing Textual to the first rows, # ms for a filter (p99), # ms to the first "
            "coverage, # ms from a save to the complete figures, # ms until a prompt is seen",
            [
                MOST["workbench", START, "ratio"],
                MOST["workbench", "filter *", "p99_ms"],
                *(MOST["workbench", name, "median_ms"] for name in (COVERAGE, SAVE_COMPLETE, TAIL)),
            ],
            id="workbench",
        ),
    ],
)
def test_a_quoted_target_is_the_one_that_is_asserted(file: str, sentence: str, figures: list[float]) -> None:
    pattern = re.escape(sentence).replace(r"\#", r"([\d,.]*\d)")

    found = re.search(pattern, " ".join((ROOT / file).read_text(encoding="utf-8").split()))

    assert found is not None
    assert [float(one.replace(",", "")) for one in found.groups()] == figures


@pytest.mark.parametrize(
    ("bench", "name", "figure", "most"),
    [
        ("hook", "hook p99", "p99_ratio", 2.0),
        ("workbench", f"filter {FILTERS[0]}", "p99_ms", 200.0),
        ("context", EVERYTHING, "ratio", 4.0),
    ],
)
def test_only_what_is_above_its_target_is_missed(bench: str, name: str, figure: str, most: float) -> None:
    for value, expected in ((most, []), (most + 0.1, [name])):
        figures = dict.fromkeys(("median_ms", "p99_ms", "ratio", "p99_ratio"), 0.0) | {figure: value}

        assert missed(bench, [BenchRow(name.removesuffix(" p99"), **figures, runs=1)]) == expected


def test_the_targets_are_printed_with_what_was_measured_and_whether_they_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        BenchRow(name, median_ms=90.0, p99_ms=p99_ms, ratio=2.5, p99_ratio=1.0, runs=5, p95_ms=140.0)
        for name, p99_ms in ((START, 150.0), ("filter ms>300", 150.0), ("filter type:debug", 145.0))
    ]

    report("workbench", rows, is_json=False, asserts=False)

    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "| | median ms | p95 ms | p99 ms | ratio of medians | ratio of p99 | runs |"
    assert f"| {START} | 90.00 | 140.00 | 150.00 | 2.50 | 1.00 | 5 |" in printed
    assert printed[-2:] == [
        "| start to the first rows, ratio of medians | 2.2 | 2.50 | missed |",
        "| filter *, p99 ms | 200 | 150.00 | holds |",
    ]
