"""The file behind the editor: opened, saved, watched, and kept where the app is left before it is saved.

Nobody's work is lost: not that of another program that saved meanwhile, not an edit that was not saved yet.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from textual import on, work
from textual.message import Message

from workbench import instructions_file as files
from workbench.tui.places import here
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.widgets.editor import InstructionsEditor
from workbench.tui.widgets.picker import Answer, Picker

OVERWRITE, TAKE_THEIRS, COPY = "overwrite", "theirs", "copy"


@dataclass
class FileChanged(Message):
    """Another program, or this one, has saved the file."""

    path: str
    text: str


@dataclass
class Saved(Message):
    """The buffer is on the disk; ``note`` is what else should be done."""

    path: str
    text: str
    note: str


@dataclass
class NotSaved(Message):
    """The buffer is not on the disk; ``is_newer`` says that another program was faster."""

    reason: str
    is_newer: bool


class BufferScreen(WorkbenchScreen):
    """A screen with one editor over one file; ``begin`` and ``show_file`` are told of every change."""

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
        """Examine what is in the editor now."""
        raise NotImplementedError

    def show_file(self) -> None:
        """Say which file this is, and how it stands."""
        raise NotImplementedError

    def moved(self, path: str) -> None:
        """The buffer belongs to another file now."""
        raise NotImplementedError

    @property
    def editor(self) -> InstructionsEditor:
        """The editor."""
        return self.query_one(InstructionsEditor)

    @property
    def is_unsaved(self) -> bool:
        """Whether the buffer differs from what was read or written last."""
        return self._buffer != self._clean

    def show_text(self, text: str, *, line: int = 0, can_undo: bool = False) -> None:
        """Put the text of the file, as the disk has it, into the editor."""
        self._disk, self._news = text, None
        self.editor.show_text(text, line=line, can_undo=can_undo)
        self._clean = self._buffer = self.editor.text

    def take_draft(self) -> None:
        """Put an edit into the editor that was not saved when the app was left."""
        draft = files.take_draft(self.app.state_dir, self._path, self._disk)
        if draft is not None and draft != self._clean:
            self.editor.show_text(draft, line=self.editor.line)
            self._buffer = self.editor.text
            self.notify("Your edit of last time is here, not saved yet; ctrl+r reads the disk again.", timeout=6)

    def keep_draft(self) -> None:
        """Put an edit that is not saved where the next start finds it, however this one ends."""
        if self.is_unsaved:
            files.leave_draft(self.app.state_dir, self._path, self._disk, self._buffer)
        elif self._path:
            files.forget_draft(self.app.state_dir, self._path)

    def on_unmount(self) -> None:
        self._stop_watching()
        self.keep_draft()

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
        """Put what is on the disk into the editor; ctrl+z brings back what was there."""
        try:
            was_unsaved = self.is_unsaved
            self._take_from_disk(files.read(self._path), can_undo=True)
            if was_unsaved:
                self.notify("This is what is on the disk; ctrl+z in the editor brings your edit back.", timeout=5)
        except files.FileError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_save(self) -> None:
        """Save the buffer; ask where that would lose somebody's work, or be lost itself."""
        if objection := files.objection(self._path):
            self._ask_for_copy(objection)
        elif self._news is not None:
            self._ask_whose()
        else:
            self.store(self._path, self.editor.text, self._disk)

    def _ask_for_copy(self, objection: str) -> None:
        own = next(one for one in files.choices(here()) if one.layer == "user")
        if own.exists:
            note = (
                f"This file cannot be edited here: {objection}. You have a file of your own: {own.path} (f opens it)."
            )
            self.app.push_screen(Picker("Not saved", [Answer("", "Go on")], note=note))
            return
        note = f"This file cannot be edited here: {objection}. A copy of it as your own layer speaks in its place."
        answers = [Answer(COPY, "Save a copy as your own layer", shortened(own.path)), Answer("", "Go on editing")]
        self.app.push_screen(Picker("Save as your own?", answers, note=note), self._answered_copy)

    def _answered_copy(self, answer: str | None) -> None:
        if answer == COPY:
            own = next(one for one in files.choices(here()) if one.layer == "user")
            self.store(own.path, self.editor.text, "")

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
        """Write the text over what the file held when it was read; None is whatever it holds."""
        try:
            files.save(path, text, over=over)
        except files.FileError as error:
            self.post_message(NotSaved(str(error), isinstance(error, files.ChangedMeanwhileError)))
            return
        self.post_message(Saved(path, text, files.trust_note(path, here())))

    @on(Saved)
    def _saved(self, message: Saved) -> None:
        self._disk, self._news, self._clean = message.text, None, message.text
        self.keep_draft()
        self.notify(message.note or "Saved.", timeout=6 if message.note else 2, markup=False)
        if message.path != self._path:
            self._path = message.path
            self.watch_file()
            self.moved(message.path)
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

    def action_external(self) -> None:
        """Open the file in the person's own editor; what it saves is seen here."""
        from workbench.tui.editing import open_editor

        if self.is_unsaved:
            self.notify(
                "The edit is not saved: ctrl+s saves it, ctrl+r reads the disk again.", severity="warning", timeout=5
            )
        elif trouble := open_editor(self.app, self._path):
            self.notify(trouble, severity="warning", timeout=8, markup=False)
        else:
            self.app.refresh()


def shortened(path: str) -> str:
    """Return the path as a person writes it, from their home."""
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
