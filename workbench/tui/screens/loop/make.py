"""The screen of proposed edits: the smallest ones that make a prompt come out as wished, and what else each changes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from enricher.home import from_home
from workbench.edits.progress import headline
from workbench.replay.corpus import opened
from workbench.replay.rulesets.compared_rules import SideError
from workbench.tui.messages import OpenTrace, TakeEdit
from workbench.tui.panes.blast_view import ChangeLines
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.lists.cursor_view import ends
from workbench.tui.widgets.lists.line_list import Group, Line, LineList, group_moves
from workbench.tui.workers import processes
from workbench.tui.working_folder import here
from workbench.tuning.wishes.search import Edit, edits_for
from workbench.tuning.wishes.wish import FulfilledError, target_files

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tuning.wishes.wish import Wish

SEARCHING = "Searching, and replaying every prompt under each edit …"
MOST_LISTED = 200
STILL_UNCERTAIN = "the task type wins, but stays too uncertain to have an effect"
NOTHING = "No single edit of the instructions does that: no weight, and no phrase of the prompt."


@dataclass
class Proposed(Message):
    """An edit was found by the search for the layer ``path``; None means that it is over, for a reason if it failed."""

    edit: Edit | None
    path: str
    reason: str = ""


class EditList(LineList, inherit_bindings=False):
    """The proposed edits; enter takes the edit of the line, space folds."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *group_moves(choose="Take the edit", fold="What it changes"),
        *ends("edits", first="To the first edit", last="To the last line"),
    ]

    @dataclass
    class Taken(Message):
        """The user took an edit."""

        edit: Edit

    def action_choose(self) -> None:
        """Take the edit of the line; on a prompt that an edit changes, open that prompt."""
        line = self.current
        if line is not None and isinstance(line.value, Edit):
            self.post_message(self.Taken(line.value))
        else:
            super().action_choose()


class MakeScreen(WorkbenchScreen):
    """Edits that make one prompt come out as wished."""

    PLACE = "make"
    HELP = """\
Single edits that make the prompt come out as you wished, those that change the fewest points first. Each is compiled
and replayed over all recorded prompts; the prompts that it changes are below it. An edit that changes `this prompt
alone` mends this wording only; one that changes prompts which were wrong in the same way mends more.

`p` puts new phrases into another layer: your own counts for you in every project, the project's for everybody who works
there, and is what the gate judges.

`enter` on an edit puts it into the instructions, not saved yet; on a prompt it shows that prompt.
"""
    DEFAULT_CSS = """
    MakeScreen {
        #wish { height: auto; max-height: 3; padding: 0 1; background: $panel; }
        #edits { height: 1fr; padding: 0 0 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "layer", "Layer", id="make.layer", tooltip="Put new phrases into another layer"),
        Binding("escape", "back", "Back", id="make.back", key_display="esc"),
    ]

    def __init__(self, trace_id: str, wish: Wish, *, place: str) -> None:
        super().__init__()
        self._trace_id, self._wish = trace_id, wish
        self.bar_place = place
        self._edits: list[Edit] = []
        self._layers = target_files(here(), given=self.app.instructions)

    def compose_body(self) -> ComposeResult:
        yield Static("", id="wish", markup=False)
        yield EditList(id="edits")

    def on_mount(self) -> None:
        self.list.focus()
        self._search()

    @property
    def list(self) -> EditList:
        """The proposed edits."""
        return self.query_one(EditList)

    def _tell(self, note: str) -> None:
        into = f"New phrases go into {from_home(self._layers[0])}"
        self.query_one("#wish", Static).update(f"It should be: {self._wish}\n{into}\n{note}")

    def _search(self) -> None:
        self._edits = []
        self.list.show([])
        self._tell(SEARCHING)
        self.search(self._layers[0])

    def action_layer(self) -> None:
        """Search again, with new phrases in the next layer that can take them."""
        self._layers = [*self._layers[1:], self._layers[0]]
        self._search()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key for the layer if there is only one."""
        del parameters
        return action != "layer" or len(self._layers) > 1

    @work(thread=True, exclusive=True, group="make.search", exit_on_error=False)
    def search(self, path: str) -> None:
        """Find the edits with new phrases in the layer at ``path``, and post them one by one."""
        worker = get_current_worker()
        processes.allow()
        try:
            with opened(self.app.state_dir) as corpus:
                for edit in edits_for(
                    corpus,
                    self._trace_id,
                    self._wish,
                    state_dir=self.app.state_dir,
                    path=path,
                    cwd=here(),
                    edited=dict(self.app.edited),
                    should_stop=lambda: worker.is_cancelled,
                ):
                    self.post_message(Proposed(edit, path))
            self.post_message(Proposed(None, path))
        except FulfilledError as error:
            self.post_message(Proposed(None, path, f"{error}; press a on the prompt to approve it"))
        except SideError as error:
            self.post_message(Proposed(None, path, str(error)))

    @on(Proposed)
    def _proposed(self, message: Proposed) -> None:
        if message.path != self._layers[0]:
            return  # of an earlier search
        if message.edit is not None:
            self._edits.append(message.edit)
            groups = [_group(one, self._trace_id) for one in self._edits]
            self.list.show(groups, opened=[groups[0].head.key])
            self._tell(f"{len(self._edits)} found. {SEARCHING}")
        else:
            done = f"{len(self._edits)} edits, those of fewest points first" if self._edits else NOTHING
            self._tell(message.reason or done)

    @on(EditList.Taken)
    def _taken(self, message: EditList.Taken) -> None:
        edit = message.edit
        self.app.post_message(TakeEdit(edit.path, edit.text, edit.line, edit.title))
        self.dismiss()

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        self.app.post_message(OpenTrace(message.line.key))

    def action_back(self) -> None:
        """Close this screen."""
        self.dismiss()


def _group(edit: Edit, trace_id: str) -> Group:
    figures = edit.figures
    others = [one for one in figures.changes if one.prompt.id != trace_id]
    standing = figures.label_results
    bad = f", {len(standing.regressed)} approved regress" if standing and standing.regressed else ""
    narrow = "this prompt alone" if not others else f"and {len(others):,} other{'s' * (len(others) != 1)}"
    right = f"{narrow}{bad}"
    place = f"{os.path.basename(edit.path)}:{edit.line} of {from_home(os.path.dirname(edit.path))}"
    changes = ChangeLines(others[:MOST_LISTED], standing.regressed if standing else (), {}, right_text=True)
    lines = [
        Line(f"{edit.title} · place", place, "", "muted", edit),
        Line(f"{edit.title} · effect", headline(figures), str(figures.verdict), "muted", edit),
        *([] if edit.is_told else [Line(f"{edit.title} · doubt", STILL_UNCERTAIN, "", "error", edit)]),
        *changes,
    ]
    return Group(Line(edit.title, edit.title, right, "plain" if edit.is_told else "muted", edit), lines)
