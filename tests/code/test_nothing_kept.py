"""Where the log is to keep no text, the names of files are text, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account


@pytest.mark.upkeep
@pytest.mark.parametrize("level", ["hash", "off"])
def test_a_file_is_told_once_a_session_and_its_name_is_not_kept(account: Account, shop: Path, level: str) -> None:
    account.write("config/config.toml", f'log = "{level}"\n')
    account.cli("code", "index")
    account.compile()

    first, second = (
        account.ask(f"why is the {word} in save_session slow?", session_id="s") for word in ("fee", "refund")
    )
    account.rest()

    assert "shop/auth/session.py" in first.context
    assert "shop/auth/session.py" not in second.context
    kept = [file for file in account.state.rglob("*") if file.is_file() and file.parent.name != "code"]
    assert any(file.parent.name == "sessions" for file in kept)
    assert not [file for file in kept if b"save_session" in file.read_bytes()]
