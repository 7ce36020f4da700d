"""The shell: places, help, palette, themes, what it remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from piloting import run_workbench, screen_text

from workbench.tui.help import HelpScreen
from workbench.tui.screens import SCREENS

if TYPE_CHECKING:
    from simulator import Account


@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_every_place_is_reached_by_its_key(library: Account, place) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press(place.key)

        assert place.name == app.place_screen().PLACE


async def test_the_help_shows_the_keys_of_the_screen_below(library: Account) -> None:
    async with run_workbench(library.state, size=(100, 60)) as (app, pilot):
        await pilot.press("question_mark")

        assert isinstance(app.screen, HelpScreen)
        assert "To the newest, and follow" in screen_text(app)
