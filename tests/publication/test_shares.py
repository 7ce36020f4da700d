"""The share of silent prompts is the same wherever it is shown, and imported prompts are in it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from served_history import over
from simulator import Account

from storage.db import database
from workbench.web.server.upkeep import catch_up

if TYPE_CHECKING:
    from datasette.app import Datasette

HELPED = "why does the nightly export crash with KeyError: 'sku'?"
SILENT = ("yes, go on", "ok then", "the second one please")
SHADOWED = ("fine by me", HELPED + " again?")


def said(number: int, text: str) -> str:
    """Return a line of a conversation as Claude Code keeps it."""
    return json.dumps({
        "type": "user", "sessionId": "past", "cwd": "/p", "uuid": f"u{number}", "userType": "external",
        "timestamp": f"2026-0{number + 1}-01T12:00:00.000Z", "message": {"role": "user", "content": text},
    })  # fmt: skip


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account with one prompt of the hook that got something, two in shadow mode, and imported ones."""
    account = Account(tmp_path_factory.mktemp("shares") / "home")
    account.ask(HELPED)
    account.env["ENRICHER_SHADOW"] = "1"
    for text in SHADOWED:
        account.ask(text)
    del account.env["ENRICHER_SHADOW"]
    account.write(".claude/projects/-p/past.jsonl", "\n".join(said(*one) for one in enumerate(SILENT)) + "\n")
    account.cli("trace", "import", "--yes", "--host", "claude")
    with closing(database.connect(str(account.state))) as db:
        catch_up(db)
    return account


@pytest.fixture
async def served(account: Account) -> Datasette:
    return await over(f"{account.state}/enricher.db")


def truth(account: Account) -> tuple[int, int]:
    """Return how many prompts there was nothing to add to, and all that were judged."""
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        silent, judged = db.execute(
            "select sum(output_text = ''), count(*) from traces where status <> 'skipped' and origin <> 'test'"
        ).fetchone()
    return silent, judged


def test_most_of_this_history_was_imported_and_silent(account: Account) -> None:
    assert truth(account)[0] > len(SILENT)


def test_trace_stats_counts_them(account: Account) -> None:
    silent, judged = truth(account)
    stats = json.loads(account.cli("trace", "stats", "--json"))

    assert stats["prompts"] == 1 + len(SHADOWED)
    assert (stats["silent_share"], stats["judged"], stats["judged_imports"]) == (silent / judged, judged, len(SILENT))
    assert f"of {judged} judged, {len(SILENT)} of them imported" in account.cli("trace", "stats")


async def test_pages_and_their_data_count_them(account: Account, served: Datasette) -> None:
    silent, judged = truth(account)
    home = (await served.client.get("/-/enricher.json?days=0")).json()
    versions = (await served.client.get("/-/enricher/instructions.json")).json()["versions"]
    page = (await served.client.get("/-/enricher?days=0")).text

    assert home["silences"] == {"part": silent, "whole": judged}
    assert f"{silent} of {judged} prompts, imported ones included, got no enrichment" in page
    assert [one["silent_share"] for one in versions] == [silent / judged]


@pytest.mark.parametrize(
    ("question", "silent_column", "shown_column"),
    [
        ("which_projects_get_nothing?days=3000", "without_addition", ""),
        ("which_clients_are_in_use", "", "shown_percent"),
    ],
)
async def test_questions_count_them(
    account: Account, served: Datasette, question: str, silent_column: str, shown_column: str
) -> None:
    silent, judged = truth(account)
    path = question.replace("?", ".json?") if "?" in question else f"{question}.json?"
    rows = (await served.client.get(f"/history/{path}&_shape=objects")).json()["rows"]

    if silent_column:
        assert (sum(row[silent_column] for row in rows), sum(row["prompts"] for row in rows)) == (silent, judged)
    else:
        assert [row[shown_column] for row in rows] == [round(100 * (judged - silent) / judged, 1)]
