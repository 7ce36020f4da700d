"""What a snapshot holds, searched in its raw bytes: nothing that is not published ever was in the file."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from publishing import run
from simulator import Account

from enricher.interfaces.explanation import FACETS
from storage.db import database
from storage.erasure import copies
from storage.metrics import rollups
from storage.traces import search
from workbench.web.reading import reasons
from workbench.web.reading.reasons import Reasons
from workbench.web.snapshot import columns
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SESSION = "3f2a9c51-7b1e-4c1d-9a55-zanzi0bar001"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LOGIN, HOST, EMAIL, OTHER = "zoeyquark", "quarkbox", "zoey.q@quark.example", "someoneelse"
DELICATE = {
    "login": LOGIN, "host": HOST, "mail": EMAIL, "home of others": OTHER, "session": SESSION, "secret": SECRET,
    "name": "Zoey Quark", "folder": "zq-home",
}  # fmt: skip
PROMPTS = (
    f"fix the KeyError in /home/{OTHER}/shop/export.py that {LOGIN} saw on {HOST}, why does it crash?",
    f"write to {EMAIL} what /Users/{OTHER}/notes and C:\\Users\\{OTHER}\\notes say, and zoey quark reads",
    f"the log of session {SESSION} says token={SECRET}, what broke in the nightly export?",
    "thanks a lot!",
)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account whose prompts, through the real hook, name people, machines and folders."""
    account = Account(tmp_path_factory.mktemp("told") / "zq-home")
    account.write("gitconfig", f"[user]\nname = Zoey Quark\nemail = {EMAIL}\n")
    account.write("project/shop/export.py", "def nightly_export():\n    raise KeyError('sku')\n")
    earlier = {"type": "user", "message": {"role": "user", "content": " ".join(PROMPTS)}}
    before = account.write("before.jsonl", json.dumps(earlier) + "\n")
    for prompt in PROMPTS:
        account.ask(prompt, session_id=SESSION, transcript_path=str(before))
    account.env["ENRICHER_TEST"] = "1"
    account.ask("only a probe of the teststand")
    del account.env["ENRICHER_TEST"]
    with closing(database.connect(str(account.state))) as db:
        rollups.catch_up(db)
        search.catch_up(db)
    return account


@pytest.fixture(autouse=True)
def _who_publishes(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(account.home))
    monkeypatch.setenv("USER", LOGIN)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(account.home / "gitconfig"))
    monkeypatch.setattr(socket, "gethostname", lambda: HOST)


def written(account: Account, file: Path, text: str = columns.REDACTED) -> Path:
    database.connect(str(account.state)).close()
    snapshot.write(str(account.state), str(file), text=text)
    return file


