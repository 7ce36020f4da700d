"""The proposals for a prompt that came out wrong: which are found, in which order, for which file, and the way back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from piloting import run_workbench, screen_text
from simulator import Account
from test_loop import Keys, git

from workbench.tui.screens.loop.make import MakeScreen
from workbench.tui.screens.loop.why import WhyScreen
from workbench.tui.widgets.lists.line_list import LineList

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

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
"""
WRONG = "frobnicate the exporter of the shop"
STRONG = "frobnicate and twiddle the importer"
ALIKE = "please frobnicate the invoices"


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
    for number, prompt in enumerate((STRONG, ALIKE, WRONG)):
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
    chooser = app.screen.query_one("OptionList")
    chooser.highlighted = chooser.get_option_index(wish)  # type: ignore[attr-defined]
    await keys.press("enter")
    assert isinstance(app.screen, MakeScreen)
    return keys


async def test_a_wrong_guardrail_is_taken_away_saved_and_approved(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        keys = await wished(app, pilot, "without_guardrail X1")
        shown = screen_text(app)
        await keys.press("enter", "ctrl+s", "escape", "a")
    layer = (shop.project / ".enricher" / "instructions.md").read_text()
    (case,) = [json.loads(line) for line in (shop.project / ".enricher" / "cases.jsonl").read_text().splitlines()]

    assert "It should be: without guardrail X1" in shown
    assert "guardrail X1: raise min_score to 6" in shown
    assert "and 1 other" in shown
    assert "min_score: 6\n" in layer
    assert (case["verdict"], case["expected"]["guardrails"]) == ("ok", [])


async def test_a_prompt_that_an_edit_changes_is_looked_at_and_escape_returns_to_its_line(shop: Account) -> None:
    async with run_workbench(shop.state, screen="traces") as (app, pilot):
        await Keys(app, pilot).press("w")
        keys = await wished(app, pilot, "without_guardrail X1")
        proposals, lines = app.screen, app.screen.query_one(LineList)
        while lines.current is None or ALIKE not in lines.current.text:
            await keys.press("j")
        before = (lines.current, lines.opened)
        await keys.press("enter")
        shown, screen = screen_text(app), app.screen
        await keys.press("escape")
        after = (app.screen, (lines.current, lines.opened))

    assert isinstance(screen, WhyScreen)
    assert ALIKE in shown
    assert after == (proposals, before)
