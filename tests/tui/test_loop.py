"""From a wrong prompt to a proven fix: why, an edit, what else it changes, an approved case, the gate, in few keys."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from piloting import WAIT_S, highlight, list_lines, notices, run_workbench, screen_text, settle, until
from simulator import ROOT, Account

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from storage.db import database
from workbench.coverage.rule_positions import LocatedRules
from workbench.coverage.why import line_now, task_types_today, why
from workbench.replay.corpus import opened
from workbench.tui.messages import TakeEdit
from workbench.tui.screens.loop.gate import GateScreen
from workbench.tui.screens.loop.make import MakeScreen
from workbench.tui.screens.loop.why import WhyScreen
from workbench.tui.screens.traces import TracesScreen
from workbench.tui.widgets.dialogs import Picker
from workbench.tui.widgets.editor_pane import FindInput
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tui.widgets.lists.row_view import RowView
from workbench.tuning.wishes.search import edits_for
from workbench.tuning.wishes.wish import Wish, target_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual.pilot import Pilot

    from workbench.replay.corpus import Corpus
    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

WRONG = "another hiccup of the search index, three customers saw an empty page"
ALIKE = "there was a hiccup in the upload queue after the deploy"
PROMPTS = (
    "why does the nightly export crash with KeyError: 'sku'?",
    ALIKE,
    "fix the failing test in test_basket.py",
    WRONG,
)
LAYER = """\
# Classification

## Task type: debug

```yaml
extend: true
signals:
  - {phrase: "gives up", weight: 5}
```

## Task type: framework

```yaml
extend: true
signals:
  - {any: [three, third, thrice, trio], weight: 1}
  - {any: [three, third, thrice, triple], weight: 1}
```
"""
HICCUPS = LAYER.replace("debug", "docs").replace("gives up", "hiccup").replace("weight: 5", "weight: 30")
MARKED = "debug → docs      there was a hiccup"
MOST_KEYS = 12
TASK_TYPES = Path(packaged_file()).parent / "fitted" / "task-types.md"


def git(project: Path, *words: str) -> None:
    who = ("-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """Ask the prompts by real hook calls, in a repository whose own layer is trusted."""
    account = Account(tmp_path_factory.mktemp("loop") / "home")
    account.write("project/.enricher/instructions.md", LAYER)
    git(account.project, "init", "-q")
    git(account.project, "config", "user.name", "Ada")
    git(account.project, "add", ".")
    git(account.project, "commit", "-qm", "start")
    account.cli("trust", str(account.project))
    account.compile()
    for prompt in PROMPTS:
        account.ask(prompt)
    account.traces()
    return account


@pytest.fixture
def shop(_recorded: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return the account with its layer, cases and labels as they were at first."""
    if (_recorded.project / ".enricher" / "instructions.md").read_text() != LAYER:
        _recorded.write("project/.enricher/instructions.md", LAYER)
        _recorded.cli("trust", str(_recorded.project))  # the app trusted what it saved in its place
    for file in (".enricher/cases.jsonl", ".enricher/.gitattributes"):
        (_recorded.project / file).unlink(missing_ok=True)
    (_recorded.state / "workbench.json").unlink(missing_ok=True)
    with closing(database.connect(str(_recorded.state))) as db:
        db.execute("delete from labels")
    for name, value in _recorded.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(_recorded.project)
    return _recorded


class Keys:
    """Presses keys and counts those that are not typing."""

    def __init__(self, app: Workbench, pilot: Pilot[None]) -> None:
        self.app, self.pilot, self.count = app, pilot, 0

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            self.count += 1
            await settle(self.app, self.pilot)

    async def type(self, text: str) -> None:
        await self.pilot.press(*text)
        await settle(self.app, self.pilot)


def cases(account: Account) -> list[dict[str, object]]:
    file = account.project / ".enricher" / "cases.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def asked_why(app: Workbench, pilot: Pilot[None]) -> Keys:
    """Show why the wrong prompt, which is the newest, came out as it did."""
    keys = Keys(app, pilot)
    await keys.press("w")
    assert isinstance(app.screen, WhyScreen)
    return keys


