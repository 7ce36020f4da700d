"""The proposals for a prompt that came out wrong: which are found, in which order, for which file, and the way back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest
from piloting import highlight, list_lines, notices, run_workbench, screen_text
from simulator import ROOT, Account
from test_loop import Keys, git

from workbench.replay.corpus import opened
from workbench.replay.rulesets.compared_rules import SideError
from workbench.tui.screens.loop.make import Ended, MakeScreen
from workbench.tui.screens.loop.why import WhyScreen
from workbench.tui.widgets.lists.line_list import LineList
from workbench.tuning.wishes.search import Edit, edits_for
from workbench.tuning.wishes.wish import FulfilledError, Wish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

pytestmark = pytest.mark.slow

LAYER = """\
# Guardrails

## Guardrail: X1

```yaml
title: Ask Before Frobnicating
text: "Ask before the exporter is frobnicated."
signals:
  - {phrase: "frobnicate", weight: 5}
  - {phrase: "twiddle", weight: 4}
```

## Guardrail: X2

```yaml
title: Ask Before Defrosting
text: "Ask before the freezer is defrosted."
signals:
  - {phrase: "defrost", weight: 5}
```

## Guardrail: X3

```yaml
title: Name What Thaws
text: "Name what will thaw."
signals:
  - {phrase: "defrost", weight: 4}
```
"""
PLANNED = "add the export to the backlog"
WRONG = "frobnicate the exporter of the shop"
STRONG = "frobnicate and twiddle the importer"
ALIKE = "please frobnicate the invoices"
TWICE = "defrost the cabinet with the samples"
ABSENT = "the search hiccup again, three customers saw an empty page"
FILLED, FILLED_ALIKE = "yes archive the ledger", "yes archive, but why does the nightly run crash with KeyError?"
COMMON = tuple(f"the hiccup in {one}" for one in ("a queue", "a basket", "mails", "a cron", "sales", "imports", "logs"))


@pytest.fixture(scope="module")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """Ask the prompts by real hook calls, in a repository whose own layer is trusted."""
    account = Account(tmp_path_factory.mktemp("proposals") / "home")
    account.write("project/.enricher/instructions.md", LAYER)
    git(account.project, "init", "-q")
    git(account.project, "config", "user.name", "Ada")
    git(account.project, "add", ".")
    git(account.project, "commit", "-qm", "start")
    account.cli("trust", str(account.project))
    account.compile()
    for number, prompt in enumerate((TWICE, ABSENT, *COMMON, FILLED_ALIKE, FILLED, PLANNED, STRONG, ALIKE, WRONG)):
        account.ask(prompt, session_id=f"s{number}")
    account.traces()
    return account


@pytest.fixture
def shop(_recorded: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return the account with its layer as it was at first."""
    _recorded.write("project/.enricher/instructions.md", LAYER)
    (_recorded.project / ".enricher" / "cases.jsonl").unlink(missing_ok=True)
    (_recorded.state / "workbench.json").unlink(missing_ok=True)
    for name, value in _recorded.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(_recorded.project)
    _recorded.cli("trust", str(_recorded.project))
    return _recorded


async def wished(app: Workbench, pilot: Pilot[None], wish: str) -> Keys:
    """Wish for the newest prompt, and wait for the proposals."""
    keys = Keys(app, pilot)
    await keys.press("m")
    highlight(app, wish)
    await keys.press("enter")
    assert isinstance(app.screen, MakeScreen)
    return keys


async def test_a_wrong_guardrail_is_taken_away_saved_and_approved(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(160, 50)) as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("m", "1")
        shown = screen_text(app)
        app.screen.query_one(LineList).go_to("guardrail X1: raise min_score to 6")
        await keys.press("enter", "ctrl+s", "escape", "a")
        (written,) = (shop.project / ".enricher" / "cases.jsonl").read_text().splitlines()
        trace = screen_text(app)
        await keys.press("w")
        reasons = screen_text(app)
        await keys.press("ctrl+z")
        unlabelled = screen_text(app)
    layer = (shop.project / ".enricher" / "instructions.md").read_text()

    assert "It should be: without guardrail X1" in shown
    assert "guardrail X1: raise min_score to 6" in shown
    assert "min_score: 6\n" in layer
    case = json.loads(written)
    assert (case["verdict"], case["expected"]["guardrails"]) == ("ok", [])
    assert " (✗ wrong)" in trace
    assert "✗ wrong: «X1 (Ask Before Frobnicating: Ask before" in reasons
    assert "✗ wrong" not in unlabelled
    assert not (shop.project / ".enricher" / "cases.jsonl").exists()


