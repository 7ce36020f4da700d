"""Edits that were not saved survive the end of every app, however many work on one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from instructing import LAYER, QUIETER, instructions, own_layer
from piloting import run_workbench, screen_text, settle, until
from terminals import in_terminal, pane, press, written

from workbench.edits import drafts
from workbench.tui.messages import TakeEdit

if TYPE_CHECKING:
    from simulator import Account

pytestmark = pytest.mark.slow

OTHERS = LAYER.replace("0.42", "0.11")
APP = """
import asyncio, os, sys
from workbench.tui.app import Workbench

async def session():
    app = Workbench(sys.argv[1], screen="instructions")
    async with app.run_test(size=(80, 24)) as pilot:
        while not app.screen.is_mounted or not getattr(app.screen, "_path", ""):
            await pilot.pause(0.05)
        app.screen.editor.text = sys.argv[2]
        while not os.path.exists(app.screen.drafts._file):
            await pilot.pause(0.05)
        print("typed", file=sys.__stdout__, flush=True)
        await asyncio.sleep(600)

asyncio.run(session())
"""


@pytest.fixture
def layer(library: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_layer(library, monkeypatch)


def typing(library: Account, text: str) -> subprocess.Popen[str]:
    """Start an app in a process of its own and return it once it has typed, without saving."""
    app = subprocess.Popen(
        [sys.executable, "-c", APP, str(library.state), text],
        env={**library.env, "TEXTUAL_ANIMATIONS": "none", "PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=library.project,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert app.stdout is not None
    assert app.stdout.readline() == "typed\n"
    return app


def killed(*apps: subprocess.Popen[str]) -> None:
    for app in apps:
        os.kill(app.pid, signal.SIGKILL)
        app.communicate()


@pytest.mark.usefixtures("layer")
async def test_two_killed_apps_on_one_file_both_get_their_edits_back(library: Account) -> None:
    killed(*[typing(library, text) for text in (QUIETER, OTHERS)])
    found = []
    async with run_workbench(library.state, screen="instructions") as (app, pilot):
        for _app in range(2):
            await until(pilot, lambda: "Edits that were not saved" in screen_text(app) or instructions(app).is_unsaved)
            if "Edits that were not saved" in screen_text(app):
                await pilot.press("enter")
                await until(pilot, lambda: instructions(app).is_unsaved)
            found.append(instructions(app).editor.text)
            instructions(app).action_revert()
            await until(pilot, lambda: not instructions(app).is_unsaved)
            instructions(app).offer_drafts()
            await pilot.pause()

    assert sorted(found) == sorted([QUIETER, OTHERS])


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
def test_quitting_says_in_the_terminal_that_an_unsaved_edit_is_kept(library: Account) -> None:
    with in_terminal(library) as name:
        pane(name, "newest first")
        press(name, "2", "i")
        pane(name, "How sure a task type must be")
        press(name, "# mine", "Enter")
        pane(name, "● unsaved")
        press(name, "C-q")
        assert written(library.home / "ended") == "0"

        assert "instructions.md is not saved. It is kept" in " ".join(pane(name, "is not saved").split())


async def test_a_proposal_leaves_the_edits_of_killed_apps_for_later(library: Account, layer: Path) -> None:
    killed(typing(library, QUIETER))
    async with run_workbench(library.state) as (app, pilot):
        app.post_message(TakeEdit(str(layer), OTHERS, 1, "a proposal"))
        await pilot.pause()
        await settle(app, pilot)

        assert instructions(app).editor.text == OTHERS
        assert [draft.text for draft in instructions(app).drafts.abandoned(str(layer))] == [QUIETER]


@pytest.mark.usefixtures("layer")
async def test_the_edit_of_an_app_that_is_running_is_left_to_it(library: Account) -> None:
    other = typing(library, QUIETER)
    try:
        async with run_workbench(library.state, screen="instructions") as (app, pilot):
            await until(pilot, lambda: instructions(app).editor.text)
            offered = instructions(app).editor.text
    finally:
        killed(other)

    assert offered == LAYER
    assert len(drafts.Drafts(str(library.state)).abandoned(str(library.config / "instructions.md"))) == 1


def test_a_draft_that_was_left_is_found_and_one_that_is_held_is_not(tmp_path: Path) -> None:
    first, second = drafts.Drafts(str(tmp_path)), drafts.Drafts(str(tmp_path))
    first.keep("/a.md", "before", "mine")
    second.keep("/a.md", "before", "theirs")
    while_running = second.abandoned("/a.md")
    first.close()

    assert while_running == []
    assert [one.text for one in second.abandoned("/a.md")] == ["mine"]
    assert not list((tmp_path / drafts.FOLDER).glob("*.lock.new"))


def test_an_app_that_ended_without_an_edit_leaves_nothing(tmp_path: Path) -> None:
    own = drafts.Drafts(str(tmp_path))
    own.keep("/a.md", "before", "mine")
    own.forget()
    own.close()

    assert list((tmp_path / drafts.FOLDER).iterdir()) == []
