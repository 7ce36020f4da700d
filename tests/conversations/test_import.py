"""``enricher trace import``: what becomes of the conversations that clients keep."""

from __future__ import annotations

import json
import os
import pty
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from host_files import Claude, Gemini
from kept import FAILURE, FIRST, LONG_AGO, OTHER, PLACES, dated, jsonl, listed, prompts, save, told
from simulator import ENTRY, ROOT

from enricher.prompt.event import PromptEvent
from enricher.sources.transcripts import read_conversation
from workbench.importing import Turn, conversation_files

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account


def test_every_client_s_prompts_are_stored_as_they_were_typed(well_used: Account) -> None:
    well_used.cli("trace", "import", "--yes")

    by_host: dict[str, list[str]] = {}
    for trace in well_used.traces():
        by_host.setdefault(trace["host"], []).append(trace["prompt"])
    assert by_host == {host: [FIRST, FAILURE, OTHER] for host in PLACES}


def test_an_imported_trace_is_one_of_nobody_who_was_told_anything(well_used: Account) -> None:
    well_used.cli("trace", "import", "--yes", "--host", "claude")

    last = well_used.trace()
    assert (last["origin"], last["status"], last["cwd"], last["session_id"]) == ("import", "silent", "/p", "s-1")
    assert (last["at"], last["channels"], last["stages"]) == ("2025-11-20T00:11:00.250Z", [], [])
    assert (last["inputs"]["injected"], last["inputs"]["spent"]) == ([], 0)
    with closing(sqlite3.connect(well_used.state / "enricher.db")) as db:
        assert db.execute("select count(*) from sessions").fetchone() == (0,)


def test_imported_traces_replay_byte_for_byte(well_used: Account) -> None:
    well_used.cli("trace", "import", "--yes")

    outcome = json.loads(well_used.cli("replay", "--verify", "--json"))

    assert (outcome["same"], outcome["differing"], outcome["left_out"]) == (12, [], {})


def test_the_rules_say_of_an_imported_prompt_what_they_said_of_the_typed_one(well_used: Account) -> None:
    well_used.ask(FAILURE)
    typed = well_used.trace()
    well_used.cli("trace", "import", "--yes", "--host", "claude")

    imported = next(trace for trace in well_used.traces() if trace["origin"] == "import" and trace["prompt"] == FAILURE)

    for same in ("task_type", "confidence", "scores", "guardrails", "search_intent", "rules_hash", "prompt_hmac"):
        assert imported[same] == typed[same], same


@pytest.mark.parametrize("host", PLACES)
def test_the_conversation_before_a_prompt_is_what_the_hook_would_have_read(host: str, tmp_path: Path) -> None:
    session = told(host)
    file = session.save(tmp_path / "events.jsonl")
    turns = [
        event
        for event in conversation_files.read(
            conversation_files.ConversationFile(host, str(file), 0), lambda _size: None
        )
        if _is_turn(event)
    ]
    lines = file.read_text().splitlines()
    for turn in conversation_files.read(conversation_files.ConversationFile(host, str(file), 0), lambda _size: None):
        if not isinstance(turn, Turn):
            continue
        so_far = tmp_path / "so-far.jsonl"
        so_far.write_text("".join(f"{line}\n" for line in lines[: turn.line - 1]))
        event = PromptEvent(turn.text, host=host, cwd=turn.cwd, transcript_path=str(so_far))

        assert turn.before().to_json() == read_conversation(event).to_json()
    assert len(turns) == 3


def _is_turn(event: object) -> bool:
    return isinstance(event, Turn)


def test_importing_again_changes_nothing(well_used: Account) -> None:
    well_used.cli("trace", "import", "--yes")
    before = well_used.cli("trace", "export")
    again = listed(well_used, "--yes")

    assert well_used.cli("trace", "export") == before
    assert (again["prompts"], again["stored"]) == (0, None)
    assert all(group["not_again"] == {"imported already": 3} for group in again["groups"])


