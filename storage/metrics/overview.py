"""Compute key figures of recorded prompts, such as counts, failures, latencies and how often nothing was added.

They are read only from stored sums (``storage.metrics.rollups``), so that a million prompts take a few hundredths of a
second; prompts that are not in the sums yet are missing. Figures cover prompts of the hook. Imported prompts have a
count of their own and are included in the share of prompts to which nothing is added (silence). Days are UTC. A
percentile is the nearest rank over buckets of latencies and off by 2.5 % at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from storage import traces
from storage.metrics import rollups
from storage.metrics.percentiles import SHARES, percentiles

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

LATE, FAILED = "timeout", "error"  # statuses of channels

WHICH_DAYS = """
    select coalesce(min(day), ''), coalesce(max(day), '') from prompts_by_day
    where origin = 'hook' and facet = 'status' and day >= :since
"""
# The ids of guardrails may be written in upper and lower case.
HOW_MANY_OF_EACH = """
    select facet, min(value), sum(prompts) from prompts_by_day where origin = 'hook' and day >= :since
    group by facet, case facet when 'guardrail' then lower(value) else value end
    order by facet, sum(prompts) desc, min(value)
"""
HOW_MANY_IMPORTED = """
    select coalesce(sum(prompts), 0), coalesce(sum(prompts) filter (where value <> 'skipped'), 0),
           coalesce(sum(prompts) filter (where value = 'silent'), 0) from prompts_by_day
    where origin = 'import' and facet = 'status' and day >= :since
"""
WHAT_WAS_EACH_DAY = """
    select day, sum(prompts), coalesce(sum(prompts) filter (where value = 'error'), 0), sum(tokens)
    from prompts_by_day where origin = 'hook' and facet = 'status' and day >= :since group by day order by day
"""
HOW_LONG_WAS_EACH_DAY = """
    select day, bucket, measurements from latencies_by_day
    where kind = 'total' and name = 'total' and day >= :since order by day, bucket
"""
HOW_LONG_OVERALL = """
    select kind, name, bucket, sum(measurements), min(position) from latencies_overall
    group by kind, name, bucket order by kind, name, bucket
"""
# First the series, because the key of latencies_by_day begins with them: the days of each are then a range in it.
HOW_LONG_SINCE = """
    with series as (select distinct kind, name from latencies_overall)
    select own.kind, own.name, own.bucket, sum(own.measurements), min(own.position)
    from series cross join latencies_by_day as own
    on own.kind = series.kind and own.name = series.name and own.day >= :since
    group by own.kind, own.name, own.bucket order by own.kind, own.name, own.bucket
"""


@dataclass(frozen=True, slots=True)
class Count:
    """A value and the number of prompts that have it."""

    value: str
    prompts: int


@dataclass(frozen=True, slots=True)
class Rate:
    """A count (``part``) out of a total (``whole``)."""

    part: int
    whole: int

    @property
    def share(self) -> float:
        """Return the share from 0 to 1; 0 if ``whole`` is 0."""
        return self.part / self.whole if self.whole else 0.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency percentiles of the hook, of a stage or of a channel, in milliseconds, off by 2.5 % at most."""

    name: str
    position: int
    measurements: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Day:
    """The figures of one UTC day on which there were prompts; latency percentiles are 0 if no latency was measured."""

    day: str
    prompts: int
    failures: int
    tokens: int
    measured: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class ChannelFigures:
    """How often the hook queried a channel (source of facts), and with what results.

    ``late`` counts queries that timed out. ``latency`` is None if it was never measured.
    """

    name: str
    asked: int
    late: int
    failed: int
    statuses: tuple[Count, ...]
    latency: Latency | None


@dataclass(frozen=True, slots=True)
class Overview:
    """The key figures of the last ``days`` days, or of the whole history if ``days`` is 0.

    ``failures`` is the share of all prompts on which the hook failed. Of the prompts that were not skipped,
    ``partials`` is the share for which a channel ran out of time, and ``silences`` the share for which the hook had
    nothing to add. Only ``imported`` and ``silences`` include imported prompts. Counts are ordered by frequency,
    highest first; ``statuses`` are in a fixed order. ``total`` is the latency of the whole hook; ``stages`` are sorted
    by p95, slowest first. Without measurements, ``total`` is None and ``stages`` is empty.
    """

    days: int
    first_day: str
    last_day: str
    prompts: int
    imported: int
    failures: Rate
    silences: Rate
    partials: Rate
    statuses: tuple[Count, ...]
    task_types: tuple[Count, ...]
    search_intents: tuple[Count, ...]
    workflows: tuple[Count, ...]
    hosts: tuple[Count, ...]
    guardrails: tuple[Count, ...]
    skip_reasons: tuple[Count, ...]
    channels: tuple[ChannelFigures, ...]
    total: Latency | None
    stages: tuple[Latency, ...]
    by_day: tuple[Day, ...]


