"""The Coverage screen: how often each rule fires, which rules never or always fire, and which prompts match none.

The figures grow while the recorded prompts are read; if the user stops early, the figures so far remain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Static

from workbench.tui.messages import OpenInstructions
from workbench.tui.panes import coverage_text
from workbench.tui.screens.base import counts_key
from workbench.tui.screens.filtered import MeasuringScreen
from workbench.tui.widgets.choice import Alternative, Choice
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import FilterBar
from workbench.tui.workers import measurements
from workbench.wording import counted

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from storage.traces.line_labels import KeepRate
    from workbench.coverage.figures import Coverage, CoverageRow
    from workbench.coverage.unmatched import Cluster
    from workbench.tui.messages import Counted
    from workbench.tui.widgets.lists.figures import Heading, TableRow
    from workbench.tui.workers.measurements import Grown, JudgedLines

VIEWS = (
    Alternative("all", "a", "all"),
    Alternative("dead", "d", "dead"),
    Alternative("always", "o", "always on"),
    Alternative("together", "t", "together"),
    Alternative("none", "n", "no signal"),
    Alternative("lines", "l", "lines"),
)
AGAIN_AFTER_S = 1.0  # so that prompts arriving one after the other are measured together
MEASURED_AGAIN = 2_000
"""When new prompts arrive, a selection of up to this many prompts is measured again automatically."""
MOST_ROWS = 2_000  # twice as many as the packaged instructions have
EVERY_UNMATCHED = "unmatched"
"""The key of the row that counts all prompts on which no signal fires."""
NOTHING_YET = """\
There is no judged prompt yet.

  enricher install         lets your agent clients ask the hook
  enricher demo            types sample prompts at a real hook
  enricher trace import    reads the conversations that you had already
                           (here: ctrl+p, "Import past conversations")"""
NOTHING_MATCHES = "No judged prompt matches this filter.\n\n  /         change it\n  escape    take it away"
BROKEN = """\
  2    repair them on the Instructions screen
  R    measure again

{problems}"""
FAILED = """\
The rules could not be measured on these prompts.

  R    measure again

{error}"""


class CoverageScreen(MeasuringScreen):
    """A table of all rules that shows how often each fires."""

    PLACE = "coverage"
    HELP = """\
How often each rule and signal of today's instructions fires on the recorded prompts, most often first. Prompts that
were recorded under other rules are judged again. In a folder with instructions of its own, all prompts are judged as if
typed there.

`dead` rules never fired; the line below the table says how often they may still fire. Those with wordings of other
languages than English, recognised by their letters, come last. A channel counts only where it was asked, which it is
for no imported prompt, and an approach of the profile as-specified only under that profile; where these prompts are too
few to tell, it is not called dead. `always on` rules do not distinguish one prompt from another; those that
are meant to fire always, the points that each class begins with, are not among them. Rules that always fire `together`
may be one rule. `no signal` groups the prompts on which no signal fires by their words: a new rule could cover them.

`lines` shows, of the lines that were called right or wrong (`X` on a prompt), the share of right ones by kind of line
and by rule, the lowest first.

