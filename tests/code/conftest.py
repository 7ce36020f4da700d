"""The shop as a project of the account, with a history."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import SHOP, git, write_all

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture(scope="session")
def committed_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop in a repository, which each test copies."""
    root = tmp_path_factory.mktemp("shop")
    write_all(root, SHOP)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Start the shop", at="2020-01-02T10:00:00Z")
    return root


@pytest.fixture
def shop(account: Account, committed_shop: Path) -> Path:
    """The account's project, filled and committed."""
    shutil.copytree(committed_shop, account.project, symlinks=True, dirs_exist_ok=True)
    return Path(account.project)
