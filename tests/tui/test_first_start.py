"""The first start without history: past conversations are offered, then a tour; both can be asked for again."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from piloting import notices, run_workbench, screen_text, settle, until
from terminals import in_terminal, pane, press, written
from textual.command import CommandPalette

sys.path.append(str(Path(__file__).parents[1] / "conversations"))

from kept import PLACES, save, told

from workbench.importing.conversation_files import stored_files
from workbench.importing.survey import Stored
from workbench.tui import import_offer
from workbench.tui.help import HelpScreen
from workbench.tui.import_offer import ImportOffer
from workbench.tui.welcome import STEPS, TourStep

if TYPE_CHECKING:
    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

PROMPTS = 3
"""Number of prompts in each client's conversation."""
FIRST_STEP, LAST_STEP = STEPS[0].title, STEPS[-1].title


@pytest.fixture
def talkative(new_account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return an account without history in which two clients hold a conversation."""
    for host in ("claude", "codex"):
        save(told(host), new_account, PLACES[host])
    for name in ("HOME", "ENRICHER_HOME", "ENRICHER_CONFIG_HOME"):
        monkeypatch.setenv(name, new_account.env[name])
    return new_account


async def choose(app: Workbench, pilot: Pilot[None], entry: str) -> None:
    """Choose an entry of the palette."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(app.screen, CommandPalette))
    await pilot.press(*entry.lower())
    await until(pilot, lambda: entry in screen_text(app))
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(app.screen, CommandPalette))
    await settle(app, pilot)


def test_in_a_real_terminal_past_conversations_become_the_history(talkative: Account) -> None:
    with in_terminal(talkative) as name:
        offered = pane(name, "6 prompts can be imported")
        press(name, "y")
        pane(name, "6 prompts imported")
        press(name, "Enter")
        pane(name, FIRST_STEP)
        press(name, "Enter")
        pane(name, STEPS[1].title)
        press(name, "Escape")
        listed = pane(name, "the nightly export died again", "6 · newest first")
        press(name, "q")
        assert written(talkative.home / "ended") == "0"

    with in_terminal(talkative) as name:
        again = pane(name, "the nightly export died again")

    assert "Claude Code" in offered
    assert "Codex CLI" in offered
    assert "of 3" not in listed
    assert "of 3" not in again
    assert len(talkative.traces()) == 2 * PROMPTS


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_it_can_be_declined_and_is_not_offered_again(talkative: Account, key: str) -> None:
    async with run_workbench(talkative.state) as (app, pilot):
        offered = screen_text(app)
        await pilot.press(key)
        await settle(app, pilot)
        after = screen_text(app)
        await pilot.press("escape")
        await settle(app, pilot)
        empty = screen_text(app)

    async with run_workbench(talkative.state) as (app, pilot):
        again = screen_text(app)

    assert "6 prompts can be imported" in offered
    words = " ".join(offered.replace("│", "").split())
    assert "No prompts are recorded yet. Import the prompts of conversations that you had with these programs?" in words
    assert FIRST_STEP in after
    assert "No prompts are recorded yet" in empty
    assert again == empty


async def test_a_start_that_ends_without_an_answer_offers_it_again(talkative: Account) -> None:
    async with run_workbench(talkative.state) as (app, pilot):
        await pilot.press("ctrl+q")

    async with run_workbench(talkative.state) as (app, pilot):
        assert isinstance(app.screen, ImportOffer)


async def test_an_answer_before_the_count_is_taken(talkative: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    may_count, count = threading.Event(), import_offer.count_prompts

    def slowly(*given, **named) -> None:
        may_count.wait(20)
        count(*given, **named)

    monkeypatch.setattr(import_offer, "count_prompts", slowly)
    from workbench.tui.app import Workbench

    app = Workbench(str(talkative.state))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ImportOffer))
        await pilot.press("y")
        may_count.set()
        await until(pilot, lambda: "6 prompts imported" in screen_text(app))


async def test_escape_stops_an_import_and_what_was_stored_is_told(
    talkative: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_for_the_stop(_state, _sources, _counted, post, *, should_stop) -> None:
        while not should_stop():
            time.sleep(0.01)
        post(import_offer.Imported(Stored(2), is_whole=False))

    monkeypatch.setattr(import_offer, "store_prompts", wait_for_the_stop)
    async with run_workbench(talkative.state) as (app, pilot):
        await pilot.press("y")
        running = screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "2 prompts imported" in screen_text(app))

        assert "0 of 6 prompts" in running
        assert '"Import past conversations" offers the rest' in screen_text(app)


