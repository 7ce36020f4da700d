"""A disk without room for the index is told in one line."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

ROOM = 4096


def with_little_room(account: Account, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-B", "-c", ENTRY, str(ROOT), *words],
        env=account.env,
        cwd=account.project,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM)),
    )


@pytest.mark.parametrize("words", [("index",), ("search", "gateway")])
def test_an_index_that_cannot_be_written_is_told(account: Account, shop: Path, words: tuple[str, ...]) -> None:
    ended = with_little_room(account, "code", *words)

    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: ")
    assert ended.stderr.count("\n") == 1


def test_a_prompt_is_shown_without_the_index_and_with_a_warning(account: Account, shop: Path) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"  # which shows a path alone
    ended = with_little_room(account, "enrich", "fix the bug in gateway.py", "--cwd", str(shop))

    assert ended.returncode == 0
    assert "shop/payment/gateway.py" in ended.stdout
    assert ended.stderr.startswith("warning: the files of ")
    assert ended.stderr.count("\n") == 1
