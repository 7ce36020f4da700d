"""``enricher trace prune`` and the settings ``retention.*``: the oldest go first, and what nothing names any more."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import places
import pytest
from simulator import ENTRY, ROOT

from storage.db import database, maintenance
from storage.erasure import copies
from storage.traces import search

sys.path.insert(0, str(Path(__file__).parents[1]))
from big_history import write_history

if TYPE_CHECKING:
    from simulator import Account

TRACES = 3_000
OTHER_RULES = "# Guardrails\n\n## Guardrail: H5\n\n```yaml\ndisabled: true\n```\n"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some thousand prompts of the past, their words in the index."""
    state = tmp_path_factory.mktemp("history") / "state"
    write_history(state, TRACES)
    with closing(database.connect(str(state))) as db:
        search.catch_up(db)
    return state


@pytest.fixture
def past(account: Account, history: Path) -> Account:
    shutil.copytree(history, account.state)
    return account


def pruned(account: Account, *words: str) -> Any:
    return json.loads(account.cli("trace", "prune", *words, "--yes", "--json"))


def ids(account: Account) -> list[str]:
    return [row[0] for row in places.rows(account, "select id from traces order by id")]


def yesterday(account: Account) -> None:
    """Have the daily look fall due."""
    (account.state / "housekeeping").touch()
    os.utime(account.state / "housekeeping", (time.time() - 60,) * 2)


def test_the_newest_rows_stay_and_a_dry_run_says_how_many_would_go(past: Account) -> None:
    before = ids(past)

    said, done = pruned(past, "--rows", "500", "--dry-run"), pruned(past, "--rows", "500")

    assert (said["traces"], done["traces"], ids(past)) == (TRACES - 500, TRACES - 500, before[-500:])


def test_what_is_older_than_the_days_goes(past: Account) -> None:
    oldest_kept = ids(past)[1_000]
    days = (time.time() - int(oldest_kept[:14], 16) / 1e6) / 86_400

    pruned(past, "--days", str(days + 0.001))

    assert ids(past)[0] == oldest_kept


def test_the_file_shrinks_to_the_megabytes(past: Account) -> None:
    before = os.path.getsize(past.state / "enricher.db") / 1e6

    pruned(past, "--mb", f"{before * 0.6:.2f}")

    assert os.path.getsize(past.state / "enricher.db") / 1e6 < before * 0.62
    assert len(ids(past)) > 1_000


def test_megabytes_alone_never_take_the_newest_thousand(past: Account) -> None:
    before = ids(past)

    pruned(past, "--mb", "0.1")

    assert ids(past) == before[-1_000:]


def test_the_index_and_the_tables_fit_what_is_left(past: Account) -> None:
    pruned(past, "--rows", "1000")

    with closing(sqlite3.connect(past.state / "enricher.db")) as db:
        db.execute("insert into prompts_fts (prompts_fts, rank) values ('integrity-check', 1)")
        facts = [db.execute(f"pragma {name}").fetchall() for name in ("integrity_check", "foreign_key_check")]
        free = db.execute("pragma freelist_count").fetchone()[0]
    assert (facts, free) == ([[("ok",)], []], 0)


@pytest.mark.upkeep
def test_versions_that_no_trace_names_go_and_come_again_when_needed(account: Account) -> None:
    file = account.instruct(OTHER_RULES)
    account.compile()
    account.ask("why is the build red?")
    file.unlink()
    account.compile()
    account.ask("explain how sessions are stored")
    account.rest()
    old, new = (trace["rules_hash"] for trace in account.traces())
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        db.execute("update instructions_versions set first_seen_at = '2026-01-01T00:00:00.000Z'")
    for file in (account.state / "rules").iterdir():
        os.utime(file, (0, 0))

    pruned(account, "--rows", "1")
    left = {row[0] for row in places.rows(account, "select hash from instructions_versions")}

    assert (old in left, new in left, (account.state / "versions" / old).exists()) == (False, True, False)
    assert list((account.state / "rules").iterdir()) == []


@pytest.mark.upkeep
def test_a_version_that_prompts_get_today_stays_though_no_trace_names_it(account: Account) -> None:
    account.compile()
    account.ask("why is the build red?")
    account.rest()
    own = account.trace()
    with closing(sqlite3.connect(account.state / "enricher.db")) as db, db:
        db.execute("update instructions_versions set first_seen_at = '2026-01-01T00:00:00.000Z'")

    account.cli("trace", "forget", own["id"], "--yes")

    assert places.rows(account, "select hash from instructions_versions") == [(own["rules_hash"],)]


def test_by_age_go_databases_aside_and_snapshots_too(past: Account) -> None:
    old, new = past.state / "enricher.db.corrupt-20250101T000000Z", past.state / "enricher.db.corrupt-20261121T000000Z"
    for file in (old, new):
        file.write_bytes(b"damaged")
    os.utime(old, (0, 0))
    published = past.home / "snapshot.db"
    published.write_bytes(b"")
    copies.add_snapshot(str(past.state), str(published))
    noted = (past.state / "published").read_text()
    (past.state / "published").write_text(noted.replace("2026-", "2016-"))

    pruned(past, "--days", "400")

    assert (old.exists(), new.exists(), published.exists()) == (False, True, False)
    assert copies.listed_snapshots(str(past.state)) == []


