"""Draw the timeline of one prompt: how long each stage of the hook took, and each channel (source) that it asked.

Only durations are recorded. Start times are computed from the order: stages follow each other, and the channels run
within the stage that calls them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from enricher.context import CHANNELS
from workbench.web import charts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

GATHERING = "gather"  # the stage that calls the channels
NOT_ASKED = ("off", "untrusted")
RECORDING = "record"
LEAST_RECORDING_MS = 0.01  # a smaller rest is from rounding the durations of the stages
LEAST_WIDTH = 0.4  # percent, so that a bar of 0 ms is visible
LANE = Markup('<svg class="lane" aria-hidden="true">{}<rect class="{}" x="{}%" width="{}%" height="100%"></rect></svg>')
RULE = Markup('<line class="rule" x1="{0}%" x2="{0}%" y1="0" y2="100%"></line>')
AXIS = Markup('<svg class="lane axis" aria-hidden="true">{}</svg>')
NO_LANE = Markup("")
LETTERS = Markup('<text x="{}%" y="11" text-anchor="{}">{}</text>')


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """A stage or channel in the timeline: its start, counted from the start of the hook, and its duration.

    ``status`` is how the channel ended, and empty for a stage; ``lane`` is the drawn bar.
    """

    name: str
    start_ms: float
    ms: float
    status: str = ""
    lane: Markup = NO_LANE

    @property
    def was_asked(self) -> bool:
        """Return whether the channel was called; true for every stage."""
        return self.status not in NOT_ASKED


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A drawn timeline: the bars of stages and channels, and the axis in milliseconds that they share."""

    stages: tuple[TimelineBar, ...]
    channels: tuple[TimelineBar, ...]
    axis: Markup
    total_ms: float


def draw(trace: Row) -> Waterfall:
    """Draw the timeline of a prompt; ``trace`` is its record, as ``storage.traces.queries.show`` returns it."""
    stages = list(_stages(trace["stages"], trace["latency_ms"]))
    asking = next((one.start_ms for one in stages if one.name == GATHERING), 0.0)
    channels = list(_channels(_in_order(trace), asking))
    length = max((one.start_ms + one.ms for one in (*stages, *channels)), default=0.0)
    ticks = charts.ticks(length)
    # The axis ends with the last bar, because a mark beyond it would only make the bars narrower.
    span = length or ticks[-1]
    marks = [at for at in ticks if at <= span]
    rules = Markup("").join(RULE.format(_percent(at, span)) for at in marks)
    letters = Markup("").join(LETTERS.format(_percent(at, span), _anchor(at, span), f"{charts.written(at)} ms")
                              for at in marks)  # fmt: skip
    return Waterfall(
        tuple(_with_lane(one, span, rules, "stage") for one in stages),
        tuple(_with_lane(one, span, rules, "channel") for one in channels),
        AXIS.format(letters),
        trace["latency_ms"],
    )


def _anchor(at: float, span: float) -> str:
    if not at:
        return "start"
    return "end" if at > 0.9 * span else "middle"  # centred near the end, the words would be cut off


def _stages(rows: Iterable[Row], total_ms: float) -> Iterator[TimelineBar]:
    at = 0.0
    for row in rows:
        yield TimelineBar(row["stage"], at, row["latency_ms"])
        at += row["latency_ms"]
    if at and total_ms - at > LEAST_RECORDING_MS:
        yield TimelineBar(RECORDING, at, total_ms - at)


def _channels(rows: Iterable[Row], asking: float) -> Iterator[TimelineBar]:
    """Yield the bars of the channels; ``asking`` is the time at which the stage that calls them began.

    Built-in channels run one after the other; users' programs run in parallel to them, and all start with that stage.
    """
    at = asking
    for row in rows:
        is_own = row["channel"] in CHANNELS
        yield TimelineBar(row["channel"], at if is_own else asking, row["latency_ms"], row["status"])
        at += row["latency_ms"] if is_own else 0.0


def _in_order(trace: Row) -> Sequence[Row]:
    """Return the rows of a prompt's channels in the order of its recorded rules, or in the default order."""
    recorded = trace["inputs"].get("channels", ()) if isinstance(trace["inputs"], dict) else ()
    names = [one.get("name") for one in recorded if isinstance(one, dict)] or list(CHANNELS)
    return sorted(
        trace["channels"], key=lambda row: names.index(row["channel"]) if row["channel"] in names else len(names)
    )


def _with_lane(bar: TimelineBar, span: float, rules: Markup, kind: str) -> TimelineBar:
    if not bar.was_asked:
        return bar
    start, width = _percent(bar.start_ms, span), max(LEAST_WIDTH, _percent(bar.ms, span))
    lane = LANE.format(rules, kind, min(start, 100 - LEAST_WIDTH), width)
    return TimelineBar(bar.name, bar.start_ms, bar.ms, bar.status, lane)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 2)
