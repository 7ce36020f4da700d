"""Actions on one trace, on any screen that shows one: label, replay, edit, open it, and copy its address."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from workbench.tui.editing import file_to_edit, open_editor
from workbench.tui.messages import Labelled, OpenCompare
from workbench.tui.screens.base import WorkbenchScreen
from workbench.web.server import addresses

if TYPE_CHECKING:
    from collections.abc import Sequence

PUBLISHED = "ENRICHER_PUBLISHED_URL"
TRACE_PATH = "/-/enricher/trace/"
LABEL = Binding.Group("Label")
TOLD = {"ok": "Labelled right.", "wrong": "Labelled wrong."}


class TraceActions(WorkbenchScreen):
    """The actions on one trace; ``chosen()`` returns its id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "label('ok')", "Label: right", id="trace.right", group=LABEL),
        Binding("x", "label('wrong')", "Label: wrong", id="trace.wrong", group=LABEL),
        Binding("c", "choose_class", "Label: another class", id="trace.class", group=LABEL),
        Binding("r", "replay", "Replay", id="trace.replay", tooltip="Replay the trace with today's rules"),
        Binding("e", "edit", "Edit", id="trace.edit", tooltip="Open the instructions in your editor"),
        Binding("o", "open_published", "Open", id="trace.open", show=False, tooltip="Open it in the published history"),
        Binding(
            "u", "copy_url", "URL", id="trace.url", show=False, tooltip="Copy its address in the published history"
        ),
    ]

    def chosen(self) -> tuple[str, str]:
        """Return the id and the task type of the selected trace, two empty texts for none."""
        raise NotImplementedError

    def labelled(self, trace_id: str) -> None:
        """React to a stored label."""

    def _wanted(self) -> str:
        trace_id, _task_type = self.chosen()
        if not trace_id:
            self.notify("There is no trace to do that with.", severity="warning", timeout=3)
        return trace_id

    def action_label(self, verdict: str) -> None:
        """Label the trace as right, wrong, or of another task type."""
        if trace_id := self._wanted():
            self.store_label(trace_id, verdict)

    @work(thread=True, group="trace.label", exit_on_error=False)
    def store_label(self, trace_id: str, verdict: str) -> None:
        """Store a label; labels must not cancel each other, so this worker is not exclusive."""
        from storage.traces import labels

        with self.database(drain=False) as db:
            labels.give(db, trace_id, verdict)
        self.app.call_from_thread(self._is_stored, trace_id, verdict)

    def _is_stored(self, trace_id: str, verdict: str) -> None:
        self.notify(TOLD.get(verdict, f"Labelled: it should be {verdict}."), timeout=2, markup=False)
        self.labelled(trace_id)
        self.app.post_message(Labelled(trace_id))

    def action_choose_class(self) -> None:
        """Ask for the correct task type."""
        if self._wanted():
            self.find_task_types(*self.chosen())

    @work(thread=True, exclusive=True, group="trace.types", exit_on_error=False)
    def find_task_types(self, trace_id: str, now: str) -> None:
        """Read the task types of the rules in force and ask for one; the rules may have to be compiled first."""
        from enricher.interfaces.cli.trace.trace import task_types

        self.app.call_from_thread(self._ask_for_class, trace_id, task_types(), now)

    def _ask_for_class(self, trace_id: str, task_types: Sequence[str], now: str) -> None:
        from workbench.tui.widgets.questions.chooser import ClassChooser

        def answered(name: str | None) -> None:
            if name:
                self.store_label(trace_id, name)

        self.app.push_screen(ClassChooser(task_types, now=now), answered)

    def action_replay(self) -> None:
        """Show the outcome of the trace under today's rules."""
        if trace_id := self._wanted():
            self.app.post_message(OpenCompare(trace_id))

    def action_edit(self) -> None:
        """Open the instructions in the user's editor."""
        path = file_to_edit(self.app.instructions)
        if trouble := open_editor(self.app, path):
            self.notify(trouble, severity="warning", timeout=8, markup=False)
        else:
            self.app.refresh()

    def _published(self) -> str:
        base = os.environ.get(PUBLISHED) or addresses.known(self.app.state_dir)
        return base.rstrip("/")

    def action_open_published(self) -> None:
        """Open the trace in a browser, in the published history."""
        if not (trace_id := self._wanted()):
            return
        if base := self._published():
            self.app.open_url(f"{base}{TRACE_PATH}{trace_id}")
            self.notify(f"Opened {base}{TRACE_PATH}{trace_id[:14]}…", timeout=3, markup=False)
        else:
            self._tell_of_publishing()

    def action_copy_url(self) -> None:
        """Copy the address of the trace in the published history; the trace id if no server is running."""
        if not (trace_id := self._wanted()):
            return
        base = self._published()
        self.app.copy_to_clipboard(f"{base}{TRACE_PATH}{trace_id}" if base else trace_id)
        if base:
            self.notify("Its address is in the clipboard.", timeout=2)
        else:
            self._tell_of_publishing("The trace's id is in the clipboard. ")

    def _tell_of_publishing(self, before: str = "") -> None:
        hint = f"No enricher publish runs here: start it, or set {PUBLISHED}, like http://127.0.0.1:8001"
        self.notify(before + hint, severity="warning", timeout=8, markup=False)
