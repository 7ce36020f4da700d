"""The Instructions screen: an instructions file in an editor, and what the edit changes for the recorded prompts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from enricher.home import from_home
from enricher.rules.compiling.document import Problem
from storage.evaluation import corpus
from workbench.coverage.why import line_now
from workbench.edits import instructions_file as files
from workbench.edits import live
from workbench.edits.instructions_file import outline
from workbench.replay.compare import Change
from workbench.replay.rulesets.compared_rules import RECORDED
from workbench.tui.messages import OpenCompare, OpenInstructions, OpenTrace, TakeEdit, TakeSaveBack
from workbench.tui.panes import blast_view
from workbench.tui.screens.base import counts_key
from workbench.tui.screens.editing.open_file import UNSAVED, clock
from workbench.tui.screens.editing.replaying import ReplayingScreen
from workbench.tui.state import here
from workbench.tui.widgets.dialogs import Answer, Picker
from workbench.tui.widgets.editor import InstructionsEditor
from workbench.tui.widgets.editor_pane import EditorPane
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.search_bar import FilterBar
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.message import Message

    from workbench.tui.messages import Counted
    from workbench.tui.widgets.lists.line_list import Group

AFTER_TYPING_S = 0.25
"""Seconds without typing after which the unsaved text is stored as a draft and replayed."""
VERSIONS_OFFERED = 12  # the newest ones; enricher replay --base takes any
SHORT = 10
NARROW_LIST, WIDE_LIST = 44, 90
"""Widths of the list, in columns, from which the line of a changed prompt shows more than the prompt.

From ``NARROW_LIST`` on, it also shows what changed, and from ``WIDE_LIST`` on, the edited line that caused it.
"""


class InstructionsScreen(ReplayingScreen):
    """A screen with an instructions file in an editor, and the effect of the edit next to it."""

    PLACE = "instructions"
    AUTO_FOCUS = "#lines"
    HELP = """\
Edit the instructions; while you type, all recorded prompts are replayed under what you typed, and compared with the
file **as this app opened it** or, once a proposal is added to a file saved since, as it was saved. The base, at the
top right, says which, and when (`b` chooses another: what was recorded, the last commit, a stored version).

`identical` nothing changes · `changed` so many prompts come out otherwise · `regressed` an approved case comes out
otherwise · `inconclusive` the labels are too few to tell. "Of 100 like these" is the 95 % interval, sessions
resampled. The gate compares with the last commit instead: where this edit would close it, a line says so.

While `enricher check` would find an error there is no verdict but the number of errors; `f8` goes to them.