async def test_nothing_is_approved_while_the_rules_of_the_project_are_broken(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(160, 50)) as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("m", "1", "escape")
        (shop.project / ".enricher" / "instructions.md").write_text(LAYER.replace("title:", "titel:"))
        await keys.press("a")
        told = notices(app)

    assert "the instructions" in told and "are broken" in told
    assert not (shop.project / ".enricher" / "cases.jsonl").exists()


@pytest.mark.parametrize(
    ("word", "floors"),
    [
        pytest.param("exporter", ["guardrail X1: raise min_score to 6"], id="one guardrail"),
        pytest.param(
            "samples",
            ["guardrail X2: raise min_score to 6", "guardrail X3: raise min_score to 5"],
            id="two guardrails",
        ),
    ],
)
async def test_a_prompt_that_only_guardrails_keep_from_silence_is_made_silent(
    shop: Account, word: str, floors: list[str]
) -> None:
    async with run_workbench(shop.state, screen="traces", size=(100, 40)) as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type(word)
        await keys.press("enter", "m", "0")
        proposals, title = app.screen.query_one(LineList), "; ".join(floors)
        assert title in [line.text for line in (group.head for group in proposals._groups)]  # noqa: SLF001
        proposals.go_to(title)
        await keys.press("enter")
        await keys.press("ctrl+s", "escape", "a")
    layer = (shop.project / ".enricher" / "instructions.md").read_text()

    assert all(f"{floor.partition(' to ')[2]}\n" in layer for floor in floors)
    assert layer.count("min_score: ") == len(floors)
    (case,) = [json.loads(line) for line in (shop.project / ".enricher" / "cases.jsonl").read_text().splitlines()]
    assert (case["verdict"], case["expected"]) == ("ok", {"guardrails": [], "approach": ""})


async def test_the_prompts_that_may_come_out_worse_are_marked(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(80, 30)) as (app, pilot):
        await Keys(app, pilot).press("w")
        await wished(app, pilot, "without_guardrail X1")
        proposals = app.screen.query_one(LineList)
        titles = [group.head.text for group in proposals._groups]  # noqa: SLF001
        assert proposals.go_to(next(one["id"] for one in shop.traces() if one["prompt"] == ALIKE))
        shown = screen_text(app)

    assert f"↓ {ALIKE}" in shown
    assert all(title in shown for title in titles), "what stands at the right is cut before a title"
    assert "would change (95 % sure)" in shown


