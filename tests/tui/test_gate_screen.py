"""The Gate screen: which project it judges, and what it says of cases that fail newly."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from piloting import notices, run_workbench, screen_text, settle, until
from simulator import Account
from textual.widgets import Input

from storage.db import database
from workbench.gate import cases
from workbench.gate.case import CLASS, OK, Decided, GoldenCase
from workbench.tui.screens.loop.gate import GateScreen
from workbench.tui.screens.loop.why import WhyScreen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

PROMPT = "another hiccup of the search index, three customers saw an empty page"
LAYER = """\
# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {phrase: "hiccup", weight: 12}
```
"""
WITHOUT_THE_SIGNAL = LAYER.replace("hiccup", "hick-up")


def git(project: Path, *words: str) -> None:
    who = ("-c", "user.email=ada@example.org", "-c", "user.name=Ada")
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """Ask one prompt by a real hook call, in a repository whose own layer is trusted."""
    account = Account(tmp_path_factory.mktemp("gate") / "home")
    account.write("project/.enricher/instructions.md", LAYER)
    git(account.project, "init", "-q")
    git(account.project, "add", ".")
    git(account.project, "commit", "-qm", "start")
    git(account.project, "tag", "start")
    account.cli("trust", str(account.project))
    account.compile()
    account.ask(PROMPT)
    account.traces()
    return account


@pytest.fixture
def shop(_recorded: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Account:
    """Return the account with its repository as at first, for an app that is started in another folder."""
    git(_recorded.project, "reset", "-q", "--hard", "start")
    git(_recorded.project, "clean", "-qfd")
    (_recorded.state / "workbench.json").unlink(missing_ok=True)
    with closing(database.connect(str(_recorded.state))) as db:
        db.execute("delete from labels")
    for name, value in _recorded.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return _recorded


def commit_case(shop: Account, verdict: str) -> str:
    """Commit a golden case by which the prompt is to be classified as debug; return its id."""
    identity = str(shop.traces()[-1]["id"])
    case = GoldenCase(identity, PROMPT, verdict, Decided(task_type="debug"), by="Ada")
    cases.add(cases.path_for(str(shop.project)), case)
    git(shop.project, "add", ".")
    git(shop.project, "commit", "-qm", "a case")
    return identity


async def gated(shop: Account, *keys: str) -> str:
    """Return what the screen shows after these keys."""
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        for key in (*keys, "ctrl+g"):
            await pilot.press(key)
            await settle(app, pilot)
        assert isinstance(app.screen, GateScreen)
        return screen_text(app)


@pytest.mark.parametrize("keys", [("y",), ("y", "w")], ids=["in the list", "on the reasons"])
async def test_from_a_prompt_it_judges_the_project_in_which_the_prompt_was_typed(
    shop: Account, keys: tuple[str, ...]
) -> None:
    shown = await gated(shop, *keys)

    assert "Project: ~/project" in shown
    assert "The gate is passed: no case comes out differently" in shown
    assert "no golden case yet" not in shown


async def test_from_a_screen_without_a_prompt_it_judges_the_folder_of_the_app(shop: Account, tmp_path: Path) -> None:
    commit_case(shop, OK)

    assert f"{tmp_path} has no golden case yet" in await gated(shop, "4")


@pytest.fixture
def moved(shop: Account, tmp_path: Path) -> Iterator[Account]:
    """Move the project away, so that the folder of its prompts is gone."""
    elsewhere = shutil.move(shop.project, tmp_path / "moved")
    yield shop
    shutil.move(elsewhere, shop.project)


async def test_a_prompt_whose_folder_is_gone_gets_a_label_but_no_case(moved: Account) -> None:
    async with run_workbench(moved.state, screen="traces", size=(160, 40)) as (app, pilot):
        await pilot.press("y")
        await settle(app, pilot)
        told = notices(app)

    reason = f"its folder {moved.project} is gone, so there is no file for a golden case"
    assert f"No golden case was written: {reason}." in told
    assert reason in await gated(moved)


async def test_a_passed_gate_names_a_few_cases_first_that_of_the_prompt(shop: Account) -> None:
    identity = commit_case(shop, OK)
    for number in range(8):
        case = GoldenCase(f"{'f' * 23}{number}", f"{PROMPT} {number}", OK, Decided(task_type="debug"))
        cases.add(cases.path_for(str(shop.project)), case)
    git(shop.project, "commit", "-qam", "more cases")
    shown = [line.strip() for line in (await gated(shop)).splitlines()]
    named = [line for line in shown if line.startswith(("passed: ", "and "))]

    assert named[0] == f"passed: {identity} {PROMPT}"
    assert [line.split()[1][-1] for line in named[1:-1]] == ["7", "6", "5", "4"]
    assert named[-1] == "and 4 more pass"


async def test_an_approved_case_that_fails_newly_closes_the_gate_with_its_reason(shop: Account) -> None:
    identity = commit_case(shop, OK)
    shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
    shown = await gated(shop)
    printed = shop.cli("replay", "--gate", "--base", "HEAD", exit_code=1)

    for line in (
        "The gate is closed: 1 approved case came out differently",
        f"regressed: {identity} {PROMPT}",
        "task type: expected debug, got implementation",
        "approved by Ada",
    ):
        assert line in shown
        assert line in printed


async def test_where_the_gate_is_closed_the_instructions_say_so_beside_the_count_against_another_base(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_case(shop, OK)
    shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
    monkeypatch.chdir(shop.project)
    async with run_workbench(shop.state, screen="instructions", size=(160, 40)) as (app, pilot):
        opened = screen_text(app)
        app.place_screen().editor.text = LAYER  # type: ignore[union-attr]
        await settle(app, pilot)
        mended = screen_text(app)
        await pilot.press("ctrl+r")  # else its draft is offered to the next test
    count = "approved cases: 0 of 1 got worse against the file as opened at "

    assert count in opened
    assert "gate, against the last commit: closed, 1 approved case came out differently" in opened
    assert count in mended
    assert "gate, against" not in mended


async def test_a_labelled_case_that_fails_newly_is_listed_with_who_labelled_it(shop: Account) -> None:
    identity = commit_case(shop, CLASS)
    shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
    shown = await gated(shop)

    assert "The gate is passed: some labelled prompts became wrong, too few to rule out chance, though 1 case" in shown
    assert f"became wrong: {identity} {PROMPT}" in shown
    assert "labelled by Ada" in shown
    assert "gate is closed" not in shown


async def saved_and_gated(app: Workbench, pilot: Pilot[None]) -> None:
    """Mend the approved case in the project's layer, save that, and run the gate from the same screen."""
    app.place_screen().editor.text = LAYER  # type: ignore[union-attr]
    await settle(app, pilot)
    for key in ("ctrl+s", "ctrl+g"):
        await pilot.press(key)
        await settle(app, pilot)


async def test_a_save_that_is_taken_back_on_the_gate_changes_its_verdict_there(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_case(shop, OK)
    shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
    monkeypatch.chdir(shop.project)
    async with run_workbench(shop.state, screen="instructions", size=(160, 40)) as (app, pilot):
        await saved_and_gated(app, pilot)
        shown = [screen_text(app)]
        for key in ("f9", "f10", "f9"):
            await pilot.press(key)
            await settle(app, pilot)
            shown.append(screen_text(app))
            assert isinstance(app.screen, GateScreen)
        await pilot.press("f9")
        await pilot.pause()
        said = notices(app)

    assert ["The gate is passed" in one for one in shown] == [True, False, True, False]
    assert ["The gate is closed" in one for one in shown] == [False, True, False, True]
    assert "There is no save of this app left to take back" in said


async def test_a_save_of_another_program_is_judged_by_the_gate_that_is_open(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_case(shop, OK)
    monkeypatch.chdir(shop.project)
    async with run_workbench(shop.state, screen="instructions", size=(160, 40)) as (app, pilot):
        await pilot.press("ctrl+g")
        await settle(app, pilot)
        assert "The gate is passed" in screen_text(app)
        shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
        await until(pilot, lambda: "The gate is closed" in screen_text(app))


async def test_a_gate_that_is_returned_to_is_run_again(shop: Account) -> None:
    commit_case(shop, OK)
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        for key in ("ctrl+g", "question_mark"):
            await pilot.press(key)
            await settle(app, pilot)
        shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
        await pilot.press("escape")
        await settle(app, pilot)

        assert "The gate is closed" in screen_text(app)


async def test_no_sentence_of_the_gate_is_cut_in_a_narrow_window(shop: Account) -> None:
    commit_case(shop, CLASS)
    shop.write("project/.enricher/instructions.md", WITHOUT_THE_SIGNAL)
    async with run_workbench(shop.state, screen="traces", size=(80, 24)) as (app, pilot):
        await pilot.press("ctrl+g")
        await settle(app, pilot)
        shown = " ".join(screen_text(app).split())

    assert "some labelled prompts became wrong, too few to rule out chance, though 1 case fails 1 of 1 case" in shown
    assert "which may be chance (p = 0.500, McNemar's mid-p test)" in shown


@pytest.mark.parametrize("screen", ["traces", "instructions"])
async def test_a_tab_key_leaves_the_gate_and_never_shows_an_old_one(shop: Account, screen: str) -> None:
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        for key in ("ctrl+g", *(["2"] if screen == "instructions" else []), "1"):
            await pilot.press(key)
            await settle(app, pilot)
        assert app.screen is app.get_screen_stack("traces")[0]
        await pilot.press("slash")
        assert isinstance(app.focused, Input)


@pytest.mark.parametrize("keys", [("w", "1"), ("w", "2", "1")], ids=["on its own screen", "from another"])
async def test_a_tab_key_closes_what_is_open_over_its_screen(shop: Account, keys: tuple[str, ...]) -> None:
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        opened = []
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)
            opened.append(app.screen)

        assert isinstance(opened[0], WhyScreen)
        assert app.screen is app.get_screen_stack("traces")[0]
