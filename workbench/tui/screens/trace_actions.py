"""Actions on one trace, for all screens that show traces: label it, replay it, find edits, open it, copy its parts."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from enricher.home import config_dir, from_home
from enricher.prompt.text import cut
from enricher.rules.layers import HEURISTICS, find_layers
from storage.traces import line_labels, queries
from workbench.tui.messages import DataChanged, OpenCompare
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.state import here
from workbench.tui.widgets.dialogs import Answer, Picker, class_picker
from workbench.tui.widgets.plain_text import one_line
from workbench.web.server import addresses

if TYPE_CHECKING:
    import sqlite3

    from workbench.gate.labelling import Given
    from workbench.tuning.wishes.wish import Wish

PUBLISHED = "ENRICHER_PUBLISHED_URL"  # set by users whose server this app cannot find by itself
TRACE_PATH = "/-/enricher/trace/"
LABEL = Binding.Group("Label")
COPIED = {"prompt": "The prompt", "output_text": "The text that was added", "id": "The id of the trace"}
"""The fields of a trace that can be copied, each with its name for the user."""
LABEL_NOTICES = {"ok": "Labelled right as recorded: {}.", "wrong": "Labelled wrong as recorded: {}."}
"""The text after a label that says whether the recorded result is right; it names the recorded task type."""
CHOSEN_OTHERWISE = "Recorded was {}, and with m you chose that it should be {}: a approves that, c names another class."
LONGEST_NAME = 48
"""The length of a notice's title, which names a prompt by its first words."""
SILENT_KEY = "0"
"""The key for choosing that nothing should be added; the digits from 1 stand for the guardrails that were added."""