def test_what_no_person_typed_is_left_out_and_counted(account: Account) -> None:
    session = Claude()
    session.asks("why is the build red?")
    session.uses("Read", file_path="/p/a.py")
    session.asks("<command-name>/clear</command-name>\n<command-message>clear</command-message>")
    session.asks("<local-command-stdout>ok</local-command-stdout>")
    session.asks("<bash-input>ls</bash-input>")
    session.asks("<system-reminder>be nice</system-reminder>")
    session.asks("[Request interrupted by user for tool use]")
    session.asks("<task-notification>\n<task-id>b1</task-id> finished\n</task-notification>")
    session.asks("look around", isSidechain=True)
    session.asks("Base directory for this skill: /s", isMeta=True)
    session.asks("Warmup")
    session.asks("Implement the following plan:\n\n# Plan\n1. …")
    session.asks("wake up and look")
    session.records[-1]["promptSource"] = "loop_wakeup"
    session.asks([{"type": "image", "source": {"data": "…"}}])
    session.asks(".do it quietly")
    session.asks("remember: prices are integer cents")
    session.add("attachment", attachment={"type": "hook_additional_context", "content": ["x"]})
    session.compacts()
    save(session, account, PLACES["claude"])

    (group,) = listed(account, "--dry-run")["groups"]

    assert group["prompts"] == 1
    assert group["left_out"] == {
        "tool result": 1, "slash command": 1, "command output": 1, "shell command": 1, "system reminder": 1,
        "interruption": 1, "notification": 1, "subagent": 1, "meta message": 1, "warm-up": 1, "prompt of a program": 1,
        "machine prompt": 1, "empty": 1, "bypass prefix": 1, "remember": 1, "hook context": 1, "compaction summary": 1,
    }  # fmt: skip


def test_a_template_that_a_script_fills_in_is_no_prompt(account: Account) -> None:
    template = "Review the following change for defects, and answer with a list of findings, each with a line. " * 3
    rows = [{"prompt": f"{template}\n\nchange {n}", "session_id": f"s{n}", "at": LONG_AGO} for n in range(6)]
    file = jsonl(account, *rows, {"prompt": "why is it slow?", "session_id": "s9", "at": LONG_AGO})

    said = listed(account, str(file), "--yes")

    assert (said["stored"], said["groups"][0]["left_out"]) == (1, {"prompt of a program": 6})


def test_what_hosts_add_to_a_prompt_is_taken_off_and_the_rest_is_kept(account: Account) -> None:
    session = Claude()
    session.asks("<system-reminder>be nice</system-reminder>\nwhy is List<String> <b>slow</b>?")
    session.asks("what is a <system-reminder> good for?")
    save(dated(session), account, PLACES["claude"])
    account.cli("trace", "import", "--yes")

    assert prompts(account) == ["why is List<String> <b>slow</b>?", "what is a <system-reminder> good for?"]


def test_without_a_terminal_it_only_lists_and_says_how_to_go_on(new_and_well_used: Account) -> None:
    said = new_and_well_used.cli("trace", "import", exit_code=1)

    assert "12 prompts to store" in said
    assert not (new_and_well_used.state / "enricher.db").exists()


def test_a_dry_run_writes_nothing_at_all(new_and_well_used: Account) -> None:
    new_and_well_used.cli("trace", "import", "--dry-run")

    assert not list(new_and_well_used.state.glob("*.db")) and not (new_and_well_used.state / "key").exists()


