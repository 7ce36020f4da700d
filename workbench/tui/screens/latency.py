"""The Latency screen: the latencies of the hook, its stages and the channels that it asks, now and over time.

A thread computes the figures: first for the newest prompts, then for all others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from enricher.rules import cache
from enricher.settings import DEFAULTS, with_environment
from storage.metrics.latencies import DAY_S
from workbench.tui.panes import latency_text
from workbench.tui.panes.plot import PercentilePlot
from workbench.tui.screens.base import counts_key
from workbench.tui.screens.filtered import MeasuringScreen
from workbench.tui.state import here
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import FilterBar
from workbench.tui.workers import measurements
from workbench.views.latency import INSIDE_MS, budget_ms
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult

    from enricher.settings import Value
    from workbench.tui.messages import Counted
    from workbench.tui.screens.base import ShouldStop
    from workbench.tui.workers.measurements import LatencyFigures
    from workbench.views.latency import Profile

COMPILE_MS = 2_000
"""Milliseconds that a worker waits for edited instructions to be compiled; until then, default budgets are shown."""
NOTHING_YET = """\
Nothing was measured yet.

  enricher install    lets your agent clients ask the hook; the next prompt is measured
  enricher demo       types sample prompts at a real hook

Imported conversations were never asked, so they have no latency."""
NOTHING_MATCHES = "No measured prompt matches this filter.\n\n  /         change it\n  escape    take it away"


class LatencyScreen(MeasuringScreen):
    """A screen that shows how long prompts take, and where the time goes."""

    PLACE = "latency"
    HELP = f"""\
How long the hook took: in all, by stage, and by the channels that the stage `gather` asks. Percentiles are by
nearest rank: of 100 prompts, 95 took no longer than p95. The last column is p95 over time; every block is an hour,
or a day where the prompts span more than three. Times of the axes are UTC.

**Budgets**: the hook answers with what it has after {INSIDE_MS:,} ms; the stage `gather` and each channel have what
`budgets.gather_ms` and `budgets.channel_ms` say. `over` marks a p95 above its budget.

`enter` on a stage or channel shows its prompts on the Traces screen, where `S` puts the slowest first; `f` shows all
that were measured, `#` those behind any number.

How long two versions of the rules take is compared by `enricher ab`, and by the question
`how_long_does_each_version_take` of the published history.
"""
    DEFAULT_CSS = """
    LatencyScreen {
        #above { height: auto; max-height: 55%; }
        #stages { height: auto; max-height: 100%; }
        #below { height: 1fr; min-height: 6; }
        #about { height: 1; padding: 0 1; background: $surface; color: $text-muted; }
        &.-empty #above, &.-empty #below { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="latency.filter", key_display="/"),
        Binding("f", "show_traces", "The measured prompts on the Traces screen", id="latency.traces", show=False),
        counts_key("latency"),
        Binding("R", "reload", "Again", id="latency.reload", tooltip="Measure again"),
        Binding("escape", "back", "Back, or take the filter away", id="latency.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._settings: dict[str, Value] = dict(DEFAULTS)
        self._figures: LatencyFigures | None = None

    def compose_body(self) -> ComposeResult:
        yield FilterBar()
        with Vertical(id="above"):
            yield FiguresTable(latency_text.stage_headings(80, with_prompts=False), id="stages")
        with Vertical(id="below"):
            yield Static("", id="about", markup=False)
            yield PercentilePlot(id="plot")
        yield Static(NOTHING_YET, id="empty", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.select(self.recall("filter", ""))

    @property
    def table(self) -> FiguresTable:
        """Return the table of stages and channels."""
        return self.query_one("#stages", FiguresTable)

    @property
    def is_measured(self) -> bool:
        return self._figures is not None

    @property
    def profile(self) -> Profile | None:
        """Return the latencies of the stage or channel under the cursor; None if there is none."""
        profiles = self._figures.profiles if self._figures else ()
        return next((one for one in profiles if latency_text.key(one.series) == self.table.chosen), None)

    def measure(self) -> None:
        which = self._which
        self.read_each("load", lambda db, stop: measurements.measure_latencies(db, which, stop), self._show)
        self.in_thread("settings", _settings, self._show_budgets)

    def add_news(self) -> None:
        self.in_turn("load", self._read_news)

    def _read_news(self) -> None:
        which, before = self._which, self._figures
        if before is not None:
            self.read("load", lambda db: measurements.latencies_with_news(db, which, before), self._show)

    def action_back(self) -> None:
        """Clear the filter."""
        if self._text:
            self.select("")

    def action_show_traces(self) -> None:
        """Show the measured prompts on the Traces screen."""
        if found := self.counts():
            self.show_counted(found[-1])

    def counts(self) -> list[Counted]:
        return latency_text.counts(self._figures, self.profile, self._text) if self._figures else []

    def failed(self, error: BaseException) -> None:
        self.bar.show_result("")
        super().failed(error)

    def _show_budgets(self, settings: dict[str, Value]) -> None:
        self._settings = settings
        self._show_stages()

    def _show(self, figures: LatencyFigures) -> None:
        self._figures = figures
        is_empty = figures.is_final and not figures.prompts
        self.show_empty((NOTHING_MATCHES if self._text else NOTHING_YET) if is_empty else "")
        self._show_counts(figures)
        self._show_stages()
        if self.focused is None:
            self.table.focus()

    def _show_counts(self, figures: LatencyFigures) -> None:
        text = counted(figures.prompts, "prompt")
        if not figures.is_final:
            text += f", back to {latency_text.day(figures.reached)} …"
        elif figures.prompts:
            text += f" since {latency_text.day(figures.reached)}"
        self.bar.show_result(text)

    def _show_stages(self) -> None:
        columns = latency_text.stage_headings(self.size.width, with_prompts=self.has_class("-wide"))
        profiles = latency_text.in_order(self._figures.profiles if self._figures else ())
        rows = [latency_text.stage_row(one, budget_ms(one.series, self._settings), columns) for one in profiles]
        self.table.show(rows, columns)
        self._show_plot()

    def on_resize(self) -> None:
        self._show_stages()

    @on(FiguresTable.Moved)
    def _show_plot(self) -> None:
        """Plot the latencies of the stage or channel under the cursor."""
        profile = self.profile
        if profile is None or self._figures is None:
            return
        budget, width_s = budget_ms(profile.series, self._settings), self._figures.width_s
        self.query_one(PercentilePlot).show(profile, budget=budget, width_s=width_s)
        text = f"{profile.series.name} by {'day' if width_s >= DAY_S else 'hour'}"
        self.query_one("#about", Static).update(f"{text}, budget {budget:,.0f} ms" if budget else text)

    @on(FiguresTable.Chosen)
    def _stage_opened(self) -> None:
        if found := self.counts():
            self.show_counted(found[0])


def _settings(_should_stop: ShouldStop) -> Iterator[dict[str, Value]]:
    """Yield the settings that apply in the working folder, which include the time budgets.

    If the rules cannot be compiled, nothing is yielded.

    The instructions files can set budgets, so these files are compiled first if they have changed.
    """
    try:
        rules, _layers = cache.load(here(), wait_ms=COMPILE_MS)
    except cache.NoRulesError:
        return
    yield with_environment(rules.body["settings"], os.environ)[0]
