"""The Compare screen, key by key: both sides of what a run changes, and of one trace under today's rules."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest
from instructing import (
    BROKEN,
    QUIETER,
    QUIETER_AND_H19,
    check_steady_screen,
    compare,
    edited,
    instructions,
    own_layer,
    settled,
)
from piloting import run_workbench, screen_text, settle, until

from storage.db import database
from storage.traces import labels
from workbench.edits.progress import CauseBatch, ChangeCause
from workbench.replay.outcome import Outcome
from workbench.statistics.intervals import Interval, Share
from workbench.statistics.pairs import Verdict
from workbench.tui.messages import OpenCompare
from workbench.tui.panes.blast_view import summary
from workbench.tui.panes.diff_view import beginning, word_diff
from workbench.tui.widgets.lists.line_list import fitted
from workbench.views.blast_radius import brief, headline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.screens.editing.replaying.AFTER_NEWS_S", 60)


@contextlib.asynccontextmanager
async def compared(
    library: Account, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int] = (80, 24), *, edit: str = QUIETER
) -> AsyncIterator[tuple[Workbench, Pilot[Any]]]:
    """Start the app, make an edit that changes three prompts, and open the Compare screen on it."""
    own_layer(library, monkeypatch)
    async with run_workbench(library.state, size=size, screen="instructions") as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, edit, "changed")
        instructions(app).lines.focus()
        await pilot.press("3")
        await until(pilot, lambda: app.screen.id == "compare")
        await until(pilot, lambda: "Decision" in screen_text(app))
        await settle(app, pilot)
        yield app, pilot


def shown(app: Workbench) -> str:
    """Return the prompt whose sides are shown."""
    found = compare(app)._found  # noqa: SLF001
    return found.prompt.text if found else ""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
async def test_both_sides_of_a_prompt(
    library: Account, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    async with compared(library, monkeypatch, size, edit=QUIETER_AND_H19) as (app, pilot):
        for _ in range(4):
            before = shown(app)
            if "two caches" in before:
                break
            await pilot.press("n")
            await until(pilot, lambda before=before: shown(app) != before)
        assert "two caches" in shown(app)
        name = f"compare-{size[0]}x{size[1]}"
        check_steady_screen(app, name, update=request.config.getoption("--update-screens"))


async def test_without_a_run_it_says_what_to_do(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    own_layer(library, monkeypatch)
    async with run_workbench(library.state, screen="compare") as (app, _pilot):
        assert "There is nothing to compare yet." in screen_text(app)


async def test_a_run_without_a_change_says_so(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    own_layer(library, monkeypatch)
    async with run_workbench(library.state, screen="instructions") as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("3")
        await until(pilot, lambda: "The last run changed nothing" in screen_text(app))


async def test_groups_with_few_changes_are_open_on_both_screens(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.panes.blast_view.FEW_CHANGES", 1)
    async with compared(library, monkeypatch, edit=QUIETER_AND_H19) as (app, pilot):
        on_compare, prompt = screen_text(app), shown(app)
        await pilot.press("2")
        await settle(app, pilot)
        on_instructions = screen_text(app)

    for screen in (on_compare, on_instructions):
        assert "▸ task type shown or no longer shown" in screen
        assert "▾ guardrail added" in screen
    assert "two caches" in prompt, "the cursor is on the first change that is listed"


async def test_a_long_prompt_and_a_long_text_of_one_side_are_folded(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.panes.diff_view.USUAL_LINE", 3)
    async with compared(library, monkeypatch, (200, 90), edit=QUIETER_AND_H19) as (app, pilot):
        await pilot.press("end")
        await until(pilot, lambda: "two caches" in shown(app))
        folded = screen_text(app)
        await pilot.press("d")
        await pilot.pause()
        whole = screen_text(app)

    prompt = next(one["prompt"] for one in library.traces() if "two caches" in one["prompt"])
    assert f" {prompt[:24]}\n" in folded
    assert f"… {len(prompt) - 24} more characters; enter opens the trace" in folded
    assert "(Questions Require Answers)" not in folded
    assert "more characters; d shows all" in folded
    assert "(Questions Require Answers)" in whole


def test_a_text_of_many_lines_is_folded_after_the_first() -> None:
    found = beginning("\n".join(f"line {at}" for at in range(30)), 8)

    assert found == ([f"line {at}" for at in range(8)], "22 more lines")


async def test_the_verdict_is_said_with_interval_and_sample_in_plain_words(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with compared(library, monkeypatch) as (app, _pilot):
        assert app.last_run is not None
        figures = app.last_run.figures
    share = Share(1 / 19, Interval(0, 0.5694, 0.95), 6, 1, 19, "sessions resampled")
    figures = replace(figures, changes=figures.changes[:1], prompts=19, concerned=19, share=share)
    told = {name: summary(replace(figures, verdict=name)).plain for name in get_args(Verdict)}

    few = Share(26 / 5000, Interval(0.003, 0.008, 0.95), 6, 1, 19, "sessions resampled")
    rare = headline(replace(figures, changes=figures.changes * 26, prompts=5000, concerned=5000, share=few))
    same = headline(replace(figures, sides=(figures.sides[0], figures.sides[0])))

    assert rare == "26 of 5,000 prompts change; of 1,000 like these, 3 to 8 would change (95 % sure)"
    assert same == "1 of 19 prompts changes"
    words = "1 of 19 prompts changes; of 100 like these, at most 57 would change (95 % sure)"
    assert all(text.startswith(f" {name}  {words}\n") for name, text in told.items())
    assert {name: text.splitlines()[1] for name, text in told.items() if text.count("\n") == 3} == {
        "inconclusive": "Some labelled prompts become wrong, and too few labels show that more become right.",
        "regressed": "An approved case changes, or significantly more labelled prompts become wrong than right.",
    }


def outcome(task_type: str = "docs", **changed: Any) -> Outcome:
    """Return a result of a prompt."""
    return replace(Outcome(task_type, True, "", "", ("H3",), "", (), "", 0), **changed)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        pytest.param(outcome("test", guardrails=("H5",)), "docs → test · +H5 -H3", id="class and guardrails"),
        pytest.param(outcome(workflow="feature"), "workflow none → feature", id="workflow"),
        pytest.param(outcome(shown=False, workflow="feature"), "docs not shown · workflow", id="too long for both"),
        pytest.param(
            outcome("implementation", workflow="feature", guardrails=("H5",), search_intent="howto"),
            "docs → implementation · workflow · …",
            id="too long for all names",
        ),
        pytest.param(outcome(search_intent="howto"), "intent none → howto", id="intent"),
        pytest.param(outcome(), "", id="nothing"),
    ],
)
def test_every_decision_that_changed_is_named_and_none_is_cut(after: Outcome, said: str) -> None:
    assert brief(outcome(), after) == said


async def test_next_and_previous_change(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        first = shown(app)
        await pilot.press("n")
        await until(pilot, lambda: shown(app) != first)
        second = shown(app)
        await pilot.press("p")
        await until(pilot, lambda: shown(app) == first)

        assert second != first


async def test_all_or_only_differences(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch, (120, 50)) as (app, pilot):
        only = screen_text(app)
        await pilot.press("d")
        await pilot.pause()

        assert "intent   " not in only
        assert "intent   " in screen_text(app)


async def test_one_kind_of_change_then_all(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        await pilot.press("f")
        await pilot.pause()
        narrowed = screen_text(app)
        await pilot.press("escape")
        await pilot.pause()

        assert "only shown · 2 changes" in narrowed
        assert "only shown" not in screen_text(app)


async def test_the_next_group_begins_with_its_first_change(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        await pilot.press("home", "g")
        await pilot.pause()
        line = compare(app).changes.current

        assert line is not None
        assert compare(app).changes.cursor == 1, "the row after the first heading"


async def test_labelling_goes_on_to_the_next(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        trace = compare(app).chosen()[0]
        await pilot.press("y")
        await settle(app, pilot)
        await until(pilot, lambda: compare(app).chosen()[0] != trace)
    with contextlib.closing(database.connect(str(library.state))) as db:
        given = labels.newest(db, trace)

    assert given is not None
    assert given["verdict"] == "ok"


@pytest.mark.slow
async def test_a_class_can_be_said(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        trace = compare(app).chosen()[0]
        await pilot.press("c")
        await until(pilot, lambda: "It should have been" in screen_text(app))
        await pilot.press("d")
        await settle(app, pilot)
    with contextlib.closing(database.connect(str(library.state))) as db:
        given = labels.newest(db, trace)

    assert given is not None
    assert given["task_type"] == "debug"


async def test_enter_shows_the_trace(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.id == "traces")


@pytest.mark.slow
async def test_one_trace_under_todays_rules(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        trace = next(one["id"] for one in library.traces() if one["prompt"] == "thanks!")
        app.post_message(OpenCompare(trace))
        await until(pilot, lambda: "recorded → today's rules: nothing changes" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "2 changes against the file as opened at " in screen_text(app))


@pytest.mark.slow
async def test_replaying_the_change_itself_takes_todays_rules(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        await pilot.press("r")
        await until(pilot, lambda: "recorded → today's rules" in screen_text(app))


@pytest.mark.slow
async def test_saved_instructions_with_errors_are_not_replaced_by_the_last_good_ones(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        library.instruct(BROKEN)
        await pilot.press("r")
        await until(pilot, lambda: "the instructions as they are saved have errors" in screen_text(app))


async def test_a_trace_that_cannot_be_judged_says_why(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        trace = next(one["id"] for one in library.traces() if one["prompt"] == "/clear")
        app.post_message(OpenCompare(trace))
        await until(pilot, lambda: "cannot be judged again: skipped" in screen_text(app))


async def test_what_is_told_can_be_scrolled(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        await pilot.press("d", "J")
        await pilot.pause()
        down = compare(app).query_one("#both").scroll_offset.y
        await pilot.press("K")
        await pilot.pause()

        assert down > compare(app).query_one("#both").scroll_offset.y


async def test_what_is_shown_survives_a_restart(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    async with compared(library, monkeypatch) as (_app, pilot):
        await pilot.press("d")
    async with run_workbench(library.state, screen="compare") as (app, _pilot):
        assert compare(app).recall("only", True) is False


def test_a_word_diff_marks_lines_and_underlines_words() -> None:
    removed, added = word_diff("run the tests", "run all tests")

    assert (removed.plain, added.plain) == (" - run the tests", " + run all tests")
    assert [added.plain[span.start : span.end] for span in added.spans if "underline" in str(span.style)] == ["all"]


def test_lines_that_are_the_same_can_be_left_out() -> None:
    found = [line.plain for line in word_diff("a\nb", "a\nc", only_differences=True)]

    assert found == [" - b", " + c"]


@pytest.mark.parametrize(
    ("text", "right", "expected"),
    [
        pytest.param("a prompt", "now", "a prompt             now ", id="right side at the right"),
        pytest.param("a long prompt of several words", "now", "a long prompt of se… now ", id="the text is cut"),
        pytest.param("a prompt", "x" * 20, "a prompt                 ", id="no room for the right side"),
    ],
)
def test_a_line_is_exactly_as_wide_as_the_list(text: str, right: str, expected: str) -> None:
    assert fitted(text, right, width=25) == expected


SIGNALS = """\
# Guardrails

