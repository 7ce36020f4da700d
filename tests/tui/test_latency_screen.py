"""The Latency screen: its figures, its plot, every key, what it remembers, what it says when there is nothing."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history
from histories import fix_times
from piloting import run_workbench, screen_text, settle, until

from storage.db import database
from storage.traces.selection import EVERYTHING
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.widgets.search_bar import FilterInput
from workbench.tui.workers import measurements

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account

    from workbench.tui.app import Workbench


@pytest.fixture
def history(library: Account) -> Account:
    fix_times(library)
    return library


def table(app: Workbench) -> FiguresTable:
    return app.screen.query_one("#stages", FiguresTable)


def cells(app: Workbench, row: str) -> list[str]:
    return [cell.strip() for one in table(app).shown if one.key == row for cell in one.cells]


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_screen(
    history: Account, check_screen: Callable[[Workbench, str], None], size: tuple[int, int]
) -> None:
    async with run_workbench(history.state, size=size, screen="latency") as (app, _pilot):
        check_screen(app, f"latency-{size[0]}x{size[1]}")


async def test_the_figures_are_those_of_the_stats(history: Account) -> None:
    stats = history.cli("trace", "stats", "--json")
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert cells(app, "stage:read")[1].removesuffix(" ms") in stats
        assert cells(app, "total:total")[4].endswith("of 1,500 ms")


async def test_channels_stand_below_the_stage_that_asks_them(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        names = [table(app).shown[row].cells[0].strip() for row in range(table(app).row_count)]

        assert names[names.index("gather") + 1] == "code"
        assert names[-1] == "answer"


async def test_what_is_over_its_budget_is_told_in_words(history: Account) -> None:
    with closing(database.connect(str(history.state))) as db:
        db.execute("update trace_channels set latency_ms = 180 where channel = 'code'")
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert cells(app, "channel:code")[4] == "over 150 ms x1.2"


async def test_sixty_columns_are_enough(history: Account) -> None:
    async with run_workbench(history.state, size=(60, 20), screen="latency") as (app, _pilot):
        assert "p99" in screen_text(app)
        assert cells(app, "channel:tasks")[4] == "<1%"


async def test_the_budget_is_what_the_settings_say(history: Account) -> None:
    history.write("config/config.toml", "[budgets]\nchannel_ms = 40\n")
    history.compile()
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert cells(app, "channel:code")[4].endswith("of 40 ms")


async def test_the_cursor_chooses_what_is_plotted(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        await pilot.press("j")

        assert "read by hour" in screen_text(app)


async def test_enter_shows_the_prompts_of_a_channel(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        await pilot.press(*["j"] * 7)
        assert table(app).chosen == "channel:code"
        await pilot.press("enter")
        await settle(app, pilot)

        assert app.place_screen().PLACE == "traces"
        assert app.place_screen().bar.input.value == '-status:skipped -origin:import,test channel:"code"'


async def test_the_filter_restricts_what_is_measured(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        await pilot.press("slash", *"type:test")
        await until(pilot, lambda: "1 prompt" in screen_text(app))
        await pilot.press("enter", "escape")
        await until(pilot, lambda: "5 prompts" in screen_text(app))

        assert app.screen.query_one(FilterInput).value == ""


async def test_a_filter_that_is_wrong_is_told_and_the_figures_stay(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        before = cells(app, "total:total")
        app.screen.select("typ:x")
        await settle(app, pilot)

        assert "did you mean type:" in screen_text(app)
        assert cells(app, "total:total") == before


async def test_f_shows_the_measured_prompts_of_the_filter(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        app.screen.select("type:test")
        await settle(app, pilot)
        await pilot.press("f")
        await settle(app, pilot)

        assert app.place_screen().PLACE == "traces"
        assert app.place_screen().bar.input.value == "type:test -status:skipped -origin:import,test"


async def test_new_prompts_are_added_while_the_screen_is_open(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        assert "5 prompts" in screen_text(app)

        history.ask("why is the build red?")
        await until(pilot, lambda: "6 prompts" in screen_text(app))


async def test_the_filter_survives_a_restart(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        app.screen.select("type:test")
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert app.screen.bar.input.value == "type:test"


async def test_a_filter_that_is_left_by_a_click_survives_a_restart(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        await pilot.press("slash", *"type:test")
        await until(pilot, lambda: "1 prompt" in screen_text(app))
        await pilot.click("#stages", offset=(3, 1))
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert app.screen.bar.input.value == "type:test"


async def test_nothing_measured_says_what_to_do_next(tmp_path: Path) -> None:
    async with run_workbench(tmp_path / "new", screen="latency") as (app, _pilot):
        assert "Nothing was measured yet" in screen_text(app)
        assert "enricher install" in screen_text(app)


async def test_a_filter_without_prompts_says_how_to_leave_it(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        app.screen.select("type:nothing")
        await settle(app, pilot)
        told = screen_text(app)
        await pilot.press("escape")
        await settle(app, pilot)

        assert "No measured prompt matches" in told
        assert table(app).row_count


async def test_the_newest_prompts_have_figures_before_all_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = str(tmp_path / "state")
    write_history(state, 60)
    monkeypatch.setattr(measurements, "FIRST_PROMPTS", 20)
    monkeypatch.setattr(measurements, "REPORT_EVERY_S", 0)
    with closing(database.connect(state)) as db:
        prompts = [one.prompts for one in measurements.measure_latencies(db, EVERYTHING, lambda: False)]

    assert prompts == sorted(prompts)
    assert prompts[0] < prompts[-1]


async def test_measuring_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    write_history(state, 500)
    with closing(database.connect(state)) as db:
        found = list(measurements.measure_latencies(db, EVERYTHING, lambda: True))

    assert [one for one in found if one.is_final] == []


async def test_the_reload_key_measures_again(history: Account) -> None:
    async with run_workbench(history.state, screen="latency") as (app, pilot):
        with closing(database.connect(str(history.state))) as db:
            db.execute("update traces set latency_ms = 99")
        await pilot.press("R")
        await settle(app, pilot)

        assert cells(app, "total:total")[1] == "99.0 ms"


async def test_without_colour_everything_is_still_told(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with run_workbench(history.state, screen="latency") as (app, _pilot):
        assert "p95" in screen_text(app)
        assert "total by hour, budget 1,500 ms" in screen_text(app)
