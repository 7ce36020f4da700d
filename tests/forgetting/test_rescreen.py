"""``enricher trace rescreen``: a secret that an earlier screen let pass is afterwards in the bytes of no file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import places
import pytest
from places import NEEDLE

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

SECRET = "hvs." + "CAESIJ7kq2Wm9xTz4Rb8Yv1Lc6Nd3Pf5Gh0"
CORE = SECRET[8:30].lower().encode()
INNER = "('instructions_versions', 'instructions_sources')"


def plant(account: Account) -> None:
    """Write the secret where the word stands: in every row, in every file of lines, in the copies."""
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        tables = db.execute(
            f"select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
            f" and name not like '%_fts_%' and name not like 'sqlite_%' and name not in {INNER}"
        ).fetchall()
        for (table,) in tables:
            for _, column, kind, _, _, key in db.execute(f"pragma table_info({table})").fetchall():
                if kind.lower() == "text" and not (key and table != "sessions") and column != "session_id":
                    db.execute(f"update {table} set {column} = replace({column}, '{NEEDLE}', '{SECRET}')")
        for index in ("prompts_fts", "memories_fts"):
            db.execute(f"insert into {index} ({index}) values ('rebuild')")
    for path in lines_of(account):
        path.write_bytes(path.read_bytes().replace(NEEDLE.encode(), SECRET.encode()))
    places.put_aside(account)
    places.publish(account)
    (account.state / "screened").unlink()


def lines_of(account: Account) -> list[Path]:
    refused = list((account.state / "spool" / "refused").iterdir())
    return [account.state / "log", account.state / "events.jsonl", *account.project.rglob("cases.jsonl"), *refused]


@pytest.fixture(scope="module")
def old_history(everywhere: Account) -> Account:
    (everywhere.home / "snapshot.db").unlink()
    for aside in everywhere.state.glob("enricher.db.corrupt-*"):
        aside.unlink()
    plant(everywhere)
    return everywhere


@pytest.fixture(scope="module")
def before(old_history: Account) -> dict[str, Any]:
    return {
        "files": places.holding(old_history.state, old_history.project, word=CORE),
        "doctor": old_history.cli("doctor", "--json"),
        "dry": json.loads(old_history.cli("trace", "rescreen", "--dry-run", "--json")),
        "still": places.holding(old_history.state, old_history.project, word=CORE),
        "ids": {trace["id"] for trace in old_history.traces()},
    }


@pytest.fixture(scope="module")
def said(old_history: Account, before: dict[str, Any]) -> dict[str, Any]:
    return json.loads(old_history.cli("trace", "rescreen", "--yes", "--json"))


@pytest.mark.slow
def test_the_doctor_offers_it_and_a_dry_run_changes_nothing(before: dict[str, Any]) -> None:
    assert "enricher trace rescreen" in before["doctor"]
    assert before["dry"]["rows"]["traces"] >= 4 and before["dry"]["rows"]["memories"] >= 1
    assert before["still"] == before["files"] != []


def test_the_secret_was_in_every_place_that_there_is(before: dict[str, Any]) -> None:
    names = " ".join(before["files"])

    expected = ("enricher.db ", "corrupt-", "events.jsonl", "log", "refused/", "cases.jsonl")
    assert [one for one in expected if one not in names + " "] == []


def test_afterwards_no_byte_of_it_is_anywhere(
    old_history: Account, before: dict[str, Any], said: dict[str, Any]
) -> None:
    assert said["rows"] == before["dry"]["rows"]
    assert places.holding(old_history.state, old_history.project, word=CORE) == []
    assert not (old_history.home / "snapshot.db").exists()


def test_no_trace_is_lost_and_each_says_what_was_taken_out(
    old_history: Account, before: dict[str, Any], said: dict[str, Any]
) -> None:
    traces = old_history.traces()

    assert {trace["id"] for trace in traces} == before["ids"]
    assert sum("[redacted:vault_token]" in trace["prompt"] for trace in traces) >= 3


def test_the_indices_fit_what_is_left(old_history: Account, said: dict[str, Any]) -> None:
    with closing(sqlite3.connect(old_history.state / "enricher.db")) as db:
        for index in ("prompts_fts", "memories_fts"):
            db.execute(f"insert into {index} ({index}) values ('integrity-check')")
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)


def test_the_history_still_replays_byte_for_byte(old_history: Account, said: dict[str, Any]) -> None:
    outcome = json.loads(old_history.cli("replay", "--verify", "--json"))

    assert outcome["differing"] == []


def test_the_doctor_is_content_and_a_second_time_finds_nothing(old_history: Account, said: dict[str, Any]) -> None:
    again = json.loads(old_history.cli("trace", "rescreen", "--yes", "--json"))

    assert again["rows"] == {} and again["done"] == []
    assert "trace rescreen" not in old_history.cli("doctor", "--json")
