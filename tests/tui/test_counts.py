"""A number on a screen opens exactly the prompts that it counts, and escape goes back to it."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from histories import fix_times, multiply
from instructing import QUIETER_AND_H19, edited, own_layer
from piloting import run_workbench, screen_text, settle
from test_coverage_screen import RULES

from storage.db import database
from workbench.tui.widgets.lists.figures import FiguresTable

if TYPE_CHECKING:
    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

SIZE = (120, 30)


@pytest.fixture
def history(library: Account) -> Account:
    """Six prompts, of which one is skipped; one has a label that is right, one a label that is wrong."""
    fix_times(library)
    with closing(database.connect(str(library.state))) as db:
        db.execute("""
            insert into labels (trace_id, labelled_at, verdict, task_type)
            select id, at, 'class', 'debug' from traces where prompt like 'why does%'
            union all select id, at, 'class', 'test' from traces where prompt like 'refactor%'
        """)
    return library


async def check_counts(app: Workbench, pilot: Pilot[None]) -> dict[str, int]:
    """Open every number of the screen from its list; return the numbers by what they count."""
    place, numbers = app.current_mode, {}
    for at, one in enumerate([one for one in app.screen.counts() if one.number]):
        await pilot.press("number_sign", *["down"] * at, "enter")
        await settle(app, pilot)
        assert app.current_mode == "traces", one.name
        assert app.screen.rows.row_count == one.number, one.name
        assert app.screen.bar.input.value == one.text
        assert one.name[:20] in screen_text(app) or one.ids is None
        numbers[one.name] = one.number
        await pilot.press("escape")
        await settle(app, pilot)
        assert app.current_mode == place, one.name
    return numbers


async def test_every_number_of_the_coverage_opens_what_it_counts(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.write("project/rules.md", RULES)
    monkeypatch.chdir(history.project)
    async with run_workbench(history.state, size=SIZE, screen="coverage", instructions="rules.md") as (app, pilot):
        found = await check_counts(app, pilot)

    assert found == {
        "fired: debug": 4, "right: debug": 1, "wrong: debug": 1, "measured": 5, "labelled": 2, "judged again": 5,
        "no signal": 3,
    }  # fmt: skip


async def test_every_row_of_the_coverage_opens_the_prompts_that_it_counts(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.write("project/rules.md", RULES)
    monkeypatch.chdir(history.project)
    multiply(history, 3)
    wrong = []
    async with run_workbench(history.state, size=SIZE, screen="coverage", instructions="rules.md") as (app, pilot):
        for view in ("a", "n"):
            await pilot.press(view)
            table = app.screen.query_one(FiguresTable)
            headings = [one.name for one in table._headings]  # noqa: SLF001
            column = headings.index("fired" if view == "a" else "prompts")
            for row in range(table.row_count):
                await pilot.press("home", *["down"] * row)
                number = int(table.shown[row].cells[column])
                if not number:
                    continue
                await pilot.press("enter")
                await settle(app, pilot)
                if app.screen.rows.row_count != number:
                    wrong.append((table.shown[row].cells, app.screen.rows.row_count))
                await pilot.press("escape")
                await settle(app, pilot)
        assert table.row_count > 1

    assert wrong == []


async def test_the_share_of_right_lines_by_kind_opens_the_judged_prompts(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(history.project)
    labels = (("refactor", 1, "approach", "", "ok"), ("refactor", 2, "guardrail", "H3", "wrong"),
              ("add a test", 1, "guardrail", "H3", "ok"), ("add a test", 2, "guardrail", "H5", "ok"),
              ("why does", 1, "guardrail", "H5", "wrong"), ("why does", 1, "guardrail", "H5", "ok"))  # fmt: skip
    with closing(database.connect(str(history.state))) as db:
        for prompt, line, kind, rule, verdict in labels:
            db.execute(
                """
                insert into line_labels (trace_id, labelled_at, verdict, line, line_kind, rule, text_hash, because)
                select id, at, ?, ?, ?, ?, '', '' from traces where prompt like ?
                """,
                (verdict, line, kind, rule, f"{prompt}%"),
            )
    async with run_workbench(history.state, size=SIZE, screen="coverage") as (app, pilot):
        await pilot.press("l")
        table = app.screen.query_one(FiguresTable)
        rows, found = [row.cells for row in table.shown], {}
        for row in range(table.row_count):
            await pilot.press("home", *["down"] * row)
            found |= {name: number for name, number in (await check_counts(app, pilot)).items() if "lines" in name}

    assert [(row[0], *row[1:5], row[6]) for row in rows] == [
        ("all", "5", "4", "1", "80.0 %", "3"),
        ("guardrail", "4", "3", "1", "75.0 %", "3"),
        ("approach", "1", "1", "0", "100 %", "1"),
        ("guardrail H3", "2", "1", "1", "50.0 %", "2"),
        ("guardrail H5", "2", "2", "0", "100 %", "2"),
    ]
    assert found["judged lines: guardrail"] == 3
    assert found["wrong lines: guardrail H3"] == 1
    assert "wrong lines: guardrail H5" not in found


async def test_a_second_click_on_a_number_opens_its_own_prompts(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.write("project/rules.md", RULES)
    monkeypatch.chdir(history.project)
    async with run_workbench(history.state, size=SIZE, screen="coverage", instructions="rules.md") as (app, pilot):
        table = app.screen.query_one(FiguresTable)
        names, ends = [one.name for one in table._headings], table.widths()  # noqa: SLF001
        at = sum(width + 2 for width in ends[: names.index("right") + 1]) - 3
        await pilot.click(table, offset=(at, 1))
        await settle(app, pilot)

        assert "right: debug · Filter" in screen_text(app)
        assert app.screen.rows.row_count == 1


async def test_a_filter_narrows_what_was_counted_and_is_taken_away_first(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.write("project/rules.md", RULES)
    monkeypatch.chdir(history.project)
    async with run_workbench(history.state, size=SIZE, screen="coverage", instructions="rules.md") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        counted = app.screen.rows.row_count
        app.screen.select("nightly")
        await settle(app, pilot)
        narrowed = app.screen.rows.row_count
        await pilot.press("escape")
        await settle(app, pilot)

        assert (counted, narrowed, app.screen.rows.row_count, app.current_mode) == (4, 1, 4, "traces")


async def test_a_restriction_that_was_left_by_a_digit_is_taken_away_by_escape(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.write("project/rules.md", RULES)
    monkeypatch.chdir(history.project)
    async with run_workbench(history.state, size=SIZE, screen="coverage", instructions="rules.md") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        await pilot.press("4", "1")
        await settle(app, pilot)
        left = app.screen.rows.row_count
        await pilot.press("escape")
        await settle(app, pilot)

        assert (left, app.screen.rows.row_count) == (4, 6)
        assert "fired" not in screen_text(app)


@pytest.mark.parametrize("where", ["", "origin:hook type:debug,test"])
async def test_every_number_of_the_latencies_opens_what_it_counts(history: Account, where: str) -> None:
    with closing(database.connect(str(history.state))) as db:
        db.execute("update traces set origin = 'import' where prompt like 'refactor%'")
        db.execute("delete from trace_channels where channel = 'code' and trace_id = (select min(id) from traces)")
    async with run_workbench(history.state, size=SIZE, screen="latency") as (app, pilot):
        app.screen.select(where)
        found = {}
        for row in ("total:total", "stage:gather", "channel:code"):
            app.screen.table.focus()
            app.screen.table.cursor = [one.key for one in app.screen.table.shown].index(row)
            await settle(app, pilot)
            found.update(await check_counts(app, pilot))

    assert found.keys() >= {"measured", "gather", "code"}
    assert found["code"] < found["gather"]


async def test_every_number_of_an_edit_opens_what_it_counts(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    own_layer(history, monkeypatch)
    with closing(database.connect(str(history.state))) as db:
        db.execute("""
            insert into labels (trace_id, labelled_at, verdict, task_type)
            select id, at, 'ok', '' from traces where prompt like 'add a test%'
        """)
    async with run_workbench(history.state, size=SIZE, screen="instructions") as (app, pilot):
        await edited(app, pilot, QUIETER_AND_H19, "regressed")
        app.screen.lines.focus()
        found = await check_counts(app, pilot)

    assert found == {
        "changed": 3, "task type shown or no longer shown": 2, "guardrail added": 1, "replayed": 5,
        "silent before": 5, "silent after": 4, "approved": 1, "approved, now wrong": 1, "lost": 1,
        "left out (skipped)": 1,
    }  # fmt: skip


async def test_a_case_of_another_history_is_counted_and_said_not_to_be_in_this_one(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_layer(history, monkeypatch)
    case = {"id": "0" * 24, "verdict": "ok", "prompt": "explain it", "expected": {"task_type": "question"}}
    history.write("project/.enricher/cases.jsonl", json.dumps(case) + "\n")
    async with run_workbench(history.state, size=SIZE, screen="instructions") as (app, pilot):
        await edited(app, pilot, QUIETER_AND_H19, "changed")
        await pilot.press("escape", "number_sign")
        await settle(app, pilot)

        assert "1, 0 of them in this history" in screen_text(app)
