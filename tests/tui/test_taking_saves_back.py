"""A save of the instructions is taken back in the app, and nothing is lost, whoever has written the file since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from instructing import LAYER, ONE_GUARDRAIL, QUIETER, edited, instructions, own_layer, save_elsewhere, settled
from piloting import notices, run_workbench, screen_text, settle, until
from terminals import in_terminal, pane, press

from enricher.prompt.trust import is_trusted
from workbench.edits import instructions_file as files
from workbench.edits import undoing
from workbench.edits.undoing import Save, without
from workbench.tui.messages import TakeEdit

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

BACK = "The save was taken back"


@pytest.fixture
def layer(library: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_layer(library, monkeypatch)


@pytest.fixture(autouse=True)
def _steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no arriving prompt start a run between two keys."""
    monkeypatch.setattr("workbench.tui.screens.editing.replaying.AFTER_NEWS_S", 60)


def text_of(file: Path) -> str | None:
    """Return the text of a file, None if there is none."""
    return file.read_text() if file.exists() else None


def remove(file: Path) -> None:
    file.unlink()


def open_it(library: Account) -> AbstractAsyncContextManager[Any]:
    return run_workbench(library.state, screen="instructions")


async def saved(app: Workbench, pilot: Pilot[None], text: str) -> None:
    """Type a text and save it."""
    await edited(app, pilot, text, "changed")
    await pilot.press("ctrl+s")
    await until(pilot, lambda: not instructions(app).is_unsaved)
    await settle(app, pilot)


async def take_back(app: Workbench, pilot: Pilot[None], *, told: str = BACK, key: str = "f9") -> None:
    await pilot.press(key)
    await until(pilot, lambda: told in notices(app))
    await settle(app, pilot)


def test_in_a_real_terminal_a_save_is_taken_back(library: Account, layer: Path) -> None:
    with in_terminal(library) as name:
        pane(name, "newest first")
        press(name, "2")
        pane(name, "Task type", "identical")
        press(name, "i")
        pane(name, "How sure a task type must be")
        press(name, "# mine", "Enter", "C-s")
        pane(name, "f9 takes it back")
        written = text_of(layer)
        press(name, "F9")
        pane(name, "taken back")

        assert (written, text_of(layer)) == (f"# mine\n{LAYER}", LAYER)


@pytest.mark.parametrize("key", ["f9", "ctrl+z"])
async def test_file_editor_and_figures_are_as_before(library: Account, layer: Path, key: str) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        written = text_of(layer)
        await take_back(app, pilot, key=key)
        await settled(app, pilot, "identical")

        assert (written, text_of(layer), instructions(app).editor.text) == (QUIETER, LAYER, LAYER)
        assert not instructions(app).is_unsaved

        instructions(app).editor.undo()
        assert instructions(app).editor.text == QUIETER, "the text of the save is not lost"


