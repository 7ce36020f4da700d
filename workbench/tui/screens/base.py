"""The base class of all screens: it provides the header, the footer, database access, workers and remembered values."""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import on
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState, get_current_worker

from storage.base import private
from storage.db.database import StorageError
from workbench.tui.messages import FilterTraces, TakeSaveBack
from workbench.tui.screens import on_top, place
from workbench.tui.widgets.bars import KeyFooter, PlaceBar
from workbench.tui.widgets.dialogs import Answer, Picker
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from textual.app import ComposeResult
    from textual.screen import ModalScreen
    from textual.timer import Timer

    from workbench.tui.app import Workbench
    from workbench.tui.messages import Counted

STEPS_BETWEEN_LOOKS = 200_000
"""SQLite instructions between two checks for cancellation (some ten thousand rows); each check delays other threads."""
NO_SAVE = "There is no save of this app left to take back."
NO_SAVE_UNDONE = "There is no save that was taken back."
FIRST_LINES = "# Classification\n\n# Context\n\n# Guardrails\n\n# Output\n"
_ONE_AT_A_TIME = threading.Lock()

T = TypeVar("T")
Db = sqlite3.Connection
ShouldStop = Callable[[], bool]


@dataclass
class Computed(Message):
    """A value that a thread has computed for its screen, which passes it to ``show``.

    ``what`` names the work, and ``run`` counts how often that work was begun, so that values of an earlier run can be
    recognised and dropped.
    """

    what: str
    run: int
    value: object
    show: Callable[[Any], object]


