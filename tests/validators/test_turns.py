"""The end of a turn: what the agent wrote is checked behind the hook, and stored with the trace of its prompt."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from storage.db import database
from storage.traces import violations
from storage.traces.violations import PromptRuleViolation

if TYPE_CHECKING:
    from simulator import Account, Answer

STUB = 'def login(user):\n    """Log in."""\n    pass\n'
SWALLOWED = "def load():\n    try:\n        return read()\n    except Exception:\n        pass\n"
DEBUG = "the login test fails with KeyError 'user', what is the exact error message telling us?"


def wrote(account: Account, *files: str, prompt: str = "add a login") -> str:
    """Write a transcript in which the agent wrote these files after a prompt; return its path."""
    said = {"type": "user", "message": {"role": "user", "content": prompt}}
    calls = [
        {"type": "tool_use", "id": name, "name": "Write", "input": {"file_path": str(account.project / name)}}
        for name in files
    ]
    answer = {"type": "assistant", "message": {"role": "assistant", "content": calls}}
    lines = (json.dumps(one, separators=(",", ":")) for one in (said, answer))
    return str(account.write("transcript.jsonl", "\n".join(lines) + "\n"))


def turn_ended(account: Account, transcript: str, *, session: str = "s", **changed: object) -> Answer:
    """Run the hook as the client does when the agent stops, and wait for what it started."""
    event = {
        "session_id": session,
        "transcript_path": transcript,
        "cwd": str(account.project),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    answer = account.run(event | changed)
    account.rest()
    return answer


def stored(account: Account) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = account.trace().get("rule_violations", [])
    return found


@pytest.mark.conformance("S2-2h")
def test_a_stub_that_the_agent_wrote_is_stored_with_the_trace_of_its_prompt(account: Account) -> None:
    account.ask("add a login", session_id="s")
    account.write("project/auth.py", STUB)

    answer = turn_ended(account, wrote(account, "auth.py"))

    assert (answer.stdout, answer.stderr, answer.exit_code) == (b"", b"", 0)
    found = stored(account)
    assert len(found) == 1
    one = found[0]
    assert (one["rule_id"], one["severity"], one["file"], one["line"]) == ("CODE_001", "critical", "auth.py", 1)
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        rows = db.execute("select trace_id, rule_id, severity from rule_violations").fetchall()
    assert rows == [(account.trace()["id"], "CODE_001", "critical")]


def test_a_guardrail_of_the_prompt_that_asked_for_the_opposite_is_named(account: Account) -> None:
    account.env["ENRICHER_PROFILE"] = "as-specified"
    account.ask(DEBUG, session_id="s")
    account.write("project/a.py", SWALLOWED)

    turn_ended(account, wrote(account, "a.py", prompt=DEBUG))

    assert "H5" in [one["guardrail_id"] for one in account.trace()["guardrails"]]
    assert [(one["rule_id"], one["guardrails"]) for one in stored(account) if one["rule_id"] != "CODE_003"] == [
        ("ERROR_001", "H5")
    ]


def test_only_lines_that_changed_since_the_prompt_count(account: Account) -> None:
    account.write("project/auth.py", STUB)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first", "--date=@1")):
        own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        early = account.env | {"GIT_COMMITTER_DATE": "@1000000000 +0000"}
        subprocess.run(["git", *own, *words], cwd=account.project, env=early, check=True, capture_output=True)
    account.ask("add a logout", session_id="s")
    account.write("project/auth.py", STUB + STUB.replace("login", "logout"))

    turn_ended(account, wrote(account, "auth.py"))

    assert [one["line"] for one in stored(account)] == [4]


def test_a_second_end_of_the_same_turn_replaces_what_was_stored(account: Account) -> None:
    account.ask("add a login", session_id="s")
    account.write("project/auth.py", STUB)
    transcript = wrote(account, "auth.py")
    turn_ended(account, transcript)
    account.write("project/auth.py", STUB.replace("pass", "return user"))
    turn_ended(account, transcript)

    assert stored(account) == []


@pytest.mark.parametrize(
    "case", ["subagent", "no trace", "log = hash", "file elsewhere", "no transcript", "no session", "switched off"]
)
def test_nothing_is_stored_where_nothing_may_or_can_be(account: Account, case: str) -> None:
    if case == "log = hash":
        account.env["ENRICHER_LOG"] = "hash"
    account.ask("add a login", session_id="s")
    if case == "switched off":
        account.env["ENRICHER_ENABLED"] = "false"
    account.write("project/auth.py", STUB)
    account.write("auth.py", STUB)
    transcript = wrote(account, "../auth.py" if case == "file elsewhere" else "auth.py")
    changed: dict[str, object] = {"agent_id": "a1"} if case == "subagent" else {}
    session = {"no trace": "other", "no session": ""}.get(case, "s")

    answer = turn_ended(account, "" if case == "no transcript" else transcript, session=session, **changed)

    assert (answer.stdout, answer.exit_code, stored(account), account.log()) == (b"", 0, [], [])


def test_the_end_of_a_turn_does_not_wait_for_the_check(account: Account) -> None:
    account.ask("add a login", session_id="s")
    account.write("project/a.py", STUB)
    event = {
        "session_id": "s", "transcript_path": wrote(account, "a.py"), "cwd": str(account.project),
        "hook_event_name": "AfterAgent",
    }  # fmt: skip
    locked = sqlite3.connect(account.state / "enricher.db", isolation_level=None)
    locked.execute("begin exclusive")

    answer = account.run(event)
    is_answered = (answer.stdout, answer.exit_code)
    locked.execute("rollback")
    locked.close()
    account.rest()

    assert is_answered == (b"", 0)
    assert [one["rule_id"] for one in stored(account)] == ["CODE_001"]


def test_violations_are_shown_exported_and_forgotten_with_their_trace(account: Account) -> None:
    account.ask("add a login", session_id="s")
    account.write("project/auth.py", STUB)
    turn_ended(account, wrote(account, "auth.py"))
    trace = account.trace()["id"]

    assert "auth.py:1: critical CODE_001 NO_STUBS" in account.cli("trace", "show", trace)
    shown = json.loads(account.cli("trace", "show", trace, "--json"))["rule_violations"]
    assert [one["rule_id"] for one in shown] == ["CODE_001"]
    account.cli("trace", "forget", "--match", "auth.py", "--yes")
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        assert db.execute("select count(*) from rule_violations").fetchone() == (0,)


@pytest.mark.conformance("S2-1d")
def test_a_violation_round_trips_and_the_table_refuses_wrong_values(account: Account) -> None:
    account.ask("add a login", session_id="s")
    trace = account.trace()["id"]
    one = PromptRuleViolation("CODE_001", "NO_STUBS", "code_generation", "critical", "auth.py", 1, "empty", "fill it")

    with closing(database.connect(str(account.state))) as db:
        violations.store(db, trace, [one])
        (read,) = violations.of_trace(db, trace)
        schema = db.execute("select sql from sqlite_master where name = 'rule_violations'").fetchone()[0]
        for wrong in (replace(one, severity="awful"), replace(one, rule_id=""), replace(one, resolved=True)):
            with pytest.raises(sqlite3.IntegrityError):
                violations.store(db, trace, [wrong])
        with pytest.raises(sqlite3.IntegrityError):
            violations.store(db, "none", [one])
        assert violations.resolve(db, trace, 0, notes="done")
        (resolved,) = violations.of_trace(db, trace)

    assert read.created_at and read == replace(one, created_at=read.created_at)
    assert "check (severity in ('critical', 'high', 'medium', 'low'))" in schema
    assert resolved.resolved and resolved.resolution_notes == "done" and resolved.resolved_at
