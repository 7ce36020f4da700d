"""The shop as a project of the account, with a history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import SHOP, git, write_all

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture
def shop(account: Account) -> Path:
    """The account's project, filled and committed."""
    write_all(account.project, SHOP)
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Start the shop", at="2020-01-02T10:00:00Z")
    return Path(account.project)
