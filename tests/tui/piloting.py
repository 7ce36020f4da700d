"""How tests drive the app: start it, press keys, wait until it has settled, read its screen."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from textual._context import visible_screen_stack
from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import OptionList

from workbench.tui.app import Workbench
from workbench.tui.widgets.dialogs import Picker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from textual._compositor import Compositor
    from textual.app import App
    from textual.message_pump import MessagePump
    from textual.screen import Screen

    from workbench.tui.widgets.lists.line_list import LineList, ListLine

_undrawn: WeakSet[Compositor] = WeakSet()
_drawn: WeakKeyDictionary[Compositor, str] = WeakKeyDictionary()

WAIT_S = 60.0
"""A test whose app is not done by then hangs."""
DEBOUNCE_S = 0.3
"""The app waits at most so long after the last key before it looks at what was typed."""


class DirectPilot(Pilot[None]):
    """A pilot that waits for the app's messages instead of an idle processor.

    Textual's own sleeps until the process uses little time: 40 ms for each key when it is quiet, and beside load it
    returns before the app has done anything, because others have the processor.
    """

    async def press(self, *keys: str) -> None:
        """Press keys one after another; each is handled before the next."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            event = Key(name, key if len(key) == 1 else None)
            event.set_sender(self.app)
            self.app.post_message(event)
            await self.pause()

    async def pause(self, delay: float | None = None) -> None:
        """Wait until every message is handled; with a delay, let that many seconds pass before."""
        if delay:
            await asyncio.sleep(delay)
        await handled(self.app)


@asynccontextmanager
async def run_workbench(
    state: Path | str, *, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[tuple[Workbench, Pilot[None]]]:
    """Start the app over a state folder and yield it with its pilot, as soon as it has settled."""
    app = Workbench(str(state), **options)
    async with app.run_test(size=size):
        pilot = DirectPilot(app)
        await settle(app, pilot)
        yield app, pilot
        draw(app)


async def handled(app: Workbench) -> None:
    """Wait until every part of the app waits for its next message and the screen is drawn."""
    end = time.monotonic() + WAIT_S
    is_drawn = False
    while app.is_running and app._exception is None:  # noqa: SLF001 (Textual tells neither in public)
        await asyncio.sleep(0)
        busy = [part for part in (app, *app._registry) if _is_busy(part)]  # noqa: SLF001
        if busy:
            is_drawn = False
            assert time.monotonic() < end, f"still at work: {busy}"
            await asyncio.sleep(0.001 * (len(busy) == 1))
        elif is_drawn:
            return
        else:
            app.screen._on_timer_update()  # noqa: SLF001 (what draws the screen sixty times a second)
            is_drawn = True


def _is_busy(part: MessagePump) -> bool:
    """Return whether a part has messages, or handles one: then nobody waits at its queue."""
    queue = part._message_queue  # noqa: SLF001
    return part.is_running and (not queue.empty() or not queue.ready_event._waiters)  # noqa: SLF001


def highlight(app: Workbench, value: str) -> None:
    """Put the cursor on the answer of the open dialog that stands for ``value``."""
    assert isinstance(app.screen, Picker)
    values = [one.value for one in app.screen._answers]  # noqa: SLF001 (the list shows texts only)
    app.screen.query_one(OptionList).highlighted = values.index(value)


def draw_later(
    compositor: Compositor, *, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
) -> object:
    """Stand in for the drawing of a frame: most are followed by the next before anybody looks.

    A picture of the screen is ``full``, and drawn at once.
    """
    visible_screen_stack.set(screen_stack or [])
    if full:
        return compositor.render_full_update(simplify=simplify)
    compositor._dirty_regions.clear()  # noqa: SLF001 (as the method does that this stands for)
    _undrawn.add(compositor)
    return None


def draw(app: App[Any]) -> None:
    """Draw the screen if it has changed: lists load the rows that are drawn, and what cannot be drawn is an error."""
    if app.is_running and app.screen._compositor in _undrawn:  # noqa: SLF001
        screen_text(app)


async def settle(app: Workbench, pilot: Pilot[None]) -> None:
    """Wait until nothing is at work but the watcher, which never ends, and nothing is about to begin."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        await pilot.pause()
        draw(app)
        working = [one for one in app.workers if one.group != "app.watch" and not one.is_finished]
        if not working and not (working := _soon(app)):
            return
        await asyncio.sleep(0.002)
    raise AssertionError(f"still at work: {working}")


def _soon(app: Workbench) -> list[object]:
    """Return the timers that will call something within a moment, such as the one that waits for the next key."""
    timers = (timer for part in (app, *app._registry) for timer in part._timers)  # noqa: SLF001
    return [
        timer
        for timer in timers
        if timer._repeat == 0 and timer._interval <= DEBOUNCE_S and timer._task and not timer._task.done()  # noqa: SLF001
    ]


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    """Wait for a condition; one that never holds is a failed test."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        draw(pilot.app)
        await asyncio.sleep(0.01)
    await pilot.pause()


def notices(app: Workbench) -> str:
    """Return what the app has said in notices."""
    return "\n".join(notice.message for notice in app._notifications)  # noqa: SLF001 (they fold on the screen)


def list_lines(shown: LineList) -> list[ListLine]:
    """Return the lines of all groups, also of those that are closed, without the headings."""
    return [line for group in shown._groups for line in group.lines]  # noqa: SLF001 (the app needs only visible lines)


def screen_text(app: App[Any]) -> str:
    """Return the visible screen as plain text, blanks at line ends removed; it is drawn where it has changed."""
    compositor = app.screen._compositor  # noqa: SLF001 (what draws is private in Textual)
    if _is_unchanged(app, compositor):
        return _drawn[compositor]
    visible_screen_stack.set(app._background_screens)  # noqa: SLF001 (else what lies below a dialog stays empty)
    text = "\n".join(strip.text.rstrip() for strip in compositor.render_strips()).rstrip() + "\n"
    _undrawn.discard(compositor)
    _drawn[compositor] = text
    return text


def _is_unchanged(app: App[Any], compositor: Compositor) -> bool:
    """Return whether a screen looks as it was last drawn; what lies below a dialog may always have changed."""
    screen = app.screen
    is_waiting = screen._dirty_widgets or screen._layout_required or screen._repaint_required  # noqa: SLF001
    has_changed = compositor in _undrawn or is_waiting or app._background_screens  # noqa: SLF001
    return compositor in _drawn and not has_changed
