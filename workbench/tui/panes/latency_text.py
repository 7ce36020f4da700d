"""Format the latencies of the hook, its stages and the channels that it asks, as table rows and lines of text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from storage.metrics.latencies import TOTAL, Series
from workbench.tui.messages import Counted
from workbench.tui.widgets.lists.figures import Heading, TableRow, ms, sparkline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.workers.measurements import LatencyFigures
    from workbench.views.latency import Profile

STAGE, PROMPTS = Heading("stage", "stage", 13), Heading("n", "prompts", 9, is_number=True)
STAGES = (
    Heading("p50", "p50", 8, is_number=True),
    Heading("p95", "p95", 8, is_number=True),
    Heading("p99", "p99", 8, is_number=True),
    Heading("budget", "p95 of budget", 19, is_number=True),
)
WITH_TREND = 76
"""Width of the screen in columns from which the table shows the budget in milliseconds, and p95 over time."""
MOST_TREND = 60
LONG_TITLE = 12
GATHER = "gather"


def stage_headings(width: int, *, with_prompts: bool) -> tuple[Heading, ...]:
    """Return the columns of the table of stages for a screen of that width; the last takes the remaining width."""
    first = (STAGE, PROMPTS, *STAGES) if with_prompts else (STAGE, *STAGES)
    if width < WITH_TREND:
        return (*first[:-1], Heading("budget", "of budget", 10, is_number=True))
    trend = max(1, min(MOST_TREND, width - sum(one.width + 2 for one in first) - 3))  # 2, 3: padding, and a scroll bar
    return (*first, Heading("trend", "p95 over time" if trend > LONG_TITLE else "p95 trend", trend))


def in_order(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the latency profiles with the channels directly after the stage ``gather``, which calls them."""
    channels = [one for one in profiles if one.series.kind == "channel"]
    found: list[Profile] = []
    for one in profiles:
        if one.series.kind != "channel":
            found += [one, *channels] if one.series.name == GATHER else [one]
    return found if GATHER in {one.series.name for one in found} else [*found, *channels]  # else they are omitted


def stage_row(profile: Profile, budget: float | None, columns: Sequence[Heading]) -> TableRow:
    """Return a table row with the latencies of a stage or channel; ``budget`` is in milliseconds, if it has one."""
    figures, trend = profile.figures, columns[-1].width
    is_over = budget is not None and figures.p95 > budget
    cells = {
        "stage": (name(profile.series), ""),
        "n": (f"{figures.n:,}", "text-muted"),
        "p50": (ms(figures.p50), ""),
        "p95": (ms(figures.p95), ""),
        "p99": (ms(figures.p99), ""),
        "budget": (
            share(figures.p95, budget, is_short=columns[-1].name == "budget"),
            "error" if is_over else "text-muted",
        ),
        "trend": (
            sparkline([one.figures.p95 for one in profile.points], min(trend, len(profile.points))),
            "primary",
        ),
    }
    return TableRow.of(key(profile.series), (cells[column.name] for column in columns))


def key(series: Series) -> str:
    """Return the key of the table row for a series (a stage or a channel)."""
    return f"{series.kind}:{series.name}"


def name(series: Series) -> str:
    """Return the name of a stage or channel as the table shows it; channels are indented further than stages."""
    if series == TOTAL:
        return "total"
    return f" {series.name}" if series.kind == "stage" else f"   {series.name}"


def share(p95: float, budget: float | None, *, is_short: bool = False) -> str:
    """Return the 95th percentile of a latency as a percentage of its budget, or as a multiple if it is over.

    The text is empty if there is no budget; with ``is_short``, it does not contain the budget itself.
    """
    if budget is None:
        return ""
    part = p95 / budget
    text = f"over x{part:.1f}" if part > 1 else "<1%" if part < 0.01 else f"{part:.0%}"
    if is_short:
        return text
    return f"over {budget:,.0f} ms x{part:.1f}" if part > 1 else f"{text} of {budget:,.0f} ms"


def counts(figures: LatencyFigures, profile: Profile | None, where: str) -> list[Counted]:
    """Return the numbers of prompts with this stage or channel, and of all measured ones.

    ``where`` is the filter of the measured prompts.
    """
    # A filter without an origin leaves out tests. Because this one names imports, it must name tests, too.
    imports = "-origin:import" if "origin:" in where else "-origin:import,test"
    measured = f"{where} -status:skipped {imports}".strip()
    found = [Counted("measured", figures.prompts, text=measured)]
    if profile and profile.series != TOTAL:
        series = profile.series
        own = Counted(series.name, profile.figures.n, text=f'{measured} {series.kind}:"{series.name}"')
        found.insert(0, own)
    return found


def day(second: int) -> str:
    """Return the UTC day of a time, given in seconds since 1970, as ``YYYY-MM-DD``."""
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d}"
