"""Whatever a channel's program does, the others answer, the prompt goes on, and nothing is left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enricher.context import CHANNELS

if TYPE_CHECKING:
    from simulator import Account, Answer

PROMPT = "the login test fails with a KeyError, please fix it"
FAST = """echo '{"items": [{"text": "sessions hold ids only", "ref": "adr/7", "date": "2026-09-14", "score": 0.9}]}'"""
SAID = '- adr/7, 2026-09-14: "sessions hold ids only"'
ATTEMPTS = 8

DAEMON = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""
BREEDER = """
import os, sys, time
open(sys.argv[1], "w").close()
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork():
                time.sleep(60)
                os._exit(0)
            time.sleep(0.05)
            os.setsid()
            if os.getsid(0) == os.getpid() and len(sys.argv) > 1:
                sys.argv.pop()
                continue
            time.sleep(60)
            os._exit(0)
"""
HOSTILE = {
    "writes 10 MB": "head -c 10000000 /dev/zero | tr '\\0' x",
    "closes stdin at once": "exec <&-; sleep 0.02; echo '{\"items\": []}'",
    "closes stdout at once": "exec >&-; sleep 60",
    "answers too late": f"sleep 0.3; {FAST}",
    "answers, then lingers": f"{FAST}; exec >&-; sleep 60",
    "writes slowly": "while :; do printf x; sleep 0.02; done",
    "stops its own group": "kill -STOP 0",
    "prints nothing and waits": "cat >/dev/null; sleep 60",
    "a child in its own session holds stdout": "setsid sleep 60 & echo '{\"items\": []}'",
    "says it as NaN": """echo '{"items": [{"text": "x", "score": NaN}, {"text": "y", "score": 1e999}]}'""",
    "an enormous score": """echo '{"items": [{"text": "x", "score": """ + "9" * 400 + """}]}'""",
}


def ask(account: Account, prompt: str = PROMPT) -> Answer:
    """Ask until the fast channel answered in its 150 ms, which a busy machine may not grant."""
    for _attempt in range(ATTEMPTS):
        answer = account.ask(prompt)
        assert answer.is_harmless()
        if SAID in answer.context:
            break
    return answer


def statuses(account: Account) -> dict[str, str]:
    return {one["channel"]: one["status"] for one in account.trace()["channels"] if one["channel"] not in CHANNELS}


@pytest.mark.upkeep
@pytest.mark.conformance("E18", "E21", "P30")
@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_program_changes_nothing_for_the_others(account: Account, script: str) -> None:
    account.channel("hostile", script)
    account.channel("fast", FAST)
    account.compile()

    assert SAID in ask(account).context
    assert statuses(account)["fast"] == "ok"
    account.rest()


@pytest.mark.upkeep
@pytest.mark.conformance("E18", "P29")
@pytest.mark.parametrize("program", [DAEMON, BREEDER], ids=["a daemon", "many that leave their group again"])
def test_what_leaves_the_process_group_is_ended_too(account: Account, program: str) -> None:
    """A daemon belongs to nobody any more; what it cannot leave behind is the mark in its environment."""
    file = account.write("daemon.py", program)
    pid = account.home / "pid"
    account.channel("daemon", f"{sys.executable} -I -S {file} {pid}; while [ ! -e {pid} ]; do sleep 0.01; done; {FAST}")
    account.compile()

    for _attempt in range(ATTEMPTS):
        account.ask(PROMPT)
        if pid.exists():
            break

    account.rest()
    assert pid.exists()
    assert account.processes() == []


@pytest.mark.upkeep
def test_a_daemon_is_ended_without_the_prompt_waiting_for_that(account: Account) -> None:
    file = account.write("daemon.py", DAEMON)
    pid = account.home / "pid"
    account.channel(
        "fast", f"{sys.executable} -I -S {file} {pid} >/dev/null; while [ ! -s {pid} ]; do sleep 0.005; done; {FAST}"
    )
    account.compile()

    ask(account)
    account.rest()

    assert not runs(pid.read_text())


def runs(pid: str) -> bool:
    """Say whether a process works; what has ended stays listed until its parent asks how."""
    try:
        return Path(f"/proc/{pid.strip()}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.upkeep
def test_who_takes_the_mark_off_may_stay(account: Account) -> None:
    """The documented way for a channel to keep a server of its own."""
    pid = account.home / "pid"
    keep = f"env -u ENRICHER_CHANNEL -u ENRICHER_HOME setsid sh -c 'echo $$ > {pid}; exec sleep 20' >/dev/null 2>&1 &"
    account.channel("fast", f"{keep}\nwhile [ ! -s {pid} ]; do sleep 0.005; done; {FAST}")
    account.compile()

    ask(account)
    account.rest()

    server = int(pid.read_text())
    assert Path(f"/proc/{server}").exists()
    os.kill(server, signal.SIGKILL)


@pytest.mark.upkeep
@pytest.mark.conformance("P28")
def test_what_a_killed_hook_leaves_the_next_one_ends(account: Account) -> None:
    started = account.home / "started"
    account.channel("slow", f"touch {started}; trap '' TERM HUP PIPE; while :; do sleep 0.2; done")
    account.compile()
    with subprocess.Popen(account.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=account.env) as hook:
        hook.stdin.write(json.dumps(account.event(PROMPT)).encode() + b"\n")
        hook.stdin.flush()
        until = time.monotonic() + 60
        while not started.exists() and time.monotonic() < until:
            time.sleep(0.001)
        hook.kill()
    left = [line for line in account.processes() if "slow" in line]
    time.sleep(2.3)

    account.ask(f"{PROMPT} now")
    account.rest()

    assert left
    assert account.processes() == []


@pytest.mark.upkeep
def test_twenty_programs_at_once(account: Account) -> None:
    for number in range(10):
        account.channel(f"slow{number}", "sleep 10")
        account.channel(f"quick{number}", f"""echo '{{"items": [{{"text": "fact {number}", "score": 0.9}}]}}'""")
    account.compile()

    in_time = 0
    for _attempt in range(ATTEMPTS):
        account.ask(PROMPT)
        fates = statuses(account)
        in_time = max(in_time, list(fates.values()).count("ok"))
        if in_time == 10:
            break

    assert len(fates) == 20
    assert {fates[f"slow{number}"] for number in range(10)} == {"timeout"}
    assert in_time  # of the ten; a busy machine does not get all of them started
    account.rest()


@pytest.mark.conformance("E19", "Y32")
def test_slow_and_fast_together_give_a_part(account: Account) -> None:
    account.channel("slow", "sleep 10")
    account.channel("fast", FAST)
    account.compile()

    answer = ask(account)

    assert SAID in answer.context
    assert answer.context.endswith("\n_Partial: slow (time)_")
    (record,) = [one for one in account.log() if one["reason"].startswith("slow")][-1:]
    assert (record["level"], record["reason"]) == ("WARNING", "slow: timeout")


@pytest.mark.conformance("Y33", "P37")
def test_where_every_program_fails_the_prompt_goes_on(account: Account) -> None:
    for name, script in {"one": "exit 1", "two": "echo {", "three": "kill -KILL $$"}.items():
        account.channel(name, script)
    account.compile()

    assert account.ask("where is the billing documentation kept?").is_harmless()
    assert set(statuses(account).values()) == {"error"}


def test_a_program_says_by_its_exit_code_that_it_failed(account: Account) -> None:
    account.channel("failing", f"{FAST}; exit 4")
    account.compile()

    answer = account.ask(PROMPT)

    assert "sessions hold ids only" not in answer.context
    assert "failing: exit code 4" in [one["reason"] for one in account.log()]


@pytest.mark.upkeep
def test_a_channel_that_asks_an_agent_does_not_ask_itself(account: Account) -> None:
    """The agent's own prompt would start the channel again, and so on."""
    hook = " ".join(account.command())
    event = json.dumps({"prompt": "the export fails, fix it", "session_id": "inner", "cwd": str(account.project)})
    asked = account.write("event.json", event)
    account.channel("agent", f"echo x >> {account.home}/asked; {hook} < {asked} > {account.home}/inner; {FAST}")
    account.compile()

    account.ask(PROMPT)
    account.rest()

    assert (account.home / "asked").read_text() == "x\n"


