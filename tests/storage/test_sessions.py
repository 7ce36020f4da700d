"""A session is told nothing twice until its host forgets, and one prompt is answered once."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from storage import traces
from storage.state import sessions
from storage.traces import spool

ROOT = Path(__file__).parents[2]
CLAIM = """
from storage.state import sessions
print(sessions.claim(state, "s1", "hash of the prompt"))
"""
TELL = """
from storage.state import sessions
for number in range(50):
    sessions.record_injected(state, "s1", [("item", f"{sys.argv[2]}.{number}")], tokens=1)
"""


def _told(state, session_id="s1"):
    found = sessions.session_state(state, session_id)
    return found.injected, found.tokens


def _file(state, session_id="s1"):
    """Return the path of the session's file, which this makes where it is missing."""
    sessions.record_injected(state, session_id, [], tokens=0)
    (name,) = os.listdir(f"{state}/{sessions.FOLDER}")
    return f"{state}/{sessions.FOLDER}/{name}"


def test_what_was_injected_counts_against_the_session_it_was_injected_into(state):
    assert sessions.record_injected(
        state, "s1", [("guardrail", "H5"), ("approach", "ab12"), ("item", "a.py:1")], tokens=9
    )
    assert sessions.record_injected(state, "s1", [("guardrail", "H3")], tokens=9)
    assert sessions.record_injected(state, "s1", [], tokens=3)

    assert _told(state) == (["approach:ab12", "guardrail:H3", "guardrail:H5", "item:a.py:1"], 21)
    assert _told(state, "another") == ([], 0)


def test_a_reset_forgets_this_session_only(state):
    for session_id in ("s1", "s2"):
        sessions.record_injected(state, session_id, [("guardrail", "H5")], tokens=9)

    assert sessions.reset_session(state, "s1")
    assert not sessions.reset_session(state, "s1")
    assert (_told(state), _told(state, "s2")) == (([], 0), (["guardrail:H5"], 9))
    sessions.record_injected(state, "s1", [("guardrail", "H3")], tokens=4)
    assert _told(state) == (["guardrail:H3"], 4)


@pytest.mark.parametrize("home", ["missing", "a file/state", "a\x00b"])
def test_a_reset_of_what_was_never_told_is_no_reset(tmp_path, home):
    (tmp_path / "a file").write_text("")

    assert not sessions.reset_session(f"{tmp_path}/{home}", "s1")
    assert not (tmp_path / "missing").exists()


def test_a_session_without_an_id_has_no_memory(state):
    assert not sessions.record_injected(state, "", [("guardrail", "H5")], tokens=9)
    assert _told(state, "") == ([], 0)
    assert not sessions.reset_session(state, "")
    assert sessions.claim(state, "", "x")
    assert sessions.claim(state, "", "x")


@pytest.mark.parametrize("session_id", ["a\x00b", "x" * 1_000_000, "\ud800", "../../etc/passwd", "a/b", "\n", "."])
def test_a_hostile_session_id_is_a_session_like_any_other(tmp_path, state, session_id, modes):
    sessions.record_injected(state, session_id, [("guardrail", "H5")], tokens=9)

    assert _told(state, session_id) == (["guardrail:H5"], 9)
    assert (sessions.claim(state, session_id, "x"), sessions.claim(state, session_id, "x")) == (True, False)
    assert os.listdir(tmp_path) == ["state"]
    assert {name for name in modes(state) if "/" not in name} == {"sessions", "claims"}
    assert sessions.reset_session(state, session_id)
    assert _told(state, session_id) == ([], 0)


@pytest.mark.parametrize("ref", ["a\nb", "9 x", " two  spaces ", '["x"]', "a\x00b", "\u2028", "", "🦊"])
def test_a_hostile_ref_is_a_ref_like_any_other(state, ref):
    sessions.record_injected(state, "s1", [("item", ref), ("guardrail", "H5")], tokens=9)

    assert _told(state) == (["guardrail:H5", f"item:{ref}"], 9)


def test_what_a_full_disk_cut_off_hides_nothing_that_comes_after_it(state):
    sessions.record_injected(state, "s1", [("guardrail", "H5")], tokens=9)
    with open(_file(state), "ab") as file:
        file.write(b'\n[7,["guardrail:H1')
    assert _told(state) == (["guardrail:H5"], 9)
    sessions.record_injected(state, "s1", [("guardrail", "H3")], tokens=9)

    assert _told(state) == (["guardrail:H3", "guardrail:H5"], 18)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\x00 garbage", id="garbage"),
        pytest.param(b'{"a":1}\n[1]\n[1,2,3]\n["1",["x"]]\n[1,"x"]\n[-5,[1,null]]\n12\n', id="other JSON"),
        pytest.param(b"[" * 5_000 + b"\n", id="deep"),
    ],
)
def test_what_is_no_memory_of_a_session_hinders_nobody(state, content):
    with open(_file(state), "wb") as file:
        file.write(content)
    assert _told(state) == ([], 0)
    sessions.record_injected(state, "s1", [("guardrail", "H5")], tokens=9)

    assert _told(state) == (["guardrail:H5"], 9)