def test_a_stopped_import_keeps_what_it_stored_and_the_next_stores_the_rest(
    talkative: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.importing.survey.BATCH", 1)
    monkeypatch.setattr(import_offer, "POST_EVERY_S", 0.0)
    state, sources = str(talkative.state), stored_files()
    posted: list[Any] = []
    for should_stop in (lambda: posted[-1].__dict__.get("stored", 0), lambda: False):
        import_offer.count_prompts(state, sources, posted.append, should_stop=lambda: False)
        import_offer.store_prompts(state, sources, posted[-1], posted.append, should_stop=should_stop)
    counted = [one.found.prompts for one in posted if isinstance(one, import_offer.PromptsCounted)]
    ends = [(one.stored.prompts, one.is_whole) for one in posted if isinstance(one, import_offer.Imported)]

    assert ends == [(1, False), (5, True)]
    assert counted == [6, 5]
    assert len(talkative.traces()) == 2 * PROMPTS


async def test_what_cannot_be_read_is_counted_and_the_rest_imported(talkative: Account) -> None:
    with (talkative.home / PLACES["claude"]).open("a") as file:
        file.write("this is no record\n")
    async with run_workbench(talkative.state) as (app, _pilot):
        assert "6 prompts can be imported. 1 line or file could not be read." in screen_text(app)


async def test_a_database_that_cannot_be_written_is_told(talkative: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with run_workbench(talkative.state) as (app, pilot):

        def refuse(*_given, **_named) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(import_offer, "store", refuse)
        await pilot.press("y")
        await settle(app, pilot)
        told_so = screen_text(app)
        await pilot.press("escape")
        await settle(app, pilot)

        assert "No space left on device" in told_so
        assert isinstance(app.screen, TourStep)


async def test_the_menu_says_where_nothing_was_found(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(library.home / "tmp"))
    async with run_workbench(library.state) as (app, pilot):
        await choose(app, pilot, "Import past conversations")

        assert "No conversation was found" in notices(app)


async def test_nothing_is_imported_twice(talkative: Account) -> None:
    async with run_workbench(talkative.state) as (app, pilot):
        await pilot.press("y")
        await settle(app, pilot)
        await pilot.press("enter", "escape")
        await settle(app, pilot)
        await choose(app, pilot, "Import past conversations")

        assert "None of their prompts is missing here." in screen_text(app)


# The tour


async def test_the_tour_shows_three_screens_and_returns(library: Account) -> None:
    async with run_workbench(library.state, screen="coverage") as (app, pilot):
        await choose(app, pilot, "Take the tour")
        seen = []
        for key in ("enter", "enter", "left", "enter", "enter"):
            seen.append((app.current_mode, app.screen.__class__))
            await pilot.press(key)
            await settle(app, pilot)

        places = ["traces", "instructions", "compare", "instructions", "compare"]
        assert seen == [(place, TourStep) for place in places]
        assert (app.current_mode, app.screen) == ("coverage", app.place_screen())


@pytest.mark.parametrize("steps", range(3))
async def test_the_tour_is_left_at_any_step(library: Account, steps: int) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("question_mark", "t", *["enter"] * steps)
        await settle(app, pilot)
        shown = screen_text(app)
        await pilot.press("escape")
        await settle(app, pilot)

        assert STEPS[steps].title in shown
        assert (app.current_mode, app.screen) == ("traces", app.place_screen())


async def test_a_digit_leaves_the_tour_for_that_screen(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("question_mark", "t", "5")
        await settle(app, pilot)

        assert (app.current_mode, app.screen) == ("latency", app.place_screen())


async def test_the_help_key_leaves_the_tour_for_the_help_of_the_screen(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await choose(app, pilot, "Take the tour")
        await pilot.press("pagedown")
        await settle(app, pilot)
        stepped = (app.current_mode, isinstance(app.screen, TourStep))
        await pilot.press("question_mark")
        await settle(app, pilot)

        assert stepped == ("instructions", True)
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        assert app.screen is app.place_screen()


async def test_a_history_is_greeted_with_neither(library: Account) -> None:
    async with run_workbench(library.state) as (app, _pilot):
        assert app.screen is app.place_screen()


async def test_without_conversations_the_tour_comes_at_once(
    new_account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(new_account.home))
    async with run_workbench(new_account.state) as (app, _pilot):
        assert FIRST_STEP in screen_text(app)
