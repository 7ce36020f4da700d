"""List the main screens (places) of the app, and describe how to write one. Importing this does not load Textual.

A new screen is a module here with one class derived from ``base.WorkbenchScreen`` and one line in ``SCREENS``.
The app loads the module when the screen is first opened. The screen's key, its tab in the header, its entry in the
command palette and its name for ``--screen`` follow from that line.

    class LatencyScreen(WorkbenchScreen):
        PLACE = "latency"                                   # the name in SCREENS; state is stored under it
        HELP = "What this screen is for, in Markdown."      # ``?`` shows it above the keys
        BINDINGS = [Binding("b", "budget", "Budget", id="latency.budget")]   # each with id and description

        def compose_body(self) -> ComposeResult: ...        # between the header and the footer

What the base class provides:

- ``self.read("load", query, show)`` calls ``query(db)`` in a thread, and then ``show`` with what it returned, unless
  ``load`` was begun again in the meantime. ``self.read_each`` does so for a query that yields several values, one after
  the other, and ``self.in_thread`` for any other work that can take more than 5 ms. The rows of ``db`` are
  ``sqlite3.Row``. In the thread only ``self.post_message``, ``self.notify`` and ``self.app.call_from_thread`` are safe.
  An exception is shown as a notification (StorageError and OSError by their text, others with their type); override
  ``failed(error)`` to show it elsewhere.
- What writes is a worker of its own, ``@work(thread=True, group="trace.label", exit_on_error=False)``, with a
  connection from ``with self.database() as db``, which may have to wait.
- ``self.in_turn("load", start)`` calls ``start`` after the current run of ``load`` has ended. Otherwise, changes of the
  database that arrive faster than a thread can read them would cancel every run.
  ``self.debounce("chosen", seconds, call)`` calls ``call`` once ``seconds`` have passed without another such request.
- ``self.show_empty(text)`` shows the widget ``#empty`` with that text in place of the list; without a text, the list.
- A screen with a filter derives from ``filtered.FilteredScreen``, one that measures from ``MeasuringScreen`` there.
- The working folder is ``workbench.tui.state.here()`` (it may have been deleted); untrusted texts are drawn
  through ``workbench.tui.widgets.plain_text``; lists derive from
  ``workbench.tui.widgets.lists.cursor_view.CursorView``.
- ``self.ask(dialog, answered)`` shows a dialog of ``workbench.tui.widgets.dialogs`` and passes its answer to
  ``answered``; ``self.open_on_top("why", …)`` opens a screen of ``ON_TOP``; ``self.edit_elsewhere(path)`` runs the
  user's editor.
- ``self.remember(sort="slowest")`` stores a JSON value that survives a restart; ``self.recall("sort", "newest")``
  returns it, or the given default if nothing was stored.
- ``self.app.databases`` is a number that grows each time the database is replaced or created anew while the app runs.
- ``data_changed()`` is called (in the event loop) when the database has changed while this screen is visible, and when
  the screen becomes visible again; at most ten times a second. Override it to read again.
- ``opened(message)`` is called when a message below requests this screen. Override it to show what the message names.
- The screen has the CSS class ``-narrow`` (below 100 columns) or ``-wide``, for rules such as
  ``LatencyScreen.-narrow #plot {display: none}``.
- ``self.app.state_dir`` is the state folder, ``self.app.instructions`` the file given with ``--instructions``, or
  empty.
- Use colours only as theme variables ($surface, $text-muted, $success, …); never convey a meaning by colour alone.

Messages that any screen may post (``workbench.tui.messages``); the app shows the screen that handles them:
``OpenTrace(trace_id)`` → Traces; ``FilterTraces(text)`` → Traces with that filter; ``OpenCompare(trace_id="")`` →
Compare; ``OpenInstructions(path="", line=0)`` → Instructions. ``DataChanged()`` makes the visible screen read its data
again at once.

Tests: ``tests/tui/conftest.py`` has the fixtures ``library`` (an account with traces of real hook calls) and
``check_screen`` (text snapshots below ``tests/tui/screens/``, rewritten by ``--update-screens``);
``tests/tui/piloting.py`` has ``run_workbench``, ``settle``, ``until`` and ``screen_text``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tui.screens.base import WorkbenchScreen


@dataclass(frozen=True, slots=True)
class Place:
    """A main screen (place) of the app: its name, its key, its title, and its class (``target``) as "module:Class"."""

    name: str
    key: str
    title: str
    target: str

    def load(self) -> WorkbenchScreen:
        """Import the screen's module and return a new screen."""
        screen: WorkbenchScreen = _class_at(self.target)()
        return screen


def _class_at(target: str) -> Any:
    module, name = target.split(":")
    return getattr(import_module(module), name)


SCREENS = (
    Place("traces", "1", "Traces", "workbench.tui.screens.traces:TracesScreen"),
    Place("instructions", "2", "Instructions", "workbench.tui.screens.editing.instructions:InstructionsScreen"),
    Place("compare", "3", "Compare", "workbench.tui.screens.compare:CompareScreen"),
    Place("coverage", "4", "Coverage", "workbench.tui.screens.coverage:CoverageScreen"),
    Place("latency", "5", "Latency", "workbench.tui.screens.latency:LatencyScreen"),
    Place("memories", "6", "Memories", "workbench.tui.screens.memories:MemoriesScreen"),
    Place("experiments", "7", "Experiments", "workbench.tui.screens.experiments:ExperimentsScreen"),
)


ON_TOP = {
    "why": "workbench.tui.screens.loop.why:WhyScreen",
    "make": "workbench.tui.screens.loop.make:MakeScreen",
    "gate": "workbench.tui.screens.loop.gate:GateScreen",
}
"""Screens that open on top of a main screen (place), and that escape closes."""


def on_top(name: str, *arguments: object, place: str) -> WorkbenchScreen:
    """Import the module of the screen ``ON_TOP[name]``, and return a new screen to open on top of a main screen.

    ``place`` is the name of that main screen; ``arguments`` are passed to the class of the new one.
    """
    screen: WorkbenchScreen = _class_at(ON_TOP[name])(*arguments, place=place)
    return screen


def place(name: str) -> Place | None:
    """Return the main screen (place) with that name, or None if there is none."""
    return next((one for one in SCREENS if one.name == name), None)
