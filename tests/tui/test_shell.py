"""The shell: places, help, palette, themes, keys, what it remembers, and how it starts and ends in a real terminal."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from piloting import notices, run_workbench, screen_text, settle, until
from simulator import ROOT
from terminals import in_terminal, pane, tmux, written
from textual.command import CommandPalette
from textual.events import Key

from workbench.tui.app import Workbench
from workbench.tui.help import HelpScreen
from workbench.tui.screens import SCREENS
from workbench.tui.state import AppState
from workbench.tui.themes import THEMES
from workbench.tui.widgets.bars import KeyLine, PlaceTab
from workbench.tui.widgets.lists.row_view import RowView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator import Account
    from textual.binding import Binding

DOCS = ROOT / "docs" / "workbench.md"


@pytest.mark.parametrize("place", SCREENS, ids=lambda place: place.name)
async def test_every_place_is_reached_by_its_key_and_by_a_click(library: Account, place) -> None:
    async with run_workbench(library.state, size=(120, 40)) as (app, pilot):
        await pilot.press(place.key)
        by_key = app.place_screen().PLACE
        await pilot.press("1")
        await settle(app, pilot)
        await pilot.click(list(app.screen.query(PlaceTab))[SCREENS.index(place)])
        await settle(app, pilot)

        assert (by_key, app.place_screen().PLACE) == (place.name, place.name)


async def test_the_help_shows_the_keys_of_the_screen_below(library: Account) -> None:
    async with run_workbench(library.state, size=(100, 60)) as (app, pilot):
        await pilot.press("question_mark")
        shown = screen_text(app)
        await pilot.press("escape")

        assert "To the newest, and follow" in shown
        assert not isinstance(app.screen, HelpScreen)


async def test_the_help_scrolls_to_its_ends(library: Account) -> None:
    async with run_workbench(library.state, size=(80, 24)) as (app, pilot):
        await pilot.press("question_mark", "G")
        box = app.screen.query_one("#help")
        at_end = box.scroll_offset.y
        await pilot.press("g")

        assert at_end == box.max_scroll_y > 0
        assert box.scroll_offset.y == 0


async def test_the_keys_at_the_bottom_take_clicks_and_explain_themselves(library: Account) -> None:
    async with run_workbench(library.state, size=(100, 30)) as (app, pilot):
        line, shown = app.screen.query_one(KeyLine), screen_text(app).splitlines()[-1]
        await pilot.hover(line, offset=(shown.index("Menu"), 0))
        explained = line.tooltip
        await pilot.hover(line, offset=(shown.index("y x c"), 0))
        explained_in_group = line.tooltip
        await pilot.hover(RowView)
        left = line.tooltip
        await pilot.click(line, offset=(shown.index("Help"), 0))
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))

        assert (explained, explained_in_group, left) == ("Everything that can be done here", "Label: right", None)


async def test_the_keys_at_the_bottom_are_drawn_again_only_when_others_are_offered(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        line = app.screen.query_one(KeyLine)
        keys = line.keys
        app.screen.refresh_bindings()
        await settle(app, pilot)
        as_before = line.keys
        app.set_keymap({"traces.queue": "f5"})
        await until(pilot, lambda: "f5 Queue" in screen_text(app))

        assert as_before is keys
        assert "l Queue" not in screen_text(app)


async def test_the_palette_knows_every_key_of_the_screen(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        from workbench.tui.commands import WorkbenchCommands

        provider = WorkbenchCommands(app.screen)
        entries = {hit.text for hit in [hit async for hit in provider.discover()]}
        shown = {active.binding.action: set() for active in app.screen.active_bindings.values()}
        for active in app.screen.active_bindings.values():
            shown[active.binding.action] |= {active.binding.description, active.binding.tooltip}
        missing = {action for action, told in shown.items() if not told & entries and not action.startswith("go(")}

        assert missing == {"command_palette"}
        assert "Filter type:debug" in entries
        await pilot.pause()


async def test_the_palette_runs_what_is_chosen(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*"filter type:test")
        await settle(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
        await until(pilot, lambda: app.screen.query_one(RowView).row_count == 1)

        assert app.screen.query_one(RowView).current.task_type == "test"


async def test_the_palette_goes_to_a_trace_by_the_beginning_of_its_id(library: Account) -> None:
    from workbench.tui.commands import WorkbenchCommands

    wanted = library.traces()[2]["id"]
    async with run_workbench(library.state) as (app, pilot):
        provider = WorkbenchCommands(app.screen)
        hits = [hit async for hit in provider.search(wanted[:14])]
        hits[0].command()
        await until(pilot, lambda: app.screen.query_one(RowView).row_count == 1)

        assert app.screen.query_one(RowView).current.id == wanted


async def test_the_palette_shows_a_prompt_full_of_brackets_as_it_is(library: Account) -> None:
    with closing(sqlite3.connect(library.state / "enricher.db")) as db:
        db.execute("update traces set prompt = 'why [/] and [bold] \x1b[31m \u202e'")
        db.commit()
    wanted = library.traces()[2]["id"]
    async with run_workbench(library.state, size=(100, 30)) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press(*wanted[:16])
        await settle(app, pilot)

        assert "why [/] and [bold] \\x1b[31m \\u202e" in screen_text(app)


async def test_themes_change_by_a_key_and_are_remembered(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("ctrl+t")
        await settle(app, pilot)

    async with run_workbench(library.state) as (app, _pilot):
        assert app.theme == THEMES[1].name


async def test_filter_sort_and_screen_survive_a_restart(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        app.screen.select("type:debug")
        await pilot.press("S")
        await settle(app, pilot)

    async with run_workbench(library.state) as (app, _pilot):
        assert app.screen.query_one(RowView).row_count == 1
        assert "type:debug" in screen_text(app)
        assert "slowest first" in screen_text(app)
    assert (library.state / "workbench.json").stat().st_mode & 0o777 == 0o600


def test_two_apps_remember_beside_each_other(tmp_path: Path) -> None:
    one, other = AppState(str(tmp_path)), AppState(str(tmp_path))
    one.remember("app", theme="enricher-light")
    other.remember("traces", sort="slowest")
    third = AppState(str(tmp_path))

    assert (third.recall("app", "theme", ""), third.recall("traces", "sort", "")) == ("enricher-light", "slowest")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"traces": 3, "app": {"theme": 7, "screen": "nowhere"}}'])
async def test_a_broken_memory_is_an_empty_one(library: Account, content: str) -> None:
    (library.state / "workbench.json").write_text(content)
    async with run_workbench(library.state) as (app, _pilot):
        assert app.theme == THEMES[0].name
        assert app.place_screen().PLACE == "traces"


async def test_a_person_can_give_other_keys(library: Account) -> None:
    library.write("config/workbench-keys.toml", '[keys]\n"traces.sort" = "f5"\n')
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("f5")
        await settle(app, pilot)

        assert "slowest first" in screen_text(app)


async def test_keys_that_cannot_be_read_are_told(library: Account) -> None:
    library.write("config/workbench-keys.toml", "[keys\n")
    async with run_workbench(library.state) as (app, _pilot):
        assert "workbench-keys.toml" in notices(app)


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_the_keys_that_leave(library: Account, key: str) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()

        assert not app.is_running


def test_without_a_terminal_it_says_what_to_use(account: Account) -> None:
    assert "needs a terminal" in account.cli("workbench", exit_code=1)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("--screen", "nowhere"), "the screens are: traces", id="no such screen"),
        pytest.param(("--where", "typ:debug"), "did you mean type:?", id="no such field"),
    ],
)
def test_wrong_options_are_told_before_anything_starts(account: Account, words: tuple[str, str], told: str) -> None:
    assert told in " ".join(account.cli("workbench", *words, exit_code=2).split())


def test_nothing_of_the_app_is_loaded_by_the_command_line() -> None:
    code = "import sys, workbench.commands.workbench; print([one for one in sys.modules if 'textual' in one])"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "[]"


def bindings() -> Iterator[tuple[str, Binding]]:
    """Yield every binding of the app with the name of the class that has it."""
    from textual.binding import Binding

    from workbench.tui.help import HelpScreen
    from workbench.tui.panes.detail import Detail
    from workbench.tui.screens.base import WorkbenchScreen
    from workbench.tui.widgets.dialogs import Picker
    from workbench.tui.widgets.search_bar import FilterInput

    screens = [type(place.load()) for place in SCREENS]
    for owner in (Workbench, WorkbenchScreen, *screens, RowView, Detail, FilterInput, HelpScreen, Picker):
        for binding in owner.__dict__.get("BINDINGS", ()):
            assert isinstance(binding, Binding), (owner, binding)
            yield owner.__name__, binding


def test_every_binding_has_an_id_and_says_what_it_does() -> None:
    assert [(owner, one.key) for owner, one in bindings() if not one.id or not one.description] == []


def test_no_key_means_two_things_in_one_place() -> None:
    keys = [(owner, key) for owner, one in bindings() for key in one.key.split(",")]

    assert sorted(keys) == sorted(set(keys))


async def test_the_documented_keys_are_those_of_the_traces_screen(library: Account) -> None:
    from workbench.tui.help import keys_of

    async with run_workbench(library.state) as (app, _pilot):
        rows = "\n".join(f"| `{key}` | {what} |" for key, what in keys_of(app.screen))

    assert rows in DOCS.read_text()


def test_the_documentation_names_every_screen() -> None:
    text = DOCS.read_text()

    assert [one.title for one in SCREENS if f"{one.key} {one.title}" not in text and one.name != "traces"] == []


@pytest.fixture
def terminal(library: Account) -> Iterator[str]:
    """Start the app in a real terminal and yield the name of its session."""
    editor = library.write("editor.sh", f"#!/bin/sh\necho edited > {library.home}/edited\n", mode=0o755)
    library.env["EDITOR"] = str(editor)
    with in_terminal(library) as name:
        yield name


def test_it_starts_resizes_edits_and_quits_in_a_real_terminal(library: Account, terminal: str) -> None:
    assert pane(terminal, "what is the difference between", "q Quit")

    tmux(terminal, "resize-window", "-x", "160", "-y", "40")
    assert pane(terminal, "Task type", "points, and the signals")

    tmux(terminal, "send-keys", "e")
    assert written(library.home / "edited") == "edited"
    assert pane(terminal, "55 characters", "Quit", key="G"), "the app has the terminal again"

    tmux(terminal, "send-keys", "q")
    assert written(library.home / "ended") == "0"
    assert not list(Path(library.env["ENRICHER_CONFIG_HOME"]).glob("*.md")), "nothing was written in the editor"


def test_a_browser_can_be_served(library: Account) -> None:
    """What textual-serve does for every visitor: pipes, and a driver that speaks its packets."""
    driver = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver", "COLUMNS": "100", "ROWS": "30"}
    code = "from enricher.interfaces.cli import main; main()"
    seen = b""
    with subprocess.Popen(
        [sys.executable, "-c", code, "workbench"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env={**library.env, **driver},
    ) as process:  # fmt: skip
        end = time.monotonic() + 60
        while b"what is the difference" not in seen and time.monotonic() < end:
            seen += os.read(process.stdout.fileno(), 65536)
        quit_packet = b'{"type": "quit"}'
        process.stdin.write(b"M" + len(quit_packet).to_bytes(4, "big") + quit_packet)
        process.stdin.flush()
        process.wait(60)

    assert seen.startswith(b"__GANGLION__")
    assert b"what is the difference" in seen


def test_the_state_of_the_memory_is_json(library: Account) -> None:
    from workbench.tui.state import AppState

    AppState(str(library.state)).remember("traces", filter="type:debug")

    assert json.loads((library.state / "workbench.json").read_text()) == {"traces": {"filter": "type:debug"}}


@pytest.mark.slow
async def test_no_empty_screen_keeps_the_keys_for_itself(tmp_path: Path) -> None:
    async with run_workbench(tmp_path / "empty") as (app, pilot):
        for place in ("5", "1", "4", "6", "1", "2"):
            await pilot.press(place)
            await settle(app, pilot)

        assert app.place_screen().PLACE == "instructions"


async def test_a_notice_takes_the_place_of_earlier_ones_but_of_no_warning(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        for text, severity in (("first", "information"), ("careful", "warning"), ("second", "information")):
            app.notify(text, severity=severity)
        await settle(app, pilot)

        assert notices(app).splitlines() == ["careful", "second"]


def send(app: Workbench, *keys: str) -> None:
    """Send keys faster than the app handles them."""
    for key in keys:
        event = Key(key, key if len(key) == 1 else None)
        event.set_sender(app)
        app.post_message(event)


async def test_a_click_on_a_place_leaves_the_screen_on_top_of_it(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("w")
        await settle(app, pilot)
        await pilot.click("PlaceTab", offset=(3, 0))
        await settle(app, pilot)

        assert type(app.screen).__name__ == "TracesScreen"


async def test_a_second_answer_typed_before_the_dialog_is_gone_has_no_effect(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("c")
        await settle(app, pilot)
        send(app, "enter", "enter")
        await settle(app, pilot)

        assert type(app.screen).__name__ == "TracesScreen"


async def test_the_palette_bears_a_key_that_arrives_before_it_is_drawn(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        send(app, "ctrl+p")
        for _ in range(300):
            send(app, "pagedown")
            await asyncio.sleep(0)
        await settle(app, pilot)

        assert CommandPalette.is_open(app)
