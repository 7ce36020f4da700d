"""Save the edited instructions file, and undo saves.

The packaged file is read-only: if it was edited, the rules that differ are saved in a layer above it instead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from enricher.home import from_home
from enricher.rules.own_layer import LayerError
from workbench.edits import instructions_file as files
from workbench.edits.undoing import ChangedSince, Save, describe, describe_undo, take_back
from workbench.tui.messages import OpenInstructions
from workbench.tui.screens.base import NO_SAVE, NO_SAVE_UNDONE
from workbench.tui.screens.editing.open_file import OpenFileScreen, clock
from workbench.tui.state import here
from workbench.tui.widgets.dialogs import Answer, Picker

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from enricher.rules.layers import Layer

BROKEN = "It has an error, so it does not count yet: prompts keep the last good version until it is corrected (f8)."
OVERWRITE, TAKE_THEIRS = "overwrite", "theirs"
MEANING = {
    "user": ("your own layer", "counts for you, in every project; the gate does not judge it"),
    "project": ("this project's layer", "counts for everybody who works here; the gate judges it"),
}
"""For each layer (instructions file) that can take an edit: its name for the user, and what saving there means."""


@dataclass
class Saved(Message):
    """Sent when ``text`` was saved in place of the text ``before``; ``note`` is further information for the user.

    ``edited`` is the text of the editor if it differs from the saved text.
    """

    path: str
    text: str
    note: str
    before: str = ""
    edited: str = ""
    trust: str = ""
    """What the user has to do before the saved file takes effect, as a text; empty if it takes effect at once."""
    is_new: bool = False
    """Whether the file was created by this save."""


@dataclass
class TakenBack(Message):
    """Sent when an attempt to undo a save has ended.

    ``since`` is None if the save was undone. It was not if the file has changed since; ``since`` then has the file's
    current text and a text to propose.
    """

    save: Save
    note: str
    since: ChangedSince | None
    is_again: bool = False
    """Whether an earlier undo was reverted instead."""


@dataclass
class NotSaved(Message):
    """Sent when the text could not be saved; ``is_newer`` means that another program had changed the file."""

    reason: str
    is_newer: bool


class SavingScreen(OpenFileScreen):
    """A screen whose file can be saved, and whose saves can be undone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "take_save_back", "Take the last save back", id="instructions.undo-save", show=False),
        Binding("ctrl+y", "save_again", "Save again what was taken back", id="instructions.redo-save", show=False),
    ]

    def moved(self, path: str, before: str) -> None:
        """Adapt the screen after an edit of the open file was saved in another file, which is now open instead.

        ``path`` is that other file, ``before`` its text before the save.
        """
        raise NotImplementedError

    def restored(self, save: Save) -> None:
        """Adapt the screen after a save of the open file was undone."""
        raise NotImplementedError

    def action_save(self) -> None:
        """Save the editor's text.

        Ask the user which text to keep if another program has saved the file in the meantime, or which layer to save in
        if the file is read-only and a layer above it can be used instead.
        """
        if files.saves_as_layer(self._path, here()):
            self._ask_for_layer()
        elif objection := files.objection(self._path, here()):
            self.notify(
                f"{objection}: {files.remedy(self._path)}. Your edit is kept until you save or undo it (ctrl+r).",
                title="Not saved",
                severity="error",
                timeout=8,
                markup=False,
            )
        elif self._news is not None:
            self._ask_whose()
        elif not self.is_unsaved and os.path.exists(self._path):
            self.notify("Nothing to save: the file has this text already.", timeout=3)
        else:
            self.store(self._path, self.editor.text, self._disk)

    def _ask_for_layer(self) -> None:
        note = (
            f"This file cannot be edited here: {files.objection(self._path, here())}. The rules that you changed go "
            "into a layer above it; all others still come from this file."
        )
        layers = {layer.path: layer for layer in files.layers_for_edits(here(), chosen=self.app.layer_chosen)}
        answers = [
            Answer(
                path,
                f"Save the changed rules in {MEANING[layer.name][0]}",
                f"{from_home(path)}: {MEANING[layer.name][1]}",
            )
            for path, layer in layers.items()
        ]

        def answered(path: str) -> None:
            self.app.layer_chosen = path
            self.store_layer(self.editor.text, self._disk, layers[path])

        self.ask(Picker("Save where?", [*answers, Answer("", "Go on editing")], note=note), answered)

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def store_layer(self, text: str, opened: str, into: Layer) -> None:
        """Save the rules of ``text`` that differ from ``opened``, the packaged file's text, in the layer ``into``."""
        path = into.path
        try:
            is_new = not os.path.exists(path)
            before = files.read(path)
            layer = files.layer_of_edit(text, opened, here(), into)
            if not layer.rules and layer.text == before:
                self.post_message(NotSaved("Nothing to save: no rule differs from the packaged file.", False))
                return
            trust = files.save_trusted(path, layer.text, over=before, cwd=here())
        except (files.FileError, LayerError) as error:
            self.post_message(NotSaved(str(error), False))
            return
        count = len(layer.rules)
        note = (
            f"Saved {count} changed rule{'s' * (count != 1)} in {MEANING[into.name][0]}, which is open now; "
            "the packaged file stays as it is (f goes back to it)."
        )
        self.post_message(Saved(path, layer.text, note, before, text, trust, is_new))

    def _ask_whose(self) -> None:
        answers = [
            Answer("", "Go on editing"),
            Answer(OVERWRITE, "Save mine over it"),
            Answer(TAKE_THEIRS, "Take what is on the disk", "loses this edit"),
        ]
        note = "Another program has written this file since it was read here."
        self.ask(Picker("Whose text stays?", answers, note=note), self._take_text)

    def _take_text(self, whose: str) -> None:
        if whose == OVERWRITE:
            self.store(self._path, self.editor.text, None)
        else:
            self.action_revert()

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def store(self, path: str, text: str, over: str | None) -> None:
        """Write ``text`` to the file, unless another program has changed the file.

        ``over`` is the text that the file is expected to contain; if it is None, the file is overwritten in any case.
        """
        is_new = not os.path.exists(path)
        try:
            before = files.read(path) if over is None else over
            trust = files.save_trusted(path, text, over=over, cwd=here())
        except files.FileError as error:
            self.post_message(NotSaved(str(error), isinstance(error, files.ChangedMeanwhileError)))
            return
        self.post_message(Saved(path, text, "Saved. f9 takes it back.", before, trust=trust, is_new=is_new))

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        self.app.saves.append(Save(message.path, message.before, message.text, message.is_new))
        self.app.saves_undone.clear()
        self.app.instructions_written()
        is_broken = any(one.severity == "error" for one in self.own_problems)
        note = f"{message.note} {BROKEN if is_broken else message.trust}".rstrip()
        note += "" if is_broken else f"\n{self._next_step()}"
        severity: SeverityLevel = "warning" if is_broken else "information"
        self.notify(note, timeout=12, severity=severity, markup=False)
        if message.edited and message.edited != self.editor.text:
            return  # the user has continued typing: the newer text stays in the editor, as an edit of the old file
        if message.path != self._path:
            self._path = message.path
            self.show_text(message.text)
            self.watch_file()
            self.moved(message.path, message.before)
        self._disk, self._news, self._clean, self._disk_since = message.text, None, message.text, clock()
        self.note_edit()
        self.keep_draft()
        self.begin()
        self.show_file()

    def _next_step(self) -> str:
        """Return in words what a user usually does after a save; on the way from a wrong prompt, approve that."""
        behind = self.app.screen_behind()
        is_wished = behind is not None and behind.bar_place == "traces" and behind.gated_trace() in self.app.wishes
        approve = "1 returns to the prompt, a approves it, " if is_wished else ""
        return f"Next: 3 shows what else changed, {approve}ctrl+g runs the gate."

    @on(NotSaved)
    def _not_saved(self, message: NotSaved) -> None:
        if message.is_newer:
            self._news = ""  # not None, because the file has another text, which was not read yet
            self.show_file()
            self._ask_whose()
        else:
            self.notify(message.reason, title="Not saved", severity="error", markup=False)

    def action_take_save_back(self) -> None:
        """Undo the last save that this app made, whichever file it was."""
        if save := self._last_of(self.app.saves, NO_SAVE):
            self.take_back(save)

    def action_save_again(self) -> None:
        """Redo the save that was undone last."""
        if save := self._last_of(self.app.saves_undone, NO_SAVE_UNDONE):
            self.take_back(save, is_again=True)

    def _last_of(self, saves: list[Save], nothing: str) -> Save | None:
        """Remove and return the last of these saves, after opening its file.

        Return None if there is no save, which the message ``nothing`` tells the user, or if there is an unsaved edit.
        """
        if not saves:
            self.notify(nothing, timeout=3)
            return None
        if saves[-1].path != self._path:
            self.open_file(saves[-1].path)  # warns, and keeps the open file, if it is unsaved
        elif self.is_unsaved:
            self.notify("The edit is not saved: ctrl+r takes it back; then f9 takes back the save.", timeout=5)
        return saves.pop() if saves[-1].path == self._path and not self.is_unsaved else None

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def take_back(self, save: Save, *, is_again: bool = False) -> None:
        """Undo a save: restore the file's text from before it, unless the file has changed since.

        If ``is_again`` is true, redo the save instead: restore the text from after it.
        """
        undone = Save(save.path, save.after, save.before) if is_again else save
        saves, others = self.app.saves, self.app.saves_undone
        try:
            since = take_back(undone, here())
        except files.FileError as error:
            (others if is_again else saves).append(save)
            self.post_message(NotSaved(str(error), False))
            return
        if since is None:
            (saves if is_again else others).append(save)
        done = f"Saved again: {describe(save)}; f9 takes it back."
        if not is_again:
            done = f"The save was taken back: {describe_undo(save)}; f10 saves it again."
        note = since.note if since else f"{done} {files.trust_note(save.path, here())}"
        self.post_message(TakenBack(undone, note, since, is_again))

    @on(TakenBack)
    def _taken_back(self, message: TakenBack) -> None:
        is_open = message.save.path == self._path
        if is_open and message.since is None:
            self._take_from_disk(message.save.before, can_undo=True)
            if not message.is_again:
                self.restored(message.save)
        elif is_open and message.since is not None:
            self._offer_without_save(message.since)
            self.app.post_message(OpenInstructions())  # from wherever the user took it back
        self.app.instructions_written()
        self.notify(message.note, timeout=8, markup=False)

    def _offer_without_save(self, since: ChangedSince) -> None:
        """Offer to undo a save although the file has changed since: put a proposed text into the editor, unsaved.

        That text is the current text of the file without the changes of the save. If the same lines were changed again
        since, it is the text from before the save.
        """
        self.show_text(since.disk)
        self.editor.show_text(since.proposal, can_undo=True)
        self._buffer = self.editor.text
        self._news = since.disk if since.merged is None else None
        self.note_edit()
        self.keep_draft()
        self.begin()
        self.show_file()
