"""The shop as a project of the account, with a history."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import SHOP, git, write_all
from simulator import Account

if TYPE_CHECKING:
    from collections.abc import Callable


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


@pytest.fixture(scope="module")
def asked_account(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Account]:
    """Return what makes an account in a copy of a project, for all the tests of a file that only ask."""

    def make(project: Path) -> Account:
        account = Account(tmp_path_factory.mktemp("asked") / "home")
        shutil.copytree(project, account.project, symlinks=True, dirs_exist_ok=True)
        return account

    return make


@pytest.fixture(scope="module")
def asked_shop(asked_account: Callable[[Path], Account], committed_shop: Path) -> Account:
    """An account whose project is the shop, for all the tests of a file that only ask."""
    return asked_account(committed_shop)
