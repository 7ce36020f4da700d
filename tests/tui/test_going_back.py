"""Escape goes back one step, always: what one key opened, escape closes, on every screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from instructing import QUIETER, instructions, own_layer
from piloting import run_workbench, settle
from textual.command import CommandPalette
from textual.widgets import Input, TextArea

from workbench.tui.screens import SCREENS

if TYPE_CHECKING:
    from simulator import Account

    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

NO_STEP = ("quit", "back", "go(", "external", "app.focus", "screen.copy", "take_back", "take_save_back")
"""Actions that open nothing in the app: they leave it, are steps back themselves, or go to a screen by its number."""


def place_of(app: Workbench) -> tuple[object, ...]:
    """Return what a user sees as the place where they are: screen, dialogs, what is open, what is typed into."""
    screen = app.place_screen()
    opened = [name for name in ("-reading", "-editing") if screen.has_class(name)]
    typed_into = app.focused if isinstance(app.focused, (Input, TextArea)) else None
    listed = [getattr(screen, name, "") for name in ("_text", "_shows_session", "_is_queue")]
    return app.current_mode, [type(one).__name__ for one in app.screen_stack[1:]], opened, typed_into, listed


@pytest.mark.parametrize(
    "size", [pytest.param((80, 24), id="80x24"), pytest.param((120, 40), id="120x40", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_escape_undoes_what_any_key_opened(
    library: Account, monkeypatch: pytest.MonkeyPatch, place, size: tuple[int, int]
) -> None:
    own_layer(library, monkeypatch)
    astray, opened = [], set()
    async with run_workbench(library.state, size=size, screen=place.name) as (app, pilot):
        start = place_of(app)
        for active in list(app.screen.active_bindings.values()):
            key, action = active.binding.key, active.binding.action
            if action.startswith(NO_STEP):
                continue
            await pilot.press(key)
            await settle(app, pilot)
            if place_of(app) == start:
                continue
            opened.add(key)
            if isinstance(app.screen, CommandPalette):
                await pilot.pause(0.2)
            await pilot.press("escape")
            await settle(app, pilot)
            if place_of(app) != start:
                astray.append((key, place_of(app)))
                break

    assert astray == []
    assert opened >= {"question_mark", "ctrl+p", "ctrl+g"}


CHAINS = {
    "from coverage to a trace, its reasons, and the gate": ("coverage", ("enter", "enter", "w", "ctrl+g")),
    "from coverage to the session of a trace": ("coverage", ("enter", "enter", "s")),
    "from coverage to the labelling queue": ("coverage", ("enter", "l")),
    "from an edit to a change, its trace and the gate": ("instructions", ("enter", "enter", "ctrl+g")),
    "from an edit to the trace of a change": ("instructions", ("t", "w")),
    "from the latencies to their prompts and the help": ("latency", ("f", "question_mark")),
}


LONGEST = next(iter(CHAINS))


@pytest.mark.parametrize(
    ("chain", "size"),
    [*((chain, (80, 24)) for chain in CHAINS), (LONGEST, (120, 40))],
    ids=[*(f"{chain}-80x24" for chain in CHAINS), f"{LONGEST}-120x40"],
)
async def test_escape_goes_back_step_by_step(
    library: Account, monkeypatch: pytest.MonkeyPatch, chain: str, size: tuple[int, int]
) -> None:
    screen, keys = CHAINS[chain]
    own_layer(library, monkeypatch)
    async with run_workbench(library.state, size=size, screen=screen) as (app, pilot):
        if screen == "instructions":
            instructions(app).editor.text = QUIETER
            await settle(app, pilot)
            await pilot.press("down")
        steps = []
        for key in keys:
            steps.append(place_of(app))
            await pilot.press(key)
            await settle(app, pilot)
            assert place_of(app) != steps[-1], f"{key} opened nothing"
        for step in reversed(steps):
            await pilot.press("escape")
            await settle(app, pilot)
            assert place_of(app) == step


async def test_a_filter_typed_after_the_way_there_does_not_bar_the_way_back(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_layer(library, monkeypatch)
    async with run_workbench(library.state, screen="coverage") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        app.screen.select("type:test")
        await settle(app, pilot)
        seen = []
        for _step in range(2):
            await pilot.press("escape")
            await settle(app, pilot)
            seen.append((app.current_mode, app.screen._text))  # noqa: SLF001

        assert seen == [("traces", ""), ("coverage", "")]
