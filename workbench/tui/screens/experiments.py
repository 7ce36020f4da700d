"""The Experiments screen: a list of experiments, and for an opened one, both answers to each prompt side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from storage.evaluation import corpus, experiments
from workbench.experiments.cohorts import compare
from workbench.tui.messages import OpenTrace
from workbench.tui.panes import experiment_text
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.lists.cursor_view import ends, moves
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import SearchBar, SearchInput

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from storage.evaluation.experiments import Experiment
    from workbench.tui.panes.experiment_text import Answers

MOST = 500
"""The list shows at most this many experiments, the newest ones."""
NOTHING_YET = """\
No experiment is stored yet.

  enricher ab run --b FILE              compares two versions of the instructions on recorded prompts
  enricher ab ask --template NAME       asks a model in two forms of a prompt, or asks two models

c compares the labels of two cohorts of sessions, as enricher ab effect does."""


class OpenedExperiment(NamedTuple):
    """An experiment with its answers, one entry for each prompt."""

    experiment: Experiment
    answers: list[Answers]


class CohortBar(SearchBar):
    """The input line for the name of the experiment whose cohorts (groups of sessions) are compared."""

    def compose_line(self) -> ComposeResult:
        yield Static("Cohorts of", classes="name", markup=False)
        yield SearchInput(
            placeholder="an experiment with sessions: its name, as in enricher ab cohort",
            compact=True,
            select_on_focus=False,
        )


class OpeningTable(FiguresTable, inherit_bindings=False):
    """A table whose rows can be opened with enter; the footer shows that key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *moves("experiments.rows"),
        *ends("experiments.rows", first="To the first", last="To the last"),
        Binding("enter", "choose", "Open", id="experiments.open", key_display="enter"),
    ]


