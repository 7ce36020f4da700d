"""Modules from one file: the same answers, every edit of a source honoured, damage of no consequence."""

from __future__ import annotations

import marshal
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT, Account

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "why does the login test fail with KeyError 'user'?"
LATER = "why does the logout test fail with KeyError 'user'?"


@pytest.fixture
def installed(account: Account, tmp_path: Path) -> tuple[Account, Path]:
    """An account whose hook is a copy of the product that a test may edit."""
    copy = tmp_path / "site"
    for folder in ("enricher", "storage", "instructions", "workbench"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return account, copy / "enricher" / "boot.py"


def ask(account: Account, boot: Path, prompt: str) -> subprocess.CompletedProcess[bytes]:
    given = str(account.event(prompt)).replace("'", '"').replace('KeyError "user"', "KeyError 'user'").encode()
    command = [sys.executable, "-I", "-S", str(boot), "claude"]
    return subprocess.run(command, input=given, env=account.env, cwd=account.project, capture_output=True, check=True)


def bundle_of(account: Account) -> Path:
    until = time.monotonic() + 10
    while not (found := list(account.state.glob("modules-*"))) and time.monotonic() < until:
        time.sleep(0.02)
    account.rest()
    return found[0]


def test_the_second_prompt_takes_its_modules_from_the_file_and_says_the_same(
    installed: tuple[Account, Path],
) -> None:
    account, boot = installed
    first = ask(account, boot, PROMPT)
    modules = marshal.loads(bundle_of(account).read_bytes())[2]
    second = ask(account, boot, PROMPT)

    assert first.stdout == second.stdout
    assert first.stdout
    assert {"enricher.hook", "enricher.pipeline", "storage.spool"} <= modules.keys()
    assert bundle_of(account).stat().st_mode & 0o777 == 0o600


def test_modules_really_come_from_it(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    ask(account, boot, PROMPT)
    file = bundle_of(account)
    root, version, modules = marshal.loads(file.read_bytes())
    path, is_package, mtime, size, _code = modules["enricher.render"]
    broken = marshal.dumps(compile("raise SystemError('from the bundle')", path, "exec"))
    modules["enricher.render"] = (path, is_package, mtime, size, broken)
    file.write_bytes(marshal.dumps([root, version, modules]))

    command = [sys.executable, "-I", "-S", str(boot), "claude"]
    ended = subprocess.run(command, input=b"{}", env=account.env, capture_output=True, check=False)

    assert b"from the bundle" in ended.stderr


def test_an_edit_of_a_source_is_honoured_by_the_next_prompt(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    ask(account, boot, PROMPT)
    bundle_of(account)
    source = boot.parent / "render.py"
    source.write_text(source.read_text().replace("## Prompt Enrichment", "## Edited just now"))

    assert b"## Edited just now" in ask(account, boot, LATER).stdout


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"[1, 2]", marshal.dumps([1, 2]), marshal.dumps(["/", "3", {}]), "odd"]
)
def test_a_damaged_file_is_passed_over(installed: tuple[Account, Path], content: bytes | str) -> None:
    account, boot = installed
    said = ask(account, boot, PROMPT).stdout
    odd = marshal.dumps([str(boot.parents[1]), sys.version, {"enricher.render": 7}])
    bundle_of(account).write_bytes(content if isinstance(content, bytes) else odd)

    assert ask(account, boot, PROMPT).stdout == said


def test_a_file_that_others_may_write_is_passed_over(installed: tuple[Account, Path]) -> None:
    account, boot = installed
    said = ask(account, boot, PROMPT).stdout
    file = bundle_of(account)
    root, version, modules = marshal.loads(file.read_bytes())
    path, is_package, mtime, size, _code = modules["enricher.render"]
    modules["enricher.render"] = (path, is_package, mtime, size, marshal.dumps(compile("1/0", path, "exec")))
    file.write_bytes(marshal.dumps([root, version, modules]))
    file.chmod(0o666)

    assert ask(account, boot, PROMPT).stdout == said


def test_a_file_that_cannot_be_written_keeps_nothing_else_from_being_brought_up_to_date(account: Account) -> None:
    (account.state / f"modules-{sys.implementation.cache_tag}").mkdir(parents=True)
    account.write("project/login.py", "def login(user):\n    return user\n")

    account.ask(PROMPT)
    account.rest()

    assert any((account.state / "code").glob("*.db"))
    assert [record["stage"] for record in account.log()] == ["upkeep of enricher.bundle"]
