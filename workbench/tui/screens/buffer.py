"""The file in the editor: open, save and watch it, and keep a draft if the app ends before the edit is saved.

No work is lost: neither another program's save in the meantime nor an unsaved edit.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from enricher.home import from_home
from enricher.rules.own_layer import LayerError
from workbench.edits import drafts
from workbench.edits import instructions_file as files
from workbench.edits.drafts import Drafts
from workbench.edits.undoing import ChangedSince, Save, take_back
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.editor import InstructionsEditor
from workbench.tui.widgets.questions.picker import Answer, Picker
from workbench.tui.working_folder import here

if TYPE_CHECKING:
    from enricher.rules.layers import Layer
    from workbench.edits.drafts import Draft

OVERWRITE, TAKE_THEIRS, THROW_AWAY = "overwrite", "theirs", "throw away"
MEANING = {
    "user": ("your own layer", "counts for you, in every project; the gate does not judge it"),
    "project": ("this project's layer", "counts for everybody who works here; the gate judges it"),
}
"""What the layers that an edit can be saved in are called, and what each means."""


@dataclass
class FileChanged(Message):
    """Another program, or this one, has saved the file."""

    path: str
    text: str


@dataclass
class Saved(Message):
    """The text was saved, replacing ``before``; ``note`` is further information for the user.

    ``edited`` is the text of the editor if it differs from the saved text.
    """

    path: str
    text: str
    note: str
    before: str = ""
    edited: str = ""
    is_new: bool = False
    """Whether the file did not exist before."""


@dataclass
class TakenBack(Message):
    """A save was taken back, or another program has written the file since."""

    save: Save
    note: str
    since: ChangedSince | None


@dataclass
class NotSaved(Message):
    """The buffer was not saved; ``is_newer`` means that another program saved first."""

    reason: str
    is_newer: bool


class BufferScreen(WorkbenchScreen):
    """A screen with one editor over one file; ``begin`` and ``show_file`` are called after every change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z,f9", "take_save_back", "Take the last save back", id="instructions.undo-save", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._path = ""
        self._disk = ""
        self._clean = ""
        self._buffer = ""
        self._news: str | None = None
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    def begin(self, *, is_quiet: bool = False) -> None:
        """Replay the text in the editor; ``is_quiet`` replays even an unchanged text and shows only final figures."""
        raise NotImplementedError

    def show_file(self) -> None:
        """Show the name of the file and its state."""
        raise NotImplementedError

    def open_file(self, path: str) -> None:
        """Open another file, unless the edit of this one is not saved."""
        raise NotImplementedError

    def moved(self, path: str, before: str) -> None:
        """React to an edit saved in another file, now in the editor; ``before`` is that file's earlier text."""
        raise NotImplementedError

    @cached_property
    def drafts(self) -> Drafts:
        """The draft that this app writes, and those that earlier or other apps left."""
        return Drafts(self.app.state_dir)

    @property
    def editor(self) -> InstructionsEditor:
        """The editor."""
        return self.query_one(InstructionsEditor)

    @property
    def is_unsaved(self) -> bool:
        """Whether the buffer differs from the text last read or written."""
        return self._buffer != self._clean

    def show_text(self, text: str, *, line: int = 0, can_undo: bool = False) -> None:
        """Put ``text``, read from the file, into the editor."""
        self._disk, self._news = text, None
        self.editor.show_text(text, line=line, can_undo=can_undo)
        self._clean = self._buffer = self.editor.text
        self.note_edit()

    def offer_drafts(self) -> None:
        """Restore an unsaved edit; ask the user if there are several, or if the file was written since."""
        found = self.drafts.abandoned(self._path)
        for draft in found:
            if draft.text == self._disk:
                drafts.remove(draft)
        found = [draft for draft in found if draft.text != self._disk]
        if len(found) == 1 and found[0].disk == self._disk:
            self._take_draft(found[0])
        elif found:
            self._ask_for_draft(found)

    def _ask_for_draft(self, found: list[Draft]) -> None:
        answers = [Answer(one.file, *drafts.describe(one, self._disk)) for one in found]
        answers += [Answer("", "Not now", "they are kept"), Answer(THROW_AWAY, "Throw them away")]
        note = "These edits of the file were not saved when the app ended; another one may be chosen at the next start."

        def answered(answer: str | None) -> None:
            if answer == THROW_AWAY:
                for draft in found:
                    drafts.remove(draft)
            elif chosen := next((one for one in found if one.file == answer), None):
                self._take_draft(chosen)

        self.app.push_screen(Picker("Edits that were not saved", answers, note=note), answered)

    def _take_draft(self, draft: Draft) -> None:
        self.editor.show_text(draft.text, line=self.editor.line)
        self._buffer = self.editor.text
        if draft.disk != self._disk:
            self._disk, self._news = draft.disk, self._disk
        self.keep_draft()
        drafts.remove(draft)
        self.notify("Your edit of last time is here, not saved yet; ctrl+r reads the disk again.", timeout=6)
        self.begin()
        self.show_file()

    def note_edit(self) -> None:
        """Tell the app of an unsaved edit, so that proposed edits are based on it."""
        if self.is_unsaved:
            self.app.edited[self._path] = self._buffer
        else:
            self.app.edited.pop(self._path, None)

    def keep_draft(self) -> None:
        """Store an unsaved edit as a draft for the next start; delete the draft if nothing is unsaved."""
        if self.is_unsaved:
            self.drafts.keep(self._path, self._disk, self._buffer)
        else:
            self.drafts.forget()

    def on_unmount(self) -> None:
        self._stop_watching()
        self.keep_draft()
        self.drafts.close()

    def watch_file(self) -> None:
        self._stop_watching()
        path, self._stop = self._path, threading.Event()

        def changed(text: str) -> None:
            self.post_message(FileChanged(path, text))

        self._watcher = threading.Thread(
            target=files.watch, args=(path,), kwargs={"changed": changed, "stop": self._stop}, daemon=True
        )
        self._watcher.start()

    def _stop_watching(self) -> None:
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join(timeout=1)
            self._watcher = None

    @on(FileChanged)
    def _file_changed(self, message: FileChanged) -> None:
        if message.path != self._path or message.text == self._disk:
            return
        if self.is_unsaved:
            self._news = message.text
        else:
            self._take_from_disk(message.text)
            self.notify("Another program saved the file; it was read again.", timeout=3)
        self.show_file()

    def _take_from_disk(self, text: str, *, can_undo: bool = False) -> None:
        self.show_text(text, can_undo=can_undo)
        self.keep_draft()
        self.begin()
        self.show_file()

    def action_revert(self) -> None:
        """Put the file's text on disk into the editor; ctrl+z restores the earlier text."""
        try:
            was_unsaved = self.is_unsaved
            self._take_from_disk(files.read(self._path), can_undo=True)
            if was_unsaved:
                self.notify("This is what is on the disk; ctrl+z in the editor brings your edit back.", timeout=5)
        except files.FileError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_save(self) -> None:
        """Save the buffer; ask first if that would overwrite another program's changes or drop part of the edit."""
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
        layers = {layer.path: layer for layer in files.layers_for_edits(here())}
        answers = [
            Answer(
                path,
                f"Save the changed rules in {MEANING[layer.name][0]}",
                f"{from_home(path)}: {MEANING[layer.name][1]}",
            )
            for path, layer in layers.items()
        ]

        def answered(path: str | None) -> None:
            if path:
                self.store_layer(self.editor.text, self._disk, layers[path])

        self.app.push_screen(Picker("Save where?", [*answers, Answer("", "Go on editing")], note=note), answered)

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def store_layer(self, text: str, opened: str, into: Layer) -> None:
        """Write the rules that differ from the packaged file into a layer."""
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
            f"the packaged file stays as it is (f goes back to it). {trust}"
        )
        self.post_message(Saved(path, layer.text, note.rstrip(), before, text, is_new))

    def _ask_whose(self) -> None:
        answers = [
            Answer("", "Go on editing"),
            Answer(OVERWRITE, "Save mine over it"),
            Answer(TAKE_THEIRS, "Take what is on the disk", "loses this edit"),
        ]
        note = "Another program has written this file since it was read here."
        self.app.push_screen(Picker("Whose text stays?", answers, note=note), self._answered_whose)

    def _answered_whose(self, answer: str | None) -> None:
        if answer == OVERWRITE:
            self.store(self._path, self.editor.text, None)
        elif answer == TAKE_THEIRS:
            self.action_revert()

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def store(self, path: str, text: str, over: str | None) -> None:
        """Write the text if the file still holds ``over``; None overwrites any text."""
        is_new = not os.path.exists(path)
        try:
            before = files.read(path) if over is None else over
            trust = files.save_trusted(path, text, over=over, cwd=here())
        except files.FileError as error:
            self.post_message(NotSaved(str(error), isinstance(error, files.ChangedMeanwhileError)))
            return
        note = f"Saved. {trust or 'f9 takes it back.'}"
        self.post_message(Saved(path, text, note, before, is_new=is_new))

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        self.app.saves.append(Save(message.path, message.before, message.text, message.is_new))
        self.notify(message.note, timeout=6, markup=False)
        if message.edited and message.edited != self.editor.text:
            return  # typed on meanwhile: the newer text stays in the editor as an edit of its own file
        if message.path != self._path:
            self._path = message.path
            self.show_text(message.text)
            self.watch_file()
            self.moved(message.path, message.before)
        self._disk, self._news, self._clean = message.text, None, message.text
        self.note_edit()
        self.keep_draft()
        self.begin()
        self.show_file()

    @on(NotSaved)
    def _not_saved(self, message: NotSaved) -> None:
        if message.is_newer:
            self._news = ""
            self.show_file()
            self._ask_whose()
        else:
            self.notify(message.reason, title="Not saved", severity="error", markup=False)

    def action_take_save_back(self) -> None:
        """Take back the last save that was made in this app, of whatever file."""
        if not self.app.saves:
            self.notify("Nothing was saved since the app was started.", timeout=3)
            return
        if self.app.saves[-1].path != self._path:
            self.open_file(self.app.saves[-1].path)  # an unsaved edit keeps its file open, and is told
        elif self.is_unsaved:
            self.notify("The edit is not saved: ctrl+r takes it back; then f9 takes back the save.", timeout=5)
        if self.app.saves[-1].path == self._path and not self.is_unsaved:
            self.take_back(self.app.saves.pop())

    @work(thread=True, group="instructions.save", exit_on_error=False)
    def take_back(self, save: Save) -> None:
        """Restore the text before a save, unless the file was changed since."""
        try:
            since = take_back(save)
        except files.FileError as error:
            self.app.saves.append(save)
            self.post_message(NotSaved(str(error), False))
            return
        note = since.note if since else f"The save was taken back. {files.trust_note(save.path, here())}"
        self.post_message(TakenBack(save, note, since))

    @on(TakenBack)
    def _taken_back(self, message: TakenBack) -> None:
        is_open = message.save.path == self._path
        if is_open and message.since is None:
            self._take_from_disk(message.save.before, can_undo=True)
        elif is_open and message.since is not None:
            self._offer_without_save(message.since)
        self.notify(message.note, timeout=8, markup=False)

    def _offer_without_save(self, since: ChangedSince) -> None:
        """Put the text without the save into the editor, not saved yet."""
        self.show_text(since.disk)
        self.editor.show_text(since.proposal, can_undo=True)
        self._buffer = self.editor.text
        self._news = since.disk if since.merged is None else None
        self.note_edit()
        self.keep_draft()
        self.begin()
        self.show_file()

    def action_external(self) -> None:
        """Open the file in the user's own editor; its saves are noticed here."""
        from workbench.tui.editing import open_editor

        if files.saves_as_layer(self._path, here()):
            note = f"{files.objection(self._path, here())}. Edit it here (i): ctrl+s saves what you changed in a layer."
            self.notify(note, severity="warning", timeout=8, markup=False)
        elif self.is_unsaved:
            self.notify(
                "The edit is not saved: ctrl+s saves it, ctrl+r reads the disk again.", severity="warning", timeout=5
            )
        elif trouble := open_editor(self.app, self._path):
            self.notify(trouble, severity="warning", timeout=8, markup=False)
        else:
            self.app.refresh()
