"""Read what the Latency screen shows, in its threads: latencies, the slowest prompts, a comparison of two versions.

Nothing here touches a widget. Each message carries the number of the run that sent it, so that the screen can ignore
messages of earlier runs.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from storage.metrics import latencies
from storage.metrics.latencies import DAY_S, HOUR_S, Series, Slow, Use
from storage.traces.trace_pages import ABOVE_ALL
from workbench.tui.messages import Replaceable
from workbench.views.latency import LatencyTally, Profile, SeriesComparison, compare_versions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from enricher.settings import Value
    from storage.traces.selection import Selection

    Post = Callable[[Message], object]
    IsOver = Callable[[], bool]

FIRST_PROMPTS = 2_000
FIRST_S = 0.2
"""The first figures cover this many prompts (``FIRST_PROMPTS``), or those that can be read in this many seconds."""
POST_EVERY_S = 0.7
BY_THE_HOUR_S = 3 * DAY_S
"""The latencies of a history longer than this many seconds are shown by day, those of a shorter one by hour."""
SLOWEST = 100


@dataclass(frozen=True, slots=True)
class LatencyFigures:
    """The latencies of the prompts measured so far, newest first, back to the time ``reached`` (seconds since 1970).

    ``width_s`` is the time in seconds that each point of a plot stands for. ``top`` is the id of the trace that was the
    newest one when the measurement began.
    """

    profiles: tuple[Profile, ...]
    versions: tuple[Use, ...]
    prompts: int
    reached: int
    width_s: int
    top: str
    is_final: bool


@dataclass
class LatenciesMeasured(Replaceable):
    """Sent during the measurement, with the latencies of the prompts measured so far.

    ``tally`` contains the sums from which the figures were computed.
    """

    run: int
    figures: LatencyFigures
    tally: LatencyTally


@dataclass
class FoundSlow(Replaceable):
    """Sent during the search for the slowest prompts in a stage or channel, with the slowest ones found so far."""

    run: int
    series: Series
    prompts: list[Slow]
    is_final: bool


@dataclass
class Compared(Message):
    """Sent when the latencies of two versions of the rules have been compared for each stage and channel."""

    run: int
    base: str
    candidate: str
    series: list[SeriesComparison]


@dataclass
class BudgetsRead(Message):
    """Sent when the settings that apply in the working folder, including the time budgets, have been read."""

    settings: dict[str, Value]


def measure(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, is_over: IsOver) -> None:
    """Post the latencies of the newest prompts at once, then from time to time those of all prompts read so far."""
    top = latencies.newest(db)
    first, until = LatencyTally(), time.monotonic() + FIRST_S
    # By day, because whether the history is long is found out only after this.
    for block in latencies.blocks(db, which, width_s=DAY_S, most=FIRST_PROMPTS):
        first.add(block)
        if first.prompts >= FIRST_PROMPTS or time.monotonic() > until:
            post(LatenciesMeasured(run, _figures(first, DAY_S, top, is_final=False), first))
            break
    oldest = latencies.oldest(db, which)
    span = latencies.moment(top) - latencies.moment(oldest) if oldest else 0
    width_s = HOUR_S if span <= BY_THE_HOUR_S else DAY_S
    tally, posted_at = LatencyTally(), time.monotonic()
    for block in latencies.blocks(db, which, width_s=width_s):
        tally.add(block)
        if is_over():
            return
        # Fewer prompts than in the first figures would make the screen go back.
        if time.monotonic() - posted_at > POST_EVERY_S and tally.prompts > first.prompts:
            post(LatenciesMeasured(run, _figures(tally, width_s, top, is_final=False), tally))
            posted_at = time.monotonic()
    post(LatenciesMeasured(run, _figures(tally, width_s, top, is_final=True), tally))


def measure_news(
    db: sqlite3.Connection, post: Post, *, run: int, which: Selection, tally: LatencyTally, before: LatencyFigures
) -> None:
    """Post new figures that include the prompts recorded since the figures ``before`` were measured.

    Those prompts are added to ``tally``, which no other thread may change.
    """
    top = latencies.newest(db)
    for block in latencies.blocks(db, which, width_s=before.width_s, after=before.top):
        tally.add(block)
    post(LatenciesMeasured(run, _figures(tally, before.width_s, top, is_final=True), tally))


def find_slowest(
    db: sqlite3.Connection, post: Post, *, run: int, which: Selection, series: Series, is_over: IsOver
) -> None:
    """Post the slowest prompts in a stage or channel, at first of the newest prompts only, and in the end of all."""
    found: list[Slow] = []
    posted_at = 0.0
    before, most = ABOVE_ALL, FIRST_PROMPTS
    while low := latencies.span(db, which, before=before, most=most):
        more = latencies.slowest(db, which, series, low=low, before=before, most=SLOWEST)
        found = heapq.nlargest(SLOWEST, [*found, *more], key=lambda one: (one.latency_ms, one.id))
        before, most = low, latencies.BLOCK_PROMPTS
        if is_over():
            return
        if time.monotonic() - posted_at > POST_EVERY_S:
            post(FoundSlow(run, series, list(found), is_final=False))
            posted_at = time.monotonic()
    post(FoundSlow(run, series, found, is_final=True))


def compare(db: sqlite3.Connection, post: Post, *, run: int, which: Selection, base: str, candidate: str) -> None:
    """Post a comparison of the latencies of two versions of the rules, computed from the newest prompts of each."""
    sides = [latencies.of_version(db, which, one) for one in (base, candidate)]
    post(Compared(run, base, candidate, compare_versions(*sides)))


def _figures(tally: LatencyTally, width_s: int, top: str, *, is_final: bool) -> LatencyFigures:
    return LatencyFigures(tally.profiles(), tally.versions(), tally.prompts, tally.reached, width_s, top, is_final)
