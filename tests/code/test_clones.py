"""Clones of one project share an index, and are told only what they hold themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from invented_shop import SHOP, git, write_all

if TYPE_CHECKING:
    from simulator import Account

QUESTION = "what changed in the payment gateway since yesterday?"


def test_a_commit_is_told_in_the_clone_that_has_it_and_its_worktrees(account: Account, shop: Path) -> None:
    clone, worktree = account.home / "clone", account.home / "worktree"
    for folder in (shop, clone):
        folder.mkdir(exist_ok=True)
        git(folder, "init", "-q")
        git(folder, "remote", "add", "origin", "git@example.org:team/shop.git")
    write_all(clone, SHOP)
    (shop / "shop/payment/gateway.py").write_text("def capture(amount):\n    return round(amount)\n")
    git(shop, "commit", "-qam", "Round the capture of the payment gateway")
    git(shop, "worktree", "add", "-q", str(worktree))
    account.cli("code", "index")

    told = {
        folder.name: "Round the capture" in account.ask(QUESTION, cwd=str(folder)).context
        for folder in (worktree, shop, clone)
    }

    assert told == {"worktree": True, shop.name: True, "clone": False}


def test_an_index_below_a_folder_of_any_name_is_kept(account: Account, shop: Path) -> None:
    account.env["ENRICHER_HOME"] = f"{account.home}/a #1?%41 folder"
    account.cli("code", "index")

    report = json.loads(account.cli("code", "index", "--json"))

    assert (report["state"], report["problems"]) == ("fresh", [])
    assert "12 files of" in account.cli("doctor")
    assert "shop/auth/session.py" in account.ask("why is save_session slow?").context


def test_a_project_in_a_folder_whose_name_is_no_text_is_indexed(account: Account) -> None:
    project = Path(os.fsdecode(bytes(account.home) + b"/caf\xe9"))
    write_all(project, SHOP)
    git(project, "init", "-q")

    account.cli("code", "index", cwd=project)

    assert "shop/payment/gateway.py" in account.cli("code", "search", "payment gateway", cwd=project)


@pytest.mark.upkeep
def test_an_index_that_is_found_damaged_is_built_anew(account: Account, shop: Path) -> None:
    write_all(shop, {f"shop/part{number}.py": f"def gateway_part_{number}(): pass\n" * 40 for number in range(60)})
    account.cli("code", "index")
    (index,) = (account.state / "code").glob("*.db")
    content = index.read_bytes()
    index.write_bytes(content[:8192] + bytes(byte ^ 0x5A for byte in content[8192:]))

    assert account.ask("why is the capture in gateway.py slow?").is_harmless()
    account.rest()

    assert "shop/auth/session.py" in account.ask("why is save_session slow?").context
    assert [record["reason"][:19] for record in account.log()] == ["code: DatabaseError"]
