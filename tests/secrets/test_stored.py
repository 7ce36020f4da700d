"""What is taken in from files and from git goes through the screen as well."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator import Account

TOKEN = "ghp_" + "Zq7Wm9xTz4Rb8Yv1Lc6Nd3Pf5Gh0Kj2Bs1Aw"
PASSWORD = "Tangerine" + "4471"


def in_bytes(account: Account, *words: str) -> list[str]:
    return sorted(
        f"{path.name}: {word}"
        for path in account.state.rglob("*")
        if path.is_file()
        for word in words
        if word.lower().encode() in path.read_bytes().lower()
    )


def test_the_code_index_holds_no_secret_of_a_file_or_a_commit(account: Account) -> None:
    account.write(
        "project/app/client.py", f'TOKEN = "{TOKEN}"\npassword = "{PASSWORD}"\n\ndef connect_to_ledger():\n    ...\n'
    )
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@x.org", "commit", "-qm", f"Use {TOKEN} for the ledger"],
    ):
        subprocess.run(["git", *words], cwd=account.project, check=True)

    account.cli("code", "index")

    assert in_bytes(account, TOKEN[4:], PASSWORD) == []
    assert in_bytes(account, "connecttoledger") != []
    assert "client.py" in account.cli("code", "search", "connect_to_ledger")


def test_an_imported_memory_holds_no_secret_in_any_field(account: Account) -> None:
    note = (
        f"---\ntags: [{TOKEN}]\ntype: {TOKEN}\n---\n# Ledger {TOKEN}\n\nThe password is {PASSWORD} because of audits.\n"
    )
    account.write("project/docs/adr/1.md", note)
    row = {"id": TOKEN, "content": f"We keep {TOKEN} out of logs", "tags": [TOKEN], "namespace": TOKEN, "source": TOKEN}
    lines = account.write("memories.jsonl", json.dumps(row) + "\n")

    account.cli("memory", "import", str(account.project / "docs/adr"))
    account.cli("memory", "import", str(lines))

    assert in_bytes(account, TOKEN[4:], PASSWORD) == []
    assert "out of logs" in account.cli("memory", "list", "--json")
