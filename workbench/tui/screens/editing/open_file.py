"""Open an instructions file in the editor, watch it on disk, and keep its unsaved edit as a draft.

Neither an unsaved edit nor what another program saved in the meantime is lost.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from workbench.edits import drafts
from workbench.edits import instructions_file as files
from workbench.edits.drafts import Drafts
from workbench.tui.messages import TakeEdit
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.state import here
from workbench.tui.widgets.dialogs import Answer, Picker
from workbench.tui.widgets.editor import InstructionsEditor

if TYPE_CHECKING:
    from enricher.rules.compiling.document import Problem
    from workbench.edits.drafts import Draft

THROW_AWAY = "throw away"
UNSAVED = "The edit is not saved: ctrl+s saves it, ctrl+r reads the disk again."


def clock() -> str:
    """Return the time of day as the screens show it, such as 14:05."""
    return time.strftime("%H:%M")


@dataclass
class FileChanged(Message):
    """Sent when the file on disk was saved, by another program or by this one."""

    path: str
    text: str


class OpenFileScreen(WorkbenchScreen):
    """Base class of a screen that has one instructions file open in an editor.

    Derived classes define ``open_file``, and ``begin`` and ``show_file``, which are called when the text has changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._path = ""
        self._disk = ""
        self._disk_since = ""
        """The time of day from which on the file has the text ``_disk``, as far as this app knows."""
        self._clean = ""  # with the editor's line endings, which may differ from those in the file
        self._buffer = ""
        self._news: str | None = None  # what another program has written to the file since it was read
        self._problems: tuple[Problem, ...] = ()
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    def begin(self, *, is_quiet: bool = False) -> None:
        """Replay the recorded prompts with the rules in the editor's text.

        If ``is_quiet`` is true, they are replayed even if the text is unchanged, and only the final figures are shown.
        """
        raise NotImplementedError

    def show_file(self) -> None:
        """Show the name of the file and its state."""
        raise NotImplementedError

    def open_file(self, path: str) -> None:
        """Open another file, unless the open one has unsaved edits."""
        raise NotImplementedError

    @cached_property
    def drafts(self) -> Drafts:
        """Return the store of unsaved edits (drafts) of this run of the app, and of runs that ended without saving."""
        return Drafts(self.app.state_dir)

    @property
    def editor(self) -> InstructionsEditor:
        """Return the editor widget, which contains the text of the open file."""
        return self.query_one(InstructionsEditor)

    @property
    def own_problems(self) -> list[Problem]:
        """Return the problems found so far in the file that is open in the editor."""
        return [one for one in self._problems if os.path.abspath(one.file) == self._path]

    @property
    def is_unsaved(self) -> bool:
        """Return whether the editor's text differs from the text that was last read from the file or written to it."""
        return self._buffer != self._clean

    def show_text(self, text: str, *, line: int = 0, can_undo: bool = False) -> None:
        """Put ``text``, which is the content of the file on disk, into the editor; it counts as saved."""
        self._disk, self._news, self._disk_since = text, None, clock()
        self.editor.show_text(text, line=line, can_undo=can_undo)
        self._clean = self._buffer = self.editor.text
        self.note_edit()

    def offer_drafts(self) -> None:
        """Restore an unsaved edit (draft) of this file that an earlier run of the app left behind, if there is any.

        If there are several, or if the file was saved since, the user is asked which draft to restore, if any. If the
        file is opened for a proposal, all are kept for the next time.
        """
        if isinstance(self.app.opening, TakeEdit):
            return
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

        def answered(answer: str) -> None:
            if answer == THROW_AWAY:
                for draft in found:
                    drafts.remove(draft)
            elif chosen := next((one for one in found if one.file == answer), None):
                self._take_draft(chosen)

        self.ask(Picker("Edits that were not saved", answers, note=note), answered)

    def _take_draft(self, draft: Draft) -> None:
        self.editor.show_text(draft.text, line=self.editor.line)
        self._buffer = self.editor.text
        if draft.disk != self._disk:  # a save then asks which text to keep
            self._disk, self._news = draft.disk, self._disk
        self.keep_draft()
        drafts.remove(draft)
        self.notify("Your edit of last time is here, not saved yet; ctrl+r reads the disk again.", timeout=6)
        self.begin()
        self.show_file()

    def note_edit(self) -> None:
        """Tell the app the file's unsaved text, if any, so that edits that other screens propose are based on it."""
        if self.is_unsaved:
            self.app.edited[self._path] = self._buffer
        else:
            self.app.edited.pop(self._path, None)

    def keep_draft(self) -> None:
        """Store an unsaved edit as a draft for the next start of the app; delete the draft if nothing is unsaved."""
        if self.is_unsaved:
            self.drafts.keep(self._path, self._disk, self._buffer)
        else:
            self.drafts.forget()

    def on_unmount(self) -> None:
        self._stop_watching()
        self.keep_draft()
        self.drafts.close()

    def watch_file(self) -> None:
        """Watch the file for saves, by this or another program, in a thread.

        The thread is not a Textual worker, because it runs as long as the file is open, and the app postpones updates
        of its aggregates and word index while any worker runs.
        """
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
            self._watcher.join(timeout=1)  # a slow folder must not delay the app; the daemon thread ends with the app
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
        self.app.instructions_written()

    def _take_from_disk(self, text: str, *, can_undo: bool = False) -> None:
        self.show_text(text, can_undo=can_undo)
        self.keep_draft()
        self.begin()
        self.show_file()

    def action_revert(self) -> None:
        """Replace the editor's text with the contents of the file on disk; ctrl+z brings the edit back."""
        try:
            was_unsaved = self.is_unsaved
            self._take_from_disk(files.read(self._path), can_undo=True)
            if was_unsaved:
                self.notify("This is what is on the disk; ctrl+z in the editor brings your edit back.", timeout=5)
        except files.FileError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_external(self) -> None:
        """Open the file in the user's own editor; afterwards this screen shows what was saved there."""
        if files.saves_as_layer(self._path, here()):
            note = f"{files.objection(self._path, here())}. Edit it here (i): ctrl+s saves what you changed in a layer."
            self.notify(note, severity="warning", timeout=8, markup=False)
        elif self.is_unsaved:
            self.notify(UNSAVED, severity="warning", timeout=5)
        else:
            self.edit_elsewhere(self._path)
