"""A monkey at the keyboard: whatever is pressed and clicked, nothing fails, and every screen can be left."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from piloting import run_workbench, settle
from textual.events import Key

if TYPE_CHECKING:
    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

PRESSES = 120
LEAVING = {"q", "ctrl+q", "ctrl+c"}
ALWAYS = ("enter", "escape", "down", "tab", "1", "a", "space")


def send(app: Workbench, key: str) -> None:
    """Send a key without waiting until it is handled."""
    event = Key(key, key if len(key) == 1 else None)
    event.set_sender(app)
    app.post_message(event)


async def play(app: Workbench, pilot: Pilot[None], chance: random.Random) -> None:
    """Press a key that the screen offers or one of ``ALWAYS``, or several at once, or click above the last line."""
    offered = sorted({*app.screen.active_bindings, *ALWAYS} - LEAVING)
    deed = chance.random()
    if deed < 0.75:
        await pilot.press(chance.choice(offered))
    elif deed < 0.9:
        line = chance.choice((0, chance.randrange(app.size.height - 1)))  # often the first, which names the screens
        await pilot.click(offset=(chance.randrange(app.size.width), line))
    else:
        for _ in range(3):
            send(app, chance.choice([*ALWAYS, *offered]))
        await pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_a_monkey_finds_no_key_that_fails(library: Account, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    for name in ("BROWSER", "EDITOR", "VISUAL"):
        monkeypatch.setenv(name, "true")
    monkeypatch.chdir(library.project)
    chance = random.Random(seed)
    async with run_workbench(library.state, size=((80, 24), (120, 36))[seed % 2]) as (app, pilot):
        for press in range(PRESSES):
            await play(app, pilot, chance)
            assert app.is_running
            if press % 20 == 19:
                await settle(app, pilot)
        await pilot.press(*["escape"] * 12, "1")
        await settle(app, pilot)

        assert type(app.screen).__name__ == "TracesScreen"
