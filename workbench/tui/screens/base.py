"""What all screens of the app share: header, footer, database, workers, runs, what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer
from textual.worker import Worker, WorkerState

from storage.db.database import StorageError
from workbench.tui.widgets.header import PlaceBar
from workbench.tui.workers.connection import open_database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.timer import Timer

    from workbench.tui.app import Workbench


class WorkbenchScreen(Screen[None], inherit_bindings=False):
    """A place of the app; see ``workbench.tui.screens`` for what it gives and what it wants."""

    PLACE: ClassVar[str] = ""
    HELP: ClassVar[str] = ""
    AUTO_FOCUS = ""  # Textual would choose the filter where the table is hidden, and it would take every key
    app: Workbench  # narrower than Textual's

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next part of the screen", id="screen.next", show=False),
        Binding("shift+tab", "app.focus_previous", "Previous part of the screen", id="screen.previous", show=False),
        Binding("ctrl+c", "screen.copy_text", "Copy what is selected", id="screen.copy", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id=self.PLACE)
        self._runs: dict[str, int] = {}
        self._rests: dict[str, Timer] = {}
        self._next_turns: dict[str, Callable[[], object]] = {}

    def compose(self) -> ComposeResult:
        yield PlaceBar(self.PLACE)
        yield from self.compose_body()
        yield Footer(show_command_palette=False)

    def compose_body(self) -> ComposeResult:
        """Yield what is between the header and the footer."""
        raise NotImplementedError

    def data_changed(self) -> None:
        """The database changed, or the screen came back to sight."""

    def opened(self, message: Message) -> None:
        """Somebody asked for this screen by a message."""

    def failed(self, error: BaseException) -> None:
        """A worker of this screen ended with an error: tell it."""
        told = str(error) if isinstance(error, (StorageError, OSError)) else f"{type(error).__name__}: {error}"
        self.notify(told, title="That did not work", severity="error", markup=False)

    def database(self, *, drain: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        """Return a connection for one block of a worker; raises ``storage.db.database.StorageError``."""
        return open_database(self.app.state_dir, drain=drain)

    def next_run(self, what: str) -> int:
        """Return the number of a new run; what earlier ones still bring is out of date now."""
        self._runs[what] = self._runs.get(what, 0) + 1
        return self._runs[what]

    def is_latest(self, what: str, run: int) -> bool:
        """Say whether no later run was begun."""
        return self._runs.get(what) == run

    def at_rest(self, what: str, seconds: float, call: Callable[[], object]) -> None:
        """Call once nobody has asked for the same for so long."""
        if what in self._rests:
            self._rests[what].stop()
        self._rests[what] = self.set_timer(seconds, call)

    def in_turn(self, group: str, start: Callable[[], object]) -> None:
        """Start a worker of the group now, or when the one that is at work is done.

        News that come faster than they are read would else cancel every reading of them.
        """
        if any(one.group == group and not one.is_finished for one in self.workers):
            self._next_turns[group] = start
        else:
            start()

    def recall(self, name: str, default: Any) -> Any:
        """Return what this screen remembers under that name."""
        return self.app.memory.recall(self.PLACE, name, default)

    def remember(self, **values: Any) -> None:
        """Keep values of this screen over a restart."""
        self.app.memory.remember(self.PLACE, **values)

    def on_screen_resume(self) -> None:
        self.data_changed()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and event.worker.error is not None:
            self.failed(event.worker.error)
        if event.worker.is_finished and (start := self._next_turns.pop(event.worker.group, None)):
            start()