def rows(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as db:
        return db.execute(query).fetchall()


@pytest.mark.parametrize("word", DELICATE.values(), ids=DELICATE)
@pytest.mark.parametrize("text", [columns.REDACTED, columns.HASH])
def test_nothing_in_the_file_names_people_machines_sessions_or_secrets(
    account: Account, tmp_path: Path, text: str, word: str
) -> None:
    content = written(account, tmp_path / "s.db", text).read_bytes().lower()

    assert word.lower().encode() not in content


def test_the_texts_that_are_left_out_do_stand_in_the_history(account: Account) -> None:
    with closing(database.connect(str(account.state))) as db:
        stored = " ".join(row[0] for row in db.execute("select prompt || session_id || cwd from traces"))
        inputs = " ".join(row[0] for row in db.execute("select inputs from traces"))

    assert {LOGIN, HOST, EMAIL, OTHER, SESSION} <= {word for word in DELICATE.values() if word in stored}
    assert {LOGIN, HOST, EMAIL, OTHER} <= {word for word in DELICATE.values() if word in inputs}


def test_a_redacted_snapshot_keeps_the_rest_of_a_prompt(account: Account, tmp_path: Path) -> None:
    told = rows(written(account, tmp_path / "s.db"), "select prompt from traces order by id")

    assert told[0] == ("fix the KeyError in ~/shop/export.py that [user] saw on [host], why does it crash?",)


def test_a_snapshot_without_texts_holds_no_word_of_a_prompt(account: Account, tmp_path: Path) -> None:
    nobody = Account(tmp_path / "nobody")
    empty = written(nobody, tmp_path / "empty.db", columns.HASH).read_bytes().lower()
    content = written(account, tmp_path / "s.db", columns.HASH).read_bytes().lower()
    said = {word.lower().encode() for prompt in PROMPTS for word in re.findall(r"[A-Za-z]{4,}", prompt)}

    assert len(said) > 20
    assert {word for word in said if word in content and word not in empty} == set()


def test_the_reasons_in_a_snapshot_are_anonymised(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Reasons(dict.fromkeys(FACETS, ""), left_out=(f"guardrail {LOGIN}: said on {HOST}",))
    monkeypatch.setattr(reasons, "computed", lambda *_: said)

    ((stored,), *_) = rows(written(account, tmp_path / "s.db"), "select sentences from explanations")

    assert Reasons.from_json(str(stored)).left_out == ("guardrail [user]: said on [host]",)


def test_an_interruption_while_reasons_are_stored_leaves_nothing(
    account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(reasons, "computed", lambda *_: asked.append("for reasons"))

    with pytest.raises(snapshot.InterruptedSnapshotError):
        snapshot.write(str(account.state), str(tmp_path / "s.db"), should_stop=lambda: bool(asked))

    assert list(tmp_path.iterdir()) == []


def test_evidence_still_points_at_the_words_that_it_was_found_in(account: Account, tmp_path: Path) -> None:
    query = """
        select traces.id, facet, name, prompt, evidence from trace_scores join traces on traces.id = trace_id
        where evidence <> '[]'
    """
    file = written(account, tmp_path / "s.db")
    with closing(database.connect(str(account.state))) as db:
        before = {row[:3]: row[3:] for row in map(tuple, db.execute(query))}
    pointed = [
        (signal, prompt[start:end], before[key])
        for *key_, prompt, evidence in rows(file, query)
        for key in [tuple(key_)]
        for signal, start, end, _weight in json.loads(evidence)
    ]

    assert len(pointed) > 5
    for signal, words, (prompt, evidence) in pointed:
        assert words in {prompt[start:end] for name, start, end, _weight in json.loads(evidence) if name == signal}


def test_sessions_keep_together_under_names_that_stay_the_same(account: Account, tmp_path: Path) -> None:
    query = "select distinct session_id from traces where prompt like 'fix%' or prompt like 'thanks%'"
    found = rows(written(account, tmp_path / "one.db"), query)

    assert len(found) == 1
    assert found == rows(written(account, tmp_path / "two.db"), query)


def test_sums_and_index_agree_with_the_rows(account: Account, tmp_path: Path) -> None:
    file = written(account, tmp_path / "s.db")

    assert rows(file, "select sum(prompts) from prompts_by_class") == [(len(PROMPTS),)]
    assert rows(file, "select count(*) from prompts_fts where prompts_fts match 'nightly'") == [(1,)]


def test_prompts_of_tests_are_not_published(account: Account, tmp_path: Path) -> None:
    content = written(account, tmp_path / "s.db", columns.FULL).read_bytes()

    assert b"teststand" not in content


def test_it_says_what_it_is(account: Account, tmp_path: Path) -> None:
    said = snapshot.read(str(written(account, tmp_path / "s.db", columns.HASH)))

    assert (said.text, said.prompts) == ("hash", len(PROMPTS))
    assert said.since <= said.until < said.at


def test_only_its_owner_can_read_it(account: Account, tmp_path: Path) -> None:
    assert written(account, tmp_path / "s.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"a letter", b""])
def test_a_file_that_is_no_snapshot_stays(account: Account, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "letter.db"
    file.write_bytes(content)

    with pytest.raises(snapshot.NotASnapshotError, match="name another file"):
        written(account, file)
    assert file.read_bytes() == content


def test_the_history_itself_is_not_written_over(account: Account) -> None:
    with pytest.raises(snapshot.NotASnapshotError):
        written(account, account.state / "enricher.db")


def test_an_interruption_leaves_nothing(account: Account, tmp_path: Path) -> None:
    with (
        patch.object(snapshot, "STEPS_BETWEEN_LOOKS", 100),
        pytest.raises(snapshot.InterruptedSnapshotError),
    ):
        snapshot.write(str(account.state), str(tmp_path / "s.db"), should_stop=lambda: True)

    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in " ".join(one.path for one in copies.listed_snapshots(str(account.state)))


def test_prompts_that_are_deleted_meanwhile_are_in_no_snapshot(tmp_path: Path) -> None:
    account = Account(tmp_path / "home")
    account.ask("why is the build red?")
    account.cli("trace", "list")

    def forget(step: str, _done: int, _total: int) -> None:
        if step == "sums":
            with closing(database.connect(str(account.state))) as db:
                db.execute("delete from traces")

    with pytest.raises(snapshot.SnapshotError, match="deleted meanwhile"):
        snapshot.write(str(account.state), str(tmp_path / "s.db"), advance=forget)
    assert not (tmp_path / "s.db").exists()


@pytest.fixture
def widened(tmp_path: Path) -> Iterator[Account]:
    """An account of a later version, whose table has a column that nobody thought of here."""
    account = Account(tmp_path / "later")
    with closing(database.connect(str(account.state))) as db:
        db.execute("alter table traces add column mood text not null default ''")
    yield account


def test_a_column_that_nobody_decided_on_is_not_published(widened: Account, tmp_path: Path) -> None:
    with pytest.raises(snapshot.SnapshotError, match="traces: it is not decided whether mood"):
        written(widened, tmp_path / "s.db")


def test_tables_of_others_are_not_in_it(account: Account, tmp_path: Path) -> None:
    found = {row[0] for row in rows(written(account, tmp_path / "s.db"), "select name from sqlite_master")}

    assert not {"memories", "sessions", "experiments", "memories_fts", "_sqlite_migrations"} & found
    assert {"traces", "published", "prompts_fts", "rule_coverage", "what_people_said"} <= found


@pytest.mark.parametrize("text", columns.TEXTS)
def test_forgetting_a_prompt_removes_the_snapshots_that_hold_it(tmp_path: Path, text: str) -> None:
    account = Account(tmp_path / "home")
    account.ask("why is the build red?")
    file = tmp_path / "s.db"
    assert run(account, "--snapshot", str(file), "--text", text, "--yes").returncode == 0

    account.cli("trace", "forget", account.trace()["id"], "--yes")

    assert not file.exists()


def test_no_note_of_a_snapshot_is_lost_where_several_are_written_at_once(tmp_path: Path) -> None:
    writing = """
import os, sys
from storage.erasure import copies
state, name = sys.argv[1:]
for number in range(60):
    copies.add_snapshot(state, f"/x/{name}-{number}.tmp")
    copies.add_snapshot(state, f"/x/{name}-{number}")
    copies.forget_snapshots(state, [f"/x/{name}-{number}.tmp"])
"""
    several = [subprocess.Popen([sys.executable, "-c", writing, str(tmp_path), name]) for name in "abc"]

    assert [one.wait(timeout=60) for one in several] == [0, 0, 0]
    assert len(copies.listed_snapshots(str(tmp_path))) == 180


def test_what_is_written_aside_is_looked_at_before_what_it_becomes(tmp_path: Path) -> None:
    for path in ("/x/s.db", "/x/.s.tmp", "/x/s.db"):
        copies.add_snapshot(str(tmp_path), path)

    assert [one.path for one in copies.listed_snapshots(str(tmp_path))] == ["/x/.s.tmp", "/x/s.db"]


def test_a_full_disk_is_said_of_the_file_that_was_to_be_written(account: Account, tmp_path: Path) -> None:
    with (
        patch.object(snapshot, "CREATE_PUBLISHED", "pragma main.max_page_count = 1"),
        patch.object(snapshot, "INSERT_PUBLISHED", "create table filled as select zeroblob(10000000)"),
        pytest.raises(snapshot.SnapshotError, match="disk is full"),
    ):
        written(account, tmp_path / "s.db")
    assert list(tmp_path.iterdir()) == []
