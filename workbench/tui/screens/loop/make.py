"""The screen that proposes small edits of the instructions to give a prompt the result that the user wants."""

from __future__ import annotations

import os
from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from enricher.home import from_home
from enricher.rules.layers import packaged_file
from storage.traces import queries
from workbench.edits import instructions_file as files
from workbench.replay.compare import Change
from workbench.replay.corpus import opened
from workbench.replay.rulesets.compared_rules import SideError
from workbench.tui.messages import Replaceable, TakeEdit
from workbench.tui.panes.blast_view import ChangeLines
from workbench.tui.screens.base import WorkbenchScreen, allow_processes
from workbench.tui.screens.editing.saving import MEANING
from workbench.tui.state import here
from workbench.tui.widgets.lists.cursor_view import ends
from workbench.tui.widgets.lists.line_list import Group, LineList, ListLine, group_moves
from workbench.tuning.wishes.search import Edit, edits_for, files_for
from workbench.tuning.wishes.wish import FulfilledError, target_files
from workbench.views.blast_radius import headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult

    from workbench.tui.screens.base import ShouldStop
    from workbench.tuning.wishes.wish import Wish

SEARCHING = "Replaying every prompt under each edit …"
MOST_LISTED = 200
"""At most this many changed prompts are listed below each proposed edit; the edit's own line shows their number."""
LONE = "only this prompt has the words"
STILL_UNCERTAIN = "the task type wins, but stays too uncertain to have an effect"
NOTHING = "No single edit of the instructions does that: no weight, no floor and no phrase."
SHORT = {"user": "own layer", "project": "project's layer", "package": "package's layer", "aops": "$AOPS layer"}
PACKAGED = "packaged file"
MEANINGS = {
    **MEANING,
    "packaged": (PACKAGED, "counts for everybody, in every project, with the next release"),
    "package": ("the layer of this package", "counts for everybody who works in it; the gate does not judge it"),
    "aops": ("the layer in $AOPS", "counts for you, in every project; the gate does not judge it"),
}
UNSAVED = "In the editor (2), not saved yet: {}"
ELSEWHERE = "The prompt was typed in {}{}: this project's layer does not count for it"
COPIED = "ctrl+s asks which layer takes it, with a copy of the whole rule"


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the search; ``reason`` is the error that ended it, empty if there was none."""

    reason: str = ""


@dataclass
class Tried(Replaceable):
    """Sent when the search is about to try another candidate: ``count`` of ``total`` were tried before.

    ``path`` is the instructions file in which the search puts new phrases.
    """

    path: str
    count: int
    total: int


class EditList(LineList, inherit_bindings=False):
    """The list of proposed edits; enter puts the selected edit into the editor, and space folds its details.

    The cursor moves from edit to edit; once it is in the details of one (``right``), it moves from line to line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *group_moves(choose="Take the edit", fold="What it changes"),
        *ends("edits", first="To the first edit", last="To the last line"),
    ]

    @dataclass
    class Taken(Message):
        """Sent when the user has chosen an edit to put into the editor."""

        edit: Edit

    def action_move(self, rows: int) -> None:
        """Move the cursor to the next (1) or previous (-1) edit, or by a line or page within the details of an edit."""
        target = self.next_heading(rows) if abs(rows) == 1 else None
        super().action_move(rows if target is None else target - self.cursor)

    def action_choose(self) -> None:
        """Choose the edit under the cursor; on the line of a prompt that an edit changes, open that prompt."""
        line = self.current
        if line is not None and isinstance(line.value, Edit):
            self.post_message(self.Taken(line.value))
        else:
            super().action_choose()