@pytest.mark.timed
def test_our_own_channels_and_programs_work_at_the_same_time(account: Account) -> None:
    """A program that needs 80 ms is not started after our own channels, but before them."""
    account.channel("slow", f"sleep 0.08; {FAST}")
    account.compile()

    ask(account)

    trace = account.trace()
    (slow,) = [one for one in trace["channels"] if one["channel"] == "slow"]
    gather = next(one["latency_ms"] for one in trace["stages"] if one["stage"] == "gather")
    ours = sum(one["latency_ms"] for one in trace["channels"] if one["channel"] in CHANNELS)
    assert slow["status"] == "ok"
    assert gather < slow["latency_ms"] + ours + 25


@pytest.mark.parametrize("trusted", [False, True])
def test_a_project_s_program_runs_only_where_the_project_is_trusted(account: Account, trusted: bool) -> None:
    program = account.write("project/.enricher/notes.sh", f"#!/bin/sh\ntouch {account.home}/ran\n{FAST}\n", mode=0o755)
    rule = f"# Context\n\n## Channel: notes\n\n```yaml\ncommand: [{program}]\n```\n"
    account.write("project/.enricher/instructions.md", rule)
    if trusted:
        account.cli("trust")
        account.compile()

    account.ask_patiently(PROMPT)

    assert (account.home / "ran").exists() is trusted
    assert statuses(account) in ({"notes": "ok"}, {"notes": "timeout"}) if trusted else {".enricher": "untrusted"}
    if not trusted:
        assert statuses(account) == {".enricher": "untrusted"}
