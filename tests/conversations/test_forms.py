"""The forms in which conversations are kept beside transcripts: chats of one piece, JSONL, and the logs of llm."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from kept import FAILURE, FIRST, LONG_AGO, OTHER, PLACES, jsonl, listed, prompts, save, told

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account


def test_gemini_s_folder_stands_beside_its_chats(account: Account) -> None:
    save(told("gemini"), account, PLACES["gemini"])
    account.write(".gemini/tmp/shop/.project_root", f"{account.project}\n")
    account.cli("trace", "import", "--yes")

    assert account.trace()["cwd"] == str(account.project)


def test_a_gemini_chat_of_the_first_form_is_read(account: Account) -> None:
    messages = [{"id": "1", "type": "user", "timestamp": LONG_AGO, "content": "why is it slow?"},
                {"id": "2", "type": "gemini", "timestamp": LONG_AGO, "content": "It sorts twice."}]  # fmt: skip
    chat = {"sessionId": "g-9", "projectHash": "h", "messages": messages}
    account.write(".gemini/tmp/h/chats/session-2025.json", json.dumps(chat))
    account.cli("trace", "import", "--yes")

    assert (account.trace()["session_id"], account.trace()["prompt"]) == ("g-9", "why is it slow?")


def test_jsonl_lines_may_say_when_where_and_in_which_session(account: Account) -> None:
    file = jsonl(
        account,
        {"prompt": "why is it slow?", "at": LONG_AGO, "session_id": "s", "cwd": "/p", "id": "a"},
        {"prompt": "and the other one?", "at": 1735787046, "session_id": "s"},
        {"prompt": 5},
        {"prompt": "when?", "at": "yesterday"},
        {"prompt": "without a time"},
    )
    said = listed(account, str(file), "--yes", exit_code=1)

    assert [one.partition(":")[2].partition(":")[0] for one in said["problems"]] == ["3", "4"]
    assert prompts(account) == ["why is it slow?", "and the other one?", "without a time"]
    assert account.traces()[1]["inputs"]["conversation"]["prompts"] == ["why is it slow?"]


def test_prompts_without_a_time_are_known_again_when_their_file_is_touched(account: Account) -> None:
    file = jsonl(account, {"prompt": "why is it slow?"}, {"prompt": "why is it slow?"})
    account.cli("trace", "import", "--yes", str(file))
    os.utime(file, (1_700_000_000, 1_700_000_000))
    account.cli("trace", "import", "--yes", str(file))

    assert len(prompts(account)) == 2


def test_an_export_of_traces_can_be_imported_elsewhere(well_used: Account, tmp_path: Path) -> None:
    well_used.cli("trace", "import", "--yes", "--host", "codex")
    file = well_used.home / "export.jsonl"
    well_used.cli("trace", "export", "--out", str(file))
    well_used.env["ENRICHER_HOME"] = str(tmp_path / "other")
    well_used.state = tmp_path / "other"
    well_used.cli("trace", "import", "--yes", str(file))

    assert prompts(well_used) == [FIRST, FAILURE, OTHER]


def llm_logs(file: Path, *, is_new: bool) -> None:
    """Write two calls of one conversation as ``llm`` does: before 0.32 to responses, then to turns."""
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("create table conversations (id text primary key, name text, model text)")
        db.execute(
            "create table responses (id text primary key, model text, prompt text, system text, prompt_json text, "
            "options_json text, response text, response_json text, conversation_id text, duration_ms integer, "
            "datetime_utc text)"
        )
        if is_new:
            db.execute("create table turns (id text primary key, thread_id text, datetime_utc text)")
            db.execute("create table turn_search (id integer primary key, turn_id text, prompt text, response text)")
        calls = [
            ("r1", "why is it slow?", "It sorts.", "04"),
            ("r2", "and the other one?", "No.", "05"),
            ("r3", "", "", "06"),
        ]
        for identity, prompt, response, second in calls:
            at = f"2025-01-02T03:04:{second}.123456+00:00"
            if is_new:
                db.execute("insert into turns values (?, 'c1', ?)", (identity, at))
                db.execute("insert into turn_search values (null, ?, ?, ?)", (identity, prompt, response))
            else:
                db.execute(
                    "insert into responses (id, prompt, response, datetime_utc, conversation_id) "
                    "values (?, ?, ?, ?, 'c1')",
                    (identity, prompt, response, at),
                )


@pytest.mark.parametrize("is_new", [False, True], ids=["responses", "turns"])
def test_the_logs_of_llm_are_read_and_left_as_they_are(account: Account, is_new: bool) -> None:
    file = account.home / ".config" / "io.datasette.llm" / "logs.db"
    llm_logs(file, is_new=is_new)
    before = file.read_bytes()
    said = listed(account, "--yes")

    assert (said["stored"], said["groups"][0]["left_out"]) == (2, {"empty": 1})
    assert account.trace()["inputs"]["conversation"] == {"prompts": ["why is it slow?"]}
    assert file.read_bytes() == before and [one.name for one in file.parent.iterdir()] == ["logs.db"]


def test_a_database_that_is_not_llm_s_is_refused(account: Account) -> None:
    account.ask("why is the build red?")
    account.cli("trace", "list")
    said = listed(account, str(account.state / "enricher.db"), exit_code=1)

    assert "neither the table responses nor turn_search" in said["problems"][0]
