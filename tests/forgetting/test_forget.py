"""``enricher trace forget``: which prompts go, what is asked first, and what happens when something is in the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import places
import pytest
from host_files import Claude
from simulator import ENTRY, ROOT, Account

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "please look at the quicksilver invoice of the customer in Lisbon"
OTHER = "why is the build red?"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the two prompts left, made once."""
    account = Account(tmp_path_factory.mktemp("settled") / "home", has_upkeep=True)
    account.compile()
    account.ask(PROMPT, session_id="s-quick")
    account.ask(OTHER, session_id="s-other")
    account.rest()
    places.index_the_prompts(account)
    return account.state


@pytest.fixture
def two(account: Account, settled: Path) -> Account:
    """One prompt that will be forgotten and one that will not, settled in the database."""
    shutil.copytree(settled, account.state)
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        db.execute("update traces set cwd = ?", (str(account.project),))
    return account


def prompts(account: Account) -> list[str]:
    return [trace["prompt"] for trace in account.traces()]


def forgotten(account: Account, *words: str) -> Any:
    return json.loads(account.cli("trace", "forget", *words, "--yes", "--json"))


def started(account: Account, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), "trace", "forget", *words, "--yes"]
    return subprocess.Popen(
        command, env=account.env, cwd=account.project, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_a_prompt_is_forgotten_by_the_beginning_of_its_id(two: Account) -> None:
    own = two.traces()[0]["id"]

    said = forgotten(two, own[:14])

    assert (said["traces"], said["ids"], prompts(two)) == (1, [own], [OTHER])
    assert places.holding(two.state, word=b"uicksilver") == places.holding(two.state, word=own.encode()) == []


def test_the_hash_of_a_forgotten_prompt_is_gone_too(two: Account) -> None:
    mac = two.traces()[0]["prompt_hmac"]

    forgotten(two, two.traces()[0]["id"])

    assert len(mac) == 32
    assert places.holding(two.state, word=mac.encode()) == []


@pytest.mark.upkeep
def test_a_session_is_forgotten_with_what_it_was_told(two: Account) -> None:
    two.ask("mend shop/export.py, it fails with KeyError 'sku', and nothing else", session_id="s-quick")
    two.rest()
    assert len(list((two.state / "sessions").iterdir())) >= 1

    said = forgotten(two, "--session", "s-quick")

    assert (said["traces"], prompts(two)) == (2, [OTHER])
    assert places.holding(two.state, word=b"s-quick") == []
    assert places.rows(two, "select * from sessions where session_id = 's-quick'") == []


@pytest.mark.upkeep
def test_a_later_prompt_that_quotes_a_forgotten_one_goes_with_it(two: Account) -> None:
    session = Claude()
    session.asks(PROMPT)
    session.answers("Which one?")
    file = session.save(two.home / "transcript.jsonl")
    two.ask("do the same for the other one", session_id="s-quick", transcript_path=str(file))
    two.rest()

    listed = two.cli("trace", "forget", two.traces()[0]["id"], "--dry-run")
    said = forgotten(two, two.traces()[0]["id"])

    assert "2 prompts to delete, 1 of them because they quote the others" in listed
    assert (said["traces"], prompts(two)) == (2, [OTHER])
    assert places.holding(two.state, word=b"uicksilver") == []


def test_an_unknown_id_deletes_nothing_not_even_the_known_one_beside_it(two: Account) -> None:
    own = two.traces()[0]["id"]

    said = two.cli("trace", "forget", own, "ffff", "--yes", exit_code=1)
    of_a_session = two.cli("trace", "forget", "--session", "nobody", "--yes", exit_code=1)

    assert ("no trace 'ffff'" in said, "no trace of session 'nobody'" in of_a_session) == (True, True)
    assert prompts(two) == [PROMPT, OTHER]


def test_without_a_terminal_and_without_yes_nothing_is_deleted(two: Account) -> None:
    said = two.cli("trace", "forget", "--match", "quicksilver", exit_code=1)

    assert "add --yes" in said
    assert prompts(two) == [PROMPT, OTHER]


def test_the_listing_names_ids_and_times_and_nothing_that_was_typed(two: Account) -> None:
    own = two.traces()[0]["id"]

    listed = two.cli("trace", "forget", "--match", "QuickSilver", "--dry-run")

    assert own in listed and "1 prompt to delete" in listed
    assert "quicksilver" not in listed.lower()
    assert prompts(two) == [PROMPT, OTHER]


@pytest.mark.parametrize(
    ("typed", "match"),
    [
        pytest.param("what is Größenwahn in this code?", "GRÖSSENWAHN".replace("SS", "ß"), id="letters beyond ASCII"),
        pytest.param('print "a\\b" for all rows please', 'A\\B"', id="what JSON escapes"),
        pytest.param("is it 100% of the_rows or less?", "0% OF THE_", id="what LIKE would take for a pattern"),
    ],
)
def test_a_text_is_found_whatever_its_letters(two: Account, typed: str, match: str) -> None:
    places.spool_a_prompt(two, typed)

    said = forgotten(two, "--match", match)

    assert (said["traces"], sorted(prompts(two))) == (1, sorted([PROMPT, OTHER]))


def test_the_text_may_be_given_on_stdin_so_that_no_shell_keeps_it(two: Account) -> None:
    two.cli("trace", "forget", "--match", "-", "--yes", given="quicksilver\n")

    assert prompts(two) == [OTHER]


@pytest.mark.upkeep
def test_a_memory_that_the_prompt_asked_for_stays_and_is_named(account: Account) -> None:
    account.compile()
    account.ask_patiently("remember: the invoices of Lisbon are due on the ninth of every month")
    account.rest()
    own = account.traces()[0]["id"]

    said = account.cli("trace", "forget", own, "--dry-run", "--json")

    (memory,) = json.loads(account.cli("memory", "list", "--json"))
    assert json.loads(said)["remarks"] == [f"1 memory still contains it: enricher memory forget {memory['id']}"]


def test_a_busy_database_is_waited_for(two: Account) -> None:
    with closing(sqlite3.connect(two.state / "enricher.db", isolation_level=None)) as busy:
        busy.execute("begin immediate")
        waiting = started(two, "--match", "quicksilver")
        time.sleep(1.0)
        was_waiting = waiting.poll() is None
        busy.execute("rollback")

    out, _err = waiting.communicate(timeout=60)
    assert (was_waiting, waiting.returncode, out.splitlines()[0]) == (True, 0, "deleted 1 prompt")


def test_who_reads_from_the_log_all_the_time_is_told_and_the_same_command_ends_it(two: Account) -> None:
    own = two.traces()[0]["id"]
    with closing(sqlite3.connect(two.state / "enricher.db", isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from traces").fetchone()
        said = two.cli("trace", "forget", own, "--yes", exit_code=1)
        is_noted = (two.state / "forgetting").exists()

    again = two.cli("trace", "forget", own, "--yes")

    assert ("close the workbench" in said, is_noted, again) == (True, True, "")
    assert places.holding(two.state, word=b"uicksilver") == []
    assert not (two.state / "forgetting").exists()


@pytest.mark.parametrize("after_s", [0.15, 0.25, 0.35, 0.5])
def test_what_was_killed_is_ended_by_the_same_command(two: Account, after_s: float) -> None:
    own = two.traces()[0]["id"]
    running = started(two, own)
    time.sleep(after_s)
    running.send_signal(signal.SIGKILL)
    running.communicate()

    two.cli("trace", "forget", own, "--yes", exit_code=1 if is_over(two, own) else 0)

    assert prompts(two) == [OTHER]
    assert places.holding(two.state, word=b"uicksilver") == []


def is_over(account: Account, own: str) -> bool:
    """Say whether the first command had ended all by itself: then the id is not known any more."""
    is_there = places.rows(account, "select 1 from traces where id = ?", own)
    return not is_there and not (account.state / "forgetting").exists()


@pytest.mark.upkeep
@pytest.mark.parametrize("is_deleted", [False, True], ids=["before the rows", "behind the rows"])
def test_what_was_interrupted_is_ended_behind_the_next_prompt(two: Account, *, is_deleted: bool) -> None:
    own = two.traces()[0]["id"]
    note = {"ids": [own], "sessions": [], "texts": [], "quoting": []}
    (two.state / "forgetting").write_text(json.dumps(note))
    if is_deleted:
        with closing(sqlite3.connect(two.state / "enricher.db")) as db, db:
            db.execute("pragma foreign_keys = on")
            query = "select 'delete', number, prompt from which_prompts_are_searchable where prompt like '%quick%'"
            db.execute(f"insert into prompts_fts (prompts_fts, rowid, prompt) {query}")
            db.execute("delete from traces where id = ?", (own,))

    two.ask("explain how sessions are stored")
    two.rest()

    assert not (two.state / "forgetting").exists()
    assert places.holding(two.state, word=b"uicksilver") == []
    assert PROMPT not in prompts(two)


@pytest.mark.upkeep
def test_prompts_go_on_while_one_is_forgotten(two: Account) -> None:
    running = started(two, "--match", "quicksilver")
    answers = [two.ask(f"why does test number {number} fail?") for number in range(6)]
    running.communicate(timeout=60)
    two.rest()

    assert all(answer.is_harmless() for answer in answers)
    assert (running.returncode, len(prompts(two)), PROMPT in prompts(two)) == (0, 7, False)


def ask_twice(account: Account) -> None:
    account.ask("mend shop/export.py, it fails with KeyError 'sku', and nothing else", session_id="s-long")
    account.ask("write tests for the parser of dates and nothing else", session_id="s-long")


def test_the_session_that_goes_on_forgets_only_what_that_prompt_was_told(tmp_path: Path) -> None:
    account = places.filled(tmp_path, ask_twice)
    first, second = account.traces()
    told = {row[0] for row in places.rows(account, "select ref from sessions where trace_id = ?", first["id"])} - {""}
    assert told

    forgotten(account, first["id"])

    (file,) = (account.state / "sessions").iterdir()
    left = {name.partition(":")[2] for line in file.read_text().split("\n") if line for name in json.loads(line)[1]}
    named = {row[0] for row in places.rows(account, "select ref from sessions where trace_id = ?", second["id"])} - {""}
    assert (left, told & left) == (named, set())


def test_a_case_stays_where_git_has_it_and_that_is_said(two: Account) -> None:
    own, kept = (trace["id"] for trace in two.traces())
    os.makedirs(two.project / ".git")
    for trace_id in (own, kept):
        two.cli("trace", "label", trace_id, "question", "--case")

    said = forgotten(two, own)

    cases = [json.loads(line)["id"] for line in (two.project / ".enricher" / "cases.jsonl").read_text().splitlines()]
    assert cases == [kept]
    assert any("what git has of it, git keeps" in remark for remark in said["remarks"])


@pytest.mark.upkeep
def test_a_folder_that_is_gone_is_named(account: Account) -> None:
    account.compile()
    account.ask(PROMPT, cwd=str(account.home / "removed"))
    account.rest()

    said = forgotten(account, "--match", "quicksilver")

    assert any(f"{account.home / 'removed'} is not there any more" in remark for remark in said["remarks"])
