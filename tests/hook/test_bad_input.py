"""Whatever arrives, and whatever state the machine is in, the prompt goes on, in time, and the fault is on record."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT, Account, Answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROMPT = "the test is not working"
EVENT = b'{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": '

NO_EVENT = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"not json", id="not JSON"),
    pytest.param(b"null", id="null"),
    pytest.param(b"\xff\xfe\x00", id="no text"),
    pytest.param(b"[" * 100_000, id="deeply nested list"),
    pytest.param(b'{"a":' * 100_000, id="deeply nested object"),
    pytest.param(EVENT + b'"half', id="half an object"),
    pytest.param(b"{" * 10, id="only openings"),
]
EMPTY = [
    pytest.param(b"[]", id="a list"),
    pytest.param(b'"x"', id="a string"),
    pytest.param(b"7", id="a number"),
    pytest.param(b"{}", id="an empty object"),
    pytest.param(EVENT + b"123}", id="a number as prompt"),
    pytest.param(EVENT + b"null}", id="no prompt"),
    pytest.param(EVENT + b'["the test is not working"]}', id="a list as prompt"),
]
BLANK = [
    pytest.param(EVENT + b'""}', id="empty"),
    pytest.param(EVENT + b'" \\n\\t "}', id="whitespace"),
]
ODD = [
    pytest.param(EVENT + b'"the test is not working"}', id="plain"),
    pytest.param(b"\xef\xbb\xbf" + EVENT + b'"the test is not working"}', id="byte order mark"),
    pytest.param(EVENT + b'"the test is\\u0000 not working"}', id="escaped NUL"),
    pytest.param(EVENT + b'"the test \x00 is not working"}', id="raw NUL"),
    pytest.param(EVENT + b'"the test is not working \\ud83d"}', id="escaped lone surrogate"),
    pytest.param(EVENT + b'"the test is not working \xed\xa0\xbd"}', id="raw lone surrogate"),
    pytest.param(EVENT + b'"the test is not working \xff\xfe caf\xe9"}', id="not UTF-8"),
    pytest.param(EVENT + b'"the test is not working\n\ttoday"}', id="raw line ends"),
    pytest.param(EVENT + b'"the test is not working", "prompt": "the test is not working"}', id="a key twice"),
    pytest.param(EVENT + b'"the test is not working"}\n\n', id="line ends behind"),
    pytest.param(EVENT + b'"the test is not working", "cwd": 7, "transcript_path": [], "source": {}}', id="odd types"),
    pytest.param(EVENT + b'"the test is not working", "cwd": "/no/such/folder"}', id="a folder that is gone"),
    pytest.param(EVENT + b'"the test is not working", "cwd": "relative/../x"}', id="a relative folder"),
    pytest.param(EVENT + b'"the test is not working", "cwd": "/tmp/\\u0000/x"}', id="a folder with NUL"),
    pytest.param(EVENT + b'"the test is not working", "cwd": "/' + b"x" * 100_000 + b'"}', id="a folder without end"),
    pytest.param(EVENT + b'"the test is not working", "cwd": "/\\ud83d"}', id="a folder with half a character"),
    pytest.param(EVENT + b'"the test is not working", "x": ' + b"9" * 4000 + b"}", id="a huge number"),
    pytest.param(EVENT + b'"the test is not working", "x": [NaN, Infinity, -Infinity, 1e999]}', id="no numbers"),
    pytest.param(b'{"session_id": "' + b"s" * 100_000 + b'", "prompt": "the test is not working"}', id="huge session"),
    pytest.param(b'{"session_id": "../../\\n\\u0000", "prompt": "the test is not working"}', id="a hostile session"),
]  # fmt: skip


@pytest.mark.conformance("E22", "E23", "P34", "P37", "P42")
@pytest.mark.parametrize("given", NO_EVENT)
def test_what_is_no_event_is_logged_and_nothing_is_said(account: Account, given: bytes) -> None:
    answer = account.run(given)

    assert answer.is_harmless()
    assert answer.stdout == b""
    (record,) = account.log()
    assert set(record) == {"at", "level", "stage", "session_id", "reason"}
    assert record["level"] == "WARNING"
    assert record["at"].startswith("20")
    assert record["reason"]
    assert len(record["reason"]) < 300


@pytest.mark.conformance("E22", "P37", "P42")
@pytest.mark.parametrize("given", EMPTY)
def test_an_event_without_a_prompt_gets_nothing(account: Account, given: bytes) -> None:
    answer = account.run(given)

    assert answer.is_harmless()
    assert answer.stdout == b""
    assert [(trace["status"], trace["skip_reason"]) for trace in account.traces()] == [("skipped", "empty")]


@pytest.mark.conformance("P35", "P42")
@pytest.mark.parametrize("given", BLANK)
def test_a_blank_prompt_is_skipped_without_a_warning(account: Account, given: bytes) -> None:
    answer = account.run(given)

    assert answer.is_harmless()
    assert answer.stdout == b""
    assert (account.trace()["skip_reason"], account.log()) == ("empty", [])


@pytest.mark.conformance("E22", "P42", "P43")
@pytest.mark.parametrize("given", ODD)
def test_an_odd_event_is_answered_all_the_same(account: Account, given: bytes) -> None:
    answer = account.run(given)

    assert answer.is_harmless()
    assert answer.context.startswith("## Prompt Enrichment\n")
    assert [trace["status"] for trace in account.traces()] == ["ok"]


@pytest.mark.conformance("E22")
@pytest.mark.parametrize("size", [100_000, 10_000_000])
def test_a_huge_prompt_is_answered_in_time_and_kept_in_part(account: Account, size: int) -> None:
    answer = account.ask_patiently("the test is not working " * (size // 24))

    assert answer.is_harmless()
    trace = account.trace()
    assert trace["status"] in ("ok", "silent")
    assert (len(trace["prompt"]) <= 70_000, trace["prompt_chars"] >= size - 24) == (True, True)


@pytest.mark.conformance("E22")
@pytest.mark.parametrize("sign", ["a", "/", "=", "`", "<", "\\", "(", "﻿", "é", "\n", "1"])
def test_a_megabyte_of_one_sign_is_no_trap(account: Account, sign: str) -> None:
    answer = account.ask(sign * 1_000_000 + " why?")

    assert answer.is_harmless()


def piped(account: Account, given: bytes, *, closes: bool) -> Answer:
    """Write to the hook and leave its stdin open, as some clients do."""
    began = time.perf_counter()
    with subprocess.Popen(
        account.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=account.env,
        cwd=account.project,
    ) as process:
        process.stdin.write(given)
        process.stdin.flush()
        if closes:
            process.stdin.close()
        try:
            code = process.wait(10)
        finally:
            process.kill()
        wall = time.perf_counter() - began
        return Answer(process.stdout.read(), process.stderr.read(), code, wall)


@pytest.mark.conformance("E22")
def test_a_complete_event_is_answered_though_stdin_stays_open(account: Account) -> None:
    answer = piped(account, EVENT + b'"the test is not working"}', closes=False)

    assert answer.is_harmless()
    assert answer.context


@pytest.mark.conformance("E22", "E23")
def test_half_an_event_is_given_up_on_though_stdin_stays_open(account: Account) -> None:
    answer = piped(account, EVENT + b'"the test is', closes=False)

    assert answer.is_harmless()
    assert (answer.stdout, len(account.log())) == (b"", 1)


def shell(account: Account, line: str) -> Answer:
    """Run the hook inside a shell line, where ``$HOOK`` is its command."""
    account.write("event.json", EVENT + b'"the test is not working"}')
    account.env["HOOK"] = " ".join(account.command())
    return account.run(b"", shell_line=line.replace("EVENT", f"{account.home}/event.json"))


@pytest.mark.upkeep
@pytest.mark.conformance("P37", "P42")
@pytest.mark.parametrize(
    "line",
    [
        pytest.param("exec $HOOK <&-", id="stdin closed"),
        pytest.param("exec $HOOK < /dev/null", id="stdin empty"),
        pytest.param("exec $HOOK < EVENT >&-", id="stdout closed"),
        pytest.param("exec $HOOK < EVENT > /dev/full", id="stdout full"),
        pytest.param("exec $HOOK < EVENT 2>&-", id="stderr closed"),
        pytest.param("exec $HOOK <&- >&- 2>&-", id="all closed"),
        pytest.param("trap '' PIPE; $HOOK < EVENT | true; exit 0", id="nobody reads"),
        pytest.param("ulimit -n 24; exec $HOOK < EVENT", id="few descriptors"),
    ],
)
def test_closed_and_full_streams_harm_nothing(account: Account, line: str) -> None:
    answer = shell(account, line)

    assert answer.is_harmless()


@pytest.mark.upkeep
@pytest.mark.conformance("E23")
@pytest.mark.parametrize("line", ["exec $HOOK < EVENT >&-", "exec $HOOK < EVENT > /dev/full"])
def test_an_answer_that_could_not_be_given_is_logged_once(account: Account, line: str) -> None:
    shell(account, line)

    assert len(account.log()) == 1


def test_a_client_that_takes_its_time_to_read_gets_the_whole_answer(account: Account) -> None:
    answer = shell(account, "$HOOK < EVENT | (sleep 0.3; cat)")

    assert answer.context.startswith("## Prompt Enrichment")


@pytest.mark.upkeep
@pytest.mark.parametrize("variable", ["HOME", "PATH", "LANG", "ENRICHER_HOME"])
@pytest.mark.conformance("P37")
def test_a_missing_variable_harms_nothing(account: Account, variable: str) -> None:
    env = {name: value for name, value in account.env.items() if name != variable}
    if variable == "ENRICHER_HOME":
        env["HOME"] = str(account.home)

    answer = account.run(account.event(PROMPT), env=env)

    assert answer.is_harmless()
    assert answer.context


@pytest.mark.conformance("P37")
def test_an_empty_environment_harms_nothing(account: Account, tmp_path: Path) -> None:
    env = {"ENRICHER_HOME": str(account.state)}

    assert account.run(account.event(PROMPT), env=env).context


def with_nothing_writable(account: Account, unprivileged: tuple[str, ...]) -> Answer:
    account.home.chmod(0o500)
    try:
        return account.run(account.event(PROMPT), before=unprivileged)
    finally:
        account.home.chmod(0o700)


@pytest.mark.conformance("P37")
def test_a_read_only_home_costs_the_trace_and_nothing_else(new_account: Account, unprivileged: tuple[str, ...]) -> None:
    answer = with_nothing_writable(new_account, unprivileged)

    assert answer.is_harmless()
    assert answer.context
    assert not new_account.state.exists()


@pytest.mark.upkeep
def test_a_home_below_a_link_that_leads_nowhere_costs_the_trace_and_nothing_else(account: Account) -> None:
    (account.home / "volume").symlink_to("/not/mounted")

    answer = account.run(account.event(PROMPT), env=account.env | {"ENRICHER_HOME": f"{account.home}/volume/state"})

    assert answer.is_harmless()
    assert answer.context


@pytest.mark.upkeep
@pytest.mark.conformance("P37")
def test_a_state_folder_that_became_read_only_costs_the_trace_and_nothing_else(
    account: Account, unprivileged: tuple[str, ...]
) -> None:
    account.ask(PROMPT)
    account.traces()
    for folder in [account.state, *(one for one in account.state.rglob("*") if one.is_dir())]:
        folder.chmod(0o500)

    answer = account.run(account.event(PROMPT), before=unprivileged)

    for folder in [account.state, *(one for one in account.state.rglob("*") if one.is_dir())]:
        folder.chmod(0o700)
    assert answer.is_harmless()
    assert answer.context


@pytest.mark.upkeep
@pytest.mark.conformance("P37")
def test_a_limit_on_file_sizes_harms_nothing(account: Account) -> None:
    answer = shell(account, "ulimit -f 0; exec $HOOK < EVENT")

    assert answer.is_harmless()
    assert answer.context


@pytest.fixture
def full_disk(account: Account) -> tuple[str, ...]:
    """Return what starts a program for which the state folder lies on a disk without room."""
    script = (
        'mount -t tmpfs -o size=16k,mode=700 none "$0" && head -c 99999 /dev/zero > "$0/filler" 2>/dev/null; exec "$@"'
    )
    account.state.mkdir()
    start = ("unshare", "--map-root-user", "--mount", "sh", "-c", script, str(account.state))
    if not shutil.which("unshare") or subprocess.run([*start, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    return start


@pytest.mark.conformance("P37")
def test_a_full_disk_costs_the_trace_and_nothing_else(account: Account, full_disk: tuple[str, ...]) -> None:
    answer = account.run(account.event(PROMPT), before=full_disk)

    assert answer.exit_code == 0
    assert answer.context


def a_newer_database(account: Account) -> None:
    account.traces()
    account.rest()
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        db.execute("pragma user_version = 9999")


def a_corrupt_database(account: Account) -> None:
    account.traces()
    account.rest()
    (account.state / "enricher.db").write_bytes(b"SQLite format 3\0" + os.urandom(50_000))


def no_database_at_all(account: Account) -> None:
    account.traces()
    account.rest()
    (account.state / "enricher.db").write_bytes(b"this is a letter to grandmother")


def a_folder_for_a_database(account: Account) -> None:
    (account.state / "enricher.db").unlink(missing_ok=True)
    (account.state / "enricher.db").mkdir()


def pipes_for_databases(account: Account) -> None:
    account.cli("memory", "add", "the working test of the hydrator is slow")
    account.cli("code", "index")
    for file in (account.state / "enricher.db", *(account.state / "code").glob("*.db")):
        file.unlink(missing_ok=True)
        os.mkfifo(file)


def a_file_for_the_spool(account: Account) -> None:
    shutil.rmtree(account.state / "spool", ignore_errors=True)
    account.write("state/spool", "")


def a_pipe_for_the_log(account: Account) -> None:
    account.state.mkdir(exist_ok=True)
    os.mkfifo(account.state / "log")


def a_folder_for_the_key(account: Account) -> None:
    (account.state / "key").unlink()
    (account.state / "key").mkdir()


def files_for_folders(account: Account) -> None:
    for name in ("rules", "notices", "sessions", "trust", "spool"):
        if not (account.state / name).is_dir():
            account.write(f"state/{name}", "x")


def folders_for_files(account: Account) -> None:
    for name in ("log", "claims", "failures", "maintenance"):
        shutil.rmtree(account.state / name, ignore_errors=True)
        (account.state / name).unlink(missing_ok=True)
        (account.state / name).mkdir(parents=True)


def a_file_for_the_state(account: Account) -> None:
    shutil.rmtree(account.state, ignore_errors=True)
    account.state.write_text("x")


def everything_from_the_future(account: Account) -> None:
    account.ask("is the cache warm?")
    account.traces()
    account.rest()
    future = time.time() + 10 * 365 * 86400
    for path in (account.state, *account.state.rglob("*")):
        os.utime(path, (future, future))


SPOILED = [
    a_newer_database, a_corrupt_database, no_database_at_all, a_folder_for_a_database,
    pipes_for_databases, a_file_for_the_spool,
    a_pipe_for_the_log, a_folder_for_the_key, files_for_folders, folders_for_files, a_file_for_the_state,
    everything_from_the_future,
]  # fmt: skip


@pytest.mark.upkeep
@pytest.mark.conformance("E21", "E56", "P37", "P42")
@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__.replace("_", " "))
def test_a_spoiled_state_costs_the_trace_at_most(account: Account, spoil: Callable[[Account], None]) -> None:
    account.ask("What is the hydrator?")
    account.rest()
    spoil(account)

    answers = [account.ask(PROMPT) for _ in range(2)]

    assert all(answer.is_harmless() for answer in answers)
    assert all(answer.context for answer in answers)


@pytest.mark.upkeep
def test_a_newer_database_is_left_alone_and_its_remedy_is_told(account: Account) -> None:
    account.ask(PROMPT)
    a_newer_database(account)
    account.ask(PROMPT)

    assert "upgrade prompt-enricher" in account.cli("trace", "list", exit_code=1)
    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        assert db.execute("pragma user_version").fetchone() == (9999,)


@pytest.mark.upkeep
def test_a_corrupt_database_is_moved_aside_and_nothing_new_is_lost(account: Account) -> None:
    account.ask("What is the hydrator?")
    a_corrupt_database(account)
    account.ask(PROMPT)
    account.rest()

    assert [trace["prompt"] for trace in account.traces()] == [PROMPT]
    assert len(list(account.state.glob("enricher.db.corrupt-*"))) == 1
    assert "damaged" in account.ask("What is the hydrator?").told


@pytest.mark.upkeep
def test_a_clock_that_went_back_loses_no_trace(account: Account) -> None:
    everything_from_the_future(account)
    account.ask(PROMPT)

    assert PROMPT in [trace["prompt"] for trace in account.traces()]


@pytest.mark.conformance("E23")
def test_failures_in_a_row_are_told_to_the_person(account: Account) -> None:
    for _ in range(3):
        account.run(b"not json")

    assert "failed 3 times" in account.ask(PROMPT).told
    assert account.ask(PROMPT).told == ""


@pytest.mark.conformance("E23")
def test_one_failure_now_and_then_is_not_worth_telling(account: Account) -> None:
    told = []
    for _ in range(4):
        account.run(b"not json")
        told.append(account.ask(PROMPT).told)

    assert told == [""] * 4


@pytest.mark.conformance("P43")
def test_debugging_variables_put_nothing_on_stdout(account: Account) -> None:
    account.env |= {"LOG": "debug", "DEBUG": "1", "PYTHONVERBOSE": "1", "PYTHONDEVMODE": "1", "PYTHONINSPECT": "1"}

    answer = account.ask(PROMPT)

    assert answer.is_harmless()
    assert answer.stdout.count(b"\n") == 1
    assert json.loads(answer.stdout)


@pytest.mark.upkeep
def test_a_hostile_python_environment_is_ignored(account: Account) -> None:
    trap = account.write("evil/json.py", "raise SystemExit(2)").parent
    for name in ("sitecustomize", "storage", "enricher", "os"):
        account.write(f"evil/{name}.py", "raise SystemExit(2)")
    account.env |= {"PYTHONPATH": str(trap), "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": str(trap / "os.py")}

    assert account.run(account.event(PROMPT), cwd=trap).context


UNRAISABLE = """
import sys
sys.path.insert(0, sys.argv[1])
from enricher.hook import process

class Late:
    def __del__(self):
        raise process.DeadlineError

read_event = process._read_event
process._read_event = lambda received: (Late(), read_event(received))[1]
process.main(["claude"])
"""


def test_an_alarm_that_python_cannot_raise_is_not_reported_on_stderr(account: Account) -> None:
    command = [sys.executable, "-I", "-S", "-c", UNRAISABLE, str(ROOT)]

    done = subprocess.run(command, input=json.dumps(account.event("hello there")).encode(), env=account.env,
                          capture_output=True, check=False)  # fmt: skip

    assert (done.returncode, done.stderr) == (0, b"")
    assert account.traces()[-1]["prompt"] == "hello there"
