"""``enricher validate`` as a process: files, folders, changed lines, exit codes."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

STUB = "def f():\n    pass\n"
SOUND = '"""Sums."""\n\n\ndef total(a, b):\n    """Return the sum."""\n    return a + b\n'


def git(account: Account, *words: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *words], cwd=account.project, env=account.env, check=True, capture_output=True)


@pytest.fixture
def repository(account: Account) -> Account:
    """Return an account whose project has one commit with a stub in it."""
    account.write("project/old.py", f"{STUB}\n\n{SOUND}")
    git(account, "init", "-q")
    git(account, "add", "-A")
    git(account, "commit", "-qm", "first")
    return account


def test_a_violation_is_printed_with_file_line_rule_and_remedy(account: Account) -> None:
    account.write("project/a.py", f"\n{STUB}")

    printed = account.cli("validate", "a.py", "--rule", "NO_STUBS", exit_code=1)

    remedy = "implement it, or remove it until it is needed"
    assert printed.splitlines() == [
        f"a.py:2: critical CODE_001 NO_STUBS: function f has an empty body ({remedy})",
        "1 violations in 1 files",
    ]


def test_sound_code_and_what_is_only_medium_end_with_exit_code_0(account: Account) -> None:
    account.write("project/a.py", SOUND)
    account.write("project/b.py", "def public():\n    return 1\n")

    assert account.cli("validate", "a.py") == "1 files, no violations\n"
    assert "CODE_003" in account.cli("validate", "b.py", exit_code=1)


def test_a_file_that_cannot_be_parsed_does_not_keep_others_from_being_checked(account: Account) -> None:
    account.write("project/a.py", "def f(:\n")
    account.write("project/b.py", STUB)
    account.write("project/c.py", b"# coding: none-such\n")

    found = json.loads(account.cli("validate", ".", "--rule", "CODE_001", "--json", exit_code=1))

    assert found["files"] == 3
    assert [(one["file"], one["rule_id"]) for one in found["violations"]] == [
        ("a.py", "SYNTAX"), ("b.py", "CODE_001"), ("c.py", "SYNTAX"),
    ]  # fmt: skip


def test_a_folder_is_checked_without_what_git_ignores_or_was_installed(repository: Account) -> None:
    repository.write("project/.gitignore", "made.py\n")
    for name in ("made.py", "new.py"):
        repository.write(f"project/{name}", STUB)
    outside = repository.write("elsewhere/.venv/lib/x.py", STUB).parents[2]
    repository.write("elsewhere/y.py", STUB)

    in_repository = json.loads(repository.cli("validate", ".", "--rule", "CODE_001", "--json", exit_code=1))
    elsewhere = json.loads(repository.cli("validate", str(outside), "--rule", "CODE_001", "--json", exit_code=1))

    assert [one["file"] for one in in_repository["violations"]] == ["new.py", "old.py"]
    assert [one["file"] for one in elsewhere["violations"]] == [str(outside / "y.py")]


def test_with_a_revision_only_changed_lines_count(repository: Account) -> None:
    assert repository.cli("validate", "--diff", "HEAD") == "0 files, no violations\n"
    repository.write("project/old.py", f"{STUB}\n\n{SOUND}\n\ndef g():\n    ...\n")
    repository.write("project/has blank ü.py", STUB)

    found = json.loads(repository.cli("validate", "--diff", "HEAD", "--rule", "CODE_001", "--json", exit_code=1))
    one_file = repository.cli("validate", "old.py", "--diff", "HEAD", "--rule", "CODE_001", exit_code=1)

    assert [(one["file"], one["line"]) for one in found["violations"]] == [("has blank ü.py", 1), ("old.py", 13)]
    assert one_file.splitlines()[1:] == ["1 violations in 1 files"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param((), "name files or folders to check", id="nothing named"),
        pytest.param(("missing.py",), "does not exist", id="missing file"),
        pytest.param((".", "--rule", "CODE_999"), "no rule 'CODE_999'", id="unknown rule"),
        pytest.param((".", "--rule", "CODE_004"), "no validator checks it", id="rule for a model"),
        pytest.param(("--diff", "none-such"), "--diff none-such: no commit, branch or tag", id="unknown revision"),
        pytest.param(("--diff", "--output=x"), "no commit, branch or tag", id="an option as revision"),
    ],
)
def test_wrong_usage_ends_with_exit_code_2(repository: Account, words: tuple[str, ...], said: str) -> None:
    assert said in repository.cli("validate", *words, exit_code=2)


@pytest.mark.conformance("S2-2d")
def test_an_empty_function_that_the_modules_beside_implement_is_a_convention(repository: Account) -> None:
    for name in ("a.py", "b.py"):
        repository.write(f"project/formats/{name}", "def prepare(app):\n    pass\n\n\ndef sum_up(app):\n    pass\n")
    repository.write("project/formats/c.py", "def prepare(app):\n    app.add(1)\n")

    found = json.loads(repository.cli("validate", "formats", "--rule", "CODE_001", "--json", exit_code=1))

    assert [(one["file"], one["line"]) for one in found["violations"]] == [("formats/a.py", 5), ("formats/b.py", 5)]