class WorkbenchScreen(Screen[None], inherit_bindings=False):
    """The base class of all screens; ``workbench.tui.screens`` describes what it provides and requires."""

    PLACE: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    SHOWS_SAVES: ClassVar[bool] = False
    """Whether the screen shows what a save of instructions changes, so that ``f9`` and ``f10`` do not leave it."""
    AUTO_FOCUS = ""  # otherwise Textual focuses the filter if the table is hidden, and the filter takes all keys
    app: Workbench  # a narrower type than Textual's

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next part of the screen", id="screen.next", show=False),
        Binding("shift+tab", "app.focus_previous", "Previous part of the screen", id="screen.previous", show=False),
        Binding("ctrl+c", "screen.copy_text", "Copy what is selected", id="screen.copy", show=False),
        Binding("escape", "back", "Back to where you came from", id="screen.back", show=False),
        Binding("ctrl+g", "gate", "Gate", id="screen.gate", tooltip="Run the gate on the golden cases", show=False),
        Binding("f9", "take_save_back", "Take the last save of instructions back", id="screen.undo-save", show=False),
        Binding("f10", "save_again", "Save again what was taken back", id="screen.redo-save", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id=self.PLACE if place(self.PLACE) else None)  # several Why screens may be open at once
        self.bar_place = self.PLACE
        """The name of the main screen (place) that the header marks; for a screen on top of one, the one below."""
        self._runs: dict[str, int] = {}
        self._rests: dict[str, Timer] = {}
        self._next_turns: dict[str, Callable[[], object]] = {}

    def compose(self) -> ComposeResult:
        yield PlaceBar(self.bar_place)
        yield from self.compose_body()
        yield KeyFooter()

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between the header and the footer."""
        raise NotImplementedError

    def data_changed(self) -> None:
        """Called when the database has changed, or when the screen becomes visible; override it to read again."""

    def instructions_written(self) -> None:
        """Called when an instructions file was saved, by this app or by another program."""

    def opened(self, message: Message) -> None:
        """Called with a message that requests this screen; override it to show what the message names."""

    def show_list(self) -> None:
        """Go back from the details of an item to the list; called when the user presses the key of this screen."""

    def failed(self, error: BaseException) -> None:
        """Show the error with which a worker of this screen ended."""
        message = str(error) if isinstance(error, (StorageError, OSError)) else f"{type(error).__name__}: {error}"
        self.notify(message, title="That did not work", severity="error", markup=False)

    def database(self, *, drain: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        """Return a database connection for one ``with`` block of a worker; raises ``storage.db.database.StorageError``.

        Traces that hooks have spooled (written to files for later) are stored first, unless ``drain`` is false.
        """
        return open_database(self.app.state_dir, drain=drain)

    @contextlib.contextmanager
    def reading(self, *, drain: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield a database connection; its queries are aborted without an error if the calling worker is cancelled."""
        worker = get_current_worker()
        try:
            with self.database(drain=drain) as db:
                db.set_progress_handler(lambda: worker.is_cancelled, STEPS_BETWEEN_LOOKS)
                yield db
        except (StorageError, sqlite3.Error):
            if not worker.is_cancelled:
                raise

    def in_thread(self, what: str, compute: Callable[[ShouldStop], Iterable[T]], show: Callable[[T], object]) -> None:
        """Compute values in a thread, and pass each of them to ``show`` as soon as it is known.

        ``what`` names the work. If the work of that name is begun again, the earlier run is cancelled, and none of its
        values are shown any more; the function that ``compute`` is given then returns true.
        """
        run = self.next_run(what)

        def work() -> None:
            worker = get_current_worker()
            for value in compute(lambda: worker.is_cancelled):
                if worker.is_cancelled:
                    return
                self.post_message(Computed(what, run, value, show))

        self.run_worker(work, group=f"{self.PLACE}.{what}", thread=True, exclusive=True, exit_on_error=False)

    def read(self, what: str, query: Callable[[Db], T], show: Callable[[T], object], *, drain: bool = False) -> None:
        """Query the database in a thread, and pass the result to ``show``; see ``in_thread`` and ``database``."""
        self.read_each(what, lambda db, _should_stop: [query(db)], show, drain=drain)

    def read_each(
        self,
        what: str,
        query: Callable[[Db, ShouldStop], Iterable[T]],
        show: Callable[[T], object],
        *,
        drain: bool = False,
    ) -> None:
        """Query the database in a thread for several values, and pass each to ``show`` as soon as it is known."""

        def compute(should_stop: ShouldStop) -> Iterator[T]:
            with self.reading(drain=drain) as db:
                yield from query(db, should_stop)

        self.in_thread(what, compute, show)

    @on(Computed)
    def _computed(self, message: Computed) -> None:
        if self.is_latest(message.what, message.run):
            message.show(message.value)

    def show_empty(self, text: str) -> None:
        """Show ``text`` in place of the list, to say why it is empty; without a text, show the list."""
        self.set_class(bool(text), "-empty")
        self.query_one("#empty", Static).update(text)

    def next_run(self, what: str) -> int:
        """Return the number of a new run of the work named ``what``; results of its earlier runs are then outdated."""
        self._runs[what] = self._runs.get(what, 0) + 1
        return self._runs[what]

    def is_latest(self, what: str, run: int) -> bool:
        """Return whether ``run`` is the number of the latest run of the work named ``what``."""
        return self._runs.get(what) == run

    def debounce(self, what: str, seconds: float, call: Callable[[], object]) -> None:
        """Call ``call`` once ``seconds`` have passed without another ``debounce`` for the same ``what``."""
        if what in self._rests:
            self._rests[what].stop()
        self._rests[what] = self.set_timer(seconds, call)

    def in_turn(self, what: str, start: Callable[[], object]) -> None:
        """Call ``start``, which begins the work ``what`` (see ``in_thread``), now or once its current run has ended.

        Without this, changes that arrive faster than a thread can read would cancel every run.
        """
        group = f"{self.PLACE}.{what}"
        if any(one.group == group and not one.is_finished for one in self.workers):
            self._next_turns[group] = start  # see on_worker_state_changed
        else:
            start()

    def action_back(self) -> None:
        """Return to the screen that opened this one."""
        self.app.go_back()

    def action_gate(self) -> None:
        """Run the gate, the check of the golden cases (approved prompts), and show its result on top of this screen."""
        if self.PLACE != "gate":
            self.open_on_top("gate", self.gated_trace())

    def action_take_save_back(self) -> None:
        """Undo the last save of instructions, and show how that changes prompts' results."""
        self._take_save_back(TakeSaveBack())

    def action_save_again(self) -> None:
        """Redo the save of instructions that was undone last."""
        self._take_save_back(TakeSaveBack(is_again=True))

    def _take_save_back(self, message: TakeSaveBack) -> None:
        """Let the Instructions screen undo or redo a save; show it, unless this screen shows the effect."""
        instructions = self.app.opened_place(message.PLACE)
        if instructions is None or not (self.app.saves_undone if message.is_again else self.app.saves):
            self.notify(NO_SAVE_UNDONE if message.is_again else NO_SAVE, timeout=3)
        elif self.SHOWS_SAVES:
            instructions.opened(message)
        else:
            self.app.post_message(message)

    def gated_trace(self) -> str:
        """Return the id of the trace whose project the gate checks; empty for the project of the working folder."""
        return ""

    def open_on_top(self, name: str, *arguments: object) -> None:
        """Open one of the screens in ``ON_TOP`` on top of this one."""
        self.app.push_screen(on_top(name, *arguments, place=self.bar_place))

    def counts(self) -> Sequence[Counted]:
        """Return the numbers on this screen that count prompts, each with the prompts that it counts."""
        return []

    def action_counts(self) -> None:
        """Ask the user for one of the numbers on this screen, and show the prompts that it counts."""
        found = [one for one in self.counts() if one.number]
        answers = [Answer(str(at), one.name, _number_note(one)) for at, one in enumerate(found)]
        if answers:
            self.ask(Picker("Which prompts?", answers), lambda at: self.show_counted(found[int(at)]))
        else:
            self.notify("No number here counts a prompt.", timeout=3)

    def show_counted(self, counted: Counted) -> None:
        """Show on the Traces screen exactly the prompts that ``counted`` counts."""
        self.post_message(FilterTraces(counted.text, counted if counted.ids is not None else None))

    @on(Click, "#summary, #state, #note")
    def _number_clicked(self) -> None:
        if self.counts():
            self.action_counts()

    def ask(self, dialog: ModalScreen[str], answered: Callable[[str], object]) -> None:
        """Show a dialog, and call ``answered`` with the answer unless the user cancels."""

        def closed(answer: str | None) -> None:
            if answer:
                answered(answer)

        self.app.push_screen(dialog, closed)

    def ask_from_thread(self, dialog: ModalScreen[str], answered: Callable[[str], object]) -> None:
        """Show a dialog from a worker, unless the user has left this screen since it was requested."""
        self.app.call_from_thread(lambda: self.ask(dialog, answered) if self.app.screen is self else None)

    def edit_elsewhere(self, path: str) -> None:
        """Run the user's own editor on a file, in this terminal, and redraw the screen afterwards."""
        if trouble := _run_editor(self.app, path):
            self.notify(trouble, severity="warning", timeout=8, markup=False)
        else:
            self.app.refresh()

    def recall(self, name: str, default: Any) -> Any:
        """Return the value that this screen stored under ``name``, or ``default`` if there is none."""
        return self.app.memory.recall(self.PLACE, name, default)

    def recall_choice(self, name: str, choices: Iterable[str]) -> str:
        """Return the value stored under ``name`` if it is still one of the choices, otherwise the first choice."""
        known = list(choices)
        value: str = self.recall(name, known[0])
        return value if value in known else known[0]

    def remember(self, **values: Any) -> None:
        """Store values of this screen so that they survive a restart of the app."""
        self.app.memory.remember(self.PLACE, **values)

    def on_screen_resume(self) -> None:
        self.data_changed()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.failed(event.worker.error)
        if event.worker.is_finished and (start := self._next_turns.pop(event.worker.group, None)):
            start()


