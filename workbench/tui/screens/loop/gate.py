"""The Gate screen: it checks the golden cases (approved prompts) of a project under the project's current rules.

``enricher replay --gate`` does the same in CI.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from enricher.home import from_home, project_root
from storage.traces.queries import UnknownTraceError
from workbench.gate import gate, labelling, reports
from workbench.gate.cases import CasesError
from workbench.tui.messages import OpenTrace
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.state import here
from workbench.tui.widgets.lists.line_list import Group, LineList, ListLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.gate.gate_report import GateReport

NO_CASES = """\
{} has no golden case yet. A prompt of its history becomes one
  by y (it came out right), x (wrong) or c (the right class) in Traces,
  or by m, an edit that is saved, and then a."""
RUNNING = ListLine("running", "Judging the golden cases …")
MARGIN = 6
"""Columns of the screen that the text of a line does not have."""
LOOKS = {
    "regressed": "error",
    "fails": "error",
    "not mended": "error",
    "became wrong": "error",
    "missing": "error",
    "fixed": "good",
    "The gate is closed": "error",
}


@dataclass(frozen=True, slots=True)
class Gated:
    """The result of the gate, the check of the golden cases; ``about`` says for which project.

    If it failed, ``report`` is None and ``reason`` says why. ``with_own_layer`` are the ids of the failing cases that
    would pass if the user's own layer of instructions were included.
    """

    report: GateReport | None
    reason: str = ""
    about: str = ""
    trace_id: str = ""
    """The prompt from which the gate was opened, whose case is listed first among those that pass."""
    with_own_layer: tuple[str, ...] = ()


class GateScreen(WorkbenchScreen):
    """A screen with the result of the gate, which is the check of a project's golden cases (approved prompts)."""

    PLACE = "gate"
    SHOWS_SAVES = True
    HELP = """\
The gate judges the golden cases in `.enricher/cases.jsonl` by the packaged instructions and those of the project, as
`enricher replay --gate --base HEAD` does in CI: `regressed` and `became wrong` fail newly, `not mended` was approved,
but fails as it did in the last commit, `fixed` passes newly, `changed` passes with another result, `open` and `failed
before` are still to be done. In a repository without a commit, there is nothing to compare with: `fails` was
approved. Your own layer takes no part; cases that pass only because of it are named. `enter` shows the prompt of a
case. The gate runs again by itself when instructions are saved, also by `f9` and `f10`, which take a save back and
make it again, and whenever you return to it.

From a prompt, the gate judges the project in which that prompt was typed; from a screen that shows no prompt, the
project of the folder in which the app was started.
"""
    DEFAULT_CSS = "GateScreen LineList { height: 1fr; padding: 0 0 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", id="gate.back", key_display="esc"),
        Binding("r", "run_gate", "Run again", id="gate.run"),
    ]

    def __init__(self, trace_id: str, *, place: str) -> None:
        super().__init__()
        self._trace_id = trace_id
        self._result: Gated | None = None
        self._line = ""  # the key of the line to put the cursor on after the next run
        self.bar_place = place

    def compose_body(self) -> ComposeResult:
        yield LineList(id="report")

    def on_mount(self) -> None:
        self.query_one(LineList).focus()

    def on_screen_resume(self) -> None:
        self.action_run_gate()

    def instructions_written(self) -> None:
        self.action_run_gate()

    def action_run_gate(self) -> None:
        """Run the gate again: check the golden cases with the instructions files as they are now."""
        if (line := self.query_one(LineList).current) is not None and line.key != RUNNING.key:
            self._line = line.key
        self._result = None
        self.query_one(LineList).show([Group(RUNNING)])
        self.in_thread("judge", lambda _stop: [self._judged()], self._take_result)

    def _judged(self) -> Gated:
        """Check the golden cases with the current rules, compared with those of the last commit, if there is one."""
        place = ""
        try:
            project = self._project()
            place = from_home(project)
            passing = tuple(gate.passing_with_own_layer(project))
            report = gate.run_on_last_commit(project)
            about = f"Project: {place}"
            return Gated(report, about=about, trace_id=self._trace_id, with_own_layer=passing)
        except gate.NoCasesError:
            return Gated(None, NO_CASES.format(place))
        except (gate.GateError, CasesError, UnknownTraceError) as error:
            return Gated(None, str(error))

    def _project(self) -> str:
        """Return the project in which the prompt was typed, or the app was started if the screen is not for a prompt.

        Raises CasesError if the prompt's folder no longer exists.
        """
        if not self._trace_id:
            return project_root(here())
        with self.database(drain=False) as db:
            return project_root(labelling.folder_of(db, self._trace_id))

    def _take_result(self, result: Gated) -> None:
        self._result = result
        self._show()

    def on_resize(self) -> None:
        self._show()

    def _show(self) -> None:
        """Show the result of the last run, with its sentences wrapped to the width of the screen."""
        if self._result is None:
            return
        lines = [
            replace(line, key=f"{line.key}{f' {at}' if at else ''}", text=part)
            for line in _lines(self._result)
            for at, part in enumerate([line.text] if line.value else _wrapped(line.text, self.size.width - MARGIN))
        ]
        self.query_one(LineList).show([Group(line) for line in lines])  # nothing that a user could fold
        self.query_one(LineList).go_to(self._line)

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        if message.line.value:
            self.app.post_message(OpenTrace(str(message.line.value)))


def _lines(result: Gated) -> list[ListLine]:
    """Return the result of a run as lines of a list; the value of a line is the id of the case that it is about."""
    if result.report is None:
        return [ListLine(f"{at}", line) for at, line in enumerate(result.reason.replace("; ", ";\n").splitlines())]
    lines = [ListLine("project", result.about, "", "muted")]
    for at, (text, case) in enumerate(reports.lines(result.report, first=result.trace_id)):
        lines.append(ListLine(f"{at}", text, "", LOOKS.get(text.partition(":")[0], "muted" if at else "head"), case))
    return [*lines, *_own_layer(result.with_own_layer)]


def _wrapped(text: str, width: int) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False) or [text]


def _own_layer(passing: tuple[str, ...]) -> list[ListLine]:
    if not passing:
        return []
    cases, they = (f"{len(passing):,} cases", "they fail") if len(passing) > 1 else ("1 case", "it fails")
    text = (
        f"your own layer: {cases} would pass with it; for everybody else {they}: write the change into this project's"
    )
    return [
        ListLine("own layer", text, "", "error"),
        *(ListLine(f"own {one}", f"    {one}", "", "muted", one) for one in passing),
    ]
