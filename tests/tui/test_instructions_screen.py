"""The Instructions screen, key by key: what an edit changes is seen while it is typed, saved, and saved elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest
from instructing import (
    BROKEN,
    LAYER,
    ONE_GUARDRAIL,
    QUIETER,
    QUIETER_AND_H19,
    check_steady_screen,
    edited,
    instructions,
    own_layer,
    run_of,
    save_elsewhere,
    settled,
    verdict,
)
from piloting import notices, run_workbench, screen_text, settle, until
from textual import events

from enricher.rules.layers import packaged_file
from storage.db import database
from storage.evaluation import replays
from storage.traces import labels
from workbench.edits import drafts
from workbench.edits import instructions_file as files
from workbench.tui.messages import OpenInstructions
from workbench.tui.widgets.editor import PLACEHOLDER
from workbench.tui.widgets.editor_pane import EditorPane

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from simulator import Account

BOTH_SIDES = re.compile(r"as opened at \d\d:\d\d → instructions.md as edited")


@pytest.fixture
def layer(library: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_layer(library, monkeypatch)


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no arriving prompt start a run between two keys."""
    monkeypatch.setattr("workbench.tui.screens.editing.replaying.AFTER_NEWS_S", 60)


def open_it(library: Account, size: tuple[int, int] = (80, 24)) -> AbstractAsyncContextManager[Any]:
    return run_workbench(library.state, size=size, screen="instructions")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
@pytest.mark.usefixtures("layer")
async def test_what_an_edit_changes_is_beside_it(
    library: Account, size: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    async with open_it(library, size) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER_AND_H19, "changed")
        name = f"instructions-{size[0]}x{size[1]}"
        check_steady_screen(app, name, update=request.config.getoption("--update-screens"))


