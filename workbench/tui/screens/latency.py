"""The Latency screen: the latencies of the hook, its stages and the channels that it asks, and the slowest prompts.

Threads compute the figures: first for the newest prompts, then for all others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static
from textual.worker import get_current_worker

from enricher.rules import cache
from enricher.settings import DEFAULTS, with_environment
from storage.metrics.latencies import DAY_S
from workbench.tui.messages import OpenTrace
from workbench.tui.panes import latency_text
from workbench.tui.panes.plot import PercentilePlot, SpreadPlot
from workbench.tui.screens.base import counts_key
from workbench.tui.screens.measuring import MeasuringScreen
from workbench.tui.state import here
from workbench.tui.widgets.choice import Alternative, Choice, next_of
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import FilterBar
from workbench.tui.workers import latency_queries
from workbench.tui.workers.latency_queries import BudgetsRead, Compared, FoundSlow, LatenciesMeasured
from workbench.views.latency import HOOK_MS, budget_ms
from workbench.wording import counted

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from enricher.settings import Value
    from storage.metrics.latencies import Series
    from storage.traces.selection import Selection
    from workbench.tui.messages import Counted
    from workbench.tui.workers.latency_queries import LatencyFigures
    from workbench.views.latency import Profile

VIEWS = (
    Alternative("time", "t", "time"),
    Alternative("spread", "d", "distribution"),
    Alternative("slow", "s", "slowest"),
    Alternative("versions", "v", "versions"),
)
COMPILE_MS = 2_000
"""Milliseconds that a worker waits for edited instructions to be compiled; until then, default budgets are shown."""
SETTLED_S = 0.15
"""Seconds that the cursor must rest on a stage or channel before its slowest prompts are searched."""
SHORT = 8  # characters of a version's hash
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

**Budgets**: the hook answers with what it has after 1,500 ms (clients wait {HOOK_MS:,} ms); the stage `gather` and
each channel have what `budgets.gather_ms` and `budgets.channel_ms` say. `over` marks a p95 above its budget.

`enter` on a stage shows its slowest prompts, `f` all that were measured, `#` those behind any number.

**Versions** compares the newest prompts of two versions of the rules. They are different prompts, so the shift
is the median of all differences, with the interval of the rank-sum test: `regressed` is slower, `changed` is
faster, `inconclusive` has zero inside.
"""
    DEFAULT_CSS = """
    LatencyScreen {
        #above { height: auto; max-height: 55%; }
        #stages { height: auto; max-height: 100%; }
        #below { height: 1fr; min-height: 6; }
        #below > .view { display: none; }
        #below.-time #time, #below.-spread #spread, #below.-slow #slow, #below.-versions #versions { display: block; }
        &.-empty #above, &.-empty #below { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="latency.filter", key_display="/"),
        *(Binding(one.key, f"view('{one.name}')", one.title.capitalize(), id=f"latency.{one.name}") for one in VIEWS),
        Binding("b", "next_version('base')", "Compare with the next base version", id="latency.base", show=False),
        Binding("c", "next_version('candidate')", "Compare the next version", id="latency.candidate", show=False),
        Binding("f", "show_traces", "The measured prompts on the Traces screen", id="latency.traces", show=False),
        counts_key("latency"),
        Binding("R", "reload", "Measure again", id="latency.reload", show=False),
        Binding("escape", "back", "Back, or take the filter away", id="latency.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._view = VIEWS[0].name
        self._settings: dict[str, Value] = dict(DEFAULTS)
        self._measured: LatenciesMeasured | None = None
        self._databases = 0
        # What was searched and compared last, with the newest prompt then, so that only news are searched again.
        self._slow_of: tuple[Series, str] | None = None
        self._versions = ["", ""]  # hashes of base and candidate
        self._compared: tuple[str, str, str] | None = None

    def compose_body(self) -> ComposeResult:
        yield FilterBar()
        with Vertical(id="above"):
            yield FiguresTable(latency_text.stage_headings(80, with_prompts=False), id="stages")
        with Vertical(id="below"):
            yield Choice(VIEWS)
            yield PercentilePlot(id="time").add_class("view")
            yield SpreadPlot(id="spread").add_class("view")
            yield FiguresTable(latency_text.SLOW, id="slow").add_class("view")
            yield FiguresTable(latency_text.VERSIONS, id="versions").add_class("view")
        yield Static(NOTHING_YET, id="empty", markup=False)

    def on_mount(self) -> None:
        self._show_view(self.recall_choice("view", (one.name for one in VIEWS)))
        self.table.focus()
        self.select(self.recall("filter", ""))

    @property
    def table(self) -> FiguresTable:
        """Return the table of stages and channels."""
        return self.query_one("#stages", FiguresTable)

    @property
    def is_measured(self) -> bool:
        return self._measured is not None

    @property
    def profile(self) -> Profile | None:
        """Return the latencies of the stage or channel under the cursor; None if there is none."""
        profiles = self._measured.figures.profiles if self._measured else ()
        return next((one for one in profiles if latency_text.key(one.series) == self.table.chosen), None)

    def action_reload(self) -> None:
        self._databases = self.app.databases
        self._slow_of = self._compared = None
        self.bar.show_result("measuring …")
        self.load(self.next_run("load"), self._which)
        self.read_budgets()

    def action_back(self) -> None:
        """Move the focus back to the table of stages; if it is there already, clear the filter."""
        if self.focused not in (None, self.table) and not self.has_class("-empty"):
            self.table.focus()
        elif self._text:
            self.select("")

    def action_show_traces(self) -> None:
        """Show the measured prompts on the Traces screen."""
        self._show_count("measured")

    def counts(self) -> list[Counted]:
        if self._measured is None:
            return []
        return latency_text.counts(self._measured.figures, self.profile, self._versions, self._text)

    def _show_count(self, name: str) -> None:
        for one in self.counts():
            if one.name == name:
                self.show_counted(one)

    def action_view(self, name: str) -> None:
        """Show the view ``name`` below the table of stages, and remember this choice."""
        self._show_view(name)
        self.remember(view=name)
        if name in ("slow", "versions"):
            self.query_one(f"#{name}", FiguresTable).focus()
        else:
            self.table.focus()

    def _show_view(self, name: str) -> None:
        self._view = name
        below = self.query_one("#below")
        for one in VIEWS:
            below.set_class(one.name == self._view, f"-{one.name}")
        self.query_one(Choice).choose(self._view)
        self._show_below()

    @on(Choice.Chosen)
    def _view_chosen(self, message: Choice.Chosen) -> None:
        self.action_view(message.name)

    def data_changed(self) -> None:
        if self.app.databases != self._databases:
            self.action_reload()
            return
        if self._measured is None or self.app.trouble:
            return
        self.in_turn("latency.load", self._catch_up)

    def _catch_up(self) -> None:
        if self._measured is not None:
            self.catch_up(self.next_run("load"), self._which, self._measured)

    @work(thread=True, exclusive=True, group="latency.load", exit_on_error=False)
    def load(self, run: int, which: Selection) -> None:
        """Summarize the latencies of all selected prompts, beginning with the newest."""
        worker = get_current_worker()
        with self.reading() as db:
            latency_queries.measure(db, self.post_message, run=run, which=which, is_over=lambda: worker.is_cancelled)

    @work(thread=True, exclusive=True, group="latency.settings", exit_on_error=False)
    def read_budgets(self) -> None:
        """Read the time budgets from the settings that apply in the working folder.

        The instructions files can set them, so these files are compiled first if they have changed.
        """
        try:
            rules, _layers = cache.load(here(), wait_ms=COMPILE_MS)
        except cache.NoRulesError:
            return
        self.post_message(BudgetsRead(with_environment(rules.body["settings"], os.environ)[0]))

    @on(BudgetsRead)
    def _budgets_came(self, message: BudgetsRead) -> None:
        if message.settings != self._settings:
            self._settings = message.settings
            self._show_stages()
            self._show_below()

    @work(thread=True, exclusive=True, group="latency.load", exit_on_error=False)
    def catch_up(self, run: int, which: Selection, measured: LatenciesMeasured) -> None:
        """Add the latencies of prompts that were recorded after ``measured`` to its figures."""
        with self.reading() as db:
            latency_queries.measure_news(
                db, self.post_message, run=run, which=which, tally=measured.tally, before=measured.figures
            )

    @work(thread=True, exclusive=True, group="latency.slow", exit_on_error=False)
    def find_slowest(self, run: int, which: Selection, series: Series) -> None:
        """Find the slowest prompts of a series (a stage or a channel), in a thread."""
        worker = get_current_worker()
        with self.reading() as db:
            latency_queries.find_slowest(
                db, self.post_message, run=run, which=which, series=series, is_over=lambda: worker.is_cancelled
            )

    @work(thread=True, exclusive=True, group="latency.versions", exit_on_error=False)
    def compare(self, run: int, which: Selection, base: str, candidate: str) -> None:
        """Compare the latencies of prompts under two versions of the rules, given by their hashes."""
        with self.reading() as db:
            latency_queries.compare(db, self.post_message, run=run, which=which, base=base, candidate=candidate)

    def failed(self, error: BaseException) -> None:
        self.bar.show_result("")
        super().failed(error)

    @on(LatenciesMeasured)
    def _figures_came(self, message: LatenciesMeasured) -> None:
        if not self.is_latest("load", message.run):
            return
        self._measured = message
        figures = message.figures
        self.set_class(figures.is_final and not figures.prompts, "-empty")
        self.query_one("#empty", Static).update(NOTHING_MATCHES if self._text else NOTHING_YET)
        self._show_stages()
        self._show_counts(figures)
        self._show_below()
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
        profiles = latency_text.in_order(self._measured.figures.profiles if self._measured else ())
        rows = [latency_text.stage_row(one, budget_ms(one.series, self._settings), columns) for one in profiles]
        self.table.show(rows, columns)

    def on_resize(self) -> None:
        if self._measured is not None:
            self._show_stages()

    @on(FiguresTable.Moved, "#stages")
    def _show_below(self) -> None:
        """Show the selected view for the stage or channel under the cursor."""
        profile = self.profile
        if profile is None or self._measured is None:
            return
        budget = budget_ms(profile.series, self._settings)
        for plot in (self.query_one(PercentilePlot), self.query_one(SpreadPlot)):
            plot.show(profile, budget=budget, width_s=self._measured.figures.width_s)
        name = profile.series.name
        notes = {
            "time": f"{name} by {'day' if self._is_by_day() else 'hour'}"
            + (f", budget {budget:,.0f} ms" if budget else ""),
            "spread": f"{name}, {counted(profile.figures.n, 'prompt')}",
        }
        if self._view in notes:
            self.query_one(Choice).show_note(notes[self._view])
        elif self._view == "slow":
            self.debounce("slow", SETTLED_S, self._want_slowest)
        else:
            self._want_comparison()

    def _is_by_day(self) -> bool:
        return self._measured is None or self._measured.figures.width_s >= DAY_S

    def _want_slowest(self) -> None:
        profile, measured = self.profile, self._measured
        if profile is None or measured is None or self._view != "slow":
            return
        wanted = (profile.series, measured.figures.top)
        if wanted != self._slow_of:
            self._slow_of = wanted
            self.query_one(Choice).show_note(f"{profile.series.name}: looking …")
            self.find_slowest(self.next_run("slow"), self._which, profile.series)

    @on(FoundSlow)
    def _slow_came(self, message: FoundSlow) -> None:
        if not self.is_latest("slow", message.run):
            return
        self.query_one("#slow", FiguresTable).show([latency_text.slow_row(one) for one in message.prompts])
        if self._view == "slow":
            name, more = message.series.name, "" if message.is_final else ", looking on …"
            self.query_one(Choice).show_note(f"{name}: {len(message.prompts)} slowest{more}")

    @on(FiguresTable.Chosen, "#slow")
    def _slow_opened(self) -> None:
        if chosen := self.query_one("#slow", FiguresTable).chosen:
            self.post_message(OpenTrace(chosen))

    @on(FiguresTable.Chosen, "#stages")
    def _stage_opened(self, message: FiguresTable.Chosen) -> None:
        if message.column == "n":
            self.show_counted(self.counts()[0])
        else:
            self.action_view("slow")

    @on(FiguresTable.Chosen, "#versions")
    def _version_opened(self) -> None:
        self.action_counts()

    def action_next_version(self, side: str) -> None:
        """Replace one of the two compared versions, ``base`` or ``candidate``, with the next one, and compare again."""
        known = [use.rules_hash for use in self._measured.figures.versions] if self._measured else []
        if len(known) > 1:
            place = ("base", "candidate").index(side)
            self._versions[place] = next_of(self._versions[place], known)
        self.action_view("versions")

    def _want_comparison(self) -> None:
        if self._view != "versions" or self._measured is None:
            return
        figures = self._measured.figures
        known = [use.rules_hash for use in figures.versions]
        if len(known) < 2:
            self.query_one("#versions", FiguresTable).show([])
            self.query_one(Choice).show_note("there is one version only" if known else "")
            return
        for place, fallback in ((0, known[1]), (1, known[0])):  # the newest comes first, and is the candidate
            if self._versions[place] not in known:
                self._versions[place] = fallback
        base, candidate = self._versions
        uses = {use.rules_hash: use for use in figures.versions}
        versions = " → ".join(
            f"{one[:SHORT]} ({uses[one].prompts:,})" if self.has_class("-wide") else one[:SHORT]
            for one in (base, candidate)
        )
        self.query_one(Choice).show_note(f"{versions}, b c")
        wanted = (base, candidate, figures.top)
        if wanted != self._compared and figures.is_final:
            self._compared = wanted
            self.compare(self.next_run("compare"), self._which, base, candidate)

    @on(Compared)
    def _comparison_came(self, message: Compared) -> None:
        if self.is_latest("compare", message.run):
            self.query_one("#versions", FiguresTable).show([latency_text.comparison_row(one) for one in message.series])
