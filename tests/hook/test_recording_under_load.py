"""An answered prompt leaves its trace, however slow the client, the disk or the machine is."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

if TYPE_CHECKING:
    from simulator import Account

pytestmark = pytest.mark.upkeep
PROMPT = "mend the login test, it fails with KeyError 'user', and nothing else"
LONGER_THAN_ANY_ALARM_S = 2.2
ATTEMPTS = 16
STEP_S = 0.0002
SMALLEST_PIPE = 4096
IN_ORDER = """
import os, sys
state, root = sys.argv[1:3]
def note(event, args):
    if event == "os.rename" and "/spool/" in str(args[1]):
        done.append("trace")
    if event == "open" and str(args[0]).startswith(state) and args[2] & (os.O_WRONLY | os.O_RDWR):
        name = args[0][len(state) + 1:].partition("/")[0]
        if name in ("log", "sessions", "maintenance"):
            done.append(name)
def write(descriptor, content):
    if descriptor == 1:
        done.append("answer")
    return real_write(descriptor, content)
def leave(code):
    real_write(2, "\\n".join(done).encode())
    real_leave(code)
done = []
real_write, os.write = os.write, write
real_leave, os._exit = os._exit, leave
sys.addaudithook(note)
sys.path.append(root)
from enricher.hook.process import main
main(["claude"])
"""


@pytest.fixture
def warm(account: Account) -> Account:
    """An account that has answered before and is at rest, so that only the prompt's own work goes on."""
    account.ask("What is the hydrator?")
    account.traces()
    account.rest()
    return account


def given(account: Account, session: str) -> bytes:
    return json.dumps(account.event(PROMPT, session_id=session)).encode()


def start(account: Account, session: str, *before: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start the hook on one prompt and return it while it runs."""
    hook = subprocess.Popen(
        [*before, *account.command()],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env=account.env,
        cwd=account.project,
    )
    assert hook.stdin
    hook.stdin.write(given(account, session))
    hook.stdin.close()
    return hook


def traced(account: Account) -> list[str]:
    account.rest()
    return [trace["session_id"] for trace in account.traces()]


def test_hooks_that_start_at_the_same_moment_all_answer_and_leave_their_traces(warm: Account) -> None:
    hooks = {session: start(warm, session) for session in (f"together-{number}" for number in range(ATTEMPTS))}
    answers = []
    for hook in hooks.values():
        assert hook.stdout
        with hook.stdout:
            answers.append(hook.stdout.read())

    assert [hook.wait(10) for hook in hooks.values()] == [0] * ATTEMPTS
    assert all(answers)
    assert set(hooks) - set(traced(warm)) == set()


def test_hooks_that_get_no_processor_time_after_their_answers_leave_their_traces(warm: Account) -> None:
    """Each is stopped a little later after its answer, for longer than any alarm, as on a machine that is too busy."""
    hooks = {}
    for turn in range(ATTEMPTS):
        session = f"stopped-{turn}"
        hook = hooks[session] = start(warm, session)
        assert hook.stdout
        with hook.stdout:
            os.read(hook.stdout.fileno(), 65536)
            time.sleep(turn * STEP_S)
            os.kill(hook.pid, signal.SIGSTOP)

    time.sleep(LONGER_THAN_ANY_ALARM_S)
    for hook in hooks.values():
        os.kill(hook.pid, signal.SIGCONT)

    assert [hook.wait(10) for hook in hooks.values()] == [0] * ATTEMPTS
    assert set(hooks) - set(traced(warm)) == set()


@pytest.mark.skipif(not shutil.which("strace"), reason="strace, which delays the system calls, is not installed")
@pytest.mark.parametrize(
    ("call", "delay_s"),
    [pytest.param("write", 0.45, id="every write"), pytest.param("rename", 2.5, id="putting the trace in place")],
)
def test_a_slow_disk_costs_neither_the_answer_nor_the_trace(warm: Account, call: str, delay_s: float) -> None:
    delay = f"inject={call}:delay_enter={int(delay_s * 1e6)}"
    hook = start(warm, "slow", "strace", "-f", "-o", os.devnull, "-e", delay)

    assert hook.stdout
    with hook.stdout:
        assert json.loads(hook.stdout.read())
    assert hook.wait(60) == 0
    assert "slow" in traced(warm)


def test_a_client_that_reads_late_gets_the_whole_answer_and_the_trace_is_kept(warm: Account) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    os.write(writer, b" " * SMALLEST_PIPE)
    hook = start(warm, "late", stdout=writer)
    os.close(writer)

    time.sleep(0.8)  # twice what the answer once had
    with open(reader, "rb") as pipe:
        answer = pipe.read()

    assert answer.rstrip().endswith(b"}")
    assert json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    assert hook.wait(10) == 0
    assert "late" in traced(warm)


def test_a_client_that_never_reads_is_not_waited_for_and_the_trace_is_kept(warm: Account) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    os.write(writer, b" " * SMALLEST_PIPE)
    hook = start(warm, "never", stdout=writer)

    assert hook.wait(10) == 0
    os.close(reader)
    os.close(writer)
    assert "never" in traced(warm)


def test_pipes_that_are_set_not_to_wait_lose_neither_event_nor_answer(warm: Account) -> None:
    ours, its_stdin = os.pipe()[::-1]
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    os.write(writer, b" " * SMALLEST_PIPE)
    os.set_blocking(its_stdin, False)
    os.set_blocking(writer, False)
    hook = subprocess.Popen(
        warm.command(), stdin=its_stdin, stdout=writer, stderr=subprocess.DEVNULL, env=warm.env, cwd=warm.project
    )
    os.close(its_stdin)
    os.close(writer)

    time.sleep(0.3)
    os.write(ours, given(warm, "no-wait"))
    os.close(ours)
    time.sleep(0.3)
    with open(reader, "rb") as pipe:
        answer = pipe.read()

    assert json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    assert hook.wait(10) == 0
    assert "no-wait" in traced(warm)


def test_after_the_answer_comes_the_trace_then_the_log_then_the_rest(warm: Account) -> None:
    warm.env["ENRICHER_BUDGETS_TOKENS"] = "many"  # something to log
    command = [sys.executable, "-I", "-S", "-c", IN_ORDER, str(warm.state), str(ROOT)]

    ended = subprocess.run(
        command, input=given(warm, "ordered"), env=warm.env, cwd=warm.project, capture_output=True, check=True
    )

    done = ended.stderr.decode().split()
    assert done[:3] == ["answer", "trace", "log"]
    assert set(done[3:]) == {"sessions", "maintenance"}
