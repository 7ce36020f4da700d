"""The Experiments screen: the list, both answers to each prompt, only what differs, what an empty one says."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from piloting import run_workbench, screen_text, settle

from storage.db import database
from storage.evaluation import experiments
from storage.evaluation.experiments import ArmResult
from storage.traces import labels
from workbench.tui.widgets.lists.figures import FiguresTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account

    from workbench.tui.app import Workbench

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
ARMS = {"a": {"name": "unstructured", "hash": "1"}, "b": {"name": "structured", "hash": "2"}}


def result(prompt_id: str, arm: str, text: str, *, fault: str = "") -> ArmResult:
    more = 40 if arm == "b" else 0
    usd = (180 + more) / 1e6
    quality = 0.0 if fault else 1.0
    return ArmResult(
        prompt_id, arm, "", 200 + more, 20.5 + more, not fault, quality, 1, text, 180 + more, 20, usd, fault
    )


def store(account: Account, trace_id: str = "") -> str:
    answers = [
        result("c1", "a", "The function is a stub."),
        result("c1", "b", "The function is a stub."),
        result("c2", "a", "Nothing is wrong.", fault="quality_score: is required, but missing"),
        result("c2", "b", "The port is hard-coded.\nPut it into the settings."),
        *([result(trace_id, "a", "One."), result(trace_id, "b", "Two.")] if trace_id else []),
    ]
    report = {"verdict": "changed", "prompts": len(answers) // 2, "stopped": ""}
    with closing(database.connect(str(account.state))) as db:
        made = experiments.store(db, answers, question="validation: which form?", arms=ARMS, report=report)
        db.execute("update experiments set at = '2026-03-31T14:00:00.000Z'")
    return made.id


def cases(app: Workbench) -> FiguresTable:
    return app.screen.query_one("#cases", FiguresTable)


@SIZES
async def test_both_answers_to_a_prompt_are_shown(
    library: Account, check_screen: Callable[[Workbench, str], None], size: tuple[int, int]
) -> None:
    store(library)
    async with run_workbench(library.state, screen="experiments", size=size) as (app, pilot):
        check_screen(app, f"experiments-list-{size[0]}x{size[1]}")
        await pilot.press("enter")
        await settle(app, pilot)
        await pilot.press("down")
        await settle(app, pilot)
        check_screen(app, f"experiments-{size[0]}x{size[1]}")
        shown = screen_text(app)

    for text in ("unstructured", "structured", "200 tokens", "240 tokens", "quality 1.00", "20.5 ms", "60.5 ms"):
        assert text in shown
    assert "✗ quality_score: is required" in shown
    assert "The port is hard-coded." in shown


async def test_only_differing_answers_are_listed_on_request_and_escape_leads_back(library: Account) -> None:
    store(library)
    async with run_workbench(library.state, screen="experiments") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        every = [row.key for row in cases(app).shown]
        await pilot.press("d")
        await settle(app, pilot)
        differing = [row.key for row in cases(app).shown]
        await pilot.press("enter")
        inside = app.focused.id if app.focused else ""
        await pilot.press("escape", "escape")
        await settle(app, pilot)
        back = app.focused.id if app.focused else ""

    assert (every, differing) == (["c1", "c2"], ["c2"])
    assert (inside, back) == ("of-a", "list")


async def test_a_recorded_prompt_is_shown_with_its_text_and_leads_to_its_trace(library: Account) -> None:
    trace = next(one for one in library.traces() if one["prompt"].startswith("add a test"))
    store(library, trace["id"])
    async with run_workbench(library.state, screen="experiments") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        row = next(at for at, one in enumerate(cases(app).shown) if one.key == trace["id"])
        text = cases(app).shown[row].cells[1]
        cases(app).cursor = row
        await settle(app, pilot)
        await pilot.press("t")
        await settle(app, pilot)
        place = app.place_screen()

    assert text == trace["prompt"]
    assert place is not None
    assert place.PLACE == "traces"


async def test_the_cohorts_of_an_experiment_with_sessions_are_compared_as_by_the_command(library: Account) -> None:
    with closing(database.connect(str(library.state))) as db:
        for trace in library.traces():
            labels.add(db, trace["id"], "ok")
    printed = library.cli("ab", "effect", "--name", "june")
    async with run_workbench(library.state, screen="experiments") as (app, pilot):
        await pilot.press("c", *"june", "enter")
        await settle(app, pilot)
        shown = screen_text(app)
    async with run_workbench(library.state, screen="experiments") as (app, pilot):
        await settle(app, pilot)
        again = screen_text(app)

    cohorts = [line for line in printed.splitlines() if line.startswith(("a: ", "b: "))]
    assert len(cohorts) == 2
    assert [line for line in (*cohorts, "inconclusive") if line not in shown or line not in again] == []


async def test_an_account_without_experiments_says_how_to_make_one(library: Account) -> None:
    async with run_workbench(library.state, screen="experiments") as (app, _pilot):
        shown = screen_text(app)

    assert "No experiment is stored yet." in shown
    assert "enricher ab ask" in shown


async def test_results_that_come_while_it_is_open_are_shown(library: Account) -> None:
    made = store(library)
    async with run_workbench(library.state, screen="experiments") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        with closing(database.connect(str(library.state))) as db:
            experiments.add(db, made, result("c3", "a", "New."))
        while len(cases(app).shown) < 3:
            await pilot.pause(0.05)
        shown = screen_text(app)

    assert "c3" in shown