## Guardrail: H19

```yaml
extend: true
signals:
  - {phrase: quokka, weight: 3}
```

## Guardrail: H4

```yaml
extend: true
signals:
  - {phrase: wombat, weight: 3}
```
"""


async def test_changes_are_grouped_by_the_edited_line_that_caused_them(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_layer(library, monkeypatch)
    library.instruct(SIGNALS)
    added = "".join(f"  - {{phrase: {word}, weight: 30}}\n" for word in ("caches", "refactor", "basket"))
    edit = SIGNALS.replace("weight: 3}\n", f"weight: 3}}\n{added}", 1).replace("{phrase: wombat", "{phrase: nightly")
    async with run_workbench(library.state, size=(200, 50), screen="instructions") as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, edit.replace("nightly, weight: 3}", "nightly, weight: 30}"), "changed")
        instructions(app).lines.focus()
        await pilot.press("3")
        await settle(app, pilot)
        heads = [(one.head.text, one.head.right) for one in compare(app).changes._groups]  # noqa: SLF001

    assert sorted(heads) == [
        ("guardrail added ← instructions.md:19 - {phrase: nightly, weight: 30}", "1"),
        ("guardrail added ← instructions.md:9 - {phrase: caches, weight: 30}", "1"),
        ("guardrail added ← several lines", "1"),
    ]


async def test_causes_that_are_found_while_a_run_is_compared_group_its_prompts(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with compared(library, monkeypatch) as (app, pilot):
        editing = app._screen_stacks["instructions"][0]  # noqa: SLF001 (the screen below in another mode)
        found = {one.prompt.id: ChangeCause("", group="rules.md:7 why") for one in app.last_run.figures.changes}
        editing._progressed((CauseBatch(found), []))  # noqa: SLF001
        await settle(app, pilot)

        assert "no longer shown ← rules.md:7 why" in screen_text(app)
