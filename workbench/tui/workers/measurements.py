"""Measure, in threads, what the screens Coverage and Latency show; nothing here touches a widget.

Each measurement yields the figures so far from time to time, as reading a long history takes seconds.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from storage.metrics import latencies
from storage.metrics.latencies import DAY_S, HOUR_S
from storage.traces import line_labels
from workbench.tui.state import here
from workbench.views.latency import LatencyTally, Profile

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from storage.traces.line_labels import JudgedLine, KeepRates
    from storage.traces.selection import Selection
    from workbench.coverage.figures import Coverage

FIRST_PROMPTS = 2_000
FIRST_S = 0.2
"""The first figures cover this many prompts (``FIRST_PROMPTS``), or those that can be read in this many seconds."""
REPORT_EVERY_S = 0.7
BY_THE_HOUR_S = 3 * DAY_S
"""The latencies of a history longer than this many seconds are shown by day, those of a shorter one by hour."""


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


def measure_coverage(
    db: sqlite3.Connection, which: Selection, path: str, should_stop: Callable[[], bool]
) -> Iterator[Grown]:
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


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """The latencies of the prompts measured so far, newest first, back to the time ``reached`` (seconds since 1970).

    ``width_s`` is the time in seconds that each point of a plot stands for. ``top`` is the id of the trace that was the
    newest one when the measurement began. ``tally`` contains the sums from which the figures were computed.
    """

    profiles: tuple[Profile, ...]
    prompts: int
    reached: int
    width_s: int
    top: str
    is_final: bool
    tally: LatencyTally


def measure_latencies(
    db: sqlite3.Connection, which: Selection, should_stop: Callable[[], bool]
) -> Iterator[LatencyFigures]:
    """Yield the latencies of the newest prompts at once, then from time to time those of all prompts read so far."""
    top = latencies.newest(db)
    first, until = LatencyTally(), time.monotonic() + FIRST_S
    # By day, because whether the history is long is found out only after this.
    for block in latencies.blocks(db, which, width_s=DAY_S, most=FIRST_PROMPTS):
        first.add(block)
        if first.prompts >= FIRST_PROMPTS or time.monotonic() > until:
            yield _figures(first, DAY_S, top, is_final=False)
            break
    oldest = latencies.oldest(db, which)
    span = latencies.moment(top) - latencies.moment(oldest) if oldest else 0
    width_s = HOUR_S if span <= BY_THE_HOUR_S else DAY_S
    tally, reported_at = LatencyTally(), time.monotonic()
    for block in latencies.blocks(db, which, width_s=width_s):
        tally.add(block)
        if should_stop():
            return
        # Fewer prompts than in the first figures would make the screen go back.
        if time.monotonic() - reported_at > REPORT_EVERY_S and tally.prompts > first.prompts:
            yield _figures(tally, width_s, top, is_final=False)
            reported_at = time.monotonic()
    yield _figures(tally, width_s, top, is_final=True)


def latencies_with_news(db: sqlite3.Connection, which: Selection, before: LatencyFigures) -> LatencyFigures:
    """Return new figures that include the prompts recorded since the figures ``before`` were measured.

    Those prompts are added to the tally of ``before``, which no other thread may change.
    """
    top = latencies.newest(db)
    for block in latencies.blocks(db, which, width_s=before.width_s, after=before.top):
        before.tally.add(block)
    return _figures(before.tally, before.width_s, top, is_final=True)


def _figures(tally: LatencyTally, width_s: int, top: str, *, is_final: bool) -> LatencyFigures:
    return LatencyFigures(tally.profiles(), tally.prompts, tally.reached, width_s, top, is_final, tally)
