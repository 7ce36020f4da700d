"""The Coverage screen: which rules speak, its views, every key, what it remembers, what an empty one says."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from histories import fix_times, multiply
from piloting import notices, run_workbench, screen_text, settle, until

from storage.db import database
from workbench.coverage.coverage import Measurement
from workbench.tui.messages import OpenInstructions
from workbench.tui.screens import coverage
from workbench.tui.widgets.choice import Choice
from workbench.tui.widgets.lists.figures import FiguresTable
from workbench.tui.workers import measurements

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account
    from textual.pilot import Pilot

    from storage.evaluation.corpus import RecordedPrompt
    from workbench.tui.app import Workbench

RULES = """\
# Classification

## Task type: debug

```yaml
signals:
  - {any: [crash, crashes, KeyError], weight: 3}
  - {phrase: why, weight: 1}
  - {phrase: segfault, weight: 3}
```

## Task type: test

```yaml
signals:
  - {phrase: test, weight: 3}
  - {phrase: rounding, weight: 1}
```

# Context

## Channel: session

```yaml
most: 3
```

# Guardrails

## Approach: look-first

```yaml
say: "Look at the error first."
task_types: {debug: 3}
```

# Output

## Budgets

```yaml
tokens: 400
```
"""
VIEWS = [("a", "all"), ("d", "dead"), ("o", "always"), ("t", "together"), ("n", "none")]


@pytest.fixture
def history(library: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """The history of the library under five signals of two classes; the working folder has a name without a path."""
    fix_times(library)
    library.write("project/rules.md", RULES)
    monkeypatch.chdir(library.project)
    return library


def open_screen(history: Account, **options: object):  # type: ignore[no-untyped-def]
    return run_workbench(history.state, screen="coverage", instructions="rules.md", **options)


def names(app: Workbench) -> list[str]:
    return names_in(app, 0)


def names_in(app: Workbench, column: int) -> list[str]:
    return [row.cells[column] for row in app.screen.query_one(FiguresTable).shown]


def kinds(app: Workbench) -> list[str]:
    return [row.key.split(":")[1] for row in app.screen.table.shown]


async def go_to(app: Workbench, pilot: Pilot[None], kind: str) -> None:
    """Put the cursor on the first rule of this kind."""
    app.screen.table.cursor = kinds(app).index(kind)
    await settle(app, pilot)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("key", "name"), [VIEWS[0], VIEWS[1], VIEWS[4]], ids=["all", "dead", "none"])
async def test_the_screen(
    history: Account, check_screen: Callable[[Workbench, str], None], size: tuple[int, int], key: str, name: str
) -> None:
    async with open_screen(history, size=size) as (app, pilot):
        await pilot.press(key)
        await settle(app, pilot)

        check_screen(app, f"coverage-{name}-{size[0]}x{size[1]}")


async def test_sixty_columns_are_enough(history: Account) -> None:
    async with open_screen(history, size=(60, 20)) as (app, _pilot):
        assert 'debug: "why"' in screen_text(app)
        assert "wrong" in screen_text(app)


async def test_the_most_frequent_rule_stands_first(history: Account) -> None:
    async with open_screen(history) as (app, _pilot):
        assert names(app)[0].startswith("debug")
        assert "segfault" in names(app)[-1] or "rounding" in " ".join(names(app))


async def test_the_dead_are_those_that_never_spoke(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("d")

        assert any("segfault" in name for name in names(app))
        assert not any("rounding" in name for name in names(app))


async def test_dead_signals_of_other_languages_come_last_and_say_so(history: Account) -> None:
    foreign = "  - {phrase: größer, weight: 3}\n"
    history.write("project/rules.md", RULES.replace("signals:\n", "signals:\n" + foreign, 1))
    async with open_screen(history, size=(200, 50)) as (app, pilot):
        await pilot.press("d", "G")

        assert "größer" in names_in(app, 1)[-1]
        assert "1 of other languages come last" in screen_text(app)
        assert "never spoke (it has wordings of other languages)" in screen_text(app)


async def test_prompts_without_a_signal_are_counted(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("n")

        assert "n no signal 3" in screen_text(app)


async def test_prompts_without_a_signal_that_share_words_are_a_group(history: Account) -> None:
    multiply(history, 5)
    async with open_screen(history) as (app, pilot):
        await pilot.press("n")
        found = names(app)
        await pilot.press("j", "enter")
        await settle(app, pilot)

        assert f"no signal: {found[1]}"[:30] in screen_text(app)


async def test_e_opens_the_rule_where_it_is_written(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[OpenInstructions] = []
    monkeypatch.setattr(coverage.CoverageScreen, "post_message", _keep(OpenInstructions, asked))
    async with open_screen(history) as (_app, pilot):
        await pilot.press("e")

        assert [(one.path.rsplit("/", 1)[-1], one.line) for one in asked] == [("rules.md", 3)]


async def test_enter_shows_the_prompts_of_a_signal(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        name = names(app)[0]
        await pilot.press("enter")
        await settle(app, pilot)

        assert app.place_screen().PLACE == "traces"
        assert f"fired: {name}" in screen_text(app)


async def test_the_prompts_that_are_shown_are_not_called_every_prompt(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("enter")
        await settle(app, pilot)

        assert "every" not in screen_text(app).splitlines()[1]
        app.screen.bar.show_scope("")
        assert app.screen.bar.input.placeholder == "every prompt"


async def test_a_rule_that_never_spoke_has_no_prompts(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("d", "enter")

        assert "had an effect on no prompt" in notices(app)


async def test_labels_say_whether_a_rule_is_right(history: Account) -> None:
    with closing(database.connect(str(history.state))) as db:
        db.execute("""
            insert into labels (trace_id, labelled_at, verdict, task_type)
            select id, at, 'class', 'debug' from traces where prompt like 'why does%'
        """)
    async with open_screen(history) as (app, _pilot):
        assert "right in 1 of 1 labelled prompts" in screen_text(app)


async def test_a_channel_that_no_prompt_asked_is_not_measured(history: Account) -> None:
    with closing(database.connect(str(history.state))) as db:
        db.execute("update traces set origin = 'import', inputs = json_set(inputs, '$.channels', json('[]'))")
    async with open_screen(history) as (app, pilot):
        await go_to(app, pilot, "channel")

        assert "not measured: it was asked for none of these prompts" in screen_text(app)
        await pilot.press("d")
        assert "channel" not in kinds(app)


async def test_a_rule_that_was_asked_says_how_many_prompts_leave_what_possible(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await go_to(app, pilot, "channel")

        assert "never spoke; 4 prompts for which it was asked are too few to tell" in screen_text(app)
        await pilot.press("d")
        assert "channel" not in kinds(app)


async def test_rules_that_are_meant_to_fire_always_say_so_and_come_last(history: Account) -> None:
    always = "  - {feature: always, weight: 1}\n"
    history.write("project/rules.md", RULES.replace("signals:\n", "signals:\n" + always, 1))
    async with open_screen(history, size=(200, 50)) as (app, pilot):
        assert "(meant to)" in names_in(app, 1)[-1]
        await pilot.press("o")

        assert "as they are meant to" in screen_text(app)


async def test_the_line_below_says_what_the_tokens_count(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await go_to(app, pilot, "approach")
        found = re.search(r"acted in (\d+) of.*cost (\d+) tokens in each.*, (\d+) in all", screen_text(app), re.DOTALL)

        assert found
        prompts, each, every = map(int, found.groups())
        assert prompts * each == every > 0


async def test_rules_that_are_named_alike_are_told_apart(history: Account) -> None:
    twin = "  - {phrase: why, unless: [how], weight: 1}\n"
    history.write("project/rules.md", RULES.replace("  - {phrase: segfault", twin + "  - {phrase: segfault"))
    async with open_screen(history) as (app, pilot):
        found = [name for name in names(app) if 'debug: "why"' in name]
        app.screen.table.cursor = names(app).index(':9 debug: "why" +1')
        await pilot.press("enter")
        await settle(app, pilot)

        assert sorted(found) == [':8 debug: "why" +1', ':9 debug: "why" +1']
        assert 'fired: :9 debug: "why" +1' in screen_text(app)


async def test_a_task_type_and_a_workflow_of_the_same_name_keep_their_name(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packaged rules have a task type and a workflow ``docs``, which are written in different files."""
    monkeypatch.chdir(history.home)
    async with run_workbench(history.state, screen="coverage") as (app, _pilot):
        assert {"docs (task type)", "docs (workflow)"} <= set(names(app))
        assert "implementation" in names(app)