class MakeScreen(WorkbenchScreen):
    """A screen with a list of edits, each of which would give one prompt the result that the user wants."""

    PLACE = "make"
    HELP = """\
Single edits that make the prompt come out as you wished. Each is compiled and replayed over all recorded prompts; the
prompts that it changes are listed below it, first those that may come out worse, marked `↓`. Some edits strengthen the
class that you wish for, others weaken the one that won.

The first edits are those that change the fewest other prompts for the worse; a prompt that was in doubt and gets the
wished task type does not count as worse. Among equals, edits come later whose words are an accident of this prompt: no
other prompt has them, or they begin or end with a filler such as `yes`. Next come those that change the fewest prompts
beyond five, then those that mend the most similar prompts, then those with the fewest points.

The file that an edit goes into is named at the right: first that of the project, which counts for everybody who works
there and is what the gate judges. `p` puts what is added into another layer, such as your own, which counts for you in
every project and which the gate does not see; the app keeps to it until it ends. For a prompt that was typed in another
project, the layer of this one is not offered, because it does not count there.

`j` and `k` go from edit to edit, `→` goes into the details of one, and `←` back to its line.
`enter` on an edit puts it into the instructions, not saved yet, where `escape` returns to this list; on a prompt it
shows why that came out so, and `escape` returns to this line.
"""
    DEFAULT_CSS = """
    MakeScreen {
        #wish { height: auto; max-height: 7; padding: 0 1; background: $panel; }
        #edits { height: 1fr; padding: 0 0 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "layer", "Layer", id="make.layer", tooltip="Put what is added into another layer"),
        Binding("escape", "dismiss", "Back", id="make.back", key_display="esc"),
    ]

    def __init__(self, trace_id: str, wish: Wish, *, place: str) -> None:
        super().__init__()
        self._trace_id, self._wish = trace_id, wish
        self.bar_place = place
        self._edits: list[Edit] = []
        self._layers: list[str] = []
        self._elsewhere = ""
        self._in_editor = ""  # the title of the edit that was put into the editor last
        self._saves = 0  # the number of saves at that time

    def compose_body(self) -> ComposeResult:
        yield Static("", id="wish", markup=False)
        yield EditList(id="edits")

    def on_mount(self) -> None:
        self.list.focus()
        self.in_thread("layers", lambda _should_stop: [self._possible_layers()], self._take_layers)

    def on_screen_resume(self) -> None:
        """Close this screen if an edit was saved since one was taken from here; otherwise say that it is unsaved."""
        super().on_screen_resume()
        if not self._in_editor or not self.is_current:  # the key of a main screen has closed this one already
            return
        if len(self.app.saves) > self._saves:
            self.dismiss()
        elif self.app.edited:
            self._show_wish(UNSAVED.format(self._in_editor))

    def gated_trace(self) -> str:
        return self._trace_id

    @property
    def list(self) -> EditList:
        """Return the list of proposed edits."""
        return self.query_one(EditList)

    def _show_wish(self, note: str) -> None:
        into, *others = self._layers
        name, meaning = MEANINGS.get(files.layer_of(into, here()), ("", ""))
        lines = [f"It should be: {self._wish}", f"What is added goes into {from_home(into)}"]
        if meaning:
            lines.append(f"{name}: {meaning}")
        if self._elsewhere:
            is_gone = not os.path.isdir(self._elsewhere)
            lines.append(ELSEWHERE.format(from_home(self._elsewhere), ", which is gone" * is_gone))
        if others:
            other, known = MEANINGS.get(files.layer_of(others[0], here()), ("", ""))
            meant = f" ({other}; {known.rpartition('; ')[2]})" if other else ""
            lines.append(f"p: into {from_home(others[0])}{meant}")
        self.query_one("#wish", Static).update("\n".join([*lines, note]))

    def _search(self) -> None:
        self._edits = []
        self.list.show([])
        self._show_wish(SEARCHING)
        path = self._layers[0]
        self.in_thread("search", lambda should_stop: self._found(path, should_stop), self._take)

    def _possible_layers(self) -> tuple[Sequence[str], str]:
        """Return the instructions files into which an edit for this prompt can be written.

        If a file of this project is not among them, also return the folder in which the prompt was typed.
        """
        paths = target_files(here(), given=self.app.instructions, chosen=self.app.layer_chosen)
        with opened(self.app.state_dir) as corpus:
            layers = files_for(corpus, self._trace_id, paths)
            cwd = str(queries.show(corpus.db, self._trace_id)["cwd"])
        return layers, "" if set(paths) <= {*layers} else cwd

    def _take_layers(self, found: tuple[Sequence[str], str]) -> None:
        layers, self._elsewhere = found
        self._layers = [*layers]
        self.refresh_bindings()
        self._search()

    def action_layer(self) -> None:
        """Search again, putting new phrases and minimum scores into the next instructions file (layer)."""
        self._layers = [*self._layers[1:], self._layers[0]]
        self.app.layer_chosen = self._layers[0]
        self._search()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key for choosing a layer if there is only one."""
        del parameters
        return action != "layer" or len(self._layers) > 1

    def _found(self, path: str, should_stop: ShouldStop) -> Iterator[Edit | Ended]:
        """Search for edits, and yield each as soon as it is found; new phrases go into the file ``path``."""
        allow_processes()
        try:
            with opened(self.app.state_dir) as corpus:
                yield from edits_for(
                    corpus,
                    self._trace_id,
                    self._wish,
                    state_dir=self.app.state_dir,
                    path=path,
                    cwd=here(),
                    edited=dict(self.app.edited),
                    should_stop=should_stop,
                    report=lambda tried, of: self.post_message(Tried(path, tried, of)),
                )
            yield Ended()
        except FulfilledError as error:
            yield Ended(f"{error}; press a on the prompt to approve it")
        except SideError as error:
            yield Ended(str(error))

    def _take(self, found: Edit | Ended) -> None:
        if isinstance(found, Edit):
            insort(self._edits, found, key=lambda one: one.order)
        groups = [_group(one, self._trace_id) for one in self._edits]
        if isinstance(found, Edit):
            self.list.show(groups)
        else:
            # If the user has moved the cursor or unfolded something, the visible lines stay.
            is_untouched = not (self.list.cursor or self.list.opened)
            self.list.show(groups, opened=[one.head.key for one in groups[:1] if is_untouched])
            count = f"{len(groups)} edit{'s' * (len(groups) != 1)}"
            done = f"{count}, first those that change the fewest other prompts for the worse" if groups else NOTHING
            self._show_wish(found.reason or done)

    @on(Tried)
    def _tried(self, message: Tried) -> None:
        if message.path == self._layers[0]:
            found = f"{message.count} of {message.total} tried, {len(self._edits)} found. "
            self._show_wish(f"{found if message.count else ''}{SEARCHING}")

    @on(EditList.Taken)
    def _taken(self, message: EditList.Taken) -> None:
        edit = message.edit
        self._in_editor, self._saves = edit.title, len(self.app.saves)
        self.app.post_message(TakeEdit(edit.path, edit.text, edit.line, edit.title))

    @on(LineList.Chosen)
    def _chosen(self, message: LineList.Chosen) -> None:
        change = message.line.value
        if isinstance(change, Change):
            self.open_on_top("why", change.prompt.id, change.before.task_type)


