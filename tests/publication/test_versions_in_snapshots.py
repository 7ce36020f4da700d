"""The same pages over snapshots: what is told is told, and what was left out is said to be."""

from __future__ import annotations

import html
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from edited_history import QUESTION, SECOND, edited, up_to_date
from served_history import over

from enricher.rules.sources import packaged_texts
from workbench.web.reading import versions
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from datasette.app import Datasette
    from simulator import Account


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    account = edited(tmp_path_factory.mktemp("shown") / "home")
    file = account.write("config/instructions.md", SECOND)
    account.cli("replay", "--instructions", str(file), "--keep", "--where", "-type:chat")
    up_to_date(account)
    return account


@pytest.fixture(params=["redacted", "hash"])
async def shown(request: pytest.FixtureRequest, account: Account, tmp_path: Path) -> tuple[str, Datasette]:
    """How texts are told in a snapshot, and a Datasette over it."""
    path = f"{tmp_path}/shown.db"
    snapshot.write(str(account.state), path, text=request.param)
    served = await over(path, is_immutable=True)
    return request.param, served


async def words(served: Datasette, path: str) -> str:
    """Return what a page says, without its elements."""
    page = (await served.client.get(f"/-/enricher/{path}")).text
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


async def test_a_version_shows_its_edits_or_says_why_not(account: Account, shown: tuple[str, Datasette]) -> None:
    text, served = shown
    said = await words(served, f"instructions/{account.trace()['rules_hash'][:12]}")

    assert ('{phrase: "logs out", weight: 9}' in said) == (text == "redacted")
    assert ("This snapshot keeps no text" in said) == (text == "hash")
    assert "Both were compiled from the same files" not in said


async def test_a_replay_names_its_prompts_or_says_why_not(shown: tuple[str, Datasette]) -> None:
    text, served = shown
    [kept] = (await served.client.get("/-/enricher/compare.json")).json()["replays"]
    said = await words(served, f"compare/{kept['id']}")

    assert (QUESTION in said) == (text == "redacted")
    assert ("-type:chat" in said) == (text == "redacted")
    assert ("unknown: this snapshot holds no text" in said) == (text == "hash")
    assert "question → debug" in said


async def test_coverage_has_the_same_figures_whatever_is_told_of_texts(
    account: Account, shown: tuple[str, Datasette]
) -> None:
    _text, served = shown
    rows = (await served.client.get("/-/enricher/coverage.json")).json()["rows"]
    live = await over(f"{account.state}/enricher.db")
    told = (await live.client.get("/-/enricher/coverage.json")).json()["rows"]

    assert [(row["kind"], row["fired"]) for row in rows] == [(row["kind"], row["fired"]) for row in told]


async def test_every_rule_of_a_snapshot_has_a_name(shown: tuple[str, Datasette]) -> None:
    _text, served = shown
    page = (await served.client.get("/-/enricher/coverage")).text

    assert "<code></code>" not in page
    assert 'signal%3A%22%22"' not in page


def test_a_snapshot_does_not_tell_where_whoever_shows_it_has_installed_what_is_shipped() -> None:
    shipped = packaged_texts()
    assert shipped
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("create table published (text)")
        db.execute("create table instructions_sources (hash, position, layer, path, text)")
        paths = [one.path for one in versions.sources(db, shipped[0])]

    assert paths
    assert not [path for path in paths if "/" in path]