In the text, `ctrl+f` finds words, `ctrl+l` goes to a line or rule, `f3` to the next match.
`enter` opens a change on both sides, goes to the line of a problem or heading. `✗` marks an approved case.
`#`, or a click on the figures, lists the prompts behind any number.
What the channels found is taken from the record; where other rules would have asked something else: context unknown.
"""
    DEFAULT_CSS = """
    InstructionsScreen {
        #file { height: 1; background: $surface; }
        #name { width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #base { width: auto; padding: 0 1; color: $text-muted; }
        #summary {
            height: auto; min-height: 3; max-height: 8; padding: 0 1; background: $panel;
        }
        #split { height: 1fr; }
        #right { width: 1fr; }
        #lines { height: 1fr; padding: 0 0 0 1; }
        &.-wide #right { border-left: solid $panel; }
        &.-narrow EditorPane { display: none; }
        &.-narrow.-editing EditorPane { display: block; }
        &.-narrow.-editing #right { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "edit", "Edit", id="instructions.edit"),
        Binding("ctrl+s", "save", "Save", id="instructions.save"),
        Binding("b", "base", "Base", id="instructions.base", tooltip="Compare with another base"),
        Binding("f", "file", "File", id="instructions.file", tooltip="Work on another instructions file"),
        Binding("slash", "filter", "Filter", id="instructions.filter", key_display="/"),
        Binding("K", "keep", "Keep", id="instructions.keep", tooltip="Keep this run for the published history"),
        Binding("t", "trace", "Trace", id="instructions.trace", tooltip="Show the trace of the change"),
        Binding("a", "approve", "How to approve a change", id="instructions.approve", show=False),
        Binding("e", "external", "Open in your editor", id="instructions.external", show=False),
        Binding("ctrl+r", "revert", "Take back to what is on the disk", id="instructions.revert", show=False),
        counts_key("instructions"),
        Binding("f8", "problem", "Next problem", id="instructions.problem", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()
        self._visited: str | None = None  # the editor's text when another screen sent the user to one of its lines

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="file"):
            yield Static("", id="name", markup=False)
            yield Static("", id="base", markup=False)
        yield Static("", id="summary")
        with Horizontal(id="split"):
            yield EditorPane()
            with Vertical(id="right"):
                yield FilterBar()
                yield LineList(id="lines")

    def on_mount(self) -> None:
        self._base = self.recall("base", live.OPENED)
        self.select(self.recall("filter", ""))
        self.bar.show_result("" if self._text else "all prompts")
        remembered = self.recall("file", "")
        self.open_file(self.app.instructions or (remembered if os.path.isfile(remembered) else files.nearest(here())))

    @property
    def lines(self) -> LineList:
        """Return the widget that lists the file's problems, the changed prompts, and the headings of the file."""
        return self.query_one("#lines", LineList)

    def opened(self, message: Message) -> None:
        if isinstance(message, TakeSaveBack):
            (self.action_save_again if message.is_again else self.action_take_save_back)()
        if not isinstance(message, (OpenInstructions, TakeEdit)):
            return
        path = os.path.abspath(message.path) if message.path else self._path
        if path != self._path:
            self.open_file(path)
        if path != self._path:  # an unsaved edit keeps its file open
            return
        if isinstance(message, TakeEdit):
            self._take_edit(message)
        elif message.line:
            self.editor.go_to(line_now(message.line, message.before, self.editor.text))
            self.action_edit()
            self._visited = self._buffer

    def _take_edit(self, edit: TakeEdit) -> None:
        if not self.is_unsaved and self._session is not None and self._session.opened != self._disk:
            # so that the figures leave out edits that were saved before
            self.new_session(self._disk, f"as saved at {self._disk_since}")
        self.editor.show_text(edit.text, line=edit.line, can_undo=True)
        self.editor.scroll_cursor_visible(center=True)
        self.remove_class("-editing")
        self.lines.focus()
        self.notify(f"{edit.title}: not saved yet, ctrl+s saves it, escape goes back.", timeout=6, markup=False)

    def open_file(self, path: str) -> None:
        """Open another file; if the open file has unsaved edits, keep it open and tell the user how to proceed."""
        if self._path and self.is_unsaved:
            self.notify(UNSAVED, severity="warning", timeout=5)
            return
        try:
            text = files.read(path)
        except files.FileError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        is_same = path == self.recall("file", "")
        self._path = path
        self._figures = self._shown = None
        self._problems, self._causes, self._broken = (), {}, ""
        self.show_text(text, line=self.recall("line", 1) if is_same else 1)
        self.show_figures()
        self.editor.scroll_cursor_visible(center=True)
        self.remember(file=path)
        self.watch_file()
        self.new_session(text, f"as opened at {self._disk_since}")
        self.offer_drafts()

    def show_figures(self) -> None:
        """Redraw the figures of the replay, the problems, the changed prompts and the outline of the file."""
        summary = blast_view.summary(self._shown, wait="Compiling…", broken=self._broken, gate=self._gate.reasons)
        self.query_one("#summary", Static).update(summary)
        self.editor.show_problems([one.line for one in self.own_problems])
        problems = blast_view.problem_group(self._problems, self._path)
        width = self.size.width if self.has_class("-narrow") else self.size.width // 2  # the editor has the other half
        causes = self._causes if width >= WIDE_LIST else {}
        groups = [problems] if problems else []
        if self._shown is not None:
            has_room = width >= NARROW_LIST
            groups += blast_view.change_groups(self._shown, self._groups, causes, with_effect=has_room)
        groups.append(blast_view.outline_group(outline(self.editor.text)))
        self.lines.show(groups, opened=self._to_open(groups))
        if self._shown is not None:
            self.bar.show_result(counted(self._shown.prompts, "prompt"))

    def _to_open(self, groups: Sequence[Group]) -> list[str]:
        """Return the keys of the groups of lines to expand now, except for those that were expanded before.

        The group of problems is always to be expanded, a group of changed prompts if it is complete and has few lines,
        and any other group as long as few prompts have changed.
        """
        is_complete = self._shown is None or self._shown.is_complete  # before that, groups still grow
        is_short = self._shown is None or len(self._shown.changes) <= blast_view.FEW_CHANGES

        def opens(group: Group) -> bool:
            if group.head.key.startswith("kind "):
                return is_complete and len(group.lines) <= blast_view.FEW_CHANGES
            return is_short or group.head.key == "problems"

        new = [one.head.key for one in groups if opens(one) and one.head.key not in self._seen]
        self._seen.update(new)
        return new

    def show_file(self) -> None:
        """Show the file's name, whether it is saved, and the base, the version with which the edit is compared."""
        layer = files.layer_of(self._path, here())
        state = "● unsaved  " if self.is_unsaved else ""
        if self._news is not None:
            state = "! changed on the disk (^r reads it, ^s asks)  "
        elif files.saves_as_layer(self._path, here()):
            state += "read only (^s saves a layer)  "
        elif files.objection(self._path, here()):
            state += "read only  "
        elif not os.path.exists(self._path):
            state += "not there yet (^s makes it)  "
        name = Content.assemble(
            (f"{layer}  " if layer else "", "$text-muted"), (state, "bold $warning"), (from_home(self._path), "bold")
        )
        self.query_one("#name", Static).update(name)
        self.query_one("#base", Static).update(f"base: {self._describe_base()}")

    def _describe_base(self) -> str:
        if self._base == live.OPENED:
            return self._session.opened_as if self._session else ""
        return self._base if self._base in (RECORDED.label, live.HEAD) else f"version {self._base}"

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._buffer = self.editor.text
        self.note_edit()
        self.show_file()
        self.debounce("typing", AFTER_TYPING_S, self._paused)

    def _paused(self) -> None:
        self.keep_draft()
        self.begin()

    @on(InstructionsEditor.Left)
    def _left(self) -> None:
        self.remember(line=self.editor.line)
        if self.app.can_go_back and self._visited == self._buffer:  # nothing was changed here
            self.app.go_back()
        self.remove_class("-editing")
        self.lines.focus()

    def moved(self, path: str, before: str) -> None:
        self.remember(file=path)
        self.new_session(before, f"as it was before the save at {clock()}")

    def action_edit(self) -> None:
        """Move the focus to the editor at once, so that keys typed right after the command reach it."""
        self.add_class("-editing")
        self.app.stylesheet.update(self)  # in a narrow window, what is hidden cannot have the focus
        self.set_focus(self.editor)

    def on_descendant_focus(self) -> None:
        self.set_class(self.query_one(EditorPane).has_pseudo_class("focus-within"), "-editing")

    # File and base of the comparison

    @work(thread=True, exclusive=True, group="instructions.files", exit_on_error=False)
    def action_file(self) -> None:
        """Ask for the instructions file to edit: a layer that applies here, or a file that such a layer names."""
        found = [*files.choices(here(), given=self.app.instructions), *files.named_files(here())]
        answers = []
        for one in found:
            note = "read only" if one.objection else "" if one.exists else "not there yet"
            answers.append(Answer(one.path, f"{one.layer:<9} {from_home(one.path)}", note))
        self.ask_from_thread(Picker("Which instructions?", answers, now=self._path), self._take_file)

    def _take_file(self, path: str) -> None:
        if path != self._path:
            self.open_file(path)

    @work(thread=True, exclusive=True, group="instructions.bases", exit_on_error=False)
    def action_base(self) -> None:
        """Ask for the base with which the edit is compared, such as the last commit or a recorded version."""
        with self.database(drain=False) as db:
            versions = corpus.versions(db)[:VERSIONS_OFFERED]
        answers = [
            Answer(live.OPENED, self._session.opened_as if self._session else "", "what your edit does"),
            Answer(RECORDED.label, "recorded", "what was said then"),
            Answer(live.HEAD, "HEAD", "the last commit of this file"),
            *(
                Answer(name[:SHORT], f"version {name[:SHORT]}", counted(prompts, "prompt"))
                for name, prompts, _newest in versions
            ),
        ]
        self.ask_from_thread(Picker("Compare with", answers, now=self._base), self._take_base)

    def _take_base(self, base: str) -> None:
        if base != self._base and self._session is not None:
            self._base = base
            self.remember(base=base)
            self.new_session(self._session.opened, self._session.opened_as)

    def action_filter(self) -> None:
        """Move the focus to the filter."""
        self.remove_class("-editing")
        super().action_filter()

    def filter_changed(self) -> None:
        if self._session is not None:
            self.new_session(self._session.opened, self._session.opened_as)

    def focus_list(self) -> None:
        self.lines.focus()

    def counts(self) -> list[Counted]:
        return blast_view.counts(self._shown, self._text) if self._shown else []

    # Actions on a line

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        line = message.line
        if isinstance(line.value, Problem):
            self._go_to_problem(line.value)
        elif place := getattr(line.value, "line", 0):
            self.editor.go_to(place)
            self.action_edit()
        elif line.value is not None:
            self.app.post_message(OpenCompare(line.key, is_of_last_run=True))

    def action_problem(self) -> None:
        """Go to the next problem after the cursor; if there is none, to the first problem of the file.

        If this file has no problem, go to a problem in another file.
        """
        own = sorted(self.own_problems, key=lambda one: one.line)
        after = [one for one in own if one.line > self.editor.line]
        if problem := next(iter([*after, *own, *self._problems]), None):
            self._go_to_problem(problem)
        else:
            self.notify("There is no problem.", timeout=2)

    def _go_to_problem(self, problem: Problem) -> None:
        if problem not in self.own_problems:
            self.open_file(os.path.abspath(problem.file))
        if os.path.abspath(problem.file) == self._path:  # an unsaved edit keeps its file open
            self.editor.go_to(problem.line)
            self.action_edit()

    def action_trace(self) -> None:
        """Show the trace of the changed prompt under the cursor."""
        change = self._change()
        if change is not None:
            self.app.post_message(OpenTrace(change.prompt.id))

    def action_approve(self) -> None:
        """Tell the user how to approve the changed prompt under the cursor, as this screen itself cannot do it."""
        change = self._change()
        if change is None:
            return
        wish = self.app.wishes.get(change.prompt.id)
        steps = [
            *(["ctrl+s saves the edit"] if self.is_unsaved else []),
            "t shows this prompt",
            f"there a approves that it should be {wish}"
            if wish
            else "there m chooses what it should be, a approves it",
        ]
        self.notify(f"In this order: {', '.join(steps)}.", title="Not approved here", timeout=8, markup=False)

    def _change(self) -> Change | None:
        line = self.lines.current
        if line is not None and isinstance(line.value, Change):
            return line.value
        self.notify("Choose a changed prompt first.", severity="warning", timeout=3)
        return None