def overview(db: sqlite3.Connection, *, days: int = 0) -> Overview:
    """Return the key figures of the last ``days`` days; 0 means all days.

    The last day is that of the newest prompt in the stored sums.
    """
    since = _since(db, days)
    first, last = db.execute(WHICH_DAYS, {"since": since}).fetchone()
    counts = _counts(db, since)
    by_status = {one.value: one.prompts for one in counts.get("status", ())}
    prompts = sum(by_status.values())
    judged = prompts - by_status.get("skipped", 0)
    imported, imported_judged, imported_silent = map(int, db.execute(HOW_MANY_IMPORTED, {"since": since}).fetchone())
    latencies = _latencies(db, since)
    stages = [one for (kind, _name), one in latencies.items() if kind == "stage"]
    return Overview(
        days=days,
        first_day=first,
        last_day=last,
        prompts=prompts,
        imported=imported,
        failures=Rate(by_status.get("error", 0), prompts),
        silences=Rate(by_status.get("silent", 0) + imported_silent, judged + imported_judged),
        partials=Rate(by_status.get("partial", 0), judged),
        statuses=tuple(Count(status, by_status[status]) for status in traces.STATUSES if status in by_status),
        task_types=counts.get("task_type", ()),
        search_intents=counts.get("search_intent", ()),
        workflows=counts.get("workflow", ()),
        hosts=counts.get("host", ()),
        guardrails=counts.get("guardrail", ()),
        skip_reasons=counts.get("skip_reason", ()),
        channels=_channels(counts.get("channel", ()), latencies),
        total=latencies.get(("total", "total")),
        stages=tuple(sorted(stages, key=lambda one: (-one.p95_ms, one.position))),
        by_day=_by_day(db, since),
    )


def _percentiles_ms(buckets: Sequence[tuple[int, int]], shares: Sequence[float] = SHARES) -> tuple[float, ...]:
    """Return, in milliseconds, the percentile of latencies for each of ``shares`` (0 to 1); 0 if ``buckets`` is empty.

    ``buckets`` has pairs of a latency bucket's number and its count, sorted by number.
    """
    return tuple(map(rollups.middle_ms, percentiles(buckets, shares))) or (0.0,) * len(shares)


def _since(db: sqlite3.Connection, days: int) -> str:
    newest = db.execute(WHICH_DAYS, {"since": ""}).fetchone()[1]
    if not days or not newest:
        return ""
    return (date.fromisoformat(newest) - timedelta(days=days - 1)).isoformat()  # the newest is one of the days


def _counts(db: sqlite3.Connection, since: str) -> dict[str, tuple[Count, ...]]:
    rows = db.execute(HOW_MANY_OF_EACH, {"since": since})
    return {
        facet: tuple(Count(value, prompts) for _facet, value, prompts in own)
        for facet, own in groupby(rows, key=lambda row: str(row[0]))
    }


def _by_day(db: sqlite3.Connection, since: str) -> tuple[Day, ...]:
    asked = {"since": since}
    cursor = db.cursor()
    cursor.row_factory = None  # plain tuples take half the time
    measured = {
        day: [(number, count) for _day, number, count in own]
        for day, own in groupby(cursor.execute(HOW_LONG_WAS_EACH_DAY, asked), key=lambda row: str(row[0]))
    }
    return tuple(
        _day(day, prompts, failures, tokens=tokens, buckets=measured.get(day, []))
        for day, prompts, failures, tokens in cursor.execute(WHAT_WAS_EACH_DAY, asked)
    )


def _day(day: str, prompts: int, failures: int, *, tokens: int, buckets: list[tuple[int, int]]) -> Day:
    p50_ms, p95_ms = _percentiles_ms(buckets, (0.5, 0.95))
    return Day(day, prompts, failures, tokens, sum(count for _bucket, count in buckets), p50_ms, p95_ms)


def _latencies(db: sqlite3.Connection, since: str) -> dict[tuple[str, str], Latency]:
    rows = db.execute(HOW_LONG_SINCE, {"since": since}) if since else db.execute(HOW_LONG_OVERALL)
    return {key: _latency(key[1], own) for key, own in groupby(rows, key=lambda row: (str(row[0]), str(row[1])))}


def _latency(name: str, rows: Iterable[Sequence[int]]) -> Latency:
    own = [(int(row[2]), int(row[3]), int(row[4])) for row in rows]
    buckets = [(number, count) for number, count, _position in own]
    position = min(position for _bucket, _count, position in own)
    return Latency(name, position, sum(count for _bucket, count in buckets), *_percentiles_ms(buckets))


def _channels(counts: Iterable[Count], latencies: dict[tuple[str, str], Latency]) -> tuple[ChannelFigures, ...]:
    named: dict[str, list[Count]] = {}
    for one in counts:
        name, _blank, status = one.value.rpartition(" ")  # the name of a channel may contain blanks, a status does not
        named.setdefault(name, []).append(Count(status, one.prompts))
    found = []
    for name, statuses in sorted(named.items()):
        ended = {one.value: one.prompts for one in statuses}
        asked, latency = sum(ended.values()), latencies.get(("channel", name))
        found.append(ChannelFigures(name, asked, ended.get(LATE, 0), ended.get(FAILED, 0), tuple(statuses), latency))
    return tuple(found)
