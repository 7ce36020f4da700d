"""``enricher trace forget --match``: afterwards the word is in the bytes of no file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import places
import pytest
from places import NEEDLE

if TYPE_CHECKING:
    from simulator import Account

KEPT = ("traces", "trace_scores", "trace_stages", "trace_channels", "trace_items", "trace_guardrails", "labels")


def counted(account: Account) -> int:
    ((found,),) = places.rows(account, "select coalesce(sum(prompts), 0) from prompts_by_class")
    return int(found)


def unrelated(account: Account) -> list[dict[str, Any]]:
    return [trace for trace in account.traces() if trace["prompt"] in places.UNRELATED]


@pytest.fixture(scope="module")
def before(everywhere: Account) -> dict[str, Any]:
    """What lay where before anything was forgotten."""
    with closing(sqlite3.connect(everywhere.state / "enricher.db")) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from traces").fetchone()  # as long as it reads, the log stays
        everywhere.ask(f"and what is the {NEEDLE} for?")
        everywhere.rest()
        everywhere.cli("trace", "list")
        files = places.holding(everywhere.state, everywhere.project)
        log = places.CORE in (everywhere.state / "enricher.db-wal").read_bytes().lower()
    kept = places.rows(everywhere, "select before || after from replay_results")
    answers = places.rows(everywhere, "select count(*) from experiment_results")
    ((groups,),) = places.rows(everywhere, "select clusters from coverage_measured")
    return {
        "files": files, "is_in_wal": log, "kept": kept, "answers": answers, "groups": groups,
        "counted": counted(everywhere), "unrelated": unrelated(everywhere),
    }  # fmt: skip


@pytest.fixture(scope="module")
def said(everywhere: Account, before: dict[str, Any]) -> dict[str, Any]:
    """Forget it as a person does: what the project holds themselves, the rest by the command, the memory as told."""
    (everywhere.project / "shop" / f"{NEEDLE}_export.py").unlink()
    told = json.loads(everywhere.cli("trace", "forget", "--match", NEEDLE.upper(), "--yes", "--json"))
    (remark,) = [one for one in told["remarks"] if "memory forget" in one]
    everywhere.cli(*remark.partition("enricher ")[2].split(), "--yes")
    return told


@pytest.mark.slow
def test_the_word_was_in_every_place_that_there_is(before: dict[str, Any]) -> None:
    names = " ".join(before["files"])

    assert before["is_in_wal"] and before["kept"] and before["answers"] != [(0,)]
    places_of_it = (
        "enricher.db ",
        "corrupt-",
        "events.jsonl",
        "log",
        "refused/",
        "sessions/",
        "code/",
        "cases.jsonl",
        ".tmp",
    )
    assert [one for one in places_of_it if one not in names + " "] == []


def test_the_groups_that_coverage_made_of_prompts_had_the_word_too(before: dict[str, Any]) -> None:
    assert places.CORE.decode() in before["groups"]


def test_afterwards_only_what_is_left_is_counted(
    everywhere: Account, before: dict[str, Any], said: dict[str, Any]
) -> None:
    assert before["counted"] > counted(everywhere) == len(places.UNRELATED)
    assert places.rows(everywhere, "select count(*) from coverage_measured") == [(0,)]


def test_afterwards_no_byte_of_it_is_anywhere(everywhere: Account, said: dict[str, Any]) -> None:
    assert places.holding(everywhere.state, everywhere.project) == []
    assert not (everywhere.home / "snapshot.db").exists()


def test_what_was_done_beside_the_database_is_told(said: dict[str, Any]) -> None:
    told = " ".join(said["done"])

    assert said["traces"] >= 4
    for part in (
        "of the log",
        "events",
        "refused",
        "half-written",
        "corrupt-",
        "index of code",
        "snapshot",
        "golden case removed",
    ):
        assert part in told, (part, told)


def test_unrelated_prompts_are_what_they_were(
    everywhere: Account, before: dict[str, Any], said: dict[str, Any]
) -> None:
    assert unrelated(everywhere) == before["unrelated"]
    assert {trace["id"] for trace in everywhere.traces()} == {trace["id"] for trace in before["unrelated"]}


def test_what_is_left_still_replays_byte_for_byte(everywhere: Account, said: dict[str, Any]) -> None:
    outcome = json.loads(everywhere.cli("replay", "--verify", "--json"))

    assert (outcome["same"], outcome["differing"]) == (len(places.UNRELATED), [])


def test_the_index_of_words_fits_what_is_left(everywhere: Account, said: dict[str, Any]) -> None:
    with closing(sqlite3.connect(everywhere.state / "enricher.db")) as db:
        db.execute("insert into prompts_fts (prompts_fts, rank) values ('integrity-check', 1)")
        found = db.execute("select count(*) from prompts_fts where prompts_fts match 'basket'").fetchone()
        assert (found, db.execute("pragma integrity_check").fetchone()) == ((1,), ("ok",))
        assert db.execute("pragma foreign_key_check").fetchall() == []


def test_the_files_of_lines_can_still_be_read_line_by_line(everywhere: Account, said: dict[str, Any]) -> None:
    events = (everywhere.state / "events.jsonl").read_text().splitlines()

    assert all(isinstance(json.loads(line), dict) for line in events)
    assert all({"at", "stage", "reason"} <= record.keys() for record in everywhere.log())


def test_no_row_of_any_table_names_what_is_gone(everywhere: Account, said: dict[str, Any]) -> None:
    left = {trace["id"] for trace in everywhere.traces()}
    tables = (*KEPT[1:], "sessions", "trace_numbers", "replay_results")
    named = {row[0] for table in tables for row in places.rows(everywhere, f"select trace_id from {table}")}

    assert named <= left
    assert not {row[0] for row in places.rows(everywhere, "select prompt_id from experiment_results")} - left
