"""Read how long the hook took for prompts, by stage and channel, in blocks from the newest to the oldest prompts.

Latencies are recorded in thousandths of a millisecond, so counting them by microsecond keeps every percentile exact. A
block is made of consecutive prompts within one hour or day; it has some ten thousand rows, and is read in a few hundred
milliseconds whatever the length of the recorded history. Skipped and imported prompts have no measured latency.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.metrics.rollups import AFTER_ALL_STAGES
from storage.traces.queries import first_id
from storage.traces.trace_pages import ABOVE_ALL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from storage.traces.selection import Selection

BLOCK_PROMPTS = 20_000
HOUR_S, DAY_S = 3600, 86400
TIME_DIGITS = 14

_MEASURED = "traces.status <> 'skipped' and traces.origin <> 'import'"
_BETWEEN = "traces.id >= :low and traces.id < :before"
# «cross join» makes SQLite begin with ``traces``, of which an index finds the few rows of a block.
_JOINED = "traces cross join {} as own on own.trace_id = traces.id"
_SOURCES = {
    "total": ("traces", "traces.latency_ms", "'total'", "-1"),
    "stage": (_JOINED.format("trace_stages"), "own.latency_ms", "own.stage", "own.position"),
    "channel": (_JOINED.format("trace_channels"), "own.latency_ms", "own.channel", str(AFTER_ALL_STAGES)),
}
"""For each kind of series: the tables to read, and the columns with the latency, the series' name and its position."""


@dataclass(frozen=True, slots=True, order=True)
class Series:
    """Something that is timed: the whole hook run (kind ``total``), one stage of it, or one channel (source of facts).

    They sort by ``position``: the whole run, then its stages in the order in which they run, then the channels.
    """

    position: int
    kind: str
    name: str


TOTAL = Series(-1, "total", "total")

Counts = Counter[int]
"""Maps a latency in microseconds to the number of prompts that had it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Latencies of consecutive prompts within one hour or day; ``low`` is the smallest of their trace ids.

    ``start`` is the beginning of that hour or day, in seconds since 1970.
    """

    start: int
    low: str
    counts: dict[Series, Counts]

    @property
    def prompts(self) -> int:
        """Return the number of prompts whose latencies are in the block."""
        return self.counts[TOTAL].total() if TOTAL in self.counts else 0


def oldest(db: sqlite3.Connection, which: Selection) -> str:
    """Return the trace id of the oldest selected prompt with a measured latency; empty if there is none."""
    query = f"select traces.id from traces where ({which.where}) and {_MEASURED} order by traces.id limit 1"
    row = db.execute(query, which.parameters).fetchone()
    return row[0] if row else ""


def newest(db: sqlite3.Connection) -> str:
    """Return the id of the newest trace, measured or not; empty if there is none."""
    return str(db.execute("select coalesce(max(id), '') from traces").fetchone()[0])


def blocks(
    db: sqlite3.Connection,
    which: Selection,
    *,
    width_s: int,
    after: str = "",
    most: int = BLOCK_PROMPTS,
) -> Iterator[Block]:
    """Yield the latencies of the selected prompts in blocks, newest first.

    A block has at most ``most`` prompts, all of the same period of ``width_s`` seconds, an hour or a day. With
    ``after``, a trace id, only newer prompts are read.
    """
    bottom = f"{after}!" if after else ""  # sorts right behind the id ``after``: "!" is before every digit
    before = ABOVE_ALL
    while top := _first_of(db, which, low=bottom, before=before, most=1):
        start = moment(top) // width_s * width_s  # hours and days of UTC
        least = max(first_id(start), bottom)
        low = _first_of(db, which, low=least, before=before, most=most) or least  # the whole period, if not too many
        yield _block(db, which, start=start, low=low, before=before)
        before = low


def moment(trace_id: str) -> int:
    """Return when a trace began, in seconds since the epoch: its id begins with the time in microseconds."""
    return int(trace_id[:TIME_DIGITS], 16) // 1_000_000


def _first_of(db: sqlite3.Connection, which: Selection, *, low: str, before: str, most: int) -> str:
    """Return the trace id at which the newest ``most`` selected prompts with a measured latency begin.

    Only trace ids from ``low`` (inclusive) to ``before`` (exclusive) are considered. Return an empty string if there
    are fewer than ``most`` such prompts.
    """
    query = f"""
        select traces.id from traces where {_BETWEEN} and ({which.where}) and {_MEASURED}
        order by traces.id desc limit 1 offset :most - 1
    """
    row = db.execute(query, {**which.parameters, "low": low, "before": before, "most": most}).fetchone()
    return str(row[0]) if row else ""


def _block(db: sqlite3.Connection, which: Selection, *, start: int, low: str, before: str) -> Block:
    where = f"{_BETWEEN} and ({which.where}) and {_MEASURED}"
    parameters = {**which.parameters, "low": low, "before": before}
    cursor = db.cursor()
    cursor.row_factory = None  # a Counter takes plain tuples as they are
    every: Counter[tuple[int, str, str, int]] = Counter()
    for kind, (source, latency_ms, series, place) in _SOURCES.items():
        columns = f"{place}, '{kind}', {series}, cast(round({latency_ms} * 1000) as integer)"
        every.update(cursor.execute(f"select {columns} from {source} where {where}", parameters))
    found: dict[tuple[int, str, str], Counts] = {}
    for (position, kind, name, us), count in every.items():
        found.setdefault((position, kind, name), Counter())[us] += count
    return Block(start, low, {Series(*key): counts for key, counts in found.items()})