class ExperimentsScreen(WorkbenchScreen):
    """A screen with the list of experiments and, for an opened experiment, its prompts with both answers to each."""

    PLACE = "experiments"
    HELP = """\
What `enricher ab` has compared. `enter` opens an experiment: one line for each prompt, with the quality and the
tokens of both answers (`≠` where they differ, `✗` for an answer that failed), and below it both answers.

`enter` goes on to the answers, `escape` back. A quality of `-` is not known, because nobody labelled that prompt.

`c` compares two cohorts of sessions: type the name given to `enricher ab cohort`, and what `enricher ab effect` prints
stands below it.
"""
    DEFAULT_CSS = """
    ExperimentsScreen {
        #list { height: 1fr; }
        #one { display: none; height: 1fr; }
        &.-opened #list { display: none; }
        &.-opened #one { display: block; }
        #summary { height: 1; padding: 0 1; background: $surface; color: $text-muted; text-wrap: nowrap;
                 text-overflow: ellipsis; }
        #cases { height: 2fr; }
        #both { height: 3fr; layout: horizontal; border-top: solid $panel; }
        &.-narrow #both { layout: vertical; }
        #both VerticalScroll { width: 1fr; height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
        &.-wide #of-b { border-left: solid $panel; }
        &.-narrow #of-b { border-top: solid $panel; }
        #cohorts { display: none; height: auto; max-height: 8; padding: 0 1; }
        &.-compared #cohorts { display: block; }
        &.-opened CohortBar, &.-opened #cohorts { display: none; }
        &.-empty #list, &.-empty #one { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", id="experiments.back", key_display="esc"),
        Binding("d", "differences", "All/diff", id="experiments.differences", tooltip="All, or only differing answers"),
        Binding("t", "trace", "Trace", id="experiments.trace", tooltip="The trace of a recorded prompt"),
        Binding("c", "cohorts", "Cohorts", id="experiments.cohorts", tooltip="Compare two cohorts of sessions"),
        Binding("R", "reload", "Read the list again", id="experiments.reload", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._opened: OpenedExperiment | None = None
        self._only = False

    def compose_body(self) -> ComposeResult:
        yield OpeningTable(experiment_text.LIST, id="list")
        with Vertical(id="one"):
            yield Static("", id="summary", markup=False)
            yield OpeningTable(experiment_text.headings(80), id="cases")
            with Container(id="both"):
                for arm in "ab":
                    with VerticalScroll(id=f"of-{arm}"):
                        yield Static("", id=f"answer-{arm}", markup=False)
        yield Static(NOTHING_YET, id="empty", markup=False)
        yield CohortBar()
        yield Static("", id="cohorts", markup=False)

    def on_mount(self) -> None:
        self._only = self.recall("only", False)
        self.query_one(CohortBar).show(self.recall("cohorts", ""))
        self.list.focus()
        self.action_reload()

    @property
    def list(self) -> FiguresTable:
        """Return the table of experiments."""
        return self.query_one("#list", FiguresTable)

    @property
    def cases(self) -> FiguresTable:
        """Return the table of the opened experiment's prompts."""
        return self.query_one("#cases", FiguresTable)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys that make no sense now, such as those for answers while no experiment is open."""
        del parameters
        if action == "cohorts":
            return self._opened is None
        if action == "back":
            return self._opened is not None or self.app.can_go_back
        return self._opened is not None if action in ("differences", "trace") else True

    def data_changed(self) -> None:
        self.in_turn("load", self.action_reload)

    def action_reload(self) -> None:
        """Reload the list of experiments, the comparison of the cohorts, and the opened experiment."""
        self.read("load", lambda db: experiments.newest(db, limit=MOST), self._show_list)
        self.in_turn("cohorts", self._compare_cohorts)
        if self._opened is not None:
            self._open(self._opened.experiment.id)

    def _compare_cohorts(self) -> None:
        name = self.query_one(CohortBar).input.value.strip()
        self.read("cohorts", lambda db: _cohorts_text(db, name), self._show_cohorts)

    def _show_cohorts(self, text: str) -> None:
        self.query_one("#cohorts", Static).update(text)
        self.set_class(bool(text), "-compared")

    @on(SearchBar.Typed)
    def _cohorts_named(self, message: SearchBar.Typed) -> None:
        self.remember(cohorts=message.text.strip())
        self._compare_cohorts()

    @on(SearchBar.Left)
    def _name_left(self) -> None:
        self.list.focus()

    def action_cohorts(self) -> None:
        """Move the focus to the input for the name of the experiment whose cohorts are compared."""
        self.query_one(CohortBar).input.focus()

    def _show_list(self, found: Sequence[Experiment]) -> None:
        self.show_empty("" if found else NOTHING_YET)
        self.list.show([experiment_text.experiment_row(one) for one in found])

    def _answers_came(self, opened: OpenedExperiment) -> None:
        is_new = self._opened is None or self._opened.experiment.id != opened.experiment.id
        self._opened = opened
        self.set_class(True, "-opened")
        self.refresh_bindings()  # see check_action
        self._show_cases()
        if is_new:
            self.cases.focus()

    def _show_cases(self) -> None:
        one = self._opened
        if one is None:
            return
        width = self.size.width
        shown = [each for each in one.answers if not (self._only and each.is_same)]
        self.query_one("#summary", Static).update(experiment_text.state(one.experiment, one.answers))
        self.cases.show([experiment_text.answers_row(each, width) for each in shown], experiment_text.headings(width))
        self._show_answers()

    def on_resize(self) -> None:
        self._show_cases()

    @property
    def chosen(self) -> Answers | None:
        """Return the answers to the prompt under the cursor; None if the cursor is not on a prompt."""
        answers = self._opened.answers if self._opened else ()
        return next((one for one in answers if one.prompt_id == self.cases.chosen), None)

    @on(FiguresTable.Moved, "#cases")
    def _show_answers(self) -> None:
        found = self.chosen
        for arm in "ab":
            text = ""
            if self._opened is not None and found is not None:
                text = experiment_text.answer_text(self._opened.experiment, arm, getattr(found, arm))
            self.query_one(f"#answer-{arm}", Static).update(text)
            self.query_one(f"#of-{arm}").scroll_home(animate=False)

    @on(FiguresTable.Chosen, "#list")
    def _experiment_chosen(self) -> None:
        self._open(self.list.chosen)

    @on(FiguresTable.Chosen, "#cases")
    def _case_chosen(self) -> None:
        self.query_one("#of-a").focus()

    def action_trace(self) -> None:
        """Go to the trace of the prompt under the cursor, if it was recorded."""
        found = self.chosen
        if found is not None and found.prompt:
            self.post_message(OpenTrace(found.prompt_id))
        elif found is not None:
            self.notify("This prompt is from a file; it has no trace.", timeout=3)

    def _open(self, experiment_id: str) -> None:
        self.read("open", lambda db: _opened(db, experiment_id), self._answers_came)

    def action_back(self) -> None:
        """Go back one step.

        From the answers, move the focus to the prompts; from the prompts, return to the list of experiments; from the
        list, return to the previous screen.
        """
        if self.focused is not None and self.focused.id in ("of-a", "of-b"):
            self.cases.focus()
        elif self._opened is not None:
            self._opened = None
            self.next_run("open")  # answers that are still being read would open it again
            self.set_class(False, "-opened")
            self.refresh_bindings()
            self.list.focus()
        else:
            super().action_back()

    def action_differences(self) -> None:
        """Switch between showing all prompts and showing only those with differing answers."""
        self._only = not self._only
        self.remember(only=self._only)
        self._show_cases()


def _opened(db: sqlite3.Connection, experiment_id: str) -> OpenedExperiment:
    found = experiments.find(db, experiment_id)
    results = list(experiments.results(db, found.id))
    prompts = {row.id: row.prompt for row in corpus.rows_of(db, {one.prompt_id for one in results})}
    return OpenedExperiment(found, experiment_text.paired(results, prompts))


def _cohorts_text(db: sqlite3.Connection, name: str) -> str:
    """Return the comparison of both cohorts (groups of sessions) of an experiment; empty without a name."""
    return experiment_text.cohorts_text(compare(experiments.sessions(db), name=name)) if name else ""
