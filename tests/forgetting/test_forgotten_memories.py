"""A forgotten memory is gone from the bytes of the database at once, also while other programs read from it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import places
import pytest
from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator import Account

TEXT = "the quicksilver export is signed by the customer in Lisbon"
NEEDLE = b"uicksilver"


@pytest.fixture
def memory(account: Account) -> str:
    account.cli("memory", "add", "builds are hermetic")
    return str(json.loads(account.cli("memory", "add", TEXT, "--namespace", "decisions", "--json"))["id"])


@contextmanager
def published(account: Account) -> Iterator[None]:
    """Serve the live history, and look at a page, so that the server holds its connections."""
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), "publish", "--port", "0"]
    with subprocess.Popen(
        command, env=account.env, cwd=account.project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            with urllib.request.urlopen(server.stdout.readline().strip(), timeout=60) as page:
                assert page.status == 200
            yield
        finally:
            server.terminate()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("memory forget ID --yes", id="by its id"),
        pytest.param("memory forget --namespace decisions --yes", id="with its namespace"),
        pytest.param("memory review ID --drop --yes", id="at its review"),
    ],
)
def test_it_is_gone_at_once_while_the_history_is_published(account: Account, memory: str, command: str) -> None:
    with published(account):
        assert places.holding(account.state, word=NEEDLE) != []

        account.cli(*command.replace("ID", memory).split())

        assert places.holding(account.state, word=NEEDLE) == []


@pytest.mark.slow
def test_what_a_review_drops_key_by_key_is_gone_at_once(account: Account) -> None:
    account.cli("memory", "capture", TEXT)
    with published(account):
        account.cli("memory", "review", given="d\n")

        assert places.holding(account.state, word=NEEDLE) == []


@contextmanager
def reading(account: Account) -> Iterator[None]:
    """Read from the database for as long as it takes, which keeps the write-ahead log from being cut off."""
    with closing(sqlite3.connect(account.state / "enricher.db", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from memories").fetchone()
        yield


@pytest.mark.parametrize("again", ["memory forget ID --yes", "memory forget --namespace decisions --yes"])
def test_who_reads_all_the_time_is_told_and_the_same_command_ends_it(account: Account, memory: str, again: str) -> None:
    command = again.replace("ID", memory).split()
    with reading(account):
        said = account.cli(*command, exit_code=1)
    assert "close the workbench" in said
    assert TEXT not in account.cli("memory", "list")

    assert account.cli(*command) == ""

    assert places.holding(account.state, word=NEEDLE) == []
    assert not (account.state / "forgetting").exists()


@pytest.mark.upkeep
def test_what_a_reader_held_up_is_ended_behind_the_next_prompt(account: Account, memory: str) -> None:
    with reading(account):
        account.cli("memory", "forget", memory, "--yes", exit_code=1)

    account.ask("why is the build red?")
    account.rest()

    assert places.holding(account.state, word=NEEDLE) == []
    assert not (account.state / "forgetting").exists()


def test_a_deletion_that_was_begun_before_is_ended_with_the_next(account: Account, memory: str) -> None:
    other = json.loads(account.cli("memory", "add", "builds are red on Mondays", "--json"))["id"]
    (account.state / "forgetting").write_text(json.dumps({"ids": [], "memories": [memory]}))

    account.cli("memory", "forget", other, "--yes")

    assert places.holding(account.state, word=NEEDLE) == []
    assert not (account.state / "forgetting").exists()
