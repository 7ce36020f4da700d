"""What the tests of the app share: an account with prompts, the app over it, screens as text."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from piloting import draw_later, screen_text
from simulator import Account
from textual._compositor import Compositor
from textual.widgets import Input, TextArea

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.app import Workbench

SCREENS = Path(__file__).parent / "screens"
PROMPTS = (
    "why does the nightly export crash with KeyError: 'sku'?",
    "add a test for the rounding in prices.py",
    "thanks!",
    "refactor the basket so that it no longer knows the database",
    "/clear",
    "what is the difference between the two caches here?",
)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No cursor blinks in a snapshot, no time zone but one, no preference or conversation of whoever runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setattr(Compositor, "render_update", draw_later)
    monkeypatch.setattr(Input, "cursor_blink", False)
    monkeypatch.setattr(TextArea, "cursor_blink", False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()


@pytest.fixture(scope="session")
def _asked(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """Ask the prompts once for all tests: six processes of the hook are two seconds."""
    account = Account(tmp_path_factory.mktemp("library") / "home")
    for position, prompt in enumerate(PROMPTS):
        account.ask(prompt, session_id=f"session-{'ab'[position % 2]}")
    account.traces()
    return account


@pytest.fixture
def library(_asked: Account, account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return an account in which six prompts of two sessions were asked, each by a real hook call."""
    shutil.copytree(_asked.state, account.state)
    monkeypatch.setenv("ENRICHER_HOME", str(account.state))
    monkeypatch.setenv("ENRICHER_CONFIG_HOME", str(account.config))
    return account


@pytest.fixture
def check_screen(request: pytest.FixtureRequest) -> Callable[[Workbench, str], None]:
    """Return what compares the screen with ``screens/NAME.txt``; a missing file is written, and fails.

    The first line is left out: it names all places of the app, so it changes with every new one.
    """

    def check(app: Workbench, name: str) -> None:
        file, found = SCREENS / f"{name}.txt", screen_text(app).partition("\n")[2]
        expected = file.read_text() if file.exists() else ""
        if request.config.getoption("--update-screens") or not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_text(found)
            expected = expected or "(written just now: look at it and run again)\n"
            if request.config.getoption("--update-screens"):
                return
        assert found == expected

    return check