async def test_a_wrong_prompt_is_fixed_approved_and_gated_in_twelve_keys(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("index")
        await keys.press("enter", "w")
        assert "debug came nearest: it lacked 3 points to beat implementation" in screen_text(app)
        await keys.press("m")
        assert isinstance(app.screen, Picker)
        await keys.press("d")
        assert isinstance(app.screen, MakeScreen)
        assert 'debug: add "hiccup" with weight 11' in screen_text(app)
        await keys.press("enter")
        assert "1 of 4 prompts changes; of 100 like these" in screen_text(app)
        await keys.press("ctrl+s")
        told = notices(app)
        await keys.press("escape")
        assert isinstance(app.screen, WhyScreen)
        await keys.press("a")
        titles = [notice.title for notice in app._notifications]  # noqa: SLF001
        await keys.press("ctrl+g")
        assert isinstance(app.screen, GateScreen)
        shown = screen_text(app)

    assert keys.count <= MOST_KEYS
    assert told.endswith(
        "\nNext: 3 shows what else changed, 1 returns to the prompt, a approves it, ctrl+g runs the gate."
    )
    assert "«another hiccup of the search index, three…»" in titles
    assert 'phrase: "hiccup", weight: 11' in (shop.project / ".enricher" / "instructions.md").read_text()
    assert [(one["verdict"], one["expected"], one["by"]) for one in cases(shop)] == [
        ("ok", {"task_type": "debug"}, "Ada")
    ]
    printed = shop.cli("replay", "--gate", "--base", "HEAD").splitlines()
    assert printed[0] in shown
    assert f"fixed: {cases(shop)[0]['id']}" in shown
    assert "approved by Ada" in shown


async def test_the_number_of_traces_returns_to_the_prompt_after_a_save(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("m", "d", "enter", "ctrl+s", "1")
        kind = type(app.screen)

    assert kind is TracesScreen


@pytest.mark.parametrize("opener", ["1", "4"], ids=["from another prompt", "from Coverage"])
async def test_a_save_offers_to_approve_only_the_prompt_that_one_came_from(shop: Account, opener: str) -> None:
    layer = shop.project / ".enricher" / "instructions.md"
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("m", "d", "escape", "j", opener)
        place = app.current_mode
        app.screen.post_message(TakeEdit(str(layer), HICCUPS, 1, "an edit"))
        await settle(app, pilot)
        await keys.press("ctrl+s")
        told = notices(app)

    assert place == ("coverage" if opener == "4" else "traces")
    assert told.endswith("Next: 3 shows what else changed, ctrl+g runs the gate.")


async def test_enter_on_a_signal_opens_its_line_and_escape_returns_to_it(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = await asked_why(app, pilot)
        await keys.press("j", "j", "j")
        line = app.screen.query_one(LineList).current
        assert line is not None and line.right.startswith("task-types.md:")
        await keys.press("enter")
        editor = app.place_screen().editor  # type: ignore[union-attr]
        opened = (app.current_mode, f"task-types.md:{editor.line}")
        await keys.press("escape")
        after, screen = app.screen.query_one(LineList).current, app.screen

    assert opened == ("instructions", line.right)
    assert isinstance(screen, WhyScreen)
    assert after == line


def test_a_packaged_file_of_an_earlier_copy_opens_the_present_one(shop: Account, tmp_path: Path) -> None:
    copied = shutil.copytree(Path(packaged_file()).parent, tmp_path / "earlier")
    earlier = compile_layers([Layer("packaged", str(copied / Path(packaged_file()).name))])
    with opened(str(shop.state)) as corpus:
        found = replace(why(corpus, shop.traces()[-1]["id"]), written=LocatedRules(earlier))
    elsewhere = str(tmp_path / "notes.md")

    assert found.file_now(str(copied / "fitted" / "task-types.md")) == str(TASK_TYPES)
    assert found.file_now(elsewhere) == elsewhere


async def test_why_has_what_explain_prints(shop: Account) -> None:
    trace_id = shop.traces()[-1]["id"]
    printed = " ".join(shop.cli("explain", "--trace", trace_id).split())
    async with run_workbench(shop.state, screen="traces", size=(160, 60)) as (app, pilot):
        await asked_why(app, pilot)
        lines = app.screen.query_one(LineList)
        texts = [line.text for line in list_lines(lines)]
        shown = screen_text(app)

    assert "debug came nearest" in printed and "debug came nearest" in shown
    assert [text for text in texts if text.startswith(("min_confidence", "max_silent"))]
    assert all(text in printed for text in texts if text.startswith(("min_confidence", "max_silent")))
    signals = [line for line in list_lines(lines) if line.text.lstrip()[:1] in "+-" and line.right]
    assert len({(line.text, line.right) for line in signals}) == len(signals)


def test_every_proposed_edit_makes_the_prompt_so(shop: Account) -> None:
    trace_id = next(one["id"] for one in shop.traces() if one["prompt"] == WRONG)
    state, cwd = str(shop.state), str(shop.project)
    wish = Wish("task_type", "debug")
    with opened(state) as corpus:
        found = list(edits_for(corpus, trace_id, wish, state_dir=state, path=target_files(cwd)[0], cwd=cwd))

    after = [(edit, one.after) for edit in found for one in edit.figures.changes if one.prompt.id == trace_id]
    assert {edit.path for edit in found} == {str(shop.project / ".enricher" / "instructions.md")}
    assert [edit for edit in found if ": raise " in edit.title]  # a packaged signal is added to the layer once more
    assert len(after) == len(found)
    assert all(wish.holds(outcome) and edit.is_told == wish.is_told(outcome) for edit, outcome in after)
    assert all(edit.is_told for edit in found)


def test_in_the_products_checkout_the_packaged_files_are_edited_in_place(shop: Account) -> None:
    trace_id = next(one["id"] for one in shop.traces() if one["prompt"] == WRONG)
    wish = Wish("task_type", "debug")
    with opened(str(shop.state)) as corpus:
        edits = edits_for(corpus, trace_id, wish, state_dir=str(shop.state), path=packaged_file(), cwd=str(ROOT))
        folders = {Path(edit.path).parent.name for edit in edits}

    assert "fitted" in folders


async def test_new_phrases_can_go_into_the_users_own_layer_instead_and_the_gate_says_so(shop: Account) -> None:
    own = shop.config / "instructions.md"
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("index")
        await keys.press("enter", "w", "m", "d")
        before = screen_text(app)
        await keys.press("p")
        after = screen_text(app)
        await keys.press("enter", "ctrl+s", "escape")
        today = screen_text(app)
        await keys.press("a", "ctrl+g")
        shown = screen_text(app)
    written = own.read_text()
    own.unlink()

    assert "What is added goes into ~/project/.enricher/instructions.md" in before
    assert "What is added goes into ~/config/instructions.md" in after
    assert "signals:" in written
    assert "today: debug, certain enough to be shown" in today
    assert [one["verdict"] for one in cases(shop)] == ["class"]
    assert "your own layer: 1 case would pass with it" in shown


async def test_a_guardrail_can_be_wished_for(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = await asked_why(app, pilot)
        await keys.press("m")
        highlight(app, "guardrail H5")
        await keys.press("enter")
        shown = screen_text(app)
        await keys.press("enter", "ctrl+s", "escape", "a")

    assert "It should be: guardrail H5" in shown
    assert "## Guardrail: H5" in (shop.project / ".enricher" / "instructions.md").read_text()
    assert [(one["verdict"], "H5" in one["expected"]["guardrails"]) for one in cases(shop)] == [("ok", True)]  # type: ignore[index]


async def test_a_prompt_can_be_wished_silent(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("failing")
        await keys.press("enter", "m", "0")
        shown = screen_text(app)

    assert "It should be: silent" in shown
    assert "edits, first those that change the fewest other prompts" in shown


async def test_the_list_marks_a_prompt_to_which_the_present_rules_give_another_class(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        before = screen_text(app)
        keys = await asked_why(app, pilot)
        await keys.press("m", "d", "enter", "ctrl+s", "1")
        after = screen_text(app)
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        again = screen_text(app)

    assert "implementation?   another hiccup" in before
    assert "implem… → debug   another hiccup" in after
    assert "implem… → debug   another hiccup" in again


@pytest.fixture
def write_own_layer(shop: Account) -> Iterator[Callable[[str], Path]]:
    """Yield a function that writes the user's own layer, which is deleted after the test."""
    yield lambda text: shop.write("config/instructions.md", text)
    (shop.config / "instructions.md").unlink(missing_ok=True)


@pytest.mark.parametrize("is_larger", [False, True], ids=["by the wheel", "in a larger window"])
async def test_rows_that_come_into_view_are_judged_without_a_move_of_the_cursor(
    shop: Account, write_own_layer: Callable[[str], Path], *, is_larger: bool
) -> None:
    write_own_layer(HICCUPS)
    async with run_workbench(shop.state, screen="traces", size=(80, 6)) as (app, pilot):
        rows = app.screen.query_one(RowView)
        before = set(rows.visible_ids())
        if is_larger:
            await pilot.resize_terminal(80, 12)
        else:
            rows.action_scroll_down()
            rows.action_scroll_down()
        await settle(app, pilot)
        shown, cursor = screen_text(app), rows.cursor

    assert cursor == 0
    assert shop.traces()[PROMPTS.index(ALIKE)]["id"] not in before
    assert MARKED in shown


async def test_the_list_is_judged_again_when_another_program_saves_the_rules(
    shop: Account, write_own_layer: Callable[[str], Path]
) -> None:
    file = write_own_layer(LAYER)
    async with run_workbench(shop.state, screen="instructions", instructions=str(file)) as (app, pilot):
        await Keys(app, pilot).press("1")
        before = screen_text(app)
        write_own_layer(HICCUPS)
        await until(pilot, lambda: "Another program saved the file" in notices(app))
        await settle(app, pilot)
        after = screen_text(app)

    assert "→" not in before
    assert MARKED in after


async def test_a_result_of_rules_that_were_replaced_meanwhile_does_not_count(
    shop: Account, write_own_layer: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_judged, may_end = threading.Event(), threading.Event()

    def judged_slowly(corpus: Corpus, trace_ids: Sequence[str]) -> dict[str, str]:
        found = task_types_today(corpus, trace_ids)
        is_judged.set()
        may_end.wait(WAIT_S)
        return found

    write_own_layer(LAYER)
    async with run_workbench(shop.state, screen="instructions") as (app, pilot):
        monkeypatch.setattr("workbench.coverage.why.task_types_today", judged_slowly)
        await pilot.press("1")
        await until(pilot, is_judged.is_set)
        write_own_layer(HICCUPS)
        app.instructions_written()
        may_end.set()
        await settle(app, pilot)
        shown = screen_text(app)

    assert MARKED in shown


async def test_prompts_whose_judging_failed_are_judged_at_the_next_occasion(
    shop: Account, write_own_layer: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_corpus: Corpus, _trace_ids: Sequence[str]) -> dict[str, str]:
        raise OSError("too many open files")

    write_own_layer(HICCUPS)
    with monkeypatch.context() as failing:
        failing.setattr("workbench.coverage.why.task_types_today", fail)
        async with run_workbench(shop.state, screen="traces") as (app, pilot):
            before, said = screen_text(app), notices(app)
            failing.undo()
            await pilot.resize_terminal(80, 20)
            await settle(app, pilot)
            after = screen_text(app)

    assert "too many open files" in said
    assert "→" not in before
    assert MARKED in after


async def test_a_label_writes_a_case_and_both_are_taken_back(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("x")
        written = cases(shop)
        said = notices(app)
        await keys.press("ctrl+z")

    assert [one["verdict"] for one in written] == ["wrong"]
    assert "~/project/.enricher/cases.jsonl" in said
    assert [one.name for one in (shop.project / ".enricher").iterdir()] == ["instructions.md"]
    assert not shop.traces()[-1]["label"]


@pytest.mark.parametrize("keys", [["y"], ["c", "d"], ["m", "d", "escape", "a"]], ids=["right", "class", "approved"])
async def test_the_same_label_given_again_is_stored_once_and_taken_back_once(shop: Account, keys: list[str]) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        press = Keys(app, pilot).press
        await press("w", *keys)
        await press(*keys)
        said = notices(app)
        given = len(app.labels_given)
        with closing(database.connect(str(shop.state))) as db:
            (stored,) = db.execute("select count(*) from labels").fetchone()
        await press("ctrl+z")

    assert (stored, given) == (1, 1)
    assert "That is stored already" in said
    assert not shop.traces()[-1]["label"]
    assert cases(shop) == []


async def test_a_recorded_result_is_not_called_right_by_whoever_chose_another(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        press = Keys(app, pilot).press
        await press("w", "m", "d", "escape", "y")
        refused, stored = notices(app), cases(shop)
        await press("x")
        said = notices(app)

    assert "and with m you chose that it should be" in refused and "a approves that" in refused
    assert stored == []
    assert "Labelled wrong as recorded: " in said


async def test_the_gate_of_a_project_without_cases_names_the_keys_that_write_one(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("w", "ctrl+g")
        await until(pilot, lambda: "no golden case yet" in screen_text(app))
        shown = screen_text(app)

    assert "by y (it came out right), x (wrong) or c (the right class) in Traces" in shown
    assert "enricher trace label" not in shown


async def test_the_figures_of_a_proposal_are_without_what_was_saved_before_it(shop: Account) -> None:
    layer = shop.project / ".enricher" / "instructions.md"
    async with run_workbench(shop.state, screen="instructions", instructions=str(layer)) as (app, pilot):
        await until(pilot, lambda: "identical" in screen_text(app))
        saved = LAYER.replace('phrase: "gives up"', 'phrase: "hiccup"')
        app.place_screen().editor.text = saved  # type: ignore[union-attr]
        await until(pilot, lambda: "changed" in screen_text(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Saved." in notices(app))
        app.post_message(TakeEdit(str(layer), f"{saved}\n<!-- no rule -->\n", 1, "A proposal"))
        await until(pilot, lambda: "A proposal" in notices(app) and "identical" in screen_text(app))
        await pilot.press("ctrl+r")  # else its draft is offered to the next test


async def test_an_expected_workflow_is_a_case_until_that_is_taken_back(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("W")
        asked = screen_text(app)
        await keys.press("j", "enter")
        await until(pilot, lambda: cases(shop))
        (written,) = cases(shop)
        said = notices(app)
        await keys.press("ctrl+z")
        await until(pilot, lambda: cases(shop) == [])

    assert "Which workflow should it have?" in asked
    assert "as it is" in asked
    name = written["expected"]["workflow"]  # type: ignore[index]
    assert f"Its workflow should be {name}." in said
    assert not shop.traces()[-1]["label"]


async def test_what_is_so_already_is_not_searched_for(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("export")
        await keys.press("enter", "m", "d")
        until_told = screen_text(app)

    assert "already" in until_told


async def test_escape_returns_to_the_screen_and_the_filter_that_one_came_from(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("hiccup")
        await keys.press("enter", "j", "r")
        places = [app.current_mode]
        await keys.press("enter")
        places.append(app.current_mode)
        alone = screen_text(app)
        for _ in range(2):
            await keys.press("escape")
            places.append(app.current_mode)
        shown = screen_text(app)
        chosen = app.screen.chosen()[0]  # type: ignore[attr-defined]

    assert places == ["compare", "traces", "compare", "traces"]
    assert "hiccup" not in alone.splitlines()[1]
    assert "Filter hiccup" in shown and "2 · newest" in shown
    assert [one["prompt"] for one in shop.traces() if one["id"] == chosen] == [ALIKE]


async def test_words_lines_and_rules_are_found_while_typing(shop: Account) -> None:
    async with run_workbench(shop.state, screen="instructions") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("i")
        footer = screen_text(app).splitlines()[-1]
        await keys.press("ctrl+f")
        await keys.type("E")
        await keys.press("enter", "up", "up", "escape")
        editor = app.place_screen().editor  # type: ignore[union-attr]
        places = [(editor.selected_text, editor.line)]
        await keys.press("f3")
        places.append((editor.selected_text, editor.line))
        await keys.press("ctrl+l")
        await keys.type("9")
        places.append(("", editor.line))
        await keys.press("enter", "ctrl+l")
        await keys.type("debug")
        places.append(("", editor.line))
        await keys.press("enter")
        is_back = app.focused is editor

    assert "^f Find" in footer
    assert "f1 Help" in footer
    assert "? Help" not in footer
    assert "/ Filter" not in footer
    last = max(line for line, text in enumerate(LAYER.splitlines(), 1) if "e" in text)
    assert places == [("e", last), ("e", 3), ("", 9), ("", 3)]
    assert is_back, "enter on a line or rule returns to the text"


async def test_a_number_in_superscript_is_no_line_to_go_to(shop: Account) -> None:
    async with run_workbench(shop.state, screen="instructions") as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("i", "ctrl+l")
        app.place_screen().query_one(FindInput).value = "²"  # type: ignore[union-attr]
        await pilot.pause()
        screen = screen_text(app)

    assert "not found" in screen


async def test_the_line_of_the_cursor_keeps_its_colours(shop: Account) -> None:
    async with run_workbench(shop.state, screen="instructions") as (app, pilot):
        await Keys(app, pilot).press("i")
        editor = app.place_screen().editor  # type: ignore[union-attr]
        heading = editor.get_component_rich_style("editor--heading", partial=True).color
        colours = {segment.style.color for segment in editor.render_line(0) if "Classification" in segment.text}

    assert heading is not None
    assert colours == {heading}


@pytest.mark.parametrize(
    ("line", "now"),
    [
        pytest.param(2, 3, id="a line was put above"),
        pytest.param(4, 5, id="a line that moved"),
    ],
)
def test_a_recorded_line_is_found_in_the_present_text(line: int, now: int) -> None:
    assert line_now(line, "a\nb\nc\nd\n", "new\na\nb\nc\nd\n") == now
