"""What the tests of the Instructions and Compare screens share: a layer to edit, screens without clock or folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from piloting import screen_text, until

if TYPE_CHECKING:
    import pytest
    from simulator import Account
    from textual.pilot import Pilot

    from workbench.tui.app import Workbench
    from workbench.tui.screens.compare import CompareScreen
    from workbench.tui.screens.editing.instructions import InstructionsScreen

SCREENS = Path(__file__).parent / "screens"
LAYER = """\
# Classification

How sure a task type must be to be told.

## Task type

```yaml
extend: true
min_confidence: 0.42
```
"""
QUIETER = LAYER.replace("0.42", "0.99")
ONE_GUARDRAIL = "# Guardrails\n\n## Guardrail: H19\n\n```yaml\nextend: true\nmin_score: 3\n```\n"
QUIETER_AND_H19 = f"{QUIETER}\n{ONE_GUARDRAIL}"
BROKEN = LAYER.replace("min_confidence", "min_confidense")
VOLATILE = ((r"\d\d:\d\d:\d\d", "HH:MM:SS"), (r"(?<= at )\d\d:\d\d", "HH:MM"), (r"[\d.]+ ms", "N ms"))


def save_elsewhere(path: Path, text: str) -> None:
    """Save as vim and VS Code do: write aside, rename over."""
    aside = path.with_name("4913.tmp")
    aside.write_text(text)
    os.replace(aside, path)


def own_layer(library: Account, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the person a layer of their own, and this process their project to work in."""
    monkeypatch.setenv("HOME", str(library.home))
    monkeypatch.chdir(library.project)
    return library.instruct(LAYER)


def instructions(app: Workbench) -> InstructionsScreen:
    return app.screen  # type: ignore[return-value]


def compare(app: Workbench) -> CompareScreen:
    return app.screen  # type: ignore[return-value]


def verdict(app: Workbench) -> str:
    """Return the verdict that is shown, empty while a run is under way."""
    figures = instructions(app)._shown  # noqa: SLF001
    return figures.verdict or "" if figures else ""


def run_of(app: Workbench) -> int:
    """Return the number of the last run."""
    return instructions(app)._runs["live"]  # noqa: SLF001


async def settled(app: Workbench, pilot: Pilot[None], wanted: str) -> None:
    """Wait until the Instructions screen shows that verdict and nothing works any more."""
    await until(pilot, lambda: verdict(app) == wanted)
    await until(pilot, lambda: all(one.is_finished for one in app.workers if one.group != "app.watch"))


async def edited(app: Workbench, pilot: Pilot[None], text: str, wanted: str) -> None:
    """Type a text in place of the file's and wait for its verdict."""
    instructions(app).editor.text = text
    await settled(app, pilot, wanted)


def check_steady_screen(app: Workbench, name: str, *, update: bool) -> None:
    """Compare the screen, times and the line with all places aside, with ``screens/NAME.txt``."""
    found, file = screen_text(app).partition("\n")[2], SCREENS / f"{name}.txt"
    for pattern, instead in VOLATILE:
        found = re.sub(pattern, instead, found)
    if update or not file.exists():
        file.write_text(found)
        assert update, f"{file} was written just now: look at it and run again"
    assert found == file.read_text()