async def test_the_filter_restricts_what_is_measured(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("slash", *"rounding")
        await until(pilot, lambda: screen_text(app).splitlines()[1].endswith(" 1 prompt"))
        await pilot.press("enter", "escape")
        await until(pilot, lambda: "5 prompts" in screen_text(app))

        assert app.screen.bar.input.value == ""


async def test_escape_stops_a_measurement_and_keeps_what_is_known(
    history: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    multiply(history, 200)
    monkeypatch.setattr(measurements, "REPORT_EVERY_S", 0.0)
    is_stopped, add = threading.Event(), Measurement.add

    def add_and_wait(measurement: Measurement, page: list[RecordedPrompt]) -> None:
        """Add a page; all but the first wait until somebody stopped the measurement."""
        if measurement.prompts:
            is_stopped.wait(30)
        add(measurement, page)

    monkeypatch.setattr(Measurement, "add", add_and_wait)
    async with run_workbench(history.state, size=(120, 30), instructions="rules.md") as (app, pilot):
        await app.action_go("coverage")
        await until(pilot, lambda: "of 1,206" in screen_text(app))
        app.screen.action_back()
        is_stopped.set()
        await settle(app, pilot)

        assert "stopped" in screen_text(app)
        assert app.screen.table.row_count > 0


async def test_prompts_that_cannot_be_judged_are_told(history: Account) -> None:
    with closing(database.connect(str(history.state))) as db:
        db.execute("""update traces set inputs = '{"settings": {}}'""")
    async with open_screen(history) as (app, _pilot):
        assert "could not be measured" in screen_text(app)
        assert "KeyError" in screen_text(app)


async def test_broken_instructions_are_told_with_their_line(history: Account) -> None:
    history.write("project/rules.md", RULES.replace("weight: 3}", "weight: heavy}", 1))
    async with open_screen(history) as (app, _pilot):
        shown = screen_text(app)

    assert "".join(shown.split()).count("rules.md:7:error:weight:heavyisoutside1to30") == 1, "a long path is wrapped"
    assert "measure again" in shown


async def test_new_prompts_are_measured_by_themselves(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "AGAIN_AFTER_S", 0.05)
    async with open_screen(history) as (app, pilot):
        history.ask("why is the build red?")
        await until(pilot, lambda: "6 prompts" in screen_text(app))

        assert app.screen.table.row_count


async def test_help_and_a_way_back_measure_nothing_again(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MEASURED_AGAIN", 0)
    async with open_screen(history, size=(200, 50)) as (app, pilot):
        await pilot.press("question_mark", "escape", "number_sign", "escape", "1", "4")
        await settle(app, pilot)

        assert "the history changed" not in screen_text(app)


async def test_a_new_prompt_offers_to_measure_again(history: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MEASURED_AGAIN", 0)
    async with open_screen(history) as (app, pilot):
        history.ask("why is the build red?")
        await until(pilot, lambda: "the history changed · R again" in screen_text(app))

        assert "R Again" in screen_text(app).splitlines()[-1]


async def test_the_rules_of_the_folder_judge_all_prompts_and_the_screen_says_so(history: Account) -> None:
    history.write("project/.enricher/instructions.md", RULES.partition("# Context")[0])
    history.cli("trust", str(history.project))
    async with run_workbench(history.state, screen="coverage") as (app, _pilot):
        assert "5 prompts, all judged as if typed in project/" in screen_text(app)


async def test_an_approach_of_another_profile_is_not_dead(history: Account) -> None:
    profiled = RULES.replace("task_types: {debug: 3}", "profile: as-specified\ntask_types: {debug: 3}")
    history.write("project/rules.md", profiled)
    async with open_screen(history) as (app, pilot):
        await go_to(app, pilot, "approach")

        why = "not measured: it was tried for none of these prompts (only the profile as-specified does)"
        assert why in " ".join(screen_text(app).split())
        await pilot.press("d")
        assert "approach" not in kinds(app)


async def test_the_view_survives_a_restart(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.press("d")
        before = screen_text(app)
    async with open_screen(history) as (app, _pilot):
        assert screen_text(app) == before


async def test_a_click_chooses_the_view(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        await pilot.click(Choice, offset=(10, 0))

        assert "[d dead" in screen_text(app)


async def test_an_empty_database_says_what_to_do_next(tmp_path: Path) -> None:
    async with run_workbench(tmp_path / "new", screen="coverage") as (app, _pilot):
        assert "There is no judged prompt yet" in screen_text(app)


async def test_the_reload_key_reads_the_instructions_again(history: Account) -> None:
    async with open_screen(history) as (app, pilot):
        history.write("project/rules.md", RULES.replace("segfault", "thanks"))
        await pilot.press("R")
        await settle(app, pilot)
        await pilot.press("d")

        assert not any("segfault" in name for name in names(app))


def _keep(kind: type, found: list):  # type: ignore[no-untyped-def,type-arg]
    """Return a ``post_message`` that keeps messages of a kind and passes all others on."""
    original = coverage.CoverageScreen.post_message

    def post(self: coverage.CoverageScreen, message: object) -> bool:
        if isinstance(message, kind):
            found.append(message)
            return True
        return original(self, message)  # type: ignore[arg-type]

    return post