def test_a_file_that_grew_beyond_all_measure_is_read_in_part_and_begun_anew(state):
    line = json.dumps([1, ["guardrail:H5"]]).encode() + b"\n"
    with open(_file(state), "wb") as file:
        file.write(line * (300_000 // len(line)))
    names, tokens = _told(state)
    assert (names, tokens > 5_000) == (["guardrail:H5"], True)
    sessions.record_injected(state, "s1", [("guardrail", "H3")], tokens=9)

    assert _told(state) == (["guardrail:H3"], 9)


@pytest.mark.parametrize("occupant", ["folder", "fifo", "link"])
def test_where_nothing_can_be_remembered_the_prompt_goes_on_and_the_log_says_so(state, occupant):
    path = _file(state)
    os.unlink(path)
    {"folder": os.mkdir, "fifo": os.mkfifo, "link": lambda name: os.symlink("/etc/passwd", name)}[occupant](path)

    assert _told(state) == ([], 0)
    assert not sessions.record_injected(state, "s1", [("guardrail", "H5")], tokens=9)
    with open(f"{state}/log", encoding="utf-8") as log:
        assert json.loads(log.readline())["stage"] == "session"


def test_of_processes_that_tell_at_once_nothing_is_lost(state, said):
    said(TELL, state, processes=4)

    names, tokens = _told(state)
    assert names == sorted(f"item:{process}.{number}" for process in range(4) for number in range(50))
    assert tokens == 200


def test_sessions_that_ended_long_ago_are_forgotten(ready):
    sessions.record_injected(ready, "old", [("guardrail", "H5")], tokens=9)
    os.utime(_file(ready, "old"), (0, 0))
    sessions.record_injected(ready, "s1", [("guardrail", "H5")], tokens=9)
    sessions.forget_old(ready)

    assert (_told(ready, "old"), _told(ready)) == (([], 0), (["guardrail:H5"], 9))


def _prompt(state, tmp_path, prompt, **settings):
    """Send one prompt through the real hook and return the text that it adds."""
    event = {"session_id": "s1", "cwd": str(tmp_path), "prompt": prompt, "hook_event_name": "UserPromptSubmit"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ENRICHER_HOME": state, **settings}
    command = [sys.executable, "-I", "-S", str(ROOT / "enricher" / "boot.py"), "claude"]
    done = subprocess.run(
        command, input=json.dumps(event).encode(), env=environment, capture_output=True, timeout=60, check=True
    )
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def test_a_session_remembers_also_where_no_trace_may_be_kept(state, tmp_path):
    first = _prompt(state, tmp_path, "fix the login test, it fails", ENRICHER_LOG="off")
    second = _prompt(state, tmp_path, "fix the logout test, it fails", ENRICHER_LOG="off")

    assert "Guardrails" in first
    assert "Guardrails" not in second
    assert spool.waiting(state) == []
    assert not os.path.exists(f"{state}/enricher.db")


@pytest.mark.conformance("E25")
def test_a_prompt_gets_into_the_database_though_nobody_reads(state, tmp_path):
    for number, prompt in enumerate(("fix the login test, it fails", "fix the logout test, it fails"), start=1):
        _prompt(state, tmp_path, prompt)
        until = time.monotonic() + 60
        while time.monotonic() < until and len(_prompts(state)) < number:
            time.sleep(0.05)
        assert _prompts(state)[-1:] == [prompt]


def _prompts(state):
    """Return what the database holds, without taking anything in."""
    if not os.path.exists(f"{state}/{traces.DATABASE}"):
        return []
    with closing(sqlite3.connect(f"file:{state}/{traces.DATABASE}?mode=ro", uri=True)) as db:
        return [row[0] for row in db.execute("select prompt from traces order by id")]


def test_the_same_prompt_is_claimed_once_and_another_is_not_hindered(state):
    answers = [
        sessions.claim(state, *claim) for claim in (("s1", "a"), ("s1", "b"), ("s1", "a"), ("s2", "a"), ("s1", "b"))
    ]

    assert answers == [True, True, False, True, False]


def test_of_sixteen_processes_that_see_the_same_prompt_one_answers(state, said):
    assert sorted(said(CLAIM, state, processes=16)) == ["False"] * 15 + ["True"]


def test_a_prompt_typed_again_later_is_a_prompt(state, monkeypatch):
    monkeypatch.setattr(sessions, "DUPLICATE_WITHIN_NS", 0)

    assert (sessions.claim(state, "s1", "a"), sessions.claim(state, "s1", "a")) == (True, True)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\x00 garbage", id="garbage"),
        pytest.param(b"cut off 12", id="torn"),
        pytest.param(b"x 99999999999999999999999\n", id="before a restart"),
        pytest.param(b"x" * 1_000_000, id="1 MB"),
    ],
)
def test_claims_that_make_no_sense_hinder_nobody_and_are_replaced(ready, content):
    with open(f"{ready}/{sessions.CLAIMS}", "wb") as file:
        file.write(content)

    assert (sessions.claim(ready, "s1", "a"), sessions.claim(ready, "s1", "a")) == (True, False)
    assert os.stat(f"{ready}/{sessions.CLAIMS}").st_size < 100


def test_where_nothing_can_be_claimed_every_prompt_is_answered(ready):
    os.mkdir(f"{ready}/{sessions.CLAIMS}")

    assert (sessions.claim(ready, "s1", "a"), sessions.claim(ready, "s1", "a")) == (True, True)


@pytest.mark.parametrize("occupant", ["fifo", "link", "link that leads nowhere", "writable by the group"])
def test_claims_that_are_not_our_own_file_are_replaced_and_no_link_is_followed(ready, tmp_path, occupant):
    path, elsewhere = f"{ready}/{sessions.CLAIMS}", tmp_path / "elsewhere"
    if occupant == "fifo":
        os.mkfifo(path)
    elif occupant == "writable by the group":
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        os.chmod(path, 0o660)
    else:
        os.symlink(elsewhere, path)
    if occupant == "link":
        elsewhere.write_text("mine\n")

    assert (sessions.claim(ready, "s1", "a"), sessions.claim(ready, "s1", "a")) == (True, False)
    assert os.lstat(path).st_mode == 0o100600
    assert not elsewhere.exists() or elsewhere.read_text() == "mine\n"