@pytest.mark.usefixtures("layer")
async def test_the_narrow_screen_shows_editor_or_figures(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("i")
        is_editing = instructions(app).query_one(EditorPane).display
        await pilot.press("escape")

        assert is_editing
        assert not instructions(app).query_one(EditorPane).display


async def test_typing_is_enough(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("i")
        instructions(app).editor.go_to(9)
        await pilot.press("end", "backspace", "backspace", "9", "9")
        await settled(app, pilot, "changed")

        assert instructions(app).is_unsaved
        assert "● unsaved" in screen_text(app)


@pytest.mark.usefixtures("layer")
async def test_the_same_text_is_run_once(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        runs = run_of(app)
        await pilot.press("i", "x", "backspace")
        await pilot.pause(0.4)
        await settle(app, pilot)

        assert run_of(app) == runs


async def test_saving_writes_the_file(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: layer.read_text() == QUIETER)
        await until(pilot, lambda: not instructions(app).is_unsaved)

        assert "unsaved" not in screen_text(app)


@pytest.mark.slow
async def test_every_save_of_another_editor_is_a_run_and_a_broken_one_keeps_the_last_figures(
    library: Account, layer: Path
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        first = run_of(app)
        save_elsewhere(layer, QUIETER)
        await settled(app, pilot, "changed")
        save_elsewhere(layer, LAYER.replace("How sure", "How very sure"))
        await settled(app, pilot, "identical")
        runs = run_of(app) - first
        save_elsewhere(layer, BROKEN)
        await until(pilot, lambda: "unknown key 'min_confidense'" in screen_text(app))

        assert runs == 2
        assert "the last sound text: identical" in screen_text(app)


@pytest.mark.usefixtures("layer")
async def test_a_problem_is_told_with_its_line_and_leads_there(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        instructions(app).editor.text = BROKEN
        await until(pilot, lambda: "instructions.md:9:" in screen_text(app))
        await pilot.press("f8")

        assert instructions(app).editor.line == 9
        assert app.focused is instructions(app).editor


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
async def test_saving_a_file_with_an_error_says_what_prompts_get_meanwhile(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        instructions(app).editor.text = BROKEN
        await until(pilot, lambda: "instructions.md:9:" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "prompts keep the last good version" in notices(app))


@pytest.mark.usefixtures("layer")
async def test_enter_on_a_problem_goes_to_its_line(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        instructions(app).editor.text = BROKEN
        await until(pilot, lambda: "▾ problems" in screen_text(app))
        instructions(app).lines.focus()
        await pilot.press("g", "j", "enter")

        assert instructions(app).editor.line == 9


async def test_an_edit_is_never_lost_to_another_program(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        save_elsewhere(layer, LAYER + "\nTheirs.\n")
        await until(pilot, lambda: "changed on the disk" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Whose text stays?" in screen_text(app))
        await pilot.press("j", "enter")
        await until(pilot, lambda: layer.read_text() == QUIETER)

        assert instructions(app).editor.text == QUIETER


@pytest.mark.usefixtures("layer")
async def test_what_is_on_the_disk_can_be_taken_back(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        await pilot.press("ctrl+r")
        await settled(app, pilot, "identical")

        assert instructions(app).editor.text == LAYER


@pytest.mark.usefixtures("layer")
async def test_another_base_is_chosen_and_remembered(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("b")
        await until(pilot, lambda: "what was said then" in screen_text(app))
        await pilot.press("j", "enter")
        await until(pilot, lambda: "base: recorded" in screen_text(app))
        await settle(app, pilot)
    async with open_it(library) as (app, pilot):
        assert "base: recorded" in screen_text(app)


@pytest.mark.usefixtures("layer")
async def test_a_base_that_git_does_not_have_is_told(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("b")
        await until(pilot, lambda: "the last commit" in screen_text(app))
        await pilot.press("j", "j", "enter")
        await until(pilot, lambda: "git has no HEAD:instructions.md" in screen_text(app))


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
async def test_another_file_is_chosen_and_remembered(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("f")
        await until(pilot, lambda: "Which instructions?" in screen_text(app))
        await pilot.press("k", "enter")
        await until(pilot, lambda: "packaged" in screen_text(app).splitlines()[1])
        await settle(app, pilot)
    async with open_it(library) as (app, pilot):
        assert "packaged" in screen_text(app).splitlines()[1]


@pytest.fixture
def template(layer: Path) -> str:
    """Return the text of a template that the layer names."""
    text = "---\nresponse: classification\nforms: {intent: [], task: []}\n---\nWhat is this?\n"
    (layer.parent / "classification.md").write_text(text)
    layer.write_text(f"{layer.read_text()}\n# Output\n\n## Prompts\n```yaml\nfiles: [classification.md]\n```\n")
    return text


async def test_a_question_that_is_ready_late_does_not_open_on_another_screen(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = threading.Event()
    monkeypatch.setattr("workbench.edits.instructions_file.named_files", lambda _cwd: left.wait(9) and [])
    async with run_workbench(library.state, screen="instructions") as (app, pilot):
        await pilot.press("f", "1")
        left.set()
        await settle(app, pilot)

        assert "Which instructions?" not in screen_text(app)


async def test_a_template_of_a_prompt_for_a_model_is_chosen_and_linted_while_one_types(
    library: Account, template: str
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("f")
        await until(pilot, lambda: "prompt    ~/config/classification.md" in screen_text(app))
        await pilot.press("j", "j", "enter")  # past the project's own file
        await until(pilot, lambda: "classification.md" in screen_text(app).splitlines()[1])
        instructions(app).editor.text = template + "{% if %}\n"
        await until(pilot, lambda: "Expected an expression" in screen_text(app))


async def test_a_template_that_was_saved_in_the_app_is_what_the_model_is_asked_with(
    library: Account, template: str
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("f")
        await until(pilot, lambda: "prompt    ~/config/classification.md" in screen_text(app))
        await pilot.press("j", "j", "enter")
        await until(pilot, lambda: "classification.md" in screen_text(app).splitlines()[1])
        instructions(app).editor.text = template.replace("What is this?", "Which kind of work is this?")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not instructions(app).is_unsaved)

    assert "Which kind of work is this?" in library.cli("template", "render", "classification", "--set", "prompt=hi")


async def test_an_unsaved_edit_keeps_its_file_open(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        instructions(app).open_file(str(layer.parent / "other.md"))
        await pilot.pause()

        assert instructions(app).editor.text == QUIETER


@pytest.mark.usefixtures("layer")
async def test_a_filter_restricts_what_is_replayed(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("slash", *"rounding", "enter")
        await until(pilot, lambda: "of 1 prompt " in screen_text(app))

        assert app.focused is instructions(app).lines


@pytest.mark.usefixtures("layer")
async def test_a_run_is_kept_for_the_history(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        instructions(app).lines.focus()
        await pilot.press("K")
        await settle(app, pilot)
    with contextlib.closing(database.connect(str(library.state))) as db:
        (kept,) = replays.listing(db)

    assert (kept.verdict, "+min_confidence: 0.99" in kept.diff) == ("changed", True)


@pytest.mark.usefixtures("layer")
async def test_a_trace_that_was_approved_regresses(library: Account) -> None:
    trace = next(one["id"] for one in library.traces() if "rounding" in one["prompt"])
    with contextlib.closing(database.connect(str(library.state))) as db:
        labels.add(db, trace, "ok")
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "regressed")

        shown = " ".join(screen_text(app).split())
        assert "approved cases: 1 of 1 got worse against the file as opened at " in shown
        assert "An approved case changes, or significantly more labelled prompts become wrong than right." in shown
        assert "✗ add a test for the rounding" in screen_text(app)


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
async def test_a_change_opens_on_both_sides_and_as_a_trace(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        instructions(app).lines.focus()
        await pilot.press("g", "j", "enter")
        await until(pilot, lambda: app.screen.id == "compare")
        await settle(app, pilot)
        has_both_sides = bool(BOTH_SIDES.search(screen_text(app)))
        await pilot.press("2", "t")
        await until(pilot, lambda: app.screen.id == "traces")

        assert has_both_sides


@pytest.mark.usefixtures("layer")
async def test_the_key_for_approving_says_where_a_changed_prompt_is_approved(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("a")
        nowhere = notices(app)
        await edited(app, pilot, QUIETER, "changed")
        await pilot.press("down", "a")
        unsaved = notices(app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Saved." in notices(app))
        saved = notices(app)
        await settle(app, pilot)
        await pilot.press("a")

        assert "Choose a changed prompt first." in nowhere
        assert "In this order: ctrl+s saves the edit, t shows this prompt, there m chooses" in unsaved
        assert saved.endswith("Next: 3 shows what else changed, ctrl+g runs the gate.")
        assert "In this order: t shows this prompt, there m chooses what it should be, a approves it." in notices(app)


async def test_another_screen_can_ask_for_a_line(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        app.post_message(OpenInstructions(str(layer), 8))
        await until(pilot, lambda: instructions(app).editor.line == 8)

        assert app.focused is instructions(app).editor


@pytest.fixture
def in_a_project(library: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project, where the packaged file is not edited in place; return the person's own layer."""
    for name, value in library.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(library.project)
    return library.config / "instructions.md"


@pytest.fixture
def in_a_repository(library: Account, in_a_project: Path) -> Path:
    """Work in a project under git; return the person's own layer."""
    subprocess.run(["git", "init", "-q", str(library.project)], check=True)
    return in_a_project


@pytest.mark.slow
async def test_the_first_save_of_the_packaged_file_writes_what_was_changed_and_does_what_the_figures_said(
    library: Account, in_a_project: Path
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        packaged = files.read(packaged_file())
        start = packaged.index("## Guardrail: H19\n")
        lower = packaged[:start] + packaged[start:].replace("min_score: 5\n", "min_score: 3\n", 1)
        await edited(app, pilot, lower, "changed")
        promised = instructions(app)._figures  # noqa: SLF001
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Save where?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Saved 1 changed rule in your own layer" in notices(app))
        await settled(app, pilot, "changed")
        kept = instructions(app)._figures  # noqa: SLF001
        text = instructions(app).editor.text
        first_line = screen_text(app).splitlines()[1].strip()
    question = "what is the difference between the two caches here?"
    library.compile()
    library.ask(question)

    assert text == files.read(str(in_a_project)) == ONE_GUARDRAIL
    assert first_line.startswith("user")
    assert promised is not None
    assert kept is not None
    assert [one.after.text for one in kept.changes] == [one.after.text for one in promised.changes]
    assert library.trace()["output_text"] in [one.after.text for one in promised.changes if one.prompt.text == question]
    assert library.trace()["output_text"].startswith("## Prompt Enrichment\n**Applicable Guardrails**: H19 (")


@pytest.mark.slow
async def test_an_edit_saved_in_the_projects_layer_counts_for_the_next_prompt_and_for_nobody_elsewhere(
    library: Account, in_a_repository: Path
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        packaged = files.read(packaged_file())
        start = packaged.index("## Guardrail: H19\n")
        lower = packaged[:start] + packaged[start:].replace("min_score: 5\n", "min_score: 3\n", 1)
        await edited(app, pilot, lower, "identical")  # no prompt was typed in this project yet
        await settle(app, pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Save where?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "Saved 1 changed rule in this project's layer" in notices(app))
        await settle(app, pilot)
        said = notices(app)
    question = "what is the difference between the two caches here?"
    library.compile()
    library.ask(question)

    assert files.read(str(in_a_repository)) == ""
    assert files.read(str(library.project / ".enricher" / "instructions.md")) == ONE_GUARDRAIL
    assert "once you trust it" not in said
    assert "for others when you commit it" in said
    assert library.trace()["output_text"].startswith("## Prompt Enrichment\n**Applicable Guardrails**: H19 (")


def test_a_pipe_is_not_opened_as_instructions(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")  # without a writer, reading it would not end

    with pytest.raises(files.FileError, match="not a regular file"):
        files.read(str(tmp_path / "pipe.md"))


@pytest.mark.usefixtures("in_a_repository")
async def test_a_file_that_was_broken_when_it_was_opened_tells_why_there_are_no_figures(library: Account) -> None:
    layer = library.project / ".enricher" / "instructions.md"
    layer.parent.mkdir(exist_ok=True)
    layer.write_text(BROKEN)
    async with run_workbench(library.state, size=(120, 40), screen="instructions", instructions=str(layer)) as (
        app,
        pilot,
    ):
        instructions(app).editor.text = LAYER
        await settle(app, pilot)

        shown = " ".join(screen_text(app).split())
        assert re.search(r"cannot be used: \S*instructions.md:\d+: error: .* b: another base", shown)
        assert "problems" not in shown


@pytest.mark.usefixtures("in_a_repository")
async def test_a_broken_file_that_is_saved_is_not_said_to_count(library: Account) -> None:
    layer = library.project / ".enricher" / "instructions.md"
    async with run_workbench(library.state, screen="instructions", instructions=str(layer)) as (app, pilot):
        told = []
        for text in (LAYER, BROKEN):
            instructions(app).editor.text = text
            await settle(app, pilot)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not instructions(app).is_unsaved)
            told.append(notices(app).rpartition("Saved.")[2])

    error = "It has an error, so it does not count yet: prompts keep the last good version until it is corrected (f8)."
    next_step = "Next: 3 shows what else changed, ctrl+g runs the gate."
    assert told == [f" f9 takes it back. {files.FOR_THE_TEAM}\n{next_step}", f" f9 takes it back. {error}"]


@pytest.mark.slow
async def test_an_edit_that_no_layer_can_say_is_told_with_its_line_and_not_saved(
    library: Account, in_a_project: Path
) -> None:
    packaged = files.read(packaged_file())
    start, end = packaged.index("## Task type: question"), packaged.index("## Task type: implementation")
    moved = packaged[:start] + packaged[end:].replace(
        "## Search intent\n", f"{packaged[start:end]}## Search intent\n", 1
    )
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        instructions(app).editor.text = moved
        await until(pilot, lambda: "a layer cannot change the order of rules" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Save where?" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "cannot change the order" in notices(app))

        assert instructions(app).editor.text == moved
        assert files.read(str(in_a_project)) == ""


async def test_a_missing_catalogue_is_told_as_check_tells_it_and_there_is_no_verdict(
    library: Account, layer: Path
) -> None:
    text = "# Guardrails\n\n## Catalogues\n\n```yaml\nextend: true\nnames: mine.md\n```\n"
    async with open_it(library, (200, 50)) as (app, pilot):
        await settled(app, pilot, "identical")
        instructions(app).editor.text = text
        await until(pilot, lambda: "7: the catalogue" in screen_text(app))
        shown = screen_text(app)
    save_elsewhere(layer, text)
    checked = json.loads(library.cli("check", "--json", exit_code=1))["problems"]

    assert "1 error: no verdict" in shown
    assert "identical" not in shown
    assert [problem["line"] for problem in checked if problem["severity"] == "error"] == [7]


@pytest.mark.usefixtures("layer")
async def test_what_is_typed_right_after_the_key_for_editing_is_text(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        for key in "ihey":  # as a fast typist or a script does: none waits for the one before
            app.post_message(events.Key(key, key))
        await until(pilot, lambda: instructions(app).editor.text.startswith("hey# Classification"))


@pytest.mark.usefixtures("layer")
async def test_a_new_line_begins_below_the_last_one(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        editor = instructions(app).editor
        editor.text = "signals:\n  - {words: one}\n"
        editor.focus()
        editor.move_cursor((1, len("  - {words: one}")))
        await pilot.press("enter", "x", "up", "home", "home", "enter")

    assert editor.text == "signals:\n\n  - {words: one}\n  x\n"


@pytest.mark.usefixtures("layer")
async def test_tab_indents_and_groups_fold(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await pilot.press("i", "tab")
        text = instructions(app).editor.text
        await pilot.press("escape", "g", "left")
        is_closed = "▸ outline" in screen_text(app)
        await pilot.press("space")

        assert text.startswith("  # Classification")
        assert is_closed
        assert "▾ outline" in screen_text(app)


@pytest.fixture
def newcomer(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Work in the project of an account that has recorded nothing."""
    for name in ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, account.env[name])
    monkeypatch.chdir(account.project)
    return account


async def test_an_empty_database_says_that_there_is_nothing_to_replay(
    newcomer: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_layer(newcomer, monkeypatch)
    async with open_it(newcomer) as (app, pilot):
        await until(pilot, lambda: "No prompt to replay" in screen_text(app))

        assert verdict(app) != ""


async def test_a_layer_that_is_not_there_yet_shows_an_example_that_would_count(
    newcomer: Account,
) -> None:
    async with open_it(newcomer, size=(140, 40)) as (app, pilot):
        await until(pilot, lambda: "No prompt to replay" in screen_text(app))
        instructions(app).open_file(str(newcomer.config / "instructions.md"))
        await until(pilot, lambda: "A layer: its rules add to those below it" in screen_text(app))
        await pilot.press("i", "x")
        await until(pilot, lambda: "A layer: its rules" not in screen_text(app))
    newcomer.instruct(PLACEHOLDER.partition("For example:")[2])

    assert "rules, no problems (" in newcomer.cli("check")
    assert "goes belly up" in newcomer.cli("explain", "the exporter goes belly up")


@pytest.mark.usefixtures("layer")
def test_quitting_leaves_no_watcher(library: Account) -> None:
    async def session() -> None:
        async with open_it(library) as (app, pilot):
            await settled(app, pilot, "identical")

    asyncio.run(session())

    assert not [one for one in threading.enumerate() if "watch" in one.name]


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
async def test_an_edit_that_was_not_saved_is_there_the_next_time(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "changed")

        assert instructions(app).editor.text == QUIETER
        assert "● unsaved" in screen_text(app)


@pytest.mark.usefixtures("layer")
async def test_an_edit_is_kept_while_the_app_runs_and_forgotten_when_it_is_saved(library: Account) -> None:
    folder = library.state / drafts.FOLDER
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        (kept,) = (json.loads(file.read_text()) for file in folder.glob("*.json"))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Saved." in notices(app))

        assert kept["text"] == QUIETER
        assert not list(folder.glob("*.json"))


async def test_a_long_history_is_replayed_by_other_processes_under_the_screen(
    library: Account, layer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.replay.replay.POOL_FROM", 1)
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")

        assert "fds_to_keep" not in screen_text(app)


@pytest.mark.usefixtures("layer")
async def test_an_unsaved_edit_is_not_taken_to_the_line_of_another_file(library: Account) -> None:
    other = library.write("project/other.md", LAYER * 3)
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        line = instructions(app).editor.line
        app.post_message(OpenInstructions(str(other), 9))
        await until(pilot, lambda: "not saved" in notices(app))

        assert instructions(app).editor.line == line


@pytest.mark.slow
async def test_an_edit_of_a_file_that_was_written_since_is_offered_and_never_saved_over_it_unasked(
    library: Account, layer: Path
) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
    since = LAYER + "\nSince.\n"
    save_elsewhere(layer, since)
    async with open_it(library) as (app, pilot):
        await until(pilot, lambda: "the file was written since" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "changed on the disk" in screen_text(app))
        brought_back = instructions(app).editor.text
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Whose text stays?" in screen_text(app))
        on_the_disk = files.read(str(layer))

        assert (brought_back, on_the_disk) == (QUIETER, since)


@pytest.mark.slow
@pytest.mark.usefixtures("layer")
async def test_an_edit_that_was_given_up_comes_back_by_undoing(library: Account) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        await pilot.press("ctrl+r")
        await settled(app, pilot, "identical")
        await pilot.press("i", "ctrl+z")
        await settled(app, pilot, "changed")

        assert instructions(app).editor.text == QUIETER