def test_on_a_terminal_it_asks_first(well_used: Account) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-I", "-c", ENTRY, str(ROOT), "trace", "import"]
    with subprocess.Popen(command, env=well_used.env, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.write(ours, b"y\n")
        said = process.communicate(timeout=60)[0].decode()
    os.close(ours)
    os.close(theirs)

    assert (process.returncode, "12 prompts stored" in said) == (0, True)
    assert len(prompts(well_used)) == 12


def test_a_secret_never_reaches_the_disk(account: Account) -> None:
    chance = random.Random(4)
    secret = "gh" + "p_" + "".join(chance.choice("abcdefABCDEF0123456789") for _ in range(36))
    session = Claude()
    session.asks(f"why does it refuse the token {secret}?")
    session.uses("Bash", f"fatal: bad credentials {secret}", is_error=True, command="git push")
    session.answers(f"The token {secret} has run out.")
    session.asks("and now?")
    save(session, account, PLACES["claude"])
    said = account.cli("trace", "import", "--yes")
    account.cli("trace", "list")

    files = [file for file in account.state.rglob("*") if file.is_file()]
    assert "1 github_token" in said and len(prompts(account)) == 2
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_damage_is_told_by_file_and_line_and_the_rest_is_stored(account: Account) -> None:
    session = Claude()
    session.asks("why is the build red?")
    good = session.lines()
    asked = json.dumps({"type": "user", "uuid": "u", "message": {"content": "is it the cache?"}})
    lines = [
        *(line.encode() for line in good),
        b'{"type":"user","message":{"role":"us',
        b'{"type":"user","uuid":"u","message":{"content":"caf\xe9 \x1b[2J closed"}}',
        b'{"type":"user","uuid":"u","message":{"content":"' + b"x" * 5_000_000 + b'"}}',
        b"\0\0\0",
        b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"}",
        asked.encode(),
    ]
    file = account.write(PLACES["claude"], b"\n".join(lines))
    said = listed(account, "--yes", exit_code=1)

    wrong = [len(good) + 1, len(good) + 4, len(good) + 5]
    assert said["problems"] == [f"{file}:{line}: no JSON object" for line in wrong]
    assert (said["stored"], prompts(account)[0]) == (4, "why is the build red?")
    assert prompts(account)[1] == "caf\ufffd \x1b[2J closed" and len(prompts(account)[2]) < 70_000
    assert "\x1b" not in account.cli("trace", "import", "--dry-run", exit_code=1)


def test_a_line_beyond_all_measure_is_passed_over_and_told(account: Account) -> None:
    huge = json.dumps({"prompt": "x" * (17 << 20), "at": LONG_AGO}) + "\n"
    file = jsonl(account, {"prompt": "why?", "at": LONG_AGO}, huge, {"prompt": "and now?", "at": LONG_AGO})
    said = listed(account, str(file), "--yes", exit_code=1)

    assert said["problems"] == [f"{file}:2: a line of more than 16 MB is passed over"]
    assert sorted(prompts(account)) == ["and now?", "why?"]


def test_a_pipe_and_a_missing_file_are_told_and_do_not_hang(account: Account) -> None:
    pipe = account.home / "pipe.jsonl"
    os.mkfifo(pipe)
    said = listed(account, str(pipe), str(account.home / "none.jsonl"), str(account.project), exit_code=1)

    assert [one.partition(": ")[2] for one in said["problems"]] == ["not a regular file", "No such file or directory"]


def test_what_the_hook_recorded_is_not_imported_beside_it(account: Account) -> None:
    account.ask(FIRST, session_id="s-1")
    save(told("claude"), account, PLACES["claude"])
    said = listed(account, "--yes")

    assert (said["stored"], said["groups"][0]["not_again"]) == (2, {"recorded by the hook": 1})


def test_a_session_that_was_copied_into_another_counts_once(account: Account) -> None:
    save(told("claude"), account, PLACES["claude"])
    copy = told("claude")
    copy.asks("and what now?")
    save(dated(copy, session_id="s-2"), account, ".claude/projects/-p/s-2.jsonl")
    said = listed(account, "--yes")

    assert (said["stored"], said["groups"][0]["not_again"]) == (4, {"copy": 3})


@pytest.mark.parametrize(
    ("words", "stored"),
    [
        pytest.param(["--since", "2025-11-20T00:05"], [FAILURE, OTHER], id="since a time"),
        pytest.param(["--since", "2025-12"], [], id="since a month"),
        pytest.param(["--limit", "2"], [FAILURE, OTHER], id="the newest two"),
        pytest.param(["--project", "/"], [FIRST, FAILURE, OTHER], id="of a folder"),
        pytest.param(["--host", "gemini"], [], id="of another client"),
    ],
)
def test_only_what_is_asked_for_is_stored(account: Account, words: list[str], stored: list[str]) -> None:
    save(told("claude"), account, PLACES["claude"])
    save(Gemini(), account, PLACES["gemini"])
    account.cli("trace", "import", "--yes", *words)

    assert prompts(account) == stored


def test_a_limit_goes_on_where_the_last_one_ended(account: Account) -> None:
    save(told("claude"), account, PLACES["claude"])
    for _ in range(2):
        account.cli("trace", "import", "--yes", "--limit", "2")

    assert prompts(account) == [FIRST, FAILURE, OTHER]


def test_of_prompts_of_one_moment_a_limit_takes_no_more_than_it_says(account: Account) -> None:
    rows = [{"prompt": f"why is query {n} slow?", "at": LONG_AGO} for n in range(5)]
    file = jsonl(
        account, *rows, {"prompt": "and later?", "at": "2025-02-01"}, {"prompt": "when?", "at": time.time() + 600}
    )

    assert listed(account, str(file), "--yes", "--limit", "3")["stored"] == 3
    assert "and later?" in prompts(account) and "when?" not in prompts(account)


def test_a_nonsense_date_is_refused(account: Account) -> None:
    assert "36h, 2d or 4w for that long ago" in account.cli("trace", "import", "--since", "yesterday", exit_code=2)


def test_the_project_is_that_of_the_hook_where_the_folder_is_still_there(account: Account) -> None:
    account.ask("why is the build red?")
    file = jsonl(account, {"prompt": "and the tests?", "cwd": str(account.project), "at": LONG_AGO})
    account.cli("trace", "import", "--yes", str(file))

    imported, typed = account.traces()
    assert imported["project"] == typed["project"]


def test_nothing_is_taken_in_where_the_log_keeps_no_text(well_used: Account) -> None:
    well_used.write("config/config.toml", 'log = "hash"\n')
    said = listed(well_used, "--yes", "--host", "claude")

    assert (said["stored"], said["groups"][0]["left_out"]["log keeps no text"]) == (None, 3)


def test_the_figures_of_the_hook_do_not_count_imports(well_used: Account) -> None:
    well_used.ask("why is the build red?")
    well_used.cli("trace", "import", "--yes")

    stats, imported = (
        json.loads(well_used.cli("trace", "stats", "--json", *words)) for words in ([], ["--where", "origin:import"])
    )
    assert (stats["prompts"], list(stats["last_seen"]), imported["prompts"]) == (1, ["claude"], 12)
    assert json.loads(well_used.cli("trace", "last", "--json"))["prompt"] == "why is the build red?"


MANY_PROMPTS = 2_000
STOPS_AFTER_A_BATCH = ENTRY.replace(
    "main()",
    """\
import os, signal
from storage.traces import intake
add = intake.add
def add_and_stop(*given):
    intake.add, added = add, add(*given)
    os.kill(os.getpid(), signal.SIGSTOP)
    return added
intake.add = add_and_stop
main()""",
)
"""The command, which stops itself after its first batch: an import that only runs at the same time may be over."""


@pytest.mark.slow
def test_an_interrupted_import_leaves_whole_batches_and_no_prompt_waits_for_it(account: Account) -> None:
    rows = [
        {"prompt": f"why is query {n} slow?", "session_id": f"s{n % 50}", "at": 1735787046 + n}
        for n in range(MANY_PROMPTS)
    ]
    file = jsonl(account, *rows)
    command = [sys.executable, "-I", "-c", STOPS_AFTER_A_BATCH, str(ROOT), "trace", "import", "--yes", str(file)]
    with subprocess.Popen(command, env=account.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        answer = account.ask("why is the build red?")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=60)[1].decode()
    stored = sum(trace["origin"] == "import" for trace in account.traces())

    assert answer.is_harmless()
    assert (process.returncode, "run the same command again for the rest" in said) == (1, True), said
    assert 0 < stored < MANY_PROMPTS and stored % 100 == 0
    account.cli("trace", "import", "--yes", str(file))
    assert sum(trace["origin"] == "import" for trace in account.traces()) == MANY_PROMPTS
