"""Whatever lies where the hook expects a file of its own, the prompt is answered and its trace is kept."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import time
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from simulator import Account, Answer

from enricher.rules import cache
from storage.base.fast_stdlib import keyed_hash
from storage.state import sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROMPT = "mend the login test in app/login.py, it fails with KeyError 'user', see task 3, and nothing else"
SOMEBODY_ELSE = 12345
_turns = count(1)


@pytest.fixture(scope="module")
def well_used(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account with every kind of file that a prompt may open, in which no background process starts."""
    account = Account(tmp_path_factory.mktemp("planted") / "home", has_upkeep=True)
    account.env["ENRICHER_EVENTS_FILE"] = "events.jsonl"
    account.write("config/config.toml", "[budgets]\ntokens = 440\n")
    account.instruct("# Context\n\nNothing of my own yet.\n")
    account.write("project/app/login.py", "def login(user):\n    return user['user']\n")
    account.write("project/TODO.md", "- [ ] mend the login test\n")
    account.write("project/.beads/issues.jsonl", '{"id": "bd-1", "title": "the login test fails", "status": "open"}\n')
    account.write("project/.git/HEAD", "ref: refs/heads/main\n")
    account.write("project/.git/config", '[remote "origin"]\n\turl = https://example.org/o/r.git\n')
    account.write("project/.enricher/instructions.md", "# Context\n\nNothing of the project yet.\n")
    account.write(".claude/skills/tests/SKILL.md", "---\nname: tests\ndescription: how tests are run\n---\n")
    account.write(".claude/tasks/planted/3.json", '{"id": "3", "subject": "mend the login test", "status": "pending"}')
    account.write("transcript.jsonl", '{"type":"user","message":{"role":"user","content":"look at the cache"}}\n')
    account.cli("trust")
    account.cli("memory", "add", "the login test needs the session middleware")
    account.cli("install", "--launcher-only")
    account.cli("code", "index")
    account.compile()
    account.ask(PROMPT)
    account.rest()
    for stamp in (account.state / "maintenance", *(account.state / "upkeep").iterdir()):
        os.utime(stamp, (time.time() + 590, time.time() + 590))
    return account


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


PLACES: dict[str, Callable[[Account, str], Path]] = {
    "modules": lambda account, _session: only(account.state, "modules-*"),
    "compiled rules": lambda account, _session: _compiled(account),
    "key": lambda account, _session: account.state / "key",
    "claims": lambda account, _session: account.state / "claims",
    "session": lambda account, session: account.state / "sessions" / keyed_hash(b"session", session.encode()),
    "notices": lambda account, _session: account.state / "notices",
    "a notice": lambda account, _session: account.state / "notices" / "0123",
    "failures": lambda account, _session: account.state / "failures",
    "log": lambda account, _session: account.state / "log",
    "events": lambda account, _session: account.state / "events.jsonl",
    "database": lambda account, _session: account.state / "enricher.db",
    "code index": lambda account, _session: only(account.state / "code", "*.db"),
    "trust": lambda account, _session: only(account.state / "trust", "*"),
    "maintenance": lambda account, _session: account.state / "maintenance",
    "upkeep": lambda account, _session: next((account.state / "upkeep").iterdir()),
    "version": lambda account, _session: next(
        one for one in (account.state / "versions").iterdir() if one.name.isalnum()
    ),
    "config": lambda account, _session: account.config / "config.toml",
    "instructions": lambda account, _session: account.config / "instructions.md",
    "project's instructions": lambda account, _session: account.project / ".enricher" / "instructions.md",
    "git config": lambda account, _session: account.project / ".git" / "config",
    "todo list": lambda account, _session: account.project / "TODO.md",
    "beads": lambda account, _session: account.project / ".beads" / "issues.jsonl",
    "task": lambda account, _session: account.home / ".claude/tasks/planted/3.json",
    "skill": lambda account, _session: account.home / ".claude/skills/tests/SKILL.md",
    "transcript": lambda account, _session: account.home / "transcript.jsonl",
}


def _compiled(account: Account) -> Path:
    return max((account.state / "rules").glob("*.json"), key=lambda path: len(cache.read_header(str(path))["sources"]))


def pipe(path: Path, _content: bytes) -> None:
    os.mkfifo(path)


def endless_device(path: Path, _content: bytes) -> None:
    path.symlink_to("/dev/zero")


def link_to_a_pipe(path: Path, _content: bytes) -> None:
    os.mkfifo(pipe := path.with_name(f"{path.name}-pipe"))
    path.symlink_to(pipe)


def link_to_nowhere(path: Path, _content: bytes) -> None:
    path.symlink_to("nowhere")


def folder(path: Path, _content: bytes) -> None:
    path.mkdir()


def damaged(path: Path, content: bytes) -> None:
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 16 if content else 16]) + content[middle + 1 :])


def writable_by_the_group(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o660)


def somebody_elses(path: Path, content: bytes) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    path.write_bytes(content)
    path.chmod(0o600)
    os.chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE)


