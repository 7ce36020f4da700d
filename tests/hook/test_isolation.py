"""The hook reads, thinks and writes its own records; it runs nothing, touches nothing, calls nobody."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from test_answer_form import TRACE

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

DANGEROUS = "delete ./victim, create /tmp/pwned, fix parser.py and nothing else: `rm -rf victim`; $(touch pwned) | sh"
STRACE = shutil.which("strace")


def tree(folder: Path, *, without: Path) -> dict[str, str]:
    """Return every path below ``folder`` with its content, kind, mode and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if without in (path, *path.parents):
            continue
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = f"{content} {status.st_mode:o} {status.st_mtime_ns}"
    return found


@pytest.mark.upkeep
@pytest.mark.conformance("E13", "E58")
def test_a_prompt_that_orders_deletion_deletes_and_creates_nothing(account: Account) -> None:
    account.write("project/victim", "precious")
    account.write("project/parser.py", "x = 1\n")
    account.write("no-transcript.jsonl", "{}\n")
    del account.env["TMPDIR"]  # SQLite may sort in a temporary file
    before = tree(account.home, without=account.state)

    answer = account.ask(DANGEROUS)
    account.rest()

    assert answer.is_harmless()
    assert account.trace()["status"] == "ok"
    assert tree(account.home, without=account.state) == before


def system_calls(account: Account, calls: str, prompt: str) -> list[str]:
    """Return the calls of these kinds that the hook and all its children made."""
    if not STRACE:
        pytest.skip("strace is not installed")
    record = account.home / "calls"
    answer = account.run(
        account.event(prompt), before=(STRACE, "-f", "-qq", "-s", "300", "-e", f"trace={calls}", "-o", str(record))
    )
    if answer.exit_code or not record.exists():
        pytest.skip(f"strace cannot trace here: {answer.stderr.decode(errors='replace')[:100]}")
    assert answer.context
    return re.findall(r"^\d+ +(\w+\(.*)$", record.read_text(errors="replace"), re.MULTILINE)


@pytest.mark.upkeep
@pytest.mark.conformance("E14")
@pytest.mark.parametrize(
    "prompt",
    [DANGEROUS, TRACE, "search the web for content moderation papers and run git log, the test is not working"],
)
def test_no_program_is_started_but_our_own_maintenance(account: Account, prompt: str) -> None:
    account.ask("warm up, the test is not working")
    account.rest()

    started = [call for call in system_calls(account, "execve", prompt) if call.startswith("execve(")]

    assert started
    assert all(re.match(r'execve\("[^"]*/python[^"/]*", \["[^"]*python[^"]*", "-I"', call) for call in started), started
    assert all("boot.py" in call or "storage" in call for call in started), started


@pytest.mark.conformance("E14", "E52")
def test_no_connection_is_made(account: Account) -> None:
    assert system_calls(account, "connect,bind,sendto", TRACE) == []


@pytest.mark.upkeep
@pytest.mark.conformance("E14")
def test_agent_programs_on_the_path_are_left_alone(account: Account) -> None:
    for name in ("claude", "gemini", "codex", "copilot", "git", "sh", "python3"):
        account.write(f"bin/{name}", f"#!/bin/sh\ntouch {account.home}/started-$(basename $0)\n", mode=0o755)
    account.env["PATH"] = f"{account.home}/bin:{account.env['PATH']}"

    answer = account.ask("ask claude and git what changed, the test is not working")
    account.rest()

    assert answer.context
    assert list(account.home.glob("started-*")) == []


@pytest.mark.conformance("E52")
def test_without_a_network_and_without_keys_the_answer_is_the_same(account: Account) -> None:
    start = ("unshare", "--map-root-user", "--net")
    if not shutil.which("unshare") or subprocess.run([*start, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")

    alone = account.run(account.event(TRACE), before=start)

    assert alone.is_harmless()
    assert alone.context == account.ask(TRACE).context != ""


@pytest.mark.upkeep
def test_all_that_is_kept_is_private(account: Account) -> None:
    account.env["ENRICHER_SHOW"] = "1"
    account.instruct("# Context\n")
    account.compile()
    account.ask(TRACE)
    account.run(b"not json")
    account.traces()
    account.rest()

    modes = {str(path.relative_to(account.state)): path.stat().st_mode & 0o777 for path in account.state.rglob("*")}
    folders = {path for path in modes if (account.state / path).is_dir()}
    assert len(modes) > 5
    assert {modes[path] for path in folders} <= {0o700}
    assert {mode for path, mode in modes.items() if path not in folders} == {0o600}
    assert account.state.stat().st_mode & 0o777 == 0o700
