"""The targets of all benchmarks; a test checks that README and docs quote the same figures."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enricher.interfaces.bench import BenchRow


class Target(NamedTuple):
    """The upper limit for a figure, such as ``ratio``, in all rows whose names match the pattern ``row``.

    ``suffix`` is appended to the name of a row that misses this target, when it is reported.
    """

    row: str
    figure: str
    most: float
    suffix: str = ""


class Outcome(NamedTuple):
    """A target, with the highest measured figure among the rows to which it applies."""

    target: Target
    highest: float

    @property
    def holds(self) -> bool:
        """Whether no row exceeds the target."""
        return self.highest <= self.target.most


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
    "code": (Target("query*", "p99_ms", 30.0), Target("hook*", "ratio", 4.0)),
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
SEARCH_P95_MS = {1_000: 50.0, 10_000: 8.0, 100_000: 40.0, 1_000_000: 150.0}
"""Maximum p95 of one search, in ms, by the number of memories (``bench context`` and ``bench recall``)."""
LEAST_OVERLAP, OVERLAP_UP_TO = 0.95, 100_000
"""Minimum share of the plain query's top 3 that must be in our top 10, in stores of up to this many memories."""
TRANSCRIPT_MS = 20.0
"""Maximum milliseconds that a transcript of 200 MB may add to the hook's median time (``bench session``)."""
REPLAYED_PER_SECOND, SAVE_TO_FIRST_MS, SAVE_TO_COMPLETE_MS = 8_000, 200.0, 1_000.0
"""Minimum prompts replayed per second and core; maximum ms from saving an edit to the first and to the complete figures
(``bench replay``)."""


def missed(bench: str, rows: Sequence[BenchRow]) -> list[str]:
    """Return the names of the rows that miss a target of the given benchmark."""
    return [
        f"{name}{target.suffix}"
        for target in TARGETS[bench]
        for row in rows
        if fnmatchcase(name := row.name, target.row) and getattr(row, target.figure) > target.most
    ]


def outcomes(bench: str, rows: Sequence[BenchRow]) -> list[Outcome]:
    """Return the outcome of each target of the given benchmark that applies to any of the rows."""
    figures = {
        target: [getattr(row, target.figure) for row in rows if fnmatchcase(row.name, target.row)]
        for target in TARGETS[bench]
    }
    return [Outcome(target, max(found)) for target, found in figures.items() if found]
