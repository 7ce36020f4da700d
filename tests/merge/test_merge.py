"""``enricher trace merge``: two people's real traces in one database."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from simulator import ENTRY, ROOT, Account

from storage.db.database import connect
from storage.db.merge import MergeError, merge
from storage.traces import SCHEMA_VERSION as SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OURS = ["why is the build red?", "add a flag for dry runs to shop/cart.py"]
THEIRS = ["the login test fails with KeyError 'user'", "explain how sessions are stored", "rename Cart to Basket"]
BESIDE = ("traces", "trace_scores", "trace_stages", "trace_channels", "trace_items", "trace_guardrails", "labels")
OWN_RULE = "# Guardrails\n\n## Guardrail: H5\n\n```yaml\ndisabled: true\n```\n"


@pytest.fixture(scope="module")
def two_states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What two people's hooks have left, the second one's with a rule of their own."""
    ours, theirs = (Account(tmp_path_factory.mktemp(name) / "home") for name in ("ours", "theirs"))
    theirs.instruct(OWN_RULE)
    for account, prompts in ((ours, OURS), (theirs, THEIRS)):
        account.compile()
        for prompt in prompts:
            account.ask(prompt)
        settled(account)
    return {"ours": ours.state, "theirs": theirs.state}


@pytest.fixture
def colleague(tmp_path: Path, two_states: dict[str, Path]) -> Account:
    other = Account(tmp_path / "colleague")
    shutil.copytree(two_states["theirs"], other.state)
    return other


@pytest.fixture
def ours(account: Account, two_states: dict[str, Path]) -> Account:
    shutil.copytree(two_states["ours"], account.state)
    return account


def settled(account: Account) -> Account:
    """Have everything in the database that its prompts left."""
    account.cli("trace", "list")
    return account


def database(account: Account) -> str:
    return str(account.state / "enricher.db")


def rows(account: Account, *tables: str) -> list[list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(database(account))) as db:
        return [sorted(db.execute(f"select * from {table}").fetchall(), key=repr) for table in tables]


def change(account: Account, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(database(account))) as db, db:
        db.execute(statement, values)


def merged(account: Account, *words: str, exit_code: int = 0) -> Any:
    return json.loads(account.cli("trace", "merge", "--json", *words, exit_code=exit_code))


def test_two_people_s_traces_replay_byte_for_byte_in_one_database(ours: Account, colleague: Account) -> None:
    (said,) = merged(ours, database(colleague))

    outcome = json.loads(ours.cli("replay", "--verify", "--json"))
    assert (said["traces"], said["same"], said["conflicts"]) == (3, 0, [])
    assert (outcome["same"], outcome["differing"]) == (5, [])
    assert sorted(trace["prompt"] for trace in ours.traces()) == sorted(OURS + THEIRS)


def test_what_was_weighed_for_a_trace_comes_with_it_and_so_do_the_rules(ours: Account, colleague: Account) -> None:
    ours.cli("trace", "merge", database(colleague))

    there = {trace["id"]: trace for trace in ours.traces()}
    assert all(there[trace["id"]] == trace for trace in colleague.traces())
    for table in ("instructions_versions", "instructions_sources"):
        (theirs,), (pooled,) = rows(colleague, table), rows(ours, table)
        assert {row[:1] for row in theirs} <= {row[:1] for row in pooled}, table
    assert len({trace["rules_hash"] for trace in there.values()}) == 2
    assert any(OWN_RULE in str(row[-1]) for row in rows(ours, "instructions_sources")[0])


def test_merging_twice_changes_nothing(ours: Account, colleague: Account) -> None:
    colleague.cli("trace", "label", colleague.trace()["id"], "ok")
    ours.cli("trace", "merge", database(colleague))
    before = rows(ours, *BESIDE)
    (said,) = merged(ours, database(colleague))

    assert (said["traces"], said["same"], said["labels"], said["versions"]) == (0, 3, 0, 0)
    assert rows(ours, *BESIDE) == before


def test_the_other_database_is_only_read(ours: Account, colleague: Account) -> None:
    before = (colleague.state / "enricher.db").read_bytes()
    ours.cli("trace", "merge", database(colleague))

    assert (colleague.state / "enricher.db").read_bytes() == before


def test_a_snapshot_in_a_folder_that_nobody_may_write_to_is_taken(
    ours: Account, colleague: Account, unprivileged: tuple[str, ...]
) -> None:
    shelf = colleague.home / "shelf"
    shelf.mkdir()
    shutil.copy(database(colleague), shelf / "enricher.db")
    shelf.chmod(0o555)
    command = [
        *unprivileged,
        sys.executable,
        "-I",
        "-c",
        ENTRY,
        str(ROOT),
        "trace",
        "merge",
        str(shelf / "enricher.db"),
    ]
    done = subprocess.run(command, env=ours.env, capture_output=True, text=True, check=False)

    assert (done.returncode, "3 traces" in done.stdout) == (0, True), done.stderr
    assert [file.name for file in shelf.iterdir()] == ["enricher.db"]


def test_a_dry_run_counts_and_writes_nothing(ours: Account, colleague: Account) -> None:
    (said,) = merged(ours, "--dry-run", database(colleague))

    assert (said["traces"], said["dry_run"], len(ours.traces())) == (3, True, 2)


def test_several_databases_are_taken_in_one_go(ours: Account, colleague: Account, tmp_path: Path) -> None:
    third = Account(tmp_path / "third")
    third.ask("where are prices rounded?")
    settled(third)
    said = merged(ours, database(colleague), database(third))

    assert [one["traces"] for one in said] == [3, 1]


