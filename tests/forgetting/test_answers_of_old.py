"""Histories of earlier versions, which hold the agent's whole last answer with each trace."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import places
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from host_files import Claude

from enricher.context.channels.session import IN_CONTEXT

if TYPE_CHECKING:
    from simulator import Account

    from enricher.interfaces.cli.trace.trace import Row

FACT = "Prices of orders are stored as integer cents because floats lost money in the May export."
ANSWERS = {
    "yes, option 2": f"The {places.NEEDLE} allows:\n1. Cache the {places.NEEDLE}\n2. Write a regression test first",
    "do the same for the other one": f"The {places.NEEDLE} has it. Should the signup page get it as well?",
    "and now the other file": f"The {places.NEEDLE} is in. `app/mailer.py` still waits for it.",
    "why are the prices of orders stored as integer cents and not as floats?": f"The {places.NEEDLE} says: {FACT}",
    "yes": f"It is the {places.NEEDLE}.",
}


@pytest.fixture(scope="module")
def old_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an earlier version left: the same texts, and the whole answer in place of what the prompt refers to."""
    account = places.filled(tmp_path_factory.mktemp("old"), _type_the_prompts)
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        for trace in account.traces():
            old = json.dumps(_as_recorded_before(trace), separators=(",", ":"))
            db.execute("update traces set inputs = ? where id = ?", (old, trace["id"]))
    return account.state


def _type_the_prompts(account: Account) -> None:
    account.cli("memory", "add", FACT, "--namespace", "decisions")
    for number, (prompt, answer) in enumerate(ANSWERS.items()):
        session = Claude()
        session.asks("give the login page the new layout")
        session.answers(answer)
        said = session.save(account.home / f"{number}.jsonl")
        assert account.ask(prompt, transcript_path=str(said)).is_harmless()


def _as_recorded_before(trace: Row) -> Row:
    inputs = trace["inputs"]
    known = inputs["conversation"]
    inputs["conversation"] = {"prompts": known["prompts"], "answer": ANSWERS[trace["prompt"]]}
    for channel in inputs["channels"]:
        for candidate in channel["candidates"]:
            was_unknown = candidate[6].startswith("the conversation has it") and candidate[6] != IN_CONTEXT
            candidate[6] = "" if was_unknown else candidate[6]
    return inputs


@pytest.fixture
def old(account: Account, old_state: Path) -> Account:
    shutil.copytree(old_state, account.state)
    return account


def verified(account: Account) -> tuple[int, list[str]]:
    outcome = json.loads(account.cli("replay", "--verify", "--json"))
    return outcome["same"], outcome["differing"]


def test_what_earlier_versions_recorded_is_replayed_byte_for_byte(old: Account) -> None:
    assert "zanzibarium" in json.dumps([trace["inputs"] for trace in old.traces()])
    assert verified(old) == (len(ANSWERS), [])


@pytest.mark.upkeep
def test_the_daily_housekeeping_takes_the_answers_out_and_keeps_what_a_replay_needs(old: Account) -> None:
    texts = [trace["output_text"] for trace in old.traces()]
    (old.state / "housekeeping").touch()
    os.utime(old.state / "housekeeping", (time.time() - 60,) * 2)
    old.ask("explain how sessions are stored")
    old.rest()

    assert places.holding(old.state) == []
    assert verified(old) == (len(ANSWERS) + 1, [])
    assert [trace["output_text"] for trace in old.traces()][:-1] == texts
    assert [trace["inputs"]["conversation"].get("option") for trace in old.traces()[:1]] == [
        "Write a regression test first"
    ]


def test_a_merged_history_comes_without_them_and_is_the_same_as_one_that_still_has_them(
    account: Account, old_state: Path
) -> None:
    merge = ("trace", "merge", "--json", str(old_state / "enricher.db"))
    said = [json.loads(account.cli(*merge))[0] for _ in ("first", "again")]

    assert [(one["traces"], one["same"], one["conflicts"]) for one in said] == [(5, 0, []), (0, 5, [])]
    assert places.holding(account.state) == []
    assert verified(account) == (len(ANSWERS), [])