def counts_key(place: str) -> Binding:
    """Return the key binding of ``action_counts`` for the screen named ``place``."""
    return Binding(
        "number_sign", "counts", "Prompts", id=f"{place}.counts", key_display="#", tooltip="The prompts behind a number"
    )


def _number_note(one: Counted) -> str:
    here = one.number if one.ids is None else len(one.ids)
    return f"{one.number:,}" if here == one.number else f"{one.number:,}, {here:,} of them in this history"


def _run_editor(app: Workbench, path: str) -> str:
    """Run ``$VISUAL`` or ``$EDITOR`` on the file in this terminal; return an error message, or an empty string."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if app.is_web:
        return f"A browser has no editor to open; edit {path} on the machine that serves this."
    is_new = not os.path.exists(path)
    if is_new:  # the editor then shows which sections the file may have
        private.make_directory(os.path.dirname(path))
        private.write_file(path, FIRST_LINES.encode())
    try:
        with app.suspend():
            ended = subprocess.run([*command, path], check=False).returncode
    except SuspendNotSupported:
        return f"This terminal cannot be given to an editor; edit {path} elsewhere, a save is seen here."
    except OSError as failure:
        return f"{command[0]} cannot be started ({failure.strerror}); set EDITOR to an editor that is installed."
    if is_new:
        _take_away_unwritten(path)
    return f"{command[0]} ended with {ended}" if ended else ""


def _take_away_unwritten(path: str) -> None:
    with contextlib.suppress(OSError):
        if private.read_file(path, len(FIRST_LINES) + 1) == FIRST_LINES.encode():
            os.unlink(path)


def allow_processes() -> None:
    """Let a long replay start processes, although Textual has replaced the standard streams.

    ``multiprocessing`` starts a tracker of shared memory, and passes it the file descriptor of ``sys.stderr``, but
    Textual's replacement for that stream has none. Therefore, this function starts the tracker with the real stream,
    unless it already runs.
    """
    from multiprocessing import resource_tracker

    with _ONE_AT_A_TIME, contextlib.redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()
