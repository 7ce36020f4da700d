"""Replay the recorded prompts with the rules in the editor's text, while the user types.

Everything slow is in ``workbench.edits.live`` and runs in threads. The same text is not replayed twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual import work

from storage.db.database import StorageError
from workbench.edits import instructions_file as files
from workbench.edits import live, progress
from workbench.edits.progress import Broken, CauseBatch, Figures, GateResult, LintResult
from workbench.replay.rulesets.compared_rules import SideError
from workbench.tui.screens.base import allow_processes
from workbench.tui.screens.editing.saving import SavingScreen
from workbench.tui.screens.filtered import FilteredScreen
from workbench.tui.state import CompletedRun, here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.timer import Timer

    from workbench.edits.progress import ChangeCause, Progress
    from workbench.edits.undoing import Save
    from workbench.replay.compare import Change
    from workbench.tui.screens.base import ShouldStop

    Groups = list[tuple[str, list[Change]]]

AFTER_NEWS_S = 1.5
"""Seconds to wait after a new prompt, so that prompts arriving shortly after it are replayed together with it."""


class ReplayingScreen(FilteredScreen, SavingScreen):
    """A screen that shows which results of recorded prompts the edit in the editor changes."""

    def __init__(self) -> None:
        super().__init__()
        self._session: live.EditSession | None = None
        self._base = live.OPENED
        self._examined: tuple[str, str, str, str] | None = None  # text, path, base and filter of the last replay
        self._figures: Figures | None = None  # the complete ones, which may be older than those shown
        self._shown: Figures | None = None
        self._groups: Groups = []
        self._is_quiet = False
        self._causes: dict[str, ChangeCause] = {}
        self._broken = ""
        self._gate = GateResult(())
        self._news_timer: Timer | None = None

    def show_figures(self) -> None:
        """Show the current figures and problems."""
        raise NotImplementedError

    @property
    def figures(self) -> Figures | None:
        """Return the displayed figures of the replay; each edit produces a new object."""
        return self._shown

    def new_session(self, opened: str, opened_as: str) -> None:
        """Begin to compare edits of the open file with the chosen base, and replay the prompts that the filter selects.

        ``opened`` is the text to compare with unless another base was chosen, and ``opened_as`` says in words which
        text of the file that is, such as "as opened at 14:05".
        """
        into = files.layers_for_edits(here(), chosen=self.app.layer_chosen)[0]
        self._session = live.EditSession(
            self.app.state_dir, self._path, opened, self._base, self._which, here(), into, opened_as
        )
        self.show_file()
        self.begin()

    def restored(self, save: Save) -> None:
        if self._session is not None and self._session.opened == save.after:  # the file no longer has that text
            self._examined = None
            self.new_session(save.before, f"as saved at {self._disk_since}")

    def begin(self, *, is_quiet: bool = False) -> None:
        """Replay the prompts if text, base or filter has changed since the last time, and always with ``is_quiet``."""
        text = self._buffer
        key = (text, self._path, self._base, self._text)
        if self._session is None or (key == self._examined and not is_quiet):
            return
        self._examined, self._is_quiet = key, is_quiet
        session = self._session
        self.in_thread("live", lambda should_stop: _examine(session, text, should_stop), self._progressed)

    def _progressed(self, found: tuple[Progress, Groups]) -> None:
        update, groups = found
        if isinstance(update, Broken):
            self._problems = update.problems
            first = update.problems[0] if update.problems else None
            self._broken = f"{os.path.basename(first.file)}:{first.line}: {first.message}" if first else update.reason
        elif isinstance(update, Figures):
            self._take_figures(update, groups)
        elif isinstance(update, LintResult):
            self._problems = update.problems
        elif isinstance(update, GateResult):
            self._gate = update
        elif isinstance(update, CauseBatch):
            self._causes = {**self._causes, **update.causes}
            self._publish()
        self.show_figures()

    def _take_figures(self, figures: Figures, groups: Groups) -> None:
        self._broken = ""
        if figures.is_complete:
            self._figures = self._shown = figures
            self._groups = groups
            self._causes = self._causes if self._is_quiet else {}
            self._publish()
        elif not self._is_quiet:
            self._shown, self._groups = figures, groups

    def _publish(self) -> None:
        if self._figures is not None:
            self.app.last_run = CompletedRun(self._figures, self._causes)
            shown = self.app.place_screen()
            if shown is not None and shown.PLACE == "compare":  # causes may arrive while the run is compared
                shown.data_changed()

    def failed(self, error: BaseException) -> None:
        self._examined = None
        remedy = "  b: another base" if isinstance(error, SideError) else ""
        name = "" if isinstance(error, (SideError, StorageError, OSError)) else f"{type(error).__name__}: "
        self._broken = f"{name}{' '.join(str(error).splitlines()[:2])}{remedy}"  # what is wrong, and the first reason
        self._problems = ()  # those of an earlier text
        self.show_figures()

    def data_changed(self) -> None:
        """Replay the same text soon after prompts or labels were written; until then, the old figures stay visible."""
        if self._figures is not None and self._news_timer is None:
            self._news_timer = self.set_timer(AFTER_NEWS_S, self._replay_news)

    def _replay_news(self) -> None:
        self._news_timer = None
        if any(one.group == "instructions.live" and not one.is_finished for one in self.workers):
            self.data_changed()
        else:
            self.begin(is_quiet=True)

    def action_keep(self) -> None:
        """Store the last replay and its results in the database, if it is complete and the file has no errors."""
        if self._figures is None or self._session is None:
            self.notify("There is no complete run to keep yet.", severity="warning", timeout=3)
            return
        if self._figures.errors:
            self.notify("A run over a file with errors has no verdict to keep; f8 goes to them.", severity="warning")
            return
        diff = progress.difference(self._session.opened, self.editor.text, self._path)
        self.keep(self._figures, diff, self._text, dict(self._causes))

    @work(thread=True, group="instructions.keep", exit_on_error=False)
    def keep(self, figures: Figures, diff: str, selection: str, causes: dict[str, ChangeCause]) -> None:
        """Store a replay in the database; ``diff`` is the edit, ``selection`` the filter of the replayed prompts."""
        with self.database() as db:
            identity = progress.store_run(db, figures, diff=diff, selection=selection, causes=causes)
        message = f"Kept as {identity[:14]}: {figures.verdict}, {len(figures.changes):,} prompts."
        self.notify(message, timeout=4)


def _examine(session: live.EditSession, text: str, should_stop: ShouldStop) -> Iterator[tuple[Progress, Groups]]:
    """Replay the recorded prompts with the rules in ``text``, and yield the progress.

    An update has new figures, problems in the instructions, the gate's result, or the edited lines that caused changes.
    With it come the changed prompts by kind of change, if it has figures.
    """
    allow_processes()
    for update in session.examine(text, should_stop=should_stop):
        yield update, update.groups() if isinstance(update, Figures) else []  # not in the event loop: it would block