`right` and `wrong` count the labelled prompts on which the rule fired and its class won, rightly or wrongly; where
another class won, its points did no harm. `tokens` are those of the rule's own words, in all prompts together; the line
below the table says how many they are in each.
`enter` shows the prompts on which it fired, `#` those of any number here, a second click on a number its own.
`e` shows the rule where it is written. `escape` stops the measurement; the figures so far stay.
"""
    DEFAULT_CSS = """
    CoverageScreen {
        #rules { height: 1fr; }
        #about { height: auto; min-height: 2; max-height: 4; padding: 0 1; background: $surface; }
        &.-empty #rules, &.-empty #about { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="coverage.filter", key_display="/"),
        *(
            Binding(one.key, f"view('{one.name}')", one.title.capitalize(), id=f"coverage.{one.name}", show=False)
            for one in VIEWS
        ),
        Binding("e", "edit", "Edit", id="coverage.edit", tooltip="Edit the rule"),
        counts_key("coverage"),
        Binding("R", "reload", "Again", id="coverage.reload", tooltip="Measure again"),
        Binding("escape", "back", "Stop measuring, go back, or take the filter away", id="coverage.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._view = VIEWS[0].name
        self._grown: Grown | None = None
        self._judged: JudgedLines | None = None
        self._is_measuring = self._is_stopped = False
        self._has_news = False
        self._changes = 0
        # What each row of the table shows, by row key. Only the dictionary of the current view has entries.
        self._shown: dict[str, CoverageRow] = {}
        self._clusters: dict[str, Cluster] = {}
        self._rates: dict[str, KeepRate] = {}

    def compose_body(self) -> ComposeResult:
        yield FilterBar()
        yield Choice(VIEWS)
        yield FiguresTable(coverage_text.headings(0), id="rules")
        yield Static("", id="about", markup=False)
        yield Static(NOTHING_YET, id="empty", markup=False)

    def on_mount(self) -> None:
        self._view = self.recall_choice("view", (one.name for one in VIEWS))
        self.query_one(Choice).choose(self._view)
        self.table.focus()
        self.select(self.recall("filter", ""))

    @property
    def table(self) -> FiguresTable:
        """Return the table of rules."""
        return self.query_one(FiguresTable)

    @property
    def is_measured(self) -> bool:
        return self._grown is not None

    def measure(self) -> None:
        self._is_measuring, self._is_stopped, self._has_news = True, False, False
        self._changes = self.app.changes
        which, path = self._which, self.app.instructions
        self.read("lines", lambda db: measurements.judged_lines(db, which), self._take_lines)
        self.read_each(
            "load", lambda db, stop: measurements.measure_coverage(db, which, path, stop), self._take_figures
        )

    def action_back(self) -> None:
        """Stop measuring; if nothing is being measured, clear the filter."""
        if self._is_measuring:
            self._is_measuring, self._is_stopped = False, True
            self.next_run("load")  # what the worker still posts before it ends is ignored
            self.workers.cancel_group(self, "coverage.load")
            self._show_counts()
        elif self._text:
            self.select("")

    def action_view(self, name: str) -> None:
        """Show all rules, or the subset that the view ``name`` selects, such as ``dead``."""
        self._view = name
        self.remember(view=name)
        self.query_one(Choice).choose(name)
        self._show()
        self.table.focus()

    def action_edit(self) -> None:
        """Open the rule under the cursor in its file, on the Instructions screen."""
        row = self._shown.get(self.table.chosen)
        if row is not None:
            self.post_message(OpenInstructions(row.file, row.line))

    @on(FiguresTable.Chosen)
    def _row_opened(self, message: FiguresTable.Chosen) -> None:
        """Show the prompts that the clicked number counts.

        If the click was not on a number, or the number is 0, show those that the first number of the row counts.
        """
        found = self._counts_of_row()
        if not any(one.number for one in found):
            self.notify("This rule had an effect on no prompt of the selection.", timeout=3)
            return
        place = {"right": 1, "wrong": 2}.get(message.column, 0)
        self.show_counted(found[place] if place < len(found) and found[place].number else found[0])

    def counts(self) -> list[Counted]:
        if self._grown is None:
            return []
        known = self._grown.coverage
        every = [coverage_text.counted_in_all(known, number, self._text) for number in coverage_text.IN_ALL]
        return [*self._counts_of_row(), *every]

    def _counts_of_row(self) -> list[Counted]:
        """Return the numbers of prompts in the row under the cursor; for a rule: ``fired``, ``right`` and ``wrong``."""
        if self._grown is None:
            return []
        known, key = self._grown.coverage, self.table.chosen
        if row := self._shown.get(key):
            return [coverage_text.counted(row, known, number, self._text) for number in ("fired", "right", "wrong")]
        if self._judged and (rate := self._rates.get(key)):
            return coverage_text.counted_lines(rate, self._judged.lines, self._text)
        if cluster := self._clusters.get(key):
            return [coverage_text.counted_in(cluster, self._text)]
        return [coverage_text.counted_in_all(known, "unmatched", self._text)]

    def add_news(self) -> None:
        grown = self._grown
        if grown is None or self._is_measuring or self.app.changes == self._changes:
            return
        if not self._is_stopped and grown.total <= MEASURED_AGAIN:
            if not self._has_news:
                self._has_news = True
                self.debounce("again", AGAIN_AFTER_S, self._measure_again)
        else:
            self._has_news = True
            self._show_counts()

    def _measure_again(self) -> None:
        if self._has_news and not self._is_measuring:
            self.action_reload()

    def failed(self, error: BaseException) -> None:
        from workbench.replay.rulesets.compared_rules import SideError

        self._is_measuring = False
        if isinstance(error, SideError):
            message = BROKEN.format(problems=error)
            self.bar.show_result("instructions are broken")
        else:
            message = FAILED.format(error=f"{type(error).__name__}: {error}")
            self.bar.show_result("not measured")
            super().failed(error)
        self.show_empty(message)

    def _take_lines(self, judged: JudgedLines) -> None:
        self._judged = judged
        self._show()

    def _take_figures(self, grown: Grown) -> None:
        self._grown = grown
        self._is_measuring = not grown.is_final
        self._show_counts()
        self._show()

    def _show_counts(self) -> None:
        if self._grown is None:
            self.bar.show_result("stopped, R measures" if self._is_stopped else "")
            return
        known, total = self._grown.coverage, self._grown.total
        text = counted(known.prompts, "prompt") if self._grown.is_final else f"{known.prompts:,} of {total:,}"
        text += coverage_text.scope(known)
        if self._is_measuring:
            text += " …"
        elif self._is_stopped:
            text += ", stopped · R again"
        elif self._has_news and total > MEASURED_AGAIN:
            text += ", the history changed · R again"
        if self.has_class("-wide"):
            text += f" · {known.labelled:,} labelled · {known.judged_again:,} judged again"
        self.bar.show_result(text)

    def _show(self) -> None:
        if self._grown is None:
            return
        known = self._grown.coverage
        self._count(known)
        self._shown, self._clusters, self._rates = {}, {}, {}
        views = {"none": self._unmatched_rows, "lines": self._line_rows}
        rows, headings = views.get(self._view, self._rule_rows)(known)
        self.show_empty(self._nothing(known, rows) if self._grown.is_final else "")
        self.table.show(rows, headings)
        if self.focused is None:
            self.table.focus()
        self._show_about()

    def _count(self, known: Coverage) -> None:
        numbers = {
            "dead": len(known.dead()),
            "always": len(known.always_on()),
            "together": len(known.overlaps),
            "none": known.unmatched,
            "lines": self._judged.kept.total.judged if self._judged else 0,
        }
        choice = self.query_one(Choice)
        choice.show_counts({name: number for name, number in numbers.items() if known.prompts})
        foreign = sum(one.is_foreign for one in known.dead())
        choice.show_note(f"{foreign:,} of other languages come last" if self._view == "dead" and foreign else "")

    def _nothing(self, known: Coverage, rows: list[TableRow]) -> str:
        """Return the text to show instead of the table; empty if the table has rows."""
        if not known.prompts:
            return NOTHING_MATCHES if self._text else NOTHING_YET
        return "" if rows else coverage_text.NO_ROWS[self._view]

    def _rule_rows(self, known: Coverage) -> tuple[list[TableRow], list[Heading]]:
        shown = coverage_text.chosen(known, view=self._view)[:MOST_ROWS]
        keys = (f"{one.kind}:{one.rule}:{one.label}:{one.condition}:{one.line}" for one in (row.rule for row in shown))
        # With its place, because in the view "together" a rule has a row in every group that it belongs to.
        self._shown = {f"{place}:{key}": one.rule for place, (key, one) in enumerate(zip(keys, shown, strict=True))}
        columns = coverage_text.headings(self.size.width)
        rows = [coverage_text.rule_row(key, one, columns) for key, one in zip(self._shown, shown, strict=True)]
        return rows, columns

    def _unmatched_rows(self, known: Coverage) -> tuple[list[TableRow], list[Heading]]:
        self._clusters = {f"cluster {place}": one for place, one in enumerate(known.clusters)}
        rows = [coverage_text.unmatched_row(EVERY_UNMATCHED, known)] if known.unmatched else []
        rows += [coverage_text.cluster_row(key, one, known) for key, one in self._clusters.items()]
        return rows, [*coverage_text.CLUSTER_HEADINGS]

    def _line_rows(self, _known: Coverage) -> tuple[list[TableRow], list[Heading]]:
        rows, columns = [], coverage_text.kept_headings(self.size.width)
        if self._judged and (kept := self._judged.kept).total.judged:
            self._rates = {f"{one.kind}:{one.rule}": one for one in (kept.total, *kept.kinds, *kept.rules)}
            rows = [coverage_text.kept_row(key, one, self._judged.lines, columns) for key, one in self._rates.items()]
        return rows, columns

    @on(FiguresTable.Moved)
    def _show_about(self) -> None:
        if self._grown is None:
            return
        known, key, text = self._grown.coverage, self.table.chosen, ""
        if row := self._shown.get(key):
            text = coverage_text.about(row, known)
        elif rate := self._rates.get(key):
            text = coverage_text.about_kept(rate)
        elif cluster := self._clusters.get(key):
            text = coverage_text.about_cluster(cluster, known)
        elif key == EVERY_UNMATCHED:
            text = coverage_text.about_unmatched(known)
        self.query_one("#about", Static).update(text)

    def on_resize(self) -> None:
        self._show()
