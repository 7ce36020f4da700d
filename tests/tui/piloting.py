"""How tests drive the app: start it, wait until it has settled, read its screen."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from workbench.tui.app import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from textual.pilot import Pilot

WAIT_S = 60.0


@asynccontextmanager
async def run_workbench(
    state: Path | str, *, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[tuple[Workbench, Pilot[None]]]:
    """Start the app over a state folder and yield it with its pilot, as soon as it has settled."""
    app = Workbench(str(state), **options)
    async with app.run_test(size=size) as pilot:
        await settle(app, pilot)
        yield app, pilot


async def settle(app: Workbench, pilot: Pilot[None]) -> None:
    """Wait until nothing is at work but the watcher, which never ends."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        await pilot.pause()
        working = [one for one in app.workers if one.group != "app.watch" and not one.is_finished]
        if not working:
            await pilot.pause()
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"still at work: {working}")


async def until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    """Wait for a condition; one that never holds is a failed test."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        await asyncio.sleep(0.01)
    await pilot.pause()


def notices(app: Workbench) -> str:
    """Return what the app has said in notices."""
    return "\n".join(notice.message for notice in app._notifications)  # noqa: SLF001 (they fold on the screen)


def screen_text(app: Workbench) -> str:
    """Return the visible screen as plain text, blanks at line ends removed."""
    strips = app.screen._compositor.render_strips()  # noqa: SLF001 (the one private place)
    return "\n".join(strip.text.rstrip() for strip in strips).rstrip() + "\n"