def _group(edit: Edit, trace_id: str) -> Group:
    figures = edit.figures
    others = [one for one in figures.changes if one.prompt.id != trace_id]
    others.sort(key=lambda one: one.prompt.id not in edit.worse_ids)
    results = figures.label_results
    bad = f", {len(results.regressed)} approved regress" if results and results.regressed else ""
    alone = LONE if edit.is_lone else "this prompt alone"
    right = f"{_others(len(others), edit.worse) or alone}{bad} · {_target(edit.path)}"
    place = f"{os.path.basename(edit.path)}:{edit.line} of {from_home(os.path.dirname(edit.path))}"
    copied = COPIED if files.saves_as_layer(edit.path, here()) else ""
    regressed = results.regressed if results else ()
    changes = ChangeLines(others[:MOST_LISTED], regressed, {}, right_text=True, doubtful=edit.worse_ids)
    changed, _, estimate = headline(figures).partition("; ")  # two lines: the list does not wrap
    lines = [
        ListLine(f"{edit.title} · place", place, "", "muted", edit),
        *([ListLine(f"{edit.title} · note", edit.note, "", "muted", edit)] if edit.note else []),
        *([ListLine(f"{edit.title} · layer", copied, "", "warning", edit)] if copied else []),
        ListLine(f"{edit.title} · effect", changed, str(figures.verdict), "muted", edit),
        *([ListLine(f"{edit.title} · estimate", estimate, "", "muted", edit)] if estimate else []),
        *([] if edit.is_told else [ListLine(f"{edit.title} · doubt", STILL_UNCERTAIN, "", "error", edit)]),
        *changes,
    ]
    look = "plain" if edit.is_told else "muted"
    return Group(ListLine(edit.title, edit.title, right, look, edit, keeps_text=True), lines)


def _others(count: int, worse: int) -> str:
    if not count:
        return ""
    some = f"{worse:,} perhaps worse" if worse < count else "perhaps worse"
    return f"and {count:,} other{'s' * (count != 1)}, {some if worse else 'perhaps better'}"


def _target(path: str) -> str:
    """Return how the screen names an instructions file: by its layer if it has one, otherwise by the file's name."""
    layer = files.layer_of(path, here())
    is_packaged = path.startswith(os.path.dirname(packaged_file()) + os.sep)
    return PACKAGED if is_packaged else SHORT.get(layer, os.path.basename(path))
