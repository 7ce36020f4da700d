"""The Traces screen: the list, the filter, the live tail, the trace beside it, and every key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history
from piloting import notices, run_workbench, screen_text, settle, until

from storage.db import database
from storage.traces import line_labels, violations
from workbench.tui.messages import FilterTraces, OpenTrace
from workbench.tui.panes.detail import Detail
from workbench.tui.panes.trace_text import lines_with_labels
from workbench.tui.widgets.dialogs import Picker
from workbench.tui.widgets.lists.row_view import RowHeader, RowView
from workbench.tui.widgets.search_bar import FilterBar

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

    from workbench.tui.app import Workbench

WIDE = (200, 50)


def rows(app: Workbench) -> RowView:
    return app.screen.query_one(RowView)


def prompts(app: Workbench) -> list[str]:
    table = rows(app)
    return [line.prompt if (line := table.line(row)) else "…" for row in range(table.row_count)]


def said(account: Account) -> list[tuple[str, str]]:
    with closing(database.connect(str(account.state))) as db:
        return [tuple(row) for row in db.execute("select verdict, task_type from labels order by id")]


async def test_the_key_of_the_list_leads_to_it_from_the_trace_that_is_read(library: Account) -> None:
    async with run_workbench(library.state, screen="traces") as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)
        is_hidden = not app.screen.rows.visible or app.focused is not app.screen.rows
        await pilot.press("1")
        await settle(app, pilot)

        assert is_hidden
        assert app.focused is app.screen.rows


async def test_the_newest_prompt_stands_first(library: Account) -> None:
    async with run_workbench(library.state) as (app, _pilot):
        assert prompts(app)[0] == "what is the difference between the two caches here?"
        assert len(prompts(app)) == 6


async def test_an_empty_database_says_what_to_do_next(tmp_path: Path) -> None:
    async with run_workbench(tmp_path / "new") as (app, _pilot):
        assert "enricher install" in screen_text(app)


async def test_the_keys_that_move(library: Account) -> None:
    pairs = [
        ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("up", 0), ("G", 5), ("g", 0), ("end", 5), ("home", 0),
        ("pagedown", 5), ("pageup", 0), ("ctrl+f", 5), ("ctrl+b", 0), ("n", 1), ("N", 0),
    ]  # fmt: skip
    async with run_workbench(library.state) as (app, pilot):
        found = []
        for key, _row in pairs:
            await pilot.press(key)
            found.append((key, rows(app).cursor))

        assert found == pairs


async def test_a_click_chooses_the_row_and_a_second_one_opens_it(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.click(RowView, offset=(20, 3))
        chosen = rows(app).cursor
        await pilot.click(RowView, offset=(20, 3), times=2)
        await settle(app, pilot)

        assert chosen == 3
        assert app.focused is app.screen.query_one(Detail)


async def test_a_trace_shows_what_its_turn_violated(library: Account) -> None:
    stub = violations.PromptRuleViolation(
        "CODE_001",
        "NO_STUBS",
        "code_generation",
        "critical",
        "auth.py",
        7,
        "function login has an empty body",
        "",
        "H3",
    )
    with closing(database.connect(str(library.state))) as db:
        violations.store(db, db.execute("select max(id) from traces").fetchone()[0], [stub])
        db.commit()
    async with run_workbench(library.state, size=WIDE) as (app, pilot):
        await settle(app, pilot)
        shown = screen_text(app)

    assert "Violations" in shown
    assert "auth.py:7: critical CODE_001 NO_STUBS" in shown


async def test_the_wheel_scrolls_without_choosing(tmp_path: Path) -> None:
    write_history(tmp_path, 300)
    async with run_workbench(tmp_path) as (app, pilot):
        rows(app).post_message(_wheel(app))
        await pilot.pause()

        assert rows(app).scroll_offset.y > 0
        assert rows(app).cursor == 0


def _wheel(app: Workbench):
    from textual.events import MouseScrollDown

    return MouseScrollDown(
        rows(app), x=5, y=5, delta_x=0, delta_y=1, button=0, shift=False, meta=False, ctrl=False
    )  # fmt: skip


async def test_enter_reads_the_trace_in_place_of_the_list_and_escape_goes_back(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("j", "enter")
        await settle(app, pilot)
        read = screen_text(app)
        await pilot.press("escape")

        assert "/clear" in read
        assert "skipped (slash_command)" in read
        assert app.focused is rows(app)


async def test_the_trace_is_shown_beside_the_list_where_there_is_room(library: Account) -> None:
    async with run_workbench(library.state, size=WIDE) as (app, pilot):
        await pilot.press("G")
        await settle(app, pilot)

        assert "evidence for debug" in screen_text(app)


async def test_the_time_of_an_imported_prompt_was_not_measured(library: Account) -> None:
    with closing(database.connect(str(library.state))) as db:
        db.execute("update traces set origin = 'import', latency_ms = 0")
    async with run_workbench(library.state, size=(200, 50)) as (app, pilot):
        await settle(app, pilot)

        assert "not measured, as the prompt was imported" in screen_text(app)
        assert "   0.0 " not in screen_text(app)


async def test_an_imported_prompt_has_a_mark_and_a_word_of_its_own(library: Account) -> None:
    with closing(database.connect(str(library.state))) as db:
        db.execute("update traces set status = 'shadow', origin = 'import' where prompt like 'why does%'")
        db.execute("update traces set status = 'shadow' where prompt like 'add a test%'")
    async with run_workbench(library.state, size=(200, 50)) as (app, pilot):
        await settle(app, pilot)
        await pilot.press("G")
        await settle(app, pilot)
        lines = screen_text(app).splitlines()

    assert "imported from a past conversation: the agent was given nothing" in "\n".join(lines)
    assert any("◇ debug" in line and "why does the nightly" in line for line in lines)
    assert any("○ test" in line and "add a test for" in line for line in lines)


async def test_evidence_is_underlined(library: Account) -> None:
    async with run_workbench(library.state, size=WIDE) as (app, pilot):
        await pilot.press("G")
        await settle(app, pilot)
        text = app.screen.query_one("#detail-text").content
        underlined = [text.plain[span.start : span.end] for span in text.spans if "underline" in str(span.style)]

        assert "crash" in underlined


@pytest.mark.parametrize(("key", "entry"), [("y", ("ok", "")), ("x", ("wrong", ""))])
async def test_a_key_labels_the_trace(library: Account, key: str, entry: tuple[str, str]) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press(key)
        await until(pilot, lambda: rows(app).current.label)

        assert said(library) == [entry]


async def test_a_label_with_the_class_that_was_recorded_says_that_it_is_right(library: Account) -> None:
    async with run_workbench(library.state, selection="type:test") as (app, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Picker))
        await pilot.press("t")
        await until(pilot, lambda: not isinstance(app.screen, Picker) and rows(app).current.label)
        await pilot.press("enter")
        await settle(app, pilot)

        assert "✓ right  labelled" in screen_text(app)


async def test_c_asks_for_the_class_and_one_key_answers(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Picker))
        await pilot.press("d")
        await until(pilot, lambda: not isinstance(app.screen, Picker) and rows(app).current.label)

        assert said(library) == [("class", "debug")]


@pytest.mark.parametrize("keys", ["y", "x", "cd"], ids=["right", "wrong", "another class"])
async def test_a_label_says_why_no_golden_case_was_written(library: Account, keys: str) -> None:
    async with run_workbench(library.state) as (app, pilot):
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)
        first = notices(app)
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)

        assert len(said(library)) == 1
        for told in (first, notices(app).removeprefix(first)):
            assert "No golden case was written: " in told and "is no git repository" in told


def judged(account: Account) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        return db.execute("select line, verdict from line_labels").fetchall()


async def test_the_last_label_is_taken_back_first_whether_of_a_line_or_of_the_prompt(library: Account) -> None:
    library.ask("revert your last changes in the exporter", session_id="session-z")
    library.traces()

    async def press(*keys: str) -> tuple[int, int]:
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)
        return len(said(library)), len(judged(library))

    async with run_workbench(library.state) as (app, pilot):
        counts = [await press("y"), await press("X", "enter")]
        notice = notices(app)
        counts += [await press("ctrl+z"), await press("ctrl+z")]
        counts += [await press("x", "X", "enter", "X", "enter"), await press("ctrl+z")]

    assert "Line 1 counts as wrong; ctrl+z takes that back." in notice
    assert counts == [(1, 0), (1, 1), (1, 0), (0, 0), (1, 0), (0, 0)]


async def test_a_line_is_called_wrong_and_that_is_taken_back(library: Account) -> None:
    library.ask("revert your last changes in the exporter", session_id="session-z")
    library.traces()
    async with run_workbench(library.state) as (app, pilot):
        for expected in ([(1, "wrong")], []):
            await pilot.press("X")
            await until(pilot, lambda: isinstance(app.screen, Picker))
            assert ("called wrong" in screen_text(app)) == (not expected)
            await pilot.press("enter")
            await until(pilot, lambda expected=expected: judged(library) == expected)


async def test_the_label_of_a_line_stands_next_to_it(library: Account) -> None:
    library.ask("revert your last changes in the exporter", session_id="session-z")
    library.traces()

    def pane() -> str:
        """Return the trace beside the list in one line."""
        return " ".join(" ".join(line.rpartition("▊")[2].strip(" │") for line in screen_text(app).splitlines()).split())

    async with run_workbench(library.state, size=WIDE) as (app, pilot):
        (line,) = line_labels.lines(library.traces()[-1])
        for keys, label in ((("X", "enter"), " (✗ wrong)"), (("ctrl+z",), "")):
            for key in keys:
                await pilot.press(key)
                await settle(app, pilot)
            assert f"{line.text}{label} Task type " in pane()


def test_of_the_guardrails_in_one_line_each_has_its_own_label() -> None:
    trace = {
        "output_tokens": 9, "items": [], "guardrails": [{"guardrail_id": "H3"}, {"guardrail_id": "H5"}],
        "output_text": "## Prompt Enrichment\n**Applicable Guardrails**: H3 (Ask), H5 (Quote)\n- a\n- a\n",
        "line_labels": [{"line": 1, "verdict": "wrong"}, {"line": 4, "verdict": "ok"}],
    }  # fmt: skip

    assert list(lines_with_labels(trace)) == [
        "## Prompt Enrichment", "**Applicable Guardrails**: H3 (Ask) (✗ wrong), H5 (Quote)", "- a", "- a (✓ right)",
    ]  # fmt: skip


async def test_leaving_the_question_says_nothing(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Picker))
        await pilot.press("escape")
        await settle(app, pilot)

        assert said(library) == []


async def test_the_queue_lists_what_has_no_label_and_goes_on_after_each(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("l")
        await settle(app, pilot)
        queued, why = rows(app).row_count, screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: rows(app).cursor == 1)
        left = screen_text(app)
        await pilot.press("l")
        await settle(app, pilot)

        assert "4 to label" in left
        assert queued == 5, "the slash command was never judged"
        assert "points" in why or "level" in why
        assert rows(app).row_count == 6


async def test_s_shows_the_session_in_order_with_its_drift(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("G", "s")
        await until(pilot, lambda: "Session" in screen_text(app))
        shown = screen_text(app)
        await pilot.press("s")
        await until(pilot, lambda: "Prompt" in screen_text(app))

        assert shown.index("nightly export") < shown.index("thanks!")
        assert "the class changes once" in shown


async def test_a_filter_is_run_while_it_is_typed(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("slash", *"type:test")
        await until(pilot, lambda: rows(app).row_count == 1)
        await pilot.press("enter")

        assert prompts(app) == ["add a test for the rounding in prices.py"]
        assert app.focused is rows(app)


async def test_tab_completes_the_filter(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("slash", *"stat")
        await pilot.pause(0.05)
        await pilot.press("tab", *"sk")
        await pilot.pause(0.05)
        await pilot.press("tab")
        await until(pilot, lambda: rows(app).row_count == 1)

        assert app.screen.query_one(FilterBar).input.value == "status:skipped"


async def test_a_filter_that_cannot_be_understood_is_told_and_the_list_stays(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("slash")
        app.screen.query_one(FilterBar).input.value = "typ:test"
        await until(pilot, lambda: "did you mean type:?" in screen_text(app))

        assert rows(app).row_count == 6

        await pilot.press("enter", "y")
        assert app.screen.query_one(FilterBar).input.value == "typ:testy", "y labels no prompt"


async def test_a_value_that_no_prompt_has_is_told_beside_those_there_are(library: Account) -> None:
    async with run_workbench(library.state, selection="type:debg") as (app, pilot):
        await until(pilot, lambda: "there is: debug" in screen_text(app))

        assert "type:debg is not among the recent prompts" in screen_text(app)


async def test_escape_takes_the_filter_away(library: Account) -> None:
    async with run_workbench(library.state, selection="type:test") as (app, pilot):
        filtered = rows(app).row_count
        await pilot.press("escape")
        await settle(app, pilot)

        assert (filtered, rows(app).row_count) == (1, 6)


async def test_words_are_found_through_the_index(library: Account) -> None:
    async with run_workbench(library.state, selection="rounding") as (app, pilot):
        await until(pilot, lambda: app.screen._which.match)  # noqa: SLF001
        await until(pilot, lambda: prompts(app) == ["add a test for the rounding in prices.py"])

        assert "being indexed" not in screen_text(app)


async def test_capital_s_and_a_click_on_a_title_sort(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("S")
        await settle(app, pilot)
        slowest = [rows(app).line(row).latency_ms for row in range(6)]
        await pilot.click(RowHeader, offset=(1, 0))
        await settle(app, pilot)

        assert slowest == sorted(slowest, reverse=True)
        assert "newest first" in screen_text(app)


async def test_a_new_prompt_appears_on_top_while_the_table_follows(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        library.ask("why is the build red?")
        await until(pilot, lambda: rows(app).row_count == 7)

        assert rows(app).current.prompt == "why is the build red?"


async def test_a_new_prompt_does_not_move_what_is_read(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("j")
        before = rows(app).current.id
        library.ask("why is the build red?")
        await until(pilot, lambda: rows(app).row_count == 7)
        new = screen_text(app)
        await pilot.press("g")

        assert "1 new" in new
        assert rows(app).current.id > before
        assert "1 new" not in screen_text(app)


async def test_prompts_of_tests_and_of_other_filters_do_not_arrive(library: Account) -> None:
    async with run_workbench(library.state, selection="type:test") as (app, pilot):
        library.ask("why is the build red?")
        library.ask("add a test for the login form")
        await until(pilot, lambda: rows(app).row_count == 2)

        assert prompts(app)[0] == "add a test for the login form"


@pytest.mark.slow
async def test_a_long_list_can_be_read_to_its_end_at_once(tmp_path: Path) -> None:
    write_history(tmp_path, 20_000)
    async with run_workbench(tmp_path) as (app, pilot):
        await pilot.press("G")
        await until(pilot, lambda: rows(app).current)

        assert rows(app).row_count > 19_000
        assert rows(app).line(rows(app).row_count - 1) is rows(app).current


@pytest.mark.parametrize("place", ["a filter", "a trace"])
async def test_other_screens_can_ask_for(library: Account, place: str) -> None:
    wanted = library.traces()[1]
    async with run_workbench(library.state) as (app, pilot):
        app.post_message(FilterTraces("type:test") if place == "a filter" else OpenTrace(wanted["id"]))
        await until(pilot, lambda: rows(app).row_count == 1)

        assert prompts(app) == ["add a test for the rounding in prices.py"]


async def test_u_copies_the_address_of_the_trace(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENRICHER_PUBLISHED_URL", "http://127.0.0.1:8001/")
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("u")

        assert app.clipboard == f"http://127.0.0.1:8001/-/enricher/trace/{library.trace()['id']}"


async def test_without_a_published_history_the_id_is_copied_and_the_remedy_told(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("u")
        await until(pilot, lambda: "ENRICHER_PUBLISHED_URL" in notices(app))

        assert app.clipboard == library.trace()["id"]


async def test_o_opens_the_trace_in_the_published_history(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENRICHER_PUBLISHED_URL", "http://127.0.0.1:8001")
    opened: list[str] = []
    async with run_workbench(library.state) as (app, pilot):
        monkeypatch.setattr(app, "open_url", opened.append)
        await pilot.press("o")

    assert opened == [f"http://127.0.0.1:8001/-/enricher/trace/{library.trace()['id']}"]


async def test_e_tells_where_no_editor_can_have_the_terminal(library: Account) -> None:
    async with run_workbench(library.state) as (app, pilot):
        await pilot.press("e")
        await until(pilot, lambda: "instructions.md" in notices(app))

        assert (library.config / "instructions.md").read_text().startswith("# Classification")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
async def test_what_the_screen_looks_like(
    tmp_path: Path, check_screen, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.workers.listing.types_today", lambda *_: {})  # no rules judged these
    write_history(tmp_path, 60)
    async with run_workbench(tmp_path, size=size) as (app, pilot):
        await pilot.press("j")
        await until(pilot, lambda: app.screen.query_one(Detail).trace)
        await settle(app, pilot)

        check_screen(app, f"traces-{size[0]}x{size[1]}")


async def test_sixty_columns_break_nothing(library: Account) -> None:
    async with run_workbench(library.state, size=(60, 20)) as (app, _pilot):
        assert "what is the difference" in screen_text(app)


async def test_it_says_the_same_without_colours(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with run_workbench(library.state) as (app, _pilot):
        coloured = screen_text(app)
    monkeypatch.setenv("NO_COLOR", "1")
    async with run_workbench(library.state) as (app, _pilot):
        assert screen_text(app) == coloured


@pytest.mark.parametrize(("key", "part"), [("P", "prompt"), ("T", "output_text"), ("I", "id")])
async def test_prompt_text_and_id_are_copied(library: Account, key: str, part: str) -> None:
    library.ask("delete all files in the folder")
    shown = next(one for one in library.traces() if one["output_text"])
    async with run_workbench(library.state, selection=f"id:{shown['id']}") as (app, pilot):
        await pilot.press(key)
        await settle(app, pilot)

        assert app.clipboard == shown[part]


async def test_a_text_that_is_empty_leaves_the_clipboard_alone(library: Account) -> None:
    silent = next(one for one in library.traces() if not one["output_text"])
    async with run_workbench(library.state, selection=f"id:{silent['id']}") as (app, pilot):
        app.copy_to_clipboard("from before")
        await pilot.press("T")
        await settle(app, pilot)

        assert app.clipboard == "from before"
        assert "empty" in notices(app)
