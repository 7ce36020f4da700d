"""An account with recorded prompts, and the texts that its tests edit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from simulator import Account

from enricher.rules.layers import packaged_file

PROMPTS = (
    "why does the nightly export crash with KeyError: 'sku'?",
    "add a test for the rounding in prices.py",
    "thanks!",
    "fix the failing import in basket.py and let me know",
)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory, compiled_rules: None) -> Path:
    """Return the state after four prompts of two sessions, each asked by a real hook call."""
    del compiled_rules
    account = Account(tmp_path_factory.mktemp("recorded") / "home")
    for position, prompt in enumerate(PROMPTS):
        account.ask(prompt, session_id=f"session-{'ab'[position % 2]}")
    assert len(account.traces()) == len(PROMPTS)
    return account.state


@pytest.fixture
def library(account: Account, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return an account with the recorded prompts, in whose project this process works."""
    shutil.copytree(recorded, account.state)
    for name in ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME"):
        monkeypatch.setenv(name, account.env[name])
    monkeypatch.chdir(account.project)
    return account


@pytest.fixture
def packaged() -> str:
    """Return the packaged instructions."""
    return Path(packaged_file()).read_text()
