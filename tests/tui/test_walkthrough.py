"""The walk-through in ``examples/workbench``: one edit, from the prompt that shows the need to the figures afterwards.

``pytest tests/tui/test_walkthrough.py --update-screens`` draws the pictures anew. Otherwise it is checked that
the app still shows what each picture tells, and that the picture still holds it.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from histories import fix_times, name_project
from instructing import edited, settled
from piloting import highlight, run_workbench, screen_text, settle, until

from storage.base import fast_stdlib
from workbench.tui.screens import SCREENS
from workbench.tui.screens.editing import open_file
from workbench.tui.widgets.dialogs import Picker
from workbench.tui.widgets.lists.figures import FiguresTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench

PICTURES = Path(__file__).parents[2] / "examples" / "workbench"
SIZE = (112, 32)
PROMPTS = (
    "why does the nightly export crash with KeyError: 'sku'?",
    "the price sync had a hiccup last night, have a look",
    "add a test for the rounding in prices.py",
    "fix the failing test in test_basket.py",
    "what is the difference between the two caches here?",
    "there was a hiccup of the upload queue on friday",
    "refactor the basket so that it no longer knows the database",
    "thanks!",
    "the login form throws a TypeError: undefined is not a function",
    "another hiccup of the search index, three customers saw an empty page",
    "write the release notes for 2.4",
    "how do I run a single migration?",
)
LAYER = """\
# Classification

## Task type: debug

Words that this team uses when something is broken.

```yaml
extend: true
signals:
  - {phrase: "gives up", weight: 5}
```
"""
EDITED = LAYER.replace('"gives up", weight: 5}', '"gives up", weight: 5}\n  - {any: [hiccup, hiccups], weight: 9}')


@dataclass(frozen=True, slots=True)
class Step:
    """A picture: its file, what is done before it is taken, and what it must show."""

    name: str
    act: Callable[[Workbench, Pilot[None]], Awaitable[None]]
    shows: tuple[str, ...]


async def find(app: Workbench, pilot: Pilot[None]) -> None:
    await pilot.press("slash", *"hiccup", "enter")
    await until(pilot, lambda: "3 · newest" in screen_text(app))
    await until(pilot, lambda: "customers" in screen_text(app))


async def edit(app: Workbench, pilot: Pilot[None]) -> None:
    await pilot.press("2")
    await settled(app, pilot, "identical")
    await edited(app, pilot, EDITED, "changed")


async def compare(app: Workbench, pilot: Pilot[None]) -> None:
    await pilot.press("3")
    await settle(app, pilot)


async def label(app: Workbench, pilot: Pilot[None]) -> None:
    await app.action_go("instructions")
    await pilot.press("ctrl+s")
    await settle(app, pilot)
    await pilot.press("1")
    app.place_screen().select("hiccup")
    await settle(app, pilot)
    for _ in range(3):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Picker))
        highlight(app, "debug")
        await pilot.press("enter")
        await settle(app, pilot)
        await pilot.press("j")
    await pilot.press("g")
    await settle(app, pilot)


async def cover(app: Workbench, pilot: Pilot[None]) -> None:
    await pilot.press("4")
    await settle(app, pilot)
    table = app.screen.query_one(FiguresTable)
    rows = [table.shown[row].cells[1] for row in range(table.row_count)]
    table.cursor = next(row for row, name in enumerate(rows) if "hiccup" in name)
    await settle(app, pilot)


async def time(app: Workbench, pilot: Pilot[None]) -> None:
    await pilot.press("5")
    await settle(app, pilot)


STEPS = (
    Step("1-traces", find, ("hiccup of the upload", "another hiccup")),
    Step("2-instructions", edit, ("3 of 12 prompts change", "hiccup")),
    Step("3-compare", compare, ("hiccup", "debug")),
    Step("4-labels", label, ("should be debug", "hiccup")),
    Step("5-coverage", cover, ("debug: hiccup/hiccups", "right in 3 of 3 labelled prompts")),
    Step("6-latency", time, ("total", "p95", "1,500 ms")),
)


@pytest.fixture
def shop(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """A project with twelve prompts of three days, each by a real hook call."""
    name_project(account)
    account.instruct(LAYER)
    account.compile()
    for position, prompt in enumerate(PROMPTS):
        account.ask(prompt, session_id=f"session-{'abc'[position // 4]}")
    account.traces()
    fix_times(account)
    for name in ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, account.env[name])
    monkeypatch.chdir(account.project)
    monkeypatch.setattr("piloting.WAIT_S", 30.0)
    monkeypatch.setattr(fast_stdlib, "utc_now", lambda: "2026-11-06T09:00:00.000Z")
    monkeypatch.setattr(open_file, "clock", lambda: "09:00")
    return account


async def test_the_walk_through(shop: Account, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    is_drawn = request.config.getoption("--update-screens")
    async with run_workbench(shop.state, size=SIZE, screen="traces") as (app, pilot):
        for step in STEPS:
            await step.act(app, pilot)
            drawn = (PICTURES if is_drawn else tmp_path) / f"{step.name}.svg"
            drawn.write_text(steady(app.export_screenshot(title="enricher workbench")))

            assert all(text in screen_text(app) for text in step.shows), (step.name, screen_text(app))
            assert all(text in told_by(PICTURES / f"{step.name}.svg") for text in step.shows), step.name


def test_every_picture_is_a_step_and_stands_in_the_story() -> None:
    drawn = {file.stem for file in PICTURES.glob("*.svg")}
    story = (PICTURES / "README.md").read_text()

    assert drawn == {step.name for step in STEPS}
    assert set(re.findall(r"\]\((\S+)\.svg\)", story)) == drawn


def test_no_picture_names_a_folder_of_the_machine_that_drew_it() -> None:
    told = "".join(told_by(file) for file in PICTURES.glob("*.svg"))

    assert "~/config/instructions.md" in told
    assert re.findall(r"(?<![~\w.…-])/(?:home|root|tmp|work|Users|private)/\S*", told) == []


def test_the_story_names_keys_that_the_app_has() -> None:
    keys = {one.key: one.title for one in SCREENS}
    story = (PICTURES / "README.md").read_text()

    for key, title in re.findall(r"`(\d)` \((\w+)\)", story):
        assert keys[key] == title


def steady(picture: str) -> str:
    """Return a picture without the time that judging took on this machine just now."""
    return re.sub(r"\d+\.\d+(&#160;ms&#160;→&#160;)\d+\.\d+", r"0.15\g<1>0.15", picture)


def told_by(picture: Path) -> str:
    """Return the text of a picture, a line of the screen to a line."""
    lines: dict[float, dict[float, str]] = {}
    for x, y, text in re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', picture.read_text()):
        lines.setdefault(float(y), {})[float(x)] = html.unescape(text).replace("\xa0", " ")
    return "\n".join("".join(lines[y][x] for x in sorted(lines[y])) for y in sorted(lines))