class TraceActions(WorkbenchScreen):
    """A screen with actions on one trace, which is the trace that ``chosen()`` returns."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "label('ok')", "Label: right", id="trace.right", group=LABEL),
        Binding("x", "label('wrong')", "Label: wrong", id="trace.wrong", group=LABEL),
        Binding("c", "choose_class", "Label: another class", id="trace.class", group=LABEL),
        Binding(
            "W",
            "choose_workflow",
            "Expect a workflow",
            id="trace.workflow",
            show=False,
            tooltip="Say which workflow its plan should have",
        ),
        Binding("X", "judge_line", "A line was wrong", id="trace.line", show=False, tooltip="Call one line wrong"),
        Binding("w", "why", "Why", id="trace.why", tooltip="Every point, threshold and omission behind the outcome"),
        Binding("m", "make", "Make", id="trace.make", tooltip="Find edits that make it come out as it should"),
        Binding(
            "a",
            "approve",
            "Approve",
            id="trace.approve",
            show=False,
            tooltip="Approve that it should be what was chosen with m",
        ),
        Binding("ctrl+z", "take_back", "Undo", id="trace.undo", show=False, tooltip="Take the last label back"),
        Binding("r", "replay", "Replay", id="trace.replay", tooltip="Replay the trace with today's rules"),
        Binding("e", "edit", "Edit", id="trace.edit", show=False, tooltip="Open the instructions in your editor"),
        Binding("o", "open_published", "Open", id="trace.open", show=False, tooltip="Open it in the published history"),
        Binding("P", "copy('prompt')", "Copy the prompt", id="trace.copy-prompt", show=False),
        Binding("T", "copy('output_text')", "Copy the text that was added", id="trace.copy-text", show=False),
        Binding("I", "copy('id')", "Copy the id of the trace", id="trace.copy-id", show=False),
        Binding(
            "u", "copy_url", "URL", id="trace.url", show=False, tooltip="Copy its address in the published history"
        ),
    ]

    def chosen(self) -> tuple[str, str]:
        """Return the id and the task type of the selected trace, or two empty strings without a selection."""
        raise NotImplementedError

    def gated_trace(self) -> str:
        return self.chosen()[0]

    def labelled(self, trace_id: str) -> None:
        """React to a label that was stored for the trace ``trace_id``."""

    def _chosen_id(self) -> str:
        trace_id, _task_type = self.chosen()
        if not trace_id:
            self.notify("There is no trace to do that with.", severity="warning", timeout=3)
        return trace_id

    def action_label(self, verdict: str) -> None:
        """Label the trace: ``verdict`` is ``ok``, ``wrong``, or the task type that would have been right."""
        if not (trace_id := self._chosen_id()):
            return
        recorded, wish = self.chosen()[1], self.app.wishes.get(trace_id)
        if verdict == "ok" and wish:  # the label may refer to the new result, which is on the screen
            self.notify(CHOSEN_OTHERWISE.format(recorded, wish), severity="warning", timeout=6, markup=False)
            return
        self.store_label(trace_id, verdict, LABEL_NOTICES.get(verdict, "").format(recorded))

    @work(thread=True, group="trace.label", exit_on_error=False)
    def store_label(self, trace_id: str, verdict: str, text: str = "") -> None:
        """Store a label for a trace, and a golden case that tests future rules against it; then notify the user.

        ``text`` is the text of the notice; if it is empty, the notice names the task type that would have been right.

        The worker is not exclusive, because labels that are given in a row must not cancel each other.
        """
        from workbench.gate import labelling

        with self.database(drain=False) as db:
            given = labelling.label(db, trace_id, verdict)
            name = prompt_name(db, trace_id)
        self.app.call_from_thread(self._is_stored, given, text or f"Labelled: it should be {verdict}.", name)

    def _is_stored(self, given: Given, text: str, name: str) -> None:
        """Notify the user that a label was stored; ``name`` says for which prompt, as the cursor may move on."""
        if given.is_again:
            why = f" No golden case was written: {given.problem}." if given.problem else ""
            self.notify(f"That is stored already.{why}", title=name, timeout=5 if why else 3, markup=False)
            return
        self.app.labels_given.append(given)
        taken = "both" if given.label or given.line else "it"  # the golden case, and what was labelled
        where = ""
        if given.path:
            where = f" Its golden case is in {from_home(given.path)}; ctrl+z takes {taken} back."
        if given.problem:
            where = f" No golden case was written: {given.problem}."
        self.notify(text + where, title=name, timeout=5 if where else 2, markup=False)
        self.labelled(given.trace_id)
        self.app.post_message(DataChanged())

    def action_approve(self) -> None:
        """Approve the result that the user chose for this trace with the key ``m``."""
        if not (trace_id := self._chosen_id()):
            return
        if wish := self.app.wishes.get(trace_id):
            self.store_approval(trace_id, wish)
        else:
            self.notify("Choose first what it should come out as: m.", severity="warning", timeout=4)

    @work(thread=True, group="trace.label", exit_on_error=False)
    def store_approval(self, trace_id: str, wish: Wish) -> None:
        """Store the result that the user wants for a trace, ``wish``, as its expected result.

        The result is stored in a golden case. A task type is also stored as a label; if a guardrail is to be left out,
        its line is labelled as wrong.
        """
        from workbench.gate import labelling
        from workbench.gate.cases import CasesError
        from workbench.tuning.wishes.wish import WITHOUT, wanted

        unwanted = wish.name if wish.kind == WITHOUT else ""
        try:
            with self.database(drain=False) as db:
                given = labelling.approve(db, trace_id, wanted(db, trace_id, wish), unwanted=unwanted)
                name = prompt_name(db, trace_id)
        except CasesError as error:
            self.notify(str(error), title="Not approved", severity="warning", markup=False)
            return
        note = " The rules do not give that yet: the gate lists it as open." if given.is_open else ""
        self.app.call_from_thread(self._is_stored, given, f"Approved: it should be {wish}.{note}", name)

    def action_take_back(self) -> None:
        """Undo the last label that was given since the start of the app, together with its golden case."""
        if self.app.labels_given:
            self.remove_label(self.app.labels_given.pop())
        else:
            other = " f9 takes the last save of instructions back." if self.app.saves else ""
            self.notify(f"There is no label of this app left to take back.{other}", timeout=3)

    @work(thread=True, group="trace.label", exit_on_error=False)
    def remove_label(self, given: Given) -> None:
        """Delete a label, and put its golden case back into its earlier state."""
        from workbench.gate import labelling

        with self.database(drain=False) as db:
            labelling.take_back(db, given)
        other = " f9 takes the last save of instructions back." if self.app.saves else ""
        self.notify(f"The last label was taken back.{other}", timeout=5 if other else 3)
        self.app.post_message(DataChanged())

    def action_make(self) -> None:
        """Ask which result the trace should have had, and search for edits that lead to it."""
        if self._chosen_id():
            self.find_wishes(*self.chosen())

    @work(thread=True, exclusive=True, group="trace.types", exit_on_error=False)
    def find_wishes(self, trace_id: str, now: str) -> None:
        """Ask which result the user wants: another task type, one guardrail more or fewer, or no added text at all.

        ``now`` is the recorded task type of the trace.
        """
        from enricher.interfaces.api import rules_for
        from enricher.interfaces.cli.trace.trace import task_types
        from workbench.tuning.wishes.wish import GUARDRAIL, SILENT, WITHOUT, Wish

        rules = rules_for(here())[0].body["guardrails"]["rules"]
        titles = {str(identity): str(title) for identity, title, *_ in rules}
        with self.database(drain=False) as db:
            trace: dict[str, Any] = queries.show(db, trace_id)
        shown = [str(one["guardrail_id"]) for one in trace["guardrails"]]
        others = [
            Answer(f"{WITHOUT} {name}", f"without {name} {titles.get(name, '')}", key=str(number))
            for number, name in enumerate(shown, 1)
        ]
        others += [Answer(SILENT, SILENT, key=SILENT_KEY)]
        others += [Answer(f"{GUARDRAIL} {name}", f"{name} {titles[name]}") for name in titles if name not in shown]
        types = task_types()

        def answered(answer: str) -> None:
            kind, _, name = answer.partition(" ")
            wish = Wish("task_type", answer) if answer in types else Wish(kind, name)
            self.app.wishes[trace_id] = wish
            self.open_on_top("make", trace_id, wish)

        self.ask_from_thread(class_picker(types, now=now, others=others), answered)

    def action_why(self) -> None:
        """Show why the trace has this result."""
        if self._chosen_id():
            self.open_on_top("why", *self.chosen())

    def action_choose_class(self) -> None:
        """Ask for the correct task type."""
        if self._chosen_id():
            self.find_task_types(*self.chosen())

    @work(thread=True, exclusive=True, group="trace.types", exit_on_error=False)
    def find_task_types(self, trace_id: str, now: str) -> None:
        """Read the task types of the rules in force, and ask which is correct; ``now`` is the trace's recorded one."""
        from enricher.interfaces.cli.trace.trace import task_types

        chooser = class_picker(task_types(), now=now)
        self.ask_from_thread(chooser, partial(self.store_label, trace_id))

    def action_choose_workflow(self) -> None:
        """Ask which workflow the trace should have."""
        if trace_id := self._chosen_id():
            self.find_workflows(trace_id)

    @work(thread=True, exclusive=True, group="trace.types", exit_on_error=False)
    def find_workflows(self, trace_id: str) -> None:
        """Read the workflows of the rules in force, and ask which of them the trace should have."""
        from enricher.interfaces.api import rules_for

        with self.database(drain=False) as db:
            now = str(queries.show(db, trace_id)["workflow"] or "")
        names = [name for name, _types in rules_for(here())[0].body["workflows"]["rules"]]
        answers = [Answer(name, name, "as it is" * (name == now)) for name in names]
        picker = Picker("Which workflow should it have?", answers, now=now)
        self.ask_from_thread(picker, partial(self.store_workflow, trace_id))

    @work(thread=True, group="trace.label", exit_on_error=False)
    def store_workflow(self, trace_id: str, name: str) -> None:
        """Write a golden case (a test of future rules) that expects the workflow ``name`` for the trace's prompt."""
        from workbench.gate import labelling
        from workbench.gate.cases import CasesError

        try:
            with self.database(drain=False) as db:
                path = labelling.file_of_case(db, trace_id)
                given = labelling.expect_workflow(db, trace_id, name, path=path)
                prompt = prompt_name(db, trace_id)
        except CasesError as error:
            self.notify(str(error), title="Not written", severity="warning", markup=False)
            return
        self.app.call_from_thread(self._is_stored, given, f"Its workflow should be {name}.", prompt)

    def action_judge_line(self) -> None:
        """Ask which line of the text that was added to the prompt was wrong."""
        if trace_id := self._chosen_id():
            self.read_lines(trace_id)

    @work(thread=True, exclusive=True, group="trace.lines", exit_on_error=False)
    def read_lines(self, trace_id: str) -> None:
        """Read the lines that were added to the prompt, with their labels, and ask which of them was wrong."""
        with self.database(drain=False) as db:
            lines = line_labels.lines(queries.show(db, trace_id))
            judged = line_labels.of_trace(db, trace_id)
        wrong = {number for number, label in judged.items() if label.verdict == line_labels.WRONG}
        if not lines:
            self.notify("Nothing was added to it, or its text was not stored.", severity="warning", timeout=4)
            return

        def answered(number: str) -> None:
            self.store_line_label(trace_id, int(number), is_wrong=int(number) not in wrong)

        note = "called wrong: enter takes it back"
        answers = [Answer(str(one.number), one.text, note * (one.number in wrong)) for one in lines]
        self.ask_from_thread(Picker("Which line was wrong?", answers), answered)

    @work(thread=True, group="trace.label", exit_on_error=False)
    def store_line_label(self, trace_id: str, number: int, *, is_wrong: bool) -> None:
        """Label the line ``number`` of the added text as wrong, or delete that label."""
        from workbench.gate import labelling

        given = labelling.Given(trace_id, None, line=number)
        with self.database(drain=False) as db:
            if is_wrong:
                labelling.judge_line(db, trace_id, number, line_labels.WRONG)
                self.app.labels_given.append(given)
            else:
                labelling.take_back(db, given)
                self.app.labels_given = [one for one in self.app.labels_given if one != given]
        state = "counts as wrong; ctrl+z takes that back" if is_wrong else "has no label any more"
        self.notify(f"Line {number} {state}.", timeout=3)
        self.app.post_message(DataChanged())

    def action_replay(self) -> None:
        """Show the recorded result of the trace next to its result under today's rules."""
        if trace_id := self._chosen_id():
            self.app.post_message(OpenCompare(trace_id))

    def action_edit(self) -> None:
        """Open the instructions file that the app was started with, or the topmost layer, in the user's own editor."""
        self.edit_elsewhere(self.app.instructions or _file_to_edit())

    def _published(self) -> str:
        base = os.environ.get(PUBLISHED) or addresses.known(self.app.state_dir)
        return base.rstrip("/")

    def action_open_published(self) -> None:
        """Open the trace in a browser, in the published history."""
        if not (trace_id := self._chosen_id()):
            return
        if base := self._published():
            self.app.open_url(f"{base}{TRACE_PATH}{trace_id}")
            self.notify(f"Opened {base}{TRACE_PATH}{trace_id[:14]}…", timeout=3, markup=False)
        else:
            self._notify_publishing()

    def action_copy(self, what: str) -> None:
        """Copy the field ``what`` of the trace (see ``COPIED``) to the clipboard, through the terminal (OSC 52)."""
        if trace_id := self._chosen_id():
            self.read("copy", lambda db: queries.show(db, trace_id)[what] or "", partial(self._copied, COPIED[what]))

    def _copied(self, what: str, text: str) -> None:
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"{what} is in the clipboard.", timeout=2)
        else:
            self.notify(f"{what} is empty: nothing was copied.", severity="warning", timeout=4)

    def action_copy_url(self) -> None:
        """Copy the address of the trace in the published history, or only the trace id if no server is known."""
        if not (trace_id := self._chosen_id()):
            return
        base = self._published()
        self.app.copy_to_clipboard(f"{base}{TRACE_PATH}{trace_id}" if base else trace_id)
        if base:
            self.notify("Its address is in the clipboard.", timeout=2)
        else:
            self._notify_publishing("The trace's id is in the clipboard. ")

    def _notify_publishing(self, before: str = "") -> None:
        hint = f"No enricher publish runs here: start it, or set {PUBLISHED}, like http://127.0.0.1:8001"
        self.notify(before + hint, severity="warning", timeout=8, markup=False)


def prompt_name(db: sqlite3.Connection, trace_id: str) -> str:
    """Return the first words of a recorded prompt in quotation marks, or its id if its text was not stored."""
    words = one_line(str(queries.show(db, trace_id)["prompt"] or ""))
    return f"«{cut(words, LONGEST_NAME)}»" if words else trace_id


def _file_to_edit() -> str:
    """Return the path of the instructions file (layer) that overrides all others and that can be edited.

    If there is none, return the path of the user's own layer, which does not exist yet.
    """
    own = [layer.path for layer in find_layers(here()).instructions if layer.name not in ("packaged", HEURISTICS)]
    return own[-1] if own else os.path.join(config_dir(), "instructions.md")