async def test_a_prompt_that_an_edit_changes_is_looked_at_and_escape_returns_to_its_line(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        await Keys(app, pilot).press("w")
        keys = await wished(app, pilot, "without_guardrail X1")
        proposals, lines = app.screen, app.screen.query_one(LineList)
        assert lines.go_to(next(one["id"] for one in shop.traces() if one["prompt"] == ALIKE))
        before = (lines.current, lines.opened)
        await keys.press("enter")
        shown, screen = screen_text(app), app.screen
        await keys.press("escape")
        after = (app.screen, (lines.current, lines.opened))

    assert isinstance(screen, WhyScreen)
    assert ALIKE in shown
    assert after == (proposals, before)


async def test_escape_after_an_edit_was_taken_returns_to_the_proposals_until_it_is_saved(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(160, 50)) as (app, pilot):
        keys = await wished(app, pilot, "without_guardrail X1")
        proposals = app.screen
        await keys.press("j")
        cursor = proposals.query_one(LineList).current
        await keys.press("enter")
        edit = dict(app.edited)
        await keys.press("escape")
        assert app.screen is proposals
        line, shown = proposals.query_one(LineList).current, screen_text(app)
        await keys.press("enter", "ctrl+s", "escape")
        saved = app.screen

    assert edit
    assert line == cursor
    assert "In the editor (2), not saved yet: guardrail X1: " in shown
    assert not isinstance(saved, MakeScreen)


async def test_the_layer_that_the_gate_judges_comes_first_and_another_one_is_remembered(shop: Account) -> None:
    shop.write("config/instructions.md", "# Guardrails\n")
    layer_of(shop).unlink()
    async with run_workbench(shop.state, screen="traces", size=(100, 30)) as (app, pilot):
        keys = await wished(app, pilot, "guardrail H5")
        first = screen_text(app)
        await keys.press("p", "escape")
        await wished(app, pilot, "guardrail H5")
        again = screen_text(app)
    (shop.config / "instructions.md").unlink()

    assert "What is added goes into ~/project/.enricher/instructions.md" in first
    assert "p: into ~/config/instructions.md (your own layer; the gate does not judge it)" in first
    assert "What is added goes into ~/config/instructions.md" in again


async def test_for_a_prompt_of_another_project_only_the_own_layer_is_offered_and_rows_say_the_same(
    shop: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".enricher").mkdir()
    (tmp_path / ".enricher" / "instructions.md").write_text("# Guardrails\n")
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        keys = await wished(app, pilot, "guardrail H5")
        shown = screen_text(app)
        await keys.press("p")
        unchanged = screen_text(app)

    assert "What is added goes into ~/config/instructions.md" in shown
    assert "your own layer: counts for you, in every project; the gate does not judge it" in shown
    assert "The prompt was typed in ~/project: this project's layer does not count for it" in shown
    assert " · own layer" in shown
    assert "project's layer\n" not in shown
    assert "p: into" not in shown
    assert unchanged == shown


async def test_for_a_prompt_whose_folder_is_gone_only_the_own_layer_is_offered(
    shop: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    ask_in(shop, shop.project / "gone")
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        await wished(app, pilot, "guardrail H5")
        shown = screen_text(app)
    ask_in(shop, shop.project)

    assert "your own layer: counts for you, in every project; the gate does not judge it" in shown
    assert "The prompt was typed in ~/project/gone, which is gone: this project's layer does not count for it" in shown


def ask_in(shop: Account, folder: Path) -> None:
    """Let the newest prompt have been typed in this folder."""
    with closing(sqlite3.connect(shop.state / "enricher.db")) as db, db:
        db.execute("update traces set cwd = ? where id = (select max(id) from traces)", [str(folder)])


async def test_a_share_is_of_the_prompts_to_which_the_edited_layer_applies(shop: Account) -> None:
    with closing(sqlite3.connect(shop.state / "enricher.db")) as db, db:
        before = db.execute("select cwd, project from traces").fetchone()
        others = "where id < (select max(id) from traces)"
        db.execute(f"update traces set cwd = '/elsewhere', project = 'elsewhere' {others}")
    async with run_workbench(shop.state, screen="traces", size=(160, 40)) as (app, pilot):
        keys = await wished(app, pilot, "guardrail H5")
        proposal = screen_text(app)
        await keys.press("enter")
        edit = screen_text(app)
    with closing(sqlite3.connect(shop.state / "enricher.db")) as db, db:
        db.execute("update traces set cwd = ?, project = ?", before)

    for shown in (proposal, edit):
        assert "1 of 1 prompt of this project changes" in shown
        assert "only 1 recorded prompt is of this project" in shown
        assert "95 % sure" not in shown


def layer_of(shop: Account) -> Path:
    return shop.project / ".enricher" / "instructions.md"


def proposed(shop: Account, prompt: str, wish: Wish, *, into: Path, text: str | None = None) -> Iterator[Edit]:
    """Yield the proposals for a prompt, with this text in the file that they add to; none for what is so already."""
    trace_id = next(one["id"] for one in shop.traces() if one["prompt"] == prompt)
    edited = {} if text is None else {str(into): text}
    state, cwd = str(shop.state), str(shop.project)
    with opened(state) as corpus, suppress(FulfilledError):
        yield from edits_for(corpus, trace_id, wish, state_dir=state, path=str(into), cwd=cwd, edited=edited)


def test_a_raised_signal_of_a_packaged_rule_stands_in_the_layer_once_and_check_accepts_it(shop: Account) -> None:
    layer, wish = layer_of(shop), Wish("task_type", "implementation")
    first = next(one for one in proposed(shop, ABSENT, wish, into=layer) if "raise [ui] from 3" in one.title)
    assert first.title == "implementation: raise [ui] from 3 to 22"
    assert first.note == "writes a weight of 19, which is added to the 3"
    weaker = first.text.replace('words: "ui", weight: 19', 'words: "ui", weight: 2')
    again = [one for one in proposed(shop, ABSENT, wish, into=layer, text=weaker) if "[ui]" in one.title]
    layer.write_text(first.text)
    checked = shop.cli("check", str(layer))
    layer.write_text(first.text.replace("weight: 19}", 'weight: 19}\n  - {words: "ui", weight: 2}'))

    assert [one.title for one in again] == ["implementation: raise [ui] from 2 to 19"]
    assert again[0].text == first.text
    assert "is the same as" not in checked
    assert "is the same as" in shop.cli("check", str(layer))


def test_a_longer_phrase_is_offered_for_a_word_that_many_contain_and_what_makes_others_worse_stands_last(
    shop: Account,
) -> None:
    found = list(proposed(shop, ABSENT, Wish("task_type", "implementation"), into=layer_of(shop)))
    found = sorted((one for one in found if one.is_told and '"' in one.title), key=lambda one: one.order)
    titles = [one.title for one in found]

    assert titles[-1] == 'implementation: add "hiccup" with weight 19'
    assert titles[-2] == 'implementation: add "search hiccup" with weight 19'
    assert [one.worse > 0 for one in found] == [False] * (len(found) - 1) + [True]
    assert [one.is_lone for one in found[:-1]] == sorted(one.is_lone for one in found[:-1])


@pytest.mark.parametrize(
    ("prompt", "other", "phrase", "is_lone"),
    [
        pytest.param("gadgets do not sync", "the widgets don't sync", "not sync", False, id="a contraction"),
        pytest.param("修复缓存", "请修复登录", "修 复", False, id="ideographs"),
        pytest.param("cheerful art there", "start the nightly run", "art", True, id="a part of a word"),
    ],
)
def test_other_prompts_have_a_phrase_if_it_is_among_their_words_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prompt: str, other: str, phrase: str, *, is_lone: bool
) -> None:
    account = Account(tmp_path / "home")
    for name, value in account.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(account.project)
    account.compile()
    account.ask(other)
    account.ask(prompt)
    found = proposed(account, prompt, Wish("task_type", "implementation"), into=account.config / "instructions.md")
    lone = {one.title.split('"')[1]: one.is_lone for one in found if '"' in one.title}

    assert lone.get(phrase) is is_lone, lone


def test_phrases_that_are_an_accident_of_the_prompt_come_after_those_that_other_prompts_have(shop: Account) -> None:
    found = list(proposed(shop, FILLED, Wish("task_type", "planning"), into=layer_of(shop)))
    found = sorted((one for one in found if '"' in one.title and not one.worse), key=lambda one: one.order)
    phrases = [one.title.split('"')[1] for one in found]

    assert phrases[0] == "archive"
    assert phrases.index("yes") > 0
    assert [one.is_lone or one.has_filler for one in found] == [phrase != "archive" for phrase in phrases]


def test_a_class_that_is_given_already_but_uncertain_is_said_to_be(shop: Account) -> None:
    trace_id = next(one["id"] for one in shop.traces() if one["prompt"] == PLANNED)
    wish, (state, cwd) = Wish("task_type", "planning"), map(str, (shop.state, shop.project))
    with opened(state) as corpus, pytest.raises(FulfilledError, match="give that already, too uncertain to be shown"):
        next(edits_for(corpus, trace_id, wish, state_dir=state, path=str(layer_of(shop)), cwd=cwd))


def test_the_class_that_won_is_weakened_too(shop: Account) -> None:
    found = list(proposed(shop, PLANNED, Wish("task_type", "implementation"), into=layer_of(shop)))

    assert {one.title.partition(":")[0] for one in found} == {"planning", "implementation"}


def test_a_rule_of_a_layer_without_signals_gets_one(shop: Account) -> None:
    text = f"""{LAYER}
# Classification

## Task type: planning

```yaml
extend: true
unless: ["shipper"]
```
"""
    found = proposed(shop, FILLED, Wish("task_type", "planning"), into=layer_of(shop), text=text)
    written = next(one.text for one in found if one.title.startswith('planning: add "archive"'))

    assert 'signals:\n  - {phrase: "archive", weight: 25}\nextend: true\nunless: ["shipper"]\n' in written


def test_what_a_class_lacks_is_said_where_no_signal_can_give_it(shop: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tuning.wishes.search.MOST_WEIGHT", 20)
    with pytest.raises(SideError, match="docs lacks 33 points, but a signal gives at most 20"):
        list(proposed(shop, ABSENT, Wish("task_type", "docs"), into=layer_of(shop)))


async def test_the_end_of_the_search_leaves_the_list_as_it_is_used(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_workbench(shop.state, screen="traces", size=(100, 30)) as (app, pilot):
        keys = await wished(app, pilot, "without_guardrail X1")
        screen, proposals = app.screen, app.screen.query_one(LineList)
        assert isinstance(screen, MakeScreen)
        opened_first = proposals.opened
        await keys.press("space", "down")
        screen._take(Ended())  # noqa: SLF001
        await pilot.pause()

    assert len(opened_first) == 1
    assert proposals.opened == []


async def test_one_key_leads_to_the_next_edit_and_another_into_its_details(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(100, 30)) as (app, pilot):
        keys = await wished(app, pilot, "without_guardrail X1")
        proposals = app.screen.query_one(LineList)
        groups = proposals._groups  # noqa: SLF001
        heads = [group.head for group in groups]
        found = [proposals.current]
        for key in ("j", "k", "right", "j", "left"):
            await keys.press(key)
            found.append(proposals.current)

    assert found[:3] == [heads[0], heads[1], heads[0]]
    assert found[3:5] == list(groups[0].lines[:2]), "within the details, line by line"
    assert found[5] == heads[0]


def test_the_guardrail_of_a_project_is_found_from_the_own_layer_and_edited_where_it_is(shop: Account) -> None:
    found = list(proposed(shop, WRONG, Wish("without_guardrail", "X1"), into=shop.config / "instructions.md"))

    assert {one.path for one in found} == {str(layer_of(shop))}
    assert {one.title for one in found} >= {
        "guardrail X1: raise min_score to 6",
        'X1: lower "frobnicate" from 5 to 2',
    }


async def test_each_proposal_says_in_its_closed_line_into_which_file_it_goes(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(100, 30)) as (app, pilot):
        keys = await wished(app, pilot, "without_guardrail X1")
        lines = [" ".join(line.split()) for line in screen_text(app).splitlines()]
        await keys.press("p")
        own = screen_text(app)

    assert "this project's layer: counts for everybody who works here; the gate judges it" in lines
    assert "p: into ~/config/instructions.md (your own layer; the gate does not judge it)" in lines
    assert "▸ guardrail X1: raise min_score to 6 and 1 other, perhaps worse · project's layer" in lines
    assert "your own layer: counts for you, in every project; the gate does not judge it" in own


async def test_in_the_products_checkout_proposals_go_into_packaged_files(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    async with run_workbench(shop.state, screen="traces", size=(100, 30)) as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("again")
        await keys.press("enter")
        await wished(app, pilot, "implementation")
        shown = screen_text(app)

    assert "packaged file: counts for everybody, in every project, with the next release" in shown
    assert " · packaged file" in shown


async def test_an_edit_of_a_packaged_rule_says_that_saving_asks_for_a_layer(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces", size=(100, 40)) as (app, pilot):
        keys = Keys(app, pilot)
        await keys.press("slash")
        await keys.type("backlog")
        await keys.press("enter")
        await wished(app, pilot, "implementation")
        told = [line.text for line in list_lines(app.screen.query_one(LineList)) if line.key.endswith("· layer")]
        shown = screen_text(app)

    assert "planning: take out [planning-words] (weight 4)" in shown
    assert " · packaged file" in shown
    assert told == ["ctrl+s asks which layer takes it, with a copy of the whole rule"]