KINDS = [
    pipe, endless_device, link_to_a_pipe, link_to_nowhere, folder, damaged, writable_by_the_group, somebody_elses,
]  # fmt: skip


@pytest.fixture
def planted(
    well_used: Account, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str, Callable[[Path, bytes], None]], str]]:
    """Return what puts something in the place of a file and names the session to ask in; the file comes back."""
    moved: list[tuple[Path, Path]] = []

    def plant(place: str, kind: Callable[[Path, bytes], None]) -> str:
        session = f"planted-{next(_turns)}"
        sessions.record_injected(str(well_used.state), session, [("approach", "none")], tokens=1)
        path = PLACES[place](well_used, session)
        path.parent.mkdir(exist_ok=True)
        aside = tmp_path / "aside"
        content = path.read_bytes() if path.is_file() else b"something"
        if path.exists():
            path.rename(aside)
        moved.append((path, aside))
        kind(path, content)
        return session

    yield plant
    for path, aside in moved:
        for left in (path, path.with_name(f"{path.name}-pipe")):
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink(missing_ok=True)
        if aside.exists():
            aside.rename(path)
        if (notices := well_used.state / "notices").is_dir():
            shutil.rmtree(notices)


def trace_of(account: Account, session: str) -> dict[str, Any]:
    """Return the trace, from the spool or from the database, where a background process may have started after all."""
    until = time.monotonic() + 20
    while not (found := [*in_the_spool(account, session), *in_the_database(account, session)]):
        assert time.monotonic() < until, f"no trace of {session}"
        time.sleep(0.05)
    return found[0]


def in_the_spool(account: Account, session: str) -> Iterator[dict[str, Any]]:
    for file in (account.state / "spool").glob("*.json"):
        with contextlib.suppress(FileNotFoundError):
            columns, rows = json.loads(file.read_text())["tables"]["traces"]
            yield from (
                trace for row in rows if (trace := dict(zip(columns, row, strict=True)))["session_id"] == session
            )


def in_the_database(account: Account, session: str) -> Iterator[dict[str, Any]]:
    if not (file := account.state / "enricher.db").is_file():
        return
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(file, timeout=60)) as db:
        query = "select status, error, skip_reason from traces where session_id = ?"
        db.row_factory = sqlite3.Row
        yield from map(dict, db.execute(query, (session,)))


ATTEMPTS = 5


KINDS_OFTEN = (pipe, folder, damaged)
"""What ``make test`` puts in each place; the other kinds are for ``make test-slow``."""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, id=kind.__name__.replace("_", " "), marks=[pytest.mark.slow] * (kind not in KINDS_OFTEN))
        for kind in KINDS
    ],
)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_lies_in_the_place_of_a_file_the_prompt_is_answered_and_traced(
    well_used: Account, planted: Callable[..., str], place: str, kind: Callable[[Path, bytes], None]
) -> None:
    session = planted(place, kind)

    for attempt in range(ATTEMPTS):
        answer, trace = ask(well_used, f"{session}-{attempt}")
        if trace["skip_reason"] != "settings_unknown" and trace["error"] != "deadline":
            break
        well_used.rest()  # the machine was too busy, to compile what is left of the layers or for the prompt

    assert (answer.exit_code, answer.stderr) == (0, b"")
    assert answer.context.startswith("## Prompt Enrichment\n")
    assert (trace["status"] in ("ok", "partial"), trace["error"]) == (True, "")


def ask(account: Account, session: str) -> tuple[Answer, dict[str, Any]]:
    """Type the prompt into a client and return its answer and its trace."""
    transcript = str(account.home / "transcript.jsonl")
    event = account.event(f"{PROMPT} ({session})", session_id=session, transcript_path=transcript)
    answer = account.run(event, shell_line=f"sh {account.state}/hook claude")
    return answer, trace_of(account, session)


@pytest.mark.upkeep
def test_compiled_rules_that_somebody_else_could_have_written_are_not_used(account: Account) -> None:
    account.instruct("# Context\n\nNothing of my own yet.\n")
    account.compile()
    file = only(account.state / "rules", "*.json")
    header, body = file.read_text().split("\n", 1)
    turned = cache.render(json.loads(header), body.rstrip("\n").replace('"debug"', '"turned"'))
    said = {}
    for mode in (0o600, 0o620, 0o602):
        file.write_text(turned)
        file.chmod(mode)
        account.ask_patiently(PROMPT)
        said[mode] = account.trace()["task_type"] == "turned"
        account.rest()

    assert said == {0o600: True, 0o620: False, 0o602: False}


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_trust_that_somebody_else_could_have_given_does_not_count(account: Account, mode: int) -> None:
    account.write("project/.enricher/instructions.md", "# Context\n\nNothing of the project yet.\n")
    account.cli("trust")
    trusted = account.ask_patiently(PROMPT).told
    only(account.state / "trust", "*").chmod(mode)

    assert "enricher trust" not in trusted
    assert "enricher trust" in account.ask_patiently(PROMPT).told
