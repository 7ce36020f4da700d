"""The Textual app: it switches between the screens, binds the global keys, and keeps what all screens share.

It keeps no database connection: one worker watches the database, and every other worker opens its own.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.worker import WorkerState, get_current_worker

from enricher.home import from_home
from workbench.tui.messages import DatabaseTrouble, DataChanged, OpenPlace
from workbench.tui.screens import SCREENS, place
from workbench.tui.screens.base import WorkbenchScreen
from workbench.tui.state import AppState
from workbench.tui.themes import THEMES, ParsedOnce
from workbench.tui.widgets.bars import PlaceBar
from workbench.tui.widgets.choice import next_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.app import SystemCommand
    from textual.command import Provider
    from textual.notifications import Notify
    from textual.screen import Screen
    from textual.worker import Worker

    from workbench.edits.undoing import Save
    from workbench.gate.labelling import Given
    from workbench.tui.state import CompletedRun
    from workbench.tuning.wishes.wish import Wish

DATA_EVERY_S = 0.1
"""Minimum seconds between two refreshes of a screen; an import commits to the database far more often."""
MOST_TYPED_AHEAD = 64
"""The app remembers this many keys that ``on_key`` forwarded, so that none is forwarded a second time."""
KEYS = "workbench-keys.toml"
KEPT = "The edit of {} is not saved. It is kept, and the Instructions screen has it again at the next start."


def _top(stack: Sequence[Screen[Any]]) -> WorkbenchScreen | None:
    """Return the uppermost screen of a stack that is no dialog and no help; None if there is none."""
    return next((one for one in reversed(stack) if isinstance(one, WorkbenchScreen)), None)


def _commands() -> type[Provider]:
    from workbench.tui.commands import WorkbenchCommands

    return WorkbenchCommands


class Workbench(App[None], inherit_bindings=False):
    """The app that shows traces (recorded prompts), instructions and the effect of edits in a terminal.

    Textual's own bindings are not inherited. Every binding is declared with an id instead, so that the help can list it
    and users can assign another key to it.
    """

    CSS_PATH = "app.tcss"
    TITLE = "Prompt Enricher"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 (declared by Textual)
        (0, "-narrow"),
        (100, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(one.key, f"go('{one.name}')", f"The {one.title} screen", id=f"app.{one.name}", show=False)
            for one in SCREENS
        ),
        Binding("question_mark", "help", "Help", id="app.help", key_display="?"),
        Binding("f1", "help", "Help", id="app.help-now"),
        Binding(
            "ctrl+p",
            "command_palette",
            "Menu",
            id="app.palette",
            tooltip="Everything that can be done here",
            key_display="^p",
            priority=True,  # otherwise a focused text field would take the key
        ),
        Binding("ctrl+o", "jump", "Jump to a part of the screen", id="app.jump", show=False),
        Binding("ctrl+t", "next_theme", "Next theme", id="app.theme", show=False),
        Binding("q", "quit", "Quit", id="app.quit"),
        Binding("ctrl+q", "quit", "Quit, also while typing", id="app.quit-now", show=False, priority=True),
    ]

    def __init__(
        self, state_dir: str, *, screen: str = "", selection: str | None = None, instructions: str = ""
    ) -> None:
        # All state that screens share is listed here, each attribute with its meaning.
        self.state_dir = state_dir
        self.selection = selection
        """The filter for traces that was given on the command line; None if none was given."""
        self.instructions = instructions
        self.trouble = ""
        self.databases = 1
        """Number of database files opened so far; when it grows, everything read before came from another file."""
        self._times_changed = 0
        self.memory = AppState(state_dir)
        wanted = screen or self.memory.recall("app", "screen", SCREENS[0].name)
        self._first = wanted if place(wanted) else SCREENS[0].name
        self.edited: dict[str, str] = {}
        """The unsaved texts of edited instructions files, by path."""
        self.wishes: dict[str, Wish] = {}
        """The result that the user wants for a prompt, by trace id; only those chosen since the start of the app."""
        self.layer_chosen = ""
        """The layer (one of the combined instructions files) that the user last chose to save an edit in.

        It is a path; empty if none was chosen since the start of the app.
        """
        self.labels_given: list[Given] = []
        """The labels (verdicts on recorded prompts) that the user gave since the start of the app, newest last."""
        self.saves: list[Save] = []
        """The saves of instructions since the start of the app, newest last."""
        self.saves_undone: list[Save] = []
        """The saves that were undone and can be redone, the last one undone at the end."""
        self.last_run: CompletedRun | None = None
        """The last complete replay on the Instructions screen; the Compare screen shows which results it changed."""
        self.is_welcoming = False
        """Whether this is a first start without any history, at which the import and the tour are offered."""
        self._typed_ahead: deque[events.Key] = deque(maxlen=MOST_TYPED_AHEAD)
        self.opening: OpenPlace | None = None
        """The request for which a screen is being opened; None if the user goes there."""
        self._came_from: list[str] = []
        self._refreshed_at = 0.0
        self._is_refresh_planned = False
        super().__init__()
        for one in SCREENS:
            self.add_mode(one.name, one.load)
        for theme in THEMES:
            self.register_theme(theme)
        if not os.environ.get("TEXTUAL_THEME"):  # otherwise Textual has already applied that theme
            remembered = self.memory.recall("app", "theme", THEMES[0].name)
            self.theme = remembered if remembered in self.available_themes else THEMES[0].name
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())

    async def on_mount(self) -> None:
        self._read_keys()
        self.theme_changed_signal.subscribe(self, lambda theme: self.memory.remember("app", theme=theme.name))
        await self.switch_mode(self._first)
        self.watch_database()

    def on_key(self, event: events.Key) -> None:
        """Forward an unhandled key to the focused text field; it was probably typed just before the field had focus."""
        # A key that the field does not take either comes back here.
        field = self.focused
        if field is not None and field.check_consume_key(event.key, event.character) and event not in self._typed_ahead:
            self._typed_ahead.append(events.Key(event.key, event.character))
            field.post_message(self._typed_ahead[-1])

    def place_screen(self) -> WorkbenchScreen | None:
        """Return the visible screen, or the screen below an open dialog or help. Return None if there is none."""
        return _top(self.screen_stack)

    async def action_go(self, name: str) -> None:
        """Show the screen with this name, and close any dialog that covers it."""
        if place(name) is None:
            self.notify(f"There is no {name} screen.", severity="warning")
            return
        self._came_from.clear()  # going back is not offered to a user who went to another screen on purpose
        await self._switch(name)
        await self._close_above()
        if (screen := self.place_screen()) is not None:
            screen.show_list()

    async def _switch(self, name: str) -> None:
        await self.switch_mode(name)
        self.memory.remember("app", screen=name)
        self._show_trouble()

    async def _close_above(self) -> None:
        """Close the screens on top of the current main screen (place)."""
        while (screen := self.place_screen()) is not None and screen.bar_place != screen.PLACE:
            await self.pop_screen()

    def opened_place(self, name: str) -> WorkbenchScreen | None:
        """Return the main screen (place) with that name, visible or not; None if it was never opened."""
        with contextlib.suppress(KeyError):  # Textual has no stack for a mode that was never shown
            return next((one for one in self.get_screen_stack(name) if isinstance(one, WorkbenchScreen)), None)
        return None

    def instructions_written(self) -> None:
        """Tell the visible screen that an instructions file was saved, by this app or by another program."""
        screen = self.place_screen()
        if screen is not None:
            screen.instructions_written()

    @property
    def can_go_back(self) -> bool:
        """Return whether the current screen was opened from another one, to which the user can go back."""
        return bool(self._came_from)

    def screen_behind(self) -> WorkbenchScreen | None:
        """Return the screen that opened the current one, to which ``go_back`` returns; None if none did."""
        return _top(self.get_screen_stack(self._came_from[-1])) if self._came_from else None

    def go_back(self) -> None:
        """Return to the screen that opened the current one, in the state in which it was left."""
        if self._came_from:
            self.call_later(self._switch, self._came_from.pop())

    async def action_quit(self) -> None:
        """Quit the app; if an edit is not saved, say in the terminal that it is kept."""
        paths = ", ".join(map(from_home, sorted(self.edited)))
        self.exit(message=Text(KEPT.format(paths)) if paths else None)  # a Text, so that paths are not read as markup

    def action_command_palette(self) -> None:
        """Show the menu of everything that can be done on the visible screen."""
        from workbench.tui.commands import Menu

        if not isinstance(self.screen, Menu):
            self.push_screen(Menu(id="--command-palette"))

    async def action_help(self) -> None:
        """Show what the screen is for, and its keys."""
        from workbench.tui.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            await self.push_screen(HelpScreen(self.screen))

    async def action_jump(self) -> None:
        """Show a letter over each part of the screen that can have the focus; typing it focuses that part."""
        from workbench.tui.widgets.jump import JumpScreen

        async def answered(name: str | None) -> None:
            if name:
                await self.action_go(name)

        await self.push_screen(JumpScreen(self.screen), answered)

    def action_next_theme(self) -> None:
        """Switch to the next of the app's themes."""
        self.theme = next_of(self.theme, [theme.name for theme in THEMES])
        self.notify(f"Theme: {self.theme}", timeout=2)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Return no commands, because the command palette offers its own entries instead of Textual's commands."""
        del screen
        return ()

    @on(OpenPlace)
    async def _open_place(self, message: OpenPlace) -> None:
        before = self.current_mode
        self.opening = message
        await self._switch(message.PLACE)
        if before != message.PLACE:
            self._came_from.append(before)
        await self._close_above()
        screen = self.place_screen()
        if screen is not None and message.PLACE == screen.PLACE:
            screen.opened(message)
        self.opening = None

    @work(thread=True, exclusive=True, group="app.watch", exit_on_error=False)
    def watch_database(self) -> None:
        """Watch the database in a thread; tell the app of every commit, of every error, and when the error is over."""
        from workbench.tui.workers.connection import watch

        worker = get_current_worker()
        watch(
            self.state_dir,
            changed=self._database_changed,
            troubled=self._post_trouble,
            is_over=lambda: worker.is_cancelled,
            # The watcher updates aggregates and the word index only while no other worker runs. A copy of the workers,
            # because they change while this thread looks at them.
            is_busy=lambda: any(one.is_running for one in tuple(self.workers) if one is not worker),
        )

    def _database_changed(self, databases: int) -> None:
        if databases > self.databases:
            text = "It was deleted or replaced. What is shown now is read from the one in its place."
            self.notify(text, title="The database", severity="warning", timeout=10, markup=False)
        self.databases = databases
        self._times_changed += 1
        self.post_message(DataChanged())

    @property
    def changes(self) -> int:
        """Return how often the database has changed since it was first opened; the opening itself does not count."""
        return max(0, self._times_changed - 1)

    def _post_trouble(self, text: str) -> None:
        self.post_message(DatabaseTrouble(text))

    def on_notify(self, event: Notify) -> None:
        """Remove earlier informational notifications, so that those of several actions in a row do not pile up."""
        for earlier in list(self._notifications):  # Textual has no public way to remove a single one
            if earlier.severity == "information" and earlier is not event.notification:
                self._unnotify(earlier)

    @on(DataChanged)
    def _data_changed(self) -> None:
        """Notify the visible screen that data has changed, immediately but at most ten times a second."""
        if self._is_refresh_planned:
            return
        wait = DATA_EVERY_S - (time.monotonic() - self._refreshed_at)
        if wait > 0:
            self._is_refresh_planned = True
            self.set_timer(wait, self._refresh_screen)
        else:
            self._refresh_screen()

    def _refresh_screen(self) -> None:
        self._is_refresh_planned = False
        self._refreshed_at = time.monotonic()
        screen = self.place_screen()
        # When the app ends, it stops running, then its screens lose their widgets, and only then are they unmounted.
        if self.is_running and screen is not None and screen.is_mounted:
            screen.data_changed()

    @on(DatabaseTrouble)
    def _database_trouble(self, message: DatabaseTrouble) -> None:
        if message.text:
            self.notify(message.text, title="The database", severity="error", timeout=10, markup=False)
        elif self.trouble:
            self.notify("The database can be read again.", timeout=4)
        self.trouble = message.text
        self._show_trouble()
        self.post_message(DataChanged())

    def _show_trouble(self) -> None:
        screen = self.place_screen()
        for bar in screen.query(PlaceBar) if screen else ():
            bar.show_error("! database out of reach" if self.trouble else "")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.notify(repr(event.worker.error), title=event.worker.group, severity="error", markup=False)

    def _read_keys(self) -> None:
        """Apply the user's ``workbench-keys.toml``, which assigns other keys to bindings by id."""
        import tomllib

        from enricher.home import config_dir

        path = os.path.join(config_dir(), KEYS)
        if not os.path.isfile(path):
            return
        try:
            with open(path, "rb") as file:
                keys = tomllib.load(file).get("keys", {})
        except (OSError, ValueError) as error:
            self.notify(f"{path}: {error}", title="Your keys are not used", severity="warning", markup=False)
            return
        if isinstance(keys, dict):  # any value of TOML is possible here
            self.set_keymap({name: key for name, key in keys.items() if isinstance(key, str)})
