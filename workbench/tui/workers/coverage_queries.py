"""Read what the Coverage screen shows, in its threads: how often each rule fires, and which lines users judged.

Nothing here touches a widget.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from storage.traces import line_labels
from workbench.tui.state import here

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from storage.traces.line_labels import JudgedLine, KeepRates
    from storage.traces.selection import Selection
    from workbench.coverage.coverage import Coverage

REPORT_EVERY_S = 0.7


@dataclass(frozen=True, slots=True)
class Grown:
    """The coverage of the prompts measured so far; ``total`` is the number of all selected prompts."""

    coverage: Coverage
    total: int
    is_final: bool


@dataclass(frozen=True, slots=True)
class JudgedLines:
    """The judged lines of added texts; ``kept`` has the shares that users judged as right."""

    kept: KeepRates
    lines: list[JudgedLine]


def judged_lines(db: sqlite3.Connection, which: Selection) -> JudgedLines:
    """Return the lines of added texts that users called right or wrong, on the selected prompts."""
    return JudgedLines(line_labels.keep_rates(db, which), line_labels.judged(db, which))


def measure(db: sqlite3.Connection, which: Selection, path: str, should_stop: Callable[[], bool]) -> Iterator[Grown]:
    """Yield, about once a second, how the rules cover the prompts read so far.

    The measurement ends when all selected prompts are read, or once ``should_stop`` returns true. The rules are those
    of the instructions at ``path`` or, if ``path`` is empty, the rules that apply in the working folder.
    """
    from workbench.coverage import coverage, rule_positions
    from workbench.replay.corpus import Corpus

    corpus = Corpus(db, which)
    total = corpus.count()
    if path:
        text = Path(path).read_text(encoding="utf-8")
        rules = rule_positions.of_file(path, text, versions=corpus.versions)
    else:
        rules = rule_positions.in_force(here())
    measurement = coverage.Measurement(corpus, rules, kept=sys.maxsize)
    reported_at = time.monotonic() - REPORT_EVERY_S / 2  # the first figures are reported sooner than later ones
    for page in corpus.pages():
        if should_stop():
            return
        measurement.add(page)
        if time.monotonic() - reported_at > REPORT_EVERY_S:
            yield Grown(measurement.coverage(), total, is_final=False)
            reported_at = time.monotonic()
    yield Grown(measurement.coverage(), total, is_final=True)