def test_of_the_labels_of_both_the_newest_counts(ours: Account, colleague: Account) -> None:
    ours.cli("trace", "merge", database(colleague))
    known = colleague.trace()["id"]
    colleague.cli("trace", "label", known, "wrong")
    ours.cli("trace", "label", known, "ok")
    (said,) = merged(ours, database(colleague))

    assert said["labels"] == 1
    assert next(trace for trace in ours.traces() if trace["id"] == known)["label"]["verdict"] == "ok"


def test_another_trace_under_the_same_id_is_told_and_ours_is_kept(ours: Account, colleague: Account) -> None:
    ours.cli("trace", "merge", database(colleague))
    known = colleague.trace()["id"]
    change(colleague, "update traces set prompt = 'something else' where id = ?", known)
    change(colleague, "insert into labels values (null, ?, '2026-01-01T00:00:00.000Z', 'ok', '')", known)
    (said,) = merged(ours, database(colleague), exit_code=1)

    assert (said["conflicts"], said["same"], said["labels"]) == ([known], 2, 0)
    assert sorted(trace["prompt"] for trace in ours.traces()) == sorted(OURS + THEIRS)


def test_memories_and_sessions_stay_with_the_person(ours: Account, colleague: Account) -> None:
    colleague.cli("memory", "add", "prices are integer cents", "--namespace", "decisions")
    ours.cli("trace", "list")
    before = rows(ours, "memories", "sessions")
    ours.cli("trace", "merge", database(colleague))

    assert rows(ours, "memories", "sessions") == before


def test_rows_that_keep_no_text_stay_as_they_are(ours: Account, tmp_path: Path) -> None:
    silent = Account(tmp_path / "silent")
    silent.write("config/config.toml", 'log = "hash"\n')
    silent.compile()
    silent.ask(THEIRS[0])
    settled(silent)
    ours.cli("trace", "merge", database(silent))

    kept = next(trace for trace in ours.traces() if trace["prompt"] == "")
    assert (kept["prompt_hmac"], kept["inputs"]) == (silent.trace()["prompt_hmac"], {})
    assert json.loads(ours.cli("replay", "--verify", "--json"))["differing"] == []


def test_an_older_schema_is_brought_up_in_a_copy(
    ours: Account, colleague: Account, next_schema: Callable[..., None]
) -> None:
    settled(colleague)
    before = (colleague.state / "enricher.db").read_bytes()
    next_schema("update traces set approach = 'made up'")
    with closing(connect(str(ours.state))) as db:
        done = merge(db, database(colleague), state_dir=str(ours.state))
        approaches = [row[0] for row in db.execute("select approach from traces")]

    assert (done.traces, approaches) == (3, ["made up"] * 5)
    assert (colleague.state / "enricher.db").read_bytes() == before
    assert not list(ours.state.glob("merge-*"))


def test_a_database_that_cannot_be_brought_up_is_refused(
    ours: Account, tmp_path: Path, next_schema: Callable[..., None]
) -> None:
    _database(tmp_path / "other.db", "create table traces (id)", version=SCHEMA)
    next_schema("update traces set approach = 'made up'")
    with closing(connect(str(ours.state))) as db, pytest.raises(MergeError, match="its copy cannot be brought"):
        merge(db, str(tmp_path / "other.db"), state_dir=str(ours.state))

    assert not list(ours.state.glob("merge-*"))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda file: None, "there is no such file", id="missing"),
        pytest.param(lambda file: file.write_bytes(b"no database at all" * 99), "not a database", id="text"),
        pytest.param(lambda file: _database(file, "create table x (y)"), "no database of traces", id="another"),
        pytest.param(lambda file: _database(file, "create table traces (id)", version=999), "upgrade it", id="newer"),
        pytest.param(lambda file: _database(file, "create table traces (id)", version=9), "ask for one", id="too old"),
        pytest.param(lambda file: _database(file, "create table traces (id)", version=SCHEMA), "no such", id="half"),
    ],
)
def test_what_is_no_database_of_traces_is_refused_by_name(ours: Account, tmp_path: Path, make: Any, said: str) -> None:
    file = tmp_path / "other.db"
    make(file)
    refusal = ours.cli("trace", "merge", str(file), exit_code=1)

    assert str(file) in refusal and said in refusal
    assert len(ours.traces()) == 2


def _database(file: Path, statement: str, *, version: int = 0) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute(statement)
        db.execute(f"pragma user_version = {version}")


def test_a_database_is_not_merged_into_itself(ours: Account) -> None:
    ours.cli("trace", "list")

    assert "name another" in ours.cli("trace", "merge", database(ours), exit_code=1)


def test_rows_of_another_form_are_left_out_and_the_rest_is_added(ours: Account, colleague: Account) -> None:
    known = sorted(trace["id"] for trace in colleague.traces())
    change(colleague, "update traces set prompt = ? where id = ?", b"\0bytes", known[0])
    with closing(sqlite3.connect(database(colleague))) as db, db:
        db.execute("pragma ignore_check_constraints = on")
        db.execute("update traces set status = 'odd' where id = ?", (known[1],))
    (said,) = merged(ours, database(colleague), exit_code=1)

    assert (said["traces"], said["refused"]) == (1, 2)
    assert json.loads(ours.cli("replay", "--verify", "--json"))["differing"] == []