async def test_traces_stays_while_a_save_is_taken_back_and_made_again(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        await pilot.press("1")
        await settle(app, pilot)
        await take_back(app, pilot)
        found = [text_of(layer)]
        await take_back(app, pilot, key="f10", told="Saved again")
        found.append(text_of(layer))
        await pilot.press("ctrl+z")
        await settle(app, pilot)

        assert app.current_mode == "traces"
        assert found == [LAYER, QUIETER]
        assert "no label of this app left to take back. f9 takes the last save of instructions back" in notices(app)


async def test_saves_are_taken_back_one_after_the_other(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        await saved(app, pilot, QUIETER.replace("0.99", "0.98"))
        found = []
        for _save in range(2):
            await take_back(app, pilot)
            found.append(text_of(layer))
        await take_back(app, pilot, told="There is no save")

        assert found == [QUIETER, LAYER]


async def test_the_base_says_which_text_it_is_and_is_none_that_was_taken_back(library: Account, layer: Path) -> None:
    shown = []
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        shown.append(screen_text(app))
        await saved(app, pilot, QUIETER)
        app.post_message(TakeEdit(str(layer), f"{QUIETER}\n{ONE_GUARDRAIL}", 1, "A proposal"))
        await settle(app, pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not instructions(app).is_unsaved)
        for _save in range(2):
            await take_back(app, pilot)
            shown.append(screen_text(app))

    assert [one.count("base: as opened at ") for one in shown] == [2, 0, 0]
    assert [one.count("base: as saved at ") for one in shown] == [0, 2, 2]
    assert all("identical" in one for one in shown)


async def test_saving_twice_is_one_save_to_take_back(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Nothing to save" in notices(app))
        await take_back(app, pilot)

        assert text_of(layer) == LAYER


@pytest.mark.parametrize("is_seen", [True, False], ids=["noticed before", "a moment ago"])
async def test_what_another_program_wrote_since_stays(
    library: Account, layer: Path, monkeypatch: pytest.MonkeyPatch, is_seen: bool
) -> None:
    theirs = f"{QUIETER}\n{ONE_GUARDRAIL}"
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        if not is_seen:
            monkeypatch.setattr(type(app.screen), "_file_changed", lambda *_given: None)
            instructions(app)._stop_watching()  # noqa: SLF001
        save_elsewhere(layer, theirs)
        if is_seen:
            await until(pilot, lambda: instructions(app).editor.text == theirs)
        await take_back(app, pilot, told="its text without your save")
        offered, on_disk = instructions(app).editor.text, text_of(layer)
        is_unsaved = instructions(app).is_unsaved
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not instructions(app).is_unsaved)

        assert (on_disk, is_unsaved) == (theirs, True), "nothing is written before ctrl+s"
        assert offered == f"{LAYER}\n{ONE_GUARDRAIL}"
        assert text_of(layer) == offered


async def test_where_both_changed_the_same_line_it_is_asked_whose_text_stays(library: Account, layer: Path) -> None:
    theirs = QUIETER.replace("0.99", "0.11")
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        save_elsewhere(layer, theirs)
        await until(pilot, lambda: instructions(app).editor.text == theirs)
        await take_back(app, pilot, told="nothing was written")
        offered, on_disk = instructions(app).editor.text, text_of(layer)
        await pilot.press("ctrl+s")
        await settle(app, pilot)
        asked = screen_text(app)
        await pilot.press("escape", "ctrl+r")
        await settle(app, pilot)

        assert (offered, on_disk) == (LAYER, theirs)
        assert "Whose text stays?" in asked
        assert instructions(app).editor.text == theirs


async def test_an_unsaved_edit_is_not_lost_to_it(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        more = f"{QUIETER}\n{ONE_GUARDRAIL}"
        instructions(app).editor.text = more
        await settle(app, pilot)
        await take_back(app, pilot, told="The edit is not saved")

        assert (instructions(app).editor.text, text_of(layer)) == (more, QUIETER)


async def test_a_file_that_the_save_made_is_removed_again(library: Account, layer: Path) -> None:
    remove(layer)
    async with run_workbench(library.state, screen="instructions", instructions=str(layer)) as (app, pilot):
        await saved(app, pilot, QUIETER)
        was_there = text_of(layer)
        await take_back(app, pilot)

        assert (was_there, text_of(layer), instructions(app).editor.text) == (QUIETER, None, "")


async def test_a_save_of_another_file_is_taken_back_there(library: Account, layer: Path) -> None:
    other = library.write("project/other.md", LAYER)
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        instructions(app).open_file(str(other))
        await settle(app, pilot)
        await take_back(app, pilot)

        assert text_of(layer) == LAYER
        assert instructions(app)._path == str(layer)  # noqa: SLF001


async def test_from_another_screen_a_save_is_taken_back_by_name_and_made_again(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        await pilot.press("1", "w")
        await settle(app, pilot)
        await take_back(app, pilot)
        undone, said = text_of(layer), notices(app)
        await take_back(app, pilot, told="There is no save of this app left")
        await pilot.press("1")
        await take_back(app, pilot, key="f10", told="Saved again")
        redone = text_of(layer)
        await take_back(app, pilot)
        await pilot.press("2")

        assert (undone, redone, text_of(layer)) == (LAYER, QUIETER, LAYER)
        assert (
            f"{layer.name} (1 line written, 1 line removed, first «min_confidence: 0.42»); f10 saves it again" in said
        )
        assert instructions(app).editor.text == LAYER


async def test_without_a_save_to_make_again_the_screen_stays(library: Account, layer: Path) -> None:
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        await pilot.press("1", "w")
        await settle(app, pilot)
        shown = app.screen
        await take_back(app, pilot, key="f10", told="There is no save that was taken back")

        assert app.screen is shown


async def test_a_save_over_another_programs_text_gives_that_text_back(library: Account, layer: Path) -> None:
    theirs = f"{LAYER}\n{ONE_GUARDRAIL}"
    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await edited(app, pilot, QUIETER, "changed")
        save_elsewhere(layer, theirs)
        await until(pilot, lambda: "changed on the disk" in screen_text(app))
        await pilot.press("ctrl+s", "down", "enter")
        await until(pilot, lambda: not instructions(app).is_unsaved)
        await take_back(app, pilot)

        assert text_of(layer) == theirs


async def test_a_save_that_cannot_be_taken_back_can_be_tried_again(
    library: Account, layer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    async with open_it(library) as (app, pilot):
        await settled(app, pilot, "identical")
        await saved(app, pilot, QUIETER)
        with monkeypatch.context() as full:
            full.setattr("workbench.edits.instructions_file.temporary_files.replace_file", refuse)
            await take_back(app, pilot, told="No space left on device")
        assert text_of(layer) == QUIETER
        await take_back(app, pilot)

        assert text_of(layer) == LAYER


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda text: text + "e\n", "a\nb\nc\nd\ne\n", id="added at the end"),
        pytest.param(lambda text: text.replace("d\n", ""), "a\nb\nc\n", id="removed elsewhere"),
        pytest.param(lambda text: text.replace("B", "b"), "a\nb\nc\nd\n", id="taken back already"),
        pytest.param(lambda text: text.replace("B", "X"), None, id="the same line"),
        pytest.param(lambda text: text.replace("B\n", "B\nnew\n"), None, id="a line right after it"),
        pytest.param(lambda _text: "", None, id="everything removed"),
    ],
)
def test_a_save_is_taken_out_of_a_later_text(change: Callable[[str], str], expected: str | None) -> None:
    save = Save("/file", "a\nb\nc\nd\n", "a\nB\nc\nd\n")

    assert without(save, change(save.after)) == expected


def test_taking_a_save_back_is_described_by_what_it_does_to_the_file_now(tmp_path: Path) -> None:
    file = tmp_path / "instructions.md"
    added = Save(str(file), "a\n", "a\nb\nc\n")

    assert undoing.describe(added) == f"{file} (2 lines written, first «b»)"
    assert undoing.describe_undo(added) == f"{file} (2 lines removed, first «b»)"
    assert undoing.describe_undo(Save(str(file), "", "a\n", is_new=True)) == (
        f"{file} is removed, because that save had made it"
    )


def test_a_file_that_was_written_since_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "instructions.md"
    file.write_text("a\nB\nc\nd\n")
    since = undoing.take_back(Save(str(file), "a\nb\n", "a\nB\n"), str(file.parent))

    assert file.read_text() == "a\nB\nc\nd\n"
    assert since is not None


def test_a_projects_layer_stays_trusted(library: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in library.env.items():
        monkeypatch.setenv(name, value)
    layer, folder = library.project / ".enricher" / "instructions.md", str(library.project)
    told = files.save_trusted(str(layer), ONE_GUARDRAIL, over="", cwd=folder)
    files.save_trusted(str(layer), QUIETER, over=ONE_GUARDRAIL, cwd=folder)

    assert "for others when you commit it" in told
    assert undoing.take_back(Save(str(layer), ONE_GUARDRAIL, QUIETER), folder) is None
    assert layer.read_text() == ONE_GUARDRAIL
    assert is_trusted(folder)