@pytest.mark.slow
def test_a_snapshot_that_goes_back_further_goes_too_when_a_person_prunes(past: Account) -> None:
    whole, newer = past.home / "whole.db", past.home / "newer.db"
    past.cli("publish", "--snapshot", str(whole))
    first = pruned(past, "--rows", "3")
    past.cli("publish", "--snapshot", str(newer))

    pruned(past, "--rows", "3")

    assert (whole.exists(), newer.exists()) == (False, True)
    assert any(str(whole) in said for said in first["done"])


@pytest.mark.upkeep
def test_the_settings_prune_once_a_day_behind_a_prompt(past: Account) -> None:
    past.env["ENRICHER_RETENTION_ROWS"] = "800"
    past.compile()
    yesterday(past)

    past.ask("why is the build red?")
    past.rest()
    first = len(ids(past))
    past.ask("explain how sessions are stored")
    past.rest()

    assert (first, len(ids(past))) == (800, 801)


@pytest.mark.upkeep
def test_a_new_account_has_a_day_of_grace(past: Account) -> None:
    past.env["ENRICHER_RETENTION_ROWS"] = "10"
    past.compile()

    past.ask("why is the build red?")
    past.rest()

    assert len(ids(past)) == TRACES + 1
    assert (past.state / "housekeeping").stat().st_mtime > time.time() + 80_000


@pytest.mark.upkeep
def test_a_project_has_no_say_in_how_long_the_account_keeps_its_history(past: Account) -> None:
    os.makedirs(past.project / ".git")
    past.write("project/.enricher/config.toml", "[retention]\nrows = 10\n")
    past.cli("trust")
    past.compile()
    yesterday(past)

    past.ask("why is the build red?")
    past.rest()

    assert len(ids(past)) == TRACES + 1


@pytest.mark.slow
def test_what_is_killed_again_and_again_ends_as_if_it_had_not_been(past: Account) -> None:
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), "trace", "forget", "--match", "telescope", "--yes"]
    for after_s in (0.2, 0.3, 0.35, 0.4, 0.5, 0.6):
        with subprocess.Popen(command, env=past.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            time.sleep(after_s)
            running.kill()

    past.cli("trace", "forget", "--match", "telescope", "--yes")

    with closing(sqlite3.connect(past.state / "enricher.db")) as db:
        db.execute("insert into prompts_fts (prompts_fts, rank) values ('integrity-check', 1)")
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    assert places.holding(past.state, word=b"elescop") == []
    assert not (past.state / "forgetting").exists()


def test_the_upkeep_gives_many_freed_pages_back_at_once(past: Account) -> None:
    with closing(sqlite3.connect(past.state / "enricher.db")) as db, db:
        db.execute("delete from trace_stages")
    with closing(sqlite3.connect(past.state / "enricher.db")) as db:
        before = db.execute("pragma freelist_count").fetchone()[0]

    assert maintenance.maintain(str(past.state))

    with closing(sqlite3.connect(past.state / "enricher.db")) as db:
        after = db.execute("pragma freelist_count").fetchone()[0]
    assert before - after == min(before, maintenance.VACUUM_PAGES) > 100


@pytest.mark.upkeep
def test_settings_that_were_never_compiled_delete_nothing(past: Account) -> None:
    past.write("config/config.toml", "[retention]\nrows = 10\n")
    past.write("state/rules", "a file where the compiled rules would lie")
    yesterday(past)

    past.ask("why is the build red?")
    past.rest()

    assert len(ids(past)) == TRACES + 1
    assert any("never been compiled" in record["reason"] for record in past.log())


def test_without_any_bound_prune_says_what_to_set(account: Account) -> None:
    account.env["ENRICHER_RETENTION_MB"] = "0"

    assert "it is not set how much to keep" in account.cli("trace", "prune", exit_code=2)


def test_the_doctor_shows_sizes_bounds_and_since_when(past: Account) -> None:
    past.write("config/config.toml", "[retention]\ndays = 90\n")

    findings = json.loads(past.cli("doctor", "--json", exit_code=0 if is_well(past) else 1))["findings"]

    (detail,) = [one["detail"] for one in findings if one["subject"] == "history"]
    assert f"{TRACES:,} traces since 2025-08-1" in detail
    assert "kept: at most 90 days and 500 MB" in detail and "; database " in detail


def is_well(account: Account) -> bool:
    return "broken" not in account.cli("doctor", "--json", exit_code=0)


@pytest.mark.upkeep
def test_what_a_killed_process_left_half_written_goes_behind_a_later_prompt(account: Account) -> None:
    account.ask("why is the build red?")
    account.rest()
    left = places.killed_while_writing(account, "half a sentence")
    old, fresh = left[:-1], left[-1]
    for path in old:
        os.utime(path, (0, 0))

    account.ask("and why was it green?")
    account.rest()

    assert len(old) >= 3
    assert [path for path in old if path.exists()] == []
    assert fresh.exists()


def test_forgetting_a_memory_erases_what_is_half_written(account: Account) -> None:
    account.cli("memory", "add", f"prices of the {places.NEEDLE} are integer cents")
    (known,) = json.loads(account.cli("memory", "list", "--json"))
    left = places.killed_while_writing(account, f"half a sentence about the {places.NEEDLE}")

    account.cli("memory", "forget", known["id"], "--yes")

    assert [path for path in left if path.exists()] == []
    assert places.holding(account.state) == []
