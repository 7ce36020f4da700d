"""Jump mode: ctrl+o shows a letter over each part of the screen, and one key goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from piloting import run_workbench, screen_text, settle

from workbench.tui.screens import SCREENS
from workbench.tui.widgets.jump import JumpScreen

if TYPE_CHECKING:
    from simulator import Account


@pytest.mark.parametrize(
    "size", [pytest.param((80, 24), id="80x24"), pytest.param((120, 40), id="120x40", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_a_letter_goes_to_its_part_of_the_screen(library: Account, place, size: tuple[int, int]) -> None:
    async with run_workbench(library.state, size=size, screen=place.name) as (app, pilot):
        below = app.screen
        parts = len(below.focus_chain)  # none on a screen that has nothing to show yet
        reached = []
        for letter, part in zip("asdfg", below.focus_chain, strict=False):
            await pilot.press("ctrl+o", letter)
            await settle(app, pilot)
            reached.append((app.screen, below.focused, part))

        assert len(reached) == min(parts, 5)
        assert [(screen, focused) for screen, focused, _part in reached] == [(below, part) for *_, part in reached]


async def test_the_letters_stand_over_the_parts(library: Account) -> None:
    async with run_workbench(library.state, size=(120, 40)) as (app, pilot):
        parts = [part.region for part in app.screen.focus_chain]
        await pilot.press("ctrl+o")
        await settle(app, pilot)
        lines = screen_text(app).split("\n")

        assert [lines[part.y][part.x : part.x + 3].strip() for part in parts] == list("asdfghjkl"[: len(parts)])


async def test_it_works_while_one_types(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("slash", "x", "ctrl+o")

        assert isinstance(app.screen, JumpScreen)


async def test_a_digit_goes_to_the_screen_of_that_number(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("ctrl+o", "5")
        await settle(app, pilot)

        assert app.place_screen().PLACE == "latency"
        assert app.screen is app.place_screen()


async def test_a_screen_without_parts_says_so(library: Account) -> None:
    async with run_workbench(library.state, screen="compare") as (app, pilot):
        parts = app.screen.focus_chain
        await pilot.press("ctrl+o")
        await settle(app, pilot)
        shown = screen_text(app)
        await pilot.press("1")
        await settle(app, pilot)

        assert parts == []
        assert "No part of this screen takes the focus" in shown
        assert app.current_mode == "traces"


@pytest.mark.parametrize("key", ["escape", "ctrl+o"])
async def test_escape_stays_where_one_was(library: Account, key: str) -> None:
    async with run_workbench(library.state) as (app, pilot):
        before = app.screen, app.focused
        await pilot.press("ctrl+o", "question_mark", key)
        await settle(app, pilot)

        assert (app.screen, app.focused) == before
