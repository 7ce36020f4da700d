"""How a project does what a prompt asks for, and the tests of what will change, through the real hook."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from invented_actions import ASKED, NOT_ASKED
from simulator import Account

from enricher.context import CHANNELS
from enricher.prompt.wording.actions import asked_actions
from enricher.prompt.wording.actions.ways import asked_ways

CONTRIBUTING = """# Contributing

## Commits

Write commit messages as `area: what changed`, in the imperative, below 60 characters.

## Releasing

1. Set the version in `pyproject.toml`.
2. Run `make dist` and push the tag.

## Pull requests

Every pull request must target the branch `next` and mention its ticket.
"""
GEMINI = {"GEMINI_SESSION_ID": "1", "GEMINI_PROJECT_DIR": "/w"}
MAKEFILE = """test:
\tpython -m pytest -q

dist:
\tpython -m build
"""
LIMITS = """class RateLimiter:
    def allow(self, key):
        return True


def burst_size(key):
    return 3
"""
TEST_LIMITS = """from quota.limits import RateLimiter, burst_size


def test_allows_the_first_call():
    assert RateLimiter().allow("a")


def test_burst():
    assert burst_size("a") == 3
"""
PROJECT = {
    "CONTRIBUTING.md": CONTRIBUTING,
    "Makefile": MAKEFILE,
    "pyproject.toml": '[project]\nname = "quota"\n\n[dependency-groups]\ndev = ["pytest"]\n',
    "uv.lock": "version = 1\n",
    "quota/__init__.py": "",
    "quota/limits.py": LIMITS,
    "quota/storage.py": "def load_all(path):\n    return []\n",
    "quota/words.py": "def split_words(text):\n    return text.split()\n",
    "tests/test_limits.py": TEST_LIMITS,
    "tests/test_load.py": "from quota.storage import load_all\n\n\ndef test_it():\n    assert load_all('x') == []\n",
}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with conventions, a task file and tests, which each test copies."""
    root = tmp_path_factory.mktemp("quota")
    for path, text in PROJECT.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "Start")
    return root


@pytest.fixture
def quota(account: Account, committed: Path) -> Account:
    """An account in an indexed project with conventions, a task file and tests."""
    return with_quota(account, committed)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, committed: Path) -> Account:
    """The same for all tests that only ask."""
    return with_quota(Account(tmp_path_factory.mktemp("asked") / "home"), committed)


def with_quota(account: Account, committed: Path) -> Account:
    """Copy the repository into the project of an account and index it."""
    shutil.copytree(committed, account.project, symlinks=True, dirs_exist_ok=True)
    account.cli("code", "index")
    return account


def commit(account: Account, subject: str) -> None:
    """Commit everything and bring the index up to date."""
    git(account.project, subject)
    account.cli("code", "index")


def git(root: Path, subject: str) -> None:
    """Commit everything in a folder, which becomes a repository."""
    who = ("-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", subject, "--allow-empty")):
        subprocess.run(["git", *who, "-C", str(root), *words], check=True, capture_output=True)


def told(account: Account, prompt: str, channel: str, **changed: object) -> list[str]:
    """Return the lines of the answer to a prompt, with no other channel asked."""
    others = "\n".join(f"{name} = false" for name in CHANNELS if name not in (channel, "session"))
    file, settings = account.config / "config.toml", f"[channels]\n{others}\n"
    if not file.exists() or file.read_text() != settings:
        account.write(file, settings)
        account.compile()
    return [line[2:] for line in account.ask_patiently(prompt, **changed).context.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("line", ASKED.strip().splitlines())
def test_a_prompt_asks_for_this_action(line: str) -> None:
    action, prompt = line.split("|", 1)

    assert action in (asked_actions(prompt) or asked_ways(prompt))


@pytest.mark.parametrize("prompt", NOT_ASKED.strip().splitlines())
def test_a_prompt_that_only_says_the_words_asks_for_none(prompt: str) -> None:
    assert asked_actions(prompt) == asked_ways(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("commit this please", 'CONTRIBUTING.md:5, on commits: "Write commit messages as `area: what changed`'),
        ("Bitte committe die Änderungen", 'CONTRIBUTING.md:5, on commits: "Write commit messages'),
        ("open a PR", 'CONTRIBUTING.md:14, on pull requests: "Every pull request must target the branch `next`'),
        ("发布新版本", 'CONTRIBUTING.md:9, on releases: "Set the version in `pyproject.toml`'),
        ("run the tests", "Makefile:1 — runs the tests: `make test` (python -m pytest -q)"),
        ("запусти тесты", "Makefile:1 — runs the tests: `make test`"),
        ("ajoute une dépendance à attrs", "uv.lock — adds or updates a dependency: `uv add NAME`"),
    ],
)
def test_the_way_of_the_project_is_told_with_its_place(asked: Account, prompt: str, line: str) -> None:
    assert any(one.startswith(line) for one in told(asked, prompt, "ways")), asked.trace()["items"]


@pytest.mark.parametrize("named", ["QuotaTest", "`tests/test_quota.py`", "quota_spec.rb"])
def test_beside_named_tests_the_command_of_all_tests_is_not_told(asked: Account, named: str) -> None:
    assert told(asked, f"run the tests in {named}", "ways") == []
    assert [one[:8] for one in told(asked, "run the tests in quotatest", "ways")] == ["Makefile"]


def test_what_the_client_loads_by_itself_is_not_told_again(quota: Account) -> None:
    quota.write(Path(quota.project) / "CLAUDE.md", "@AGENTS.md\n")
    quota.write(
        Path(quota.project) / "AGENTS.md", "# Agents\n\n## Commits\n\nAlways write commit messages in capitals.\n"
    )
    commit(quota, "Say how agents work")

    assert told(quota, "commit this", "ways") == []
    assert "the host has it in AGENTS.md" in str(quota.trace()["items"])


@pytest.mark.slow
def test_the_history_shows_how_commits_are_worded_where_no_document_does(quota: Account) -> None:
    (Path(quota.project) / "CONTRIBUTING.md").unlink()
    for number in range(12):
        commit(quota, f"fix(quota): close gap {number}")

    assert told(quota, "commit and push", "ways") == []
    assert "it reads the newest commits before it commits" in str(quota.trace()["items"])
    quota.env |= GEMINI
    (line,) = told(quota, "commit and push", "ways")
    assert "12 of the last 13 commit subjects read `type(scope): summary` (fix)" in line
    assert line.endswith('"fix(quota): close gap 11"')


def test_the_newest_migration_is_the_one_of_the_highest_number(quota: Account) -> None:
    folder = "db/migrations/versions"
    for name in ("1.2/9-add-days.js", "1.2/10-add-weeks.js", "1.10/2024-10-09-add-months.js"):
        quota.write(quota.project / folder / name, "")
    commit(quota, "Count days")

    assert told(quota, "create a migration for the new column", "ways") == [
        f"{folder}/1.10/2024-10-09-add-months.js — the newest of 3 migrations"
    ]


def test_of_migrations_that_are_named_by_hash_the_last_one_is_told(quota: Account) -> None:
    folder = "quota/store/migrations/versions"
    follows = {
        "9b1c0d2e3f40_days": "None",
        "1a2b3c4d5e6f_weeks": '"9b1c0d2e3f40"',
        "a0b1c2d3e4f5_months": '"1a2b3c4d5e6f"',
    }
    for name, before in follows.items():
        quota.write(quota.project / folder / f"{name}.py", f"down_revision: str | None = {before}\n")
    commit(quota, "Count days")

    newest = [f"{folder}/a0b1c2d3e4f5_months.py — the newest of 3 migrations"]
    assert told(quota, "create a migration for the new column", "ways") == newest
    assert told(quota, "Как тут делают миграции?", "ways") == newest

    quota.write(quota.project / folder / "f5e4d3c2b1a0_years.py", 'down_revision = "1a2b3c4d5e6f"\n')
    commit(quota, "Count years")
    assert told(quota, "create a migration for the new column", "ways") == []


def test_all_checks_are_told_though_the_agent_has_run_a_test(quota: Account) -> None:
    quota.write(quota.project / "Makefile", f"{MAKEFILE}\ncheck: test\n\truff check\n")
    quota.cli("code", "index")
    ran = {"type": "tool_use", "name": "Bash", "input": {"command": "pytest -q"}}
    record = {"type": "assistant", "message": {"id": "m1", "content": [ran]}}
    after = {"transcript_path": str(quota.write("t.jsonl", json.dumps(record) + "\n"))}

    assert told(quota, "run the tests", "ways", **after) == []
    lines = told(quota, "run the whole check like the CI does before I push", "ways", **after)
    assert [line.startswith("Makefile:7 — checks the code: `make check`") for line in lines] == [True]


def test_a_task_of_rake_for_the_linter_is_told(quota: Account) -> None:
    quota.write(quota.project / "CONTRIBUTING.md", "# Contributing\n\n## Checks\n\n```\nrake docker:lint\n```\n")
    commit(quota, "Check types")

    assert told(quota, "how do I run the linter?", "ways") == [
        "CONTRIBUTING.md:6 — checks the code: `rake docker:lint`"
    ]


def test_the_section_for_the_next_release_may_stand_below_the_others(quota: Account) -> None:
    notes = "# Release notes\n\n## Version 2.1\n\n- Tabs\n\n" + "- more\n" * 90 + "\n## Not released yet\n\n- Blanks\n"
    quota.write(quota.project / "docs/releases.md", notes)
    commit(quota, "Tell of tabs")

    lines = told(quota, "update the release notes", "ways")
    assert lines == ["docs/releases.md:98 — the section Not released yet takes the next entry"]


def test_the_command_that_writes_a_migration_is_told_where_one_is_wanted(quota: Account) -> None:
    scripts = '"db:migrate": "tsx migrate.ts", "db:generate": "drizzle-kit generate"'
    quota.write("project/package.json", f'{{"scripts": {{{scripts}}}}}')
    quota.write("project/db/migrations/0001_days.sql", "create table days (day text);\n")
    quota.cli("code", "index")

    lines = told(quota, "I need a migration for the new column, and what do I run then?", "ways")
    assert [line.partition("` (")[0] for line in lines] == [
        "db/migrations/0001_days.sql — the newest of 1 migrations",
        "package.json:1 — for migrations: `npm run db:generate",
    ]
    assert "db:generate" not in "".join(told(quota, "run the migration", "ways"))


def test_of_several_parts_with_migrations_that_which_is_worked_in_counts(quota: Account) -> None:
    for path in ("shop/migrations/0003_price.py", "shop/migrations/0004_tax.py", "quota/migrations/0012_days.py"):
        quota.write(quota.project / path, "")
    commit(quota, "Count days")

    assert told(quota, "create a migration for the new column", "ways") == []
    (line,) = told(quota, "create a migration for the new column", "ways", cwd=str(quota.project / "shop"))
    assert line == "shop/migrations/0004_tax.py — the newest of 2 migrations"


WORKFLOW = """name: tests

on:
  push:
    branches:
      - main
    tags:
      - "v*" # such as v1.0, v2.3
  workflow_dispatch:

jobs:
  deploy:
    {condition}
    steps:
      - run: twine upload dist/*
"""


@pytest.mark.parametrize(
    ("condition", "events"),
    [
        ("if: contains(github.ref, 'tags')", "a pushed tag `v*`"),
        ("if: startsWith(github.ref, 'refs/tags/v')", "a pushed tag `v*`"),
        ("if: github.actor != 'bot'", "a pushed tag `v*` or a start by hand"),
    ],
)
def test_a_workflow_that_deploys_by_its_name_and_publishes_makes_releases(
    quota: Account, condition: str, events: str
) -> None:
    path = ".github/workflows/test_and_deploy.yml"
    quota.write(Path(quota.project) / path, WORKFLOW.format(condition=condition))
    commit(quota, "Publish")

    assert f"{path}:7 — releases on {events}" in told(quota, "release 1.3.0", "ways")
    assert told(quota, "how do we deploy?", "ways", session_id="another") == [f"{path}:7 — deploys on {events}"]


def test_a_sentence_about_one_folder_is_not_told_to_who_works_elsewhere(quota: Account) -> None:
    (Path(quota.project) / "CONTRIBUTING.md").unlink()
    quota.write(
        Path(quota.project) / "ui/CONTRIBUTING.md",
        "# Commits\n\nBefore you commit, run `make build-all` and add `dist/*`.\n",
    )
    commit(quota, "Explain the interface")
    edited = {
        "type": "tool_use",
        "id": "t1",
        "name": "Edit",
        "input": {"file_path": f"{quota.project}/quota/limits.py", "old_string": "3", "new_string": "4"},
    }
    record = {"type": "assistant", "message": {"id": "m1", "content": [edited]}}
    transcript = quota.write(quota.home / "elsewhere.jsonl", json.dumps(record) + "\n")

    assert told(quota, "commit it", "ways", transcript_path=str(transcript)) == []
    (line,) = told(quota, "commit it", "ways", session_id="another")
    assert line.startswith("ui/CONTRIBUTING.md:3, on commits: ")


def test_how_git_is_set_up_is_not_told_before_a_commit(quota: Account) -> None:
    text = "# Commits\n\nMake sure that Git knows your name before you commit: `git config --global user.name 'You'`.\n"
    quota.write(Path(quota.project) / "CONTRIBUTING.md", text)
    commit(quota, "Say how to set up Git")

    assert told(quota, "commit this", "ways") == []


def test_the_workflow_that_is_called_release_comes_before_that_of_an_image(quota: Account) -> None:
    for name in ("docker-release", "release"):
        quota.write(Path(quota.project) / f".github/workflows/{name}.yml", WORKFLOW.format(condition="if: true"))
    commit(quota, "Publish an image")

    lines = told(quota, "release 1.3.0", "ways")
    assert ".github/workflows/release.yml:7 — releases on a pushed tag `v*` or a start by hand" in lines


def test_a_sentence_that_holds_for_every_project_is_not_told(quota: Account) -> None:
    quota.write(Path(quota.project) / "CONTRIBUTING.md", "# Commits\n\n- Use clear, descriptive commit messages\n")
    commit(quota, "Say little")

    assert told(quota, "commit this", "ways") == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (
            ".husky/pre-commit",
            "#!/bin/sh\nnpm run lint\nnpm test\n",
            ".husky/pre-commit — runs before each commit: `npm run lint && npm test`",
        ),
        (
            ".husky/commit-msg",
            "npx commitlint --edit $1\n",
            ".husky/commit-msg — checks each commit's message: `npx commitlint --edit $1`",
        ),
    ],
)
def test_who_commits_is_told_what_a_commit_runs(quota: Account, path: str, text: str, line: str) -> None:
    (Path(quota.project) / "CONTRIBUTING.md").unlink()
    quota.write(Path(quota.project) / path, text)
    commit(quota, "Run checks")

    assert told(quota, "commit this", "ways") == [line]


def test_the_project_s_own_spelling_of_claude_md_is_loaded_as_well(quota: Account) -> None:
    quota.write(Path(quota.project) / ".claude/claude.md", "# Pushing\n\nNever push directly to `main`.\n")
    commit(quota, "Say where to push")

    assert told(quota, "push it", "ways") == []
    assert "the host has it in .claude/claude.md" in str(quota.trace()["items"])


@pytest.mark.slow
def test_a_prompt_that_says_how_is_not_told_how(quota: Account) -> None:
    (Path(quota.project) / "CONTRIBUTING.md").unlink()
    for number in range(12):
        commit(quota, f"fix: close gap {number}")

    quota.env |= GEMINI
    assert told(quota, "commit it, with conventional commits please", "ways") == []
    quota.write(Path(quota.project) / "Makefile", "build:\n\tcargo build\n")
    quota.write(Path(quota.project) / "tox.ini", "[tox]\n")
    quota.write(
        Path(quota.project) / "CONTRIBUTING.md",
        "# Tests\n\n```\ntox devenv -e unit\ntox run -e format\ntox -e unit,slow\n```\n",
    )
    commit(quota, "fix: test with tox")
    assert told(quota, "you can run the tests with tox -e unit, get them passing", "ways") == []
    assert "`tox -e unit,slow`" in told(quota, "run the tests, get them passing", "ways")[0]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("run the tests, not the integration ones", "uv.lock \N{EM DASH} runs the tests: `uv run pytest`"),
        ("run the integration tests", "CONTRIBUTING.md:4 \N{EM DASH} runs the tests: `tox run -e integration`"),
        ("run the unit tests", "uv.lock \N{EM DASH} runs the tests: `uv run pytest`"),
        ("run the smoke tests", ""),
        (
            "add a fuzzy search to the workbench and run the tests",
            "uv.lock \N{EM DASH} runs the tests: `uv run pytest`",
        ),
    ],
)
def test_who_asks_for_a_part_of_the_tests_is_told_that_command_or_none(quota: Account, prompt: str, line: str) -> None:
    (Path(quota.project) / "Makefile").unlink()
    commands = "tox run -e integration\npytest -q\npytest tests/test_limits.py -v"
    quota.write(Path(quota.project) / "CONTRIBUTING.md", f"# Tests\n\n```\n{commands}\n```\n")
    commit(quota, "Say how to test")

    assert told(quota, prompt, "ways") == ([line] if line else [])


@pytest.mark.parametrize(
    "prompt",
    [
        "how do we release here?",
        "wie releasen wir hier?",
        "comment publie-t-on ici ?",
        "¿cómo publicamos aquí?",
        "como se publica aqui?",
        "come si pubblica qui?",
        "как мы тут релизим?",
        "这里怎么发布?",
        "ここではどうやってリリースしますか?",
    ],
)
def test_a_question_how_it_is_done_here_gets_what_the_order_gets(account: Account, prompt: str) -> None:
    account.write(Path(account.project) / "scripts/release", "#!/bin/sh\ngit tag\n")
    commit(account, "Release")

    assert told(account, prompt, "ways") == told(account, "release", "ways", session_id="other") != []
    assert told(account, "how do we release the lock here?", "ways") == []


@pytest.mark.parametrize(
    "command",
    [
        "cargo nextest show-config test-groups",
        "cargo nextest list",
        "cargo test --no-run --locked",
        "pytest --collect-only -q",
        "npx vitest list",
        "npx jest --listTests",
        "go test -run='^$' -bench=. ./...",
        "go test -c ./...",
        "ctest --test-dir build -N",
        "dotnet test --list-tests",
    ],
)
def test_a_call_that_runs_no_test_is_not_how_the_tests_are_run(account: Account, command: str) -> None:
    steps = f"      - run: |\n          {command}\n          {{}}\n"
    for run in ("pytest --showlocals tests", "cargo test --no-run && cargo test"):
        workflow = f"on: push\njobs:\n  test:\n    steps:\n{steps.format(run)}"
        account.write(Path(account.project) / ".github/workflows/ci.yml", workflow)
        commit(account, "Test")
        assert told(account, "run the tests", "ways") == [f".github/workflows/ci.yml:7 — runs the tests: `{run}`"]


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("Run the tests with `python -m pytest -q`.", "CONTRIBUTING.md:3 — runs the tests: `python -m pytest -q`"),
        ("`nox -s unit` runs everything.", "CONTRIBUTING.md:3 — runs the tests: `nox -s unit`"),
        ("Test it by executing `tox -e all`.", "CONTRIBUTING.md:3 — runs the tests: `tox -e all`"),
        ("To test:\n\n    $ tox -e all", "CONTRIBUTING.md:5 — runs the tests: `tox -e all`"),
        ("Do not run `pytest` by itself.", "uv.lock — runs the tests: `uv run pytest`"),
        ("```\nbundle check-nox.1.md\n```", "uv.lock — runs the tests: `uv run pytest`"),
        ("```\nmake quota-nox\n```", "uv.lock — runs the tests: `uv run pytest`"),
        ("```\ncp jest.config.json jest.json\n```", "uv.lock — runs the tests: `uv run pytest`"),
        ("```\n./run-pytest.sh\n```", "CONTRIBUTING.md:4 — runs the tests: `./run-pytest.sh`"),
    ],
)
def test_a_command_in_a_sentence_that_tells_to_run_it_is_told(quota: Account, sentence: str, line: str) -> None:
    (Path(quota.project) / "Makefile").unlink()
    quota.write(Path(quota.project) / "CONTRIBUTING.md", f"# Contributing\n\n{sentence}\n")
    commit(quota, "Say how to test")

    assert told(quota, "run the tests", "ways") == [line]


def test_a_benchmark_is_not_how_the_tests_are_run(quota: Account) -> None:
    for name in ("Makefile", "pyproject.toml", "uv.lock", "CONTRIBUTING.md"):
        (Path(quota.project) / name).unlink()
    quota.write(Path(quota.project) / "README.md", "# Quota\n\nHow fast is it?\n\n```\nmake speed-test\n```\n")
    commit(quota, "Say how fast it is")

    assert told(quota, "run the tests", "ways") == []


def test_what_a_target_prints_does_not_tell_what_it_does(quota: Account) -> None:
    makefile = "test:\n\t$(info *** tests ***)\n\t@echo testing\n\tpython -m pytest -q\n"
    quota.write(Path(quota.project) / "Makefile", makefile)
    commit(quota, "Print more")

    assert told(quota, "run the tests", "ways") == ["Makefile:1 — runs the tests: `make test` (python -m pytest -q)"]


def test_a_quoted_command_of_a_workflow_is_told_without_its_quotes(quota: Account) -> None:
    for name in ("Makefile", "pyproject.toml", "uv.lock", "CONTRIBUTING.md"):
        (Path(quota.project) / name).unlink()
    steps = 'jobs:\n  test:\n    steps:\n      - run: "vendor/bin/phpunit --verbose"\n'
    quota.write(Path(quota.project) / ".github/workflows/ci.yml", steps)
    commit(quota, "Test in the pipeline")

    command = "`vendor/bin/phpunit --verbose`"
    assert told(quota, "run the tests", "ways") == [f".github/workflows/ci.yml:4 — runs the tests: {command}"]


def test_a_folder_for_unreleased_changes_takes_the_next_entry(quota: Account) -> None:
    quota.write(Path(quota.project) / "changelog/unreleased/.gitignore", "# kept\n")
    commit(quota, "Note changes in files")

    lines = told(quota, "add a changelog entry for issue 12", "ways")
    assert lines == ["changelog/unreleased/ — a change is noted in a file of its own there"]


def test_a_sentence_that_only_refers_elsewhere_is_not_told(quota: Account) -> None:
    sentence = "For examples, please refer to the excellent [How to Write a Commit Message](https://example.org)."
    quota.write(Path(quota.project) / "CONTRIBUTING.md", f"# Contributing\n\n## Commits\n\n{sentence}\n")
    commit(quota, "Refer to a guide")

    assert told(quota, "looks good, commit", "ways") == []


@pytest.mark.parametrize(
    ("heading", "sentence", "prompt"),
    [
        ("Pull requests", "Before you submit, run `make check`.", "open a PR for it"),
        ("Publishing", "Never run `twine upload`.", "looks good, publish it"),
    ],
)
def test_a_short_rule_with_a_command_is_told(quota: Account, heading: str, sentence: str, prompt: str) -> None:
    quota.write(Path(quota.project) / "CONTRIBUTING.md", f"# Contributing\n\n## {heading}\n\n{sentence}\n")
    commit(quota, "Say what to heed")

    assert f'"{sentence}"' in "\n".join(told(quota, prompt, "ways"))


SCHEME = "Commit messages must follow this scheme: `TYPE(Scope): Summary`."
TYPES = "| **TYPE** | Use |\n| --- | --- |\n| FIX | A bug |\n| DOCS | A text |\n| REFAC | Order |\n"


@pytest.mark.parametrize(
    ("path", "text", "prompt", "line"),
    [
        pytest.param(
            "CONTRIBUTING.md", f"# Commits\n\n{SCHEME}\n\n## Type\n\n{TYPES}\n## Scope\n\n| SHOP | It |\n",
            "commit msg for this please", f'3, on commits: "{SCHEME} The type is one of: FIX, DOCS, REFAC"', id="types",
        ),
        pytest.param(
            "CONTRIBUTING.md", "# Commits\n\n* The commit message must name the key first.\n  * e.g. `Q-1: Go`\n",
            "QU-17 in the message please",
            '3, on commits: "The commit message must name the key first. e.g. `Q-1: Go`"', id="example",
        ),
        pytest.param(
            "AGENTS.md", "# Agents\n\n## Conventions\n\n- Document what & why in the commit message, not files.\n",
            "lgtm, commit it", '5, on commits: "Document what & why in the commit message, not files."', id="rules",
        ),
    ],
)  # fmt: skip
def test_the_form_of_a_commit_message_is_told_whole(
    quota: Account, path: str, text: str, prompt: str, line: str
) -> None:
    quota.write(Path(quota.project) / "CONTRIBUTING.md", "# Contributing\n")
    quota.write(Path(quota.project) / path, text)
    commit(quota, "Say how to commit")

    assert told(quota, prompt, "ways") == [f"{path}:{line}"]


def test_a_template_is_told_with_its_bold_lines_and_without_a_general_sentence(quota: Account) -> None:
    quota.write(Path(quota.project) / "CONTRIBUTING.md", "# Pull requests\n\nThen push it and submit a pull request.\n")
    quota.write(Path(quota.project) / ".github/PULL_REQUEST_TEMPLATE.md", "**What does it do?**\n\n**Is it tested?**\n")
    commit(quota, "Ask for less")

    (line,) = told(quota, "ok and what do i write into the pr?", "ways")
    assert line.endswith("the template of pull requests asks for: What does it do?, Is it tested?")


def test_headings_of_a_template_may_be_underlined(quota: Account) -> None:
    template = "<!--\nAbout\n=====\n-->\n\nWhat does it change?\n--------------------\n\n## Tests\n"
    quota.write(Path(quota.project) / ".github/PULL_REQUEST_TEMPLATE.md", template)
    commit(quota, "Ask for more")

    lines = told(quota, "open a PR for it", "ways")
    assert "\n".join(lines).endswith("the template of pull requests asks for: What does it change?, Tests")


def test_a_tool_that_a_sentence_names_is_no_command(quota: Account) -> None:
    quota.write(Path(quota.project) / "CONTRIBUTING.md", "# Contributing\n\nThe code is formatted with `ruff`.\n")
    commit(quota, "Name a tool")

    assert told(quota, "lint everything", "ways") == []


def test_a_rule_on_every_commit_is_told(quota: Account) -> None:
    rule = 'Every commit message begins with the part that changed, such as "limits: count bursts".'
    quota.write(Path(quota.project) / "CONTRIBUTING.md", f"# Contributing\n\n{rule}\n")
    commit(quota, "Say how to commit")

    (line,) = told(quota, "commit this", "ways")
    assert line.startswith('CONTRIBUTING.md:3, on commits: "Every commit message begins with the part that changed')


@pytest.mark.parametrize(
    ("contributing", "test", "run"),
    [
        ("Run the tests with `python -m pytest -q`.\n", "x = 1\n", "python -m pytest tests/test_limits.py"),
        ("", "def test_burst():\n    assert True\n", "pytest tests/test_limits.py"),
        ("", "import unittest\n\n\nclass TestBurst(unittest.TestCase):\n    pass\n",
         "python -m unittest tests/test_limits.py"),
        ("", "from unittest.mock import patch\n\n\ndef test_it():\n    pass\n", "pytest tests/test_limits.py"),
        ("", "check(1)\n", ""),
        ("# not using pytest", "import unittest\n\n\nclass Test(unittest.TestCase):\n    pass\n",
         "python -m unittest tests/test_limits.py"),
    ],
)  # fmt: skip
def test_one_test_is_run_by_what_the_project_shows_to_run_it(
    quota: Account, contributing: str, test: str, run: str
) -> None:
    for name in ("Makefile", "pyproject.toml", "uv.lock"):
        (Path(quota.project) / name).unlink()
    document = "tox.ini" if contributing.startswith("#") else "CONTRIBUTING.md"
    quota.write(Path(quota.project) / document, contributing)
    for name in ("limits", "load"):
        quota.write(Path(quota.project) / f"tests/test_{name}.py", test)
    commit(quota, "Test without manifests")

    (line,) = told(quota, "fix the off-by-one in quota/limits.py", "tests")
    assert line.partition("; run it alone: ")[2] == (run and f"`{run}`")


def test_who_has_run_the_tests_is_not_told_how(quota: Account) -> None:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "make test"}}
    record = {"type": "assistant", "message": {"id": "m1", "content": [call]}}
    transcript = quota.write("t.jsonl", json.dumps(record, separators=(",", ":")) + "\n")

    assert told(quota, "run the tests", "ways", transcript_path=str(transcript)) == []


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "fix the off-by-one in quota/limits.py",
            "tests/test_limits.py — tests limits.py, by its name; run it alone: `uv run pytest tests/test_limits.py`",
        ),
        ("RateLimiter muss auch leere Schlüssel zulassen, bitte ändern", "tests/test_limits.py:5 — tests RateLimiter"),
        ("修复 burst_size 的返回值", "tests/test_limits.py:9 — tests burst_size, named there once"),
        ("напиши тест для burst_size", "tests/test_limits.py:9 — tests burst_size, named there once"),
        ("为 burst_size 写一个单元测试", "tests/test_limits.py:9 — tests burst_size, named there once"),
        ("load_all should raise for a missing path", "tests/test_load.py:5 — tests load_all, named there once"),
        ("refactor quota/storage.py", "tests/test_load.py — imports storage.py"),
        ("fix RateLimiter without changing anything else", "tests/test_limits.py:5 — tests RateLimiter"),
        ("which tests cover quota/limits.py?", "tests/test_limits.py — tests limits.py, by its name"),
        ("is there a test for load_all?", "tests/test_load.py:5 — tests load_all"),
        ("how do I run just the limits tests? all of them take ages", "tests/test_limits.py — the only test file of"),
        ("how do I run tests/test_limits.py with warnings", "tests/test_limits.py — run it alone: `uv run pytest"),
        (
            "apply this review of quota/limits.py and adapt its tests: " + "the limit is read once and kept. " * 9,
            "tests/test_limits.py — tests limits.py",
        ),
    ],
)
def test_the_tests_of_what_will_change_are_told_with_their_command(asked: Account, prompt: str, line: str) -> None:
    assert [one.startswith(line) for one in told(asked, prompt, "tests")] == [True]


@pytest.mark.parametrize(
    "prompt",
    [
        "what does quota/limits.py do?",
        "RateLimiter raises on empty keys. dont change anything yet, tell me when that was decided",
        "fix quota/words.py",
        "uv run pytest tests/test_limits.py fails, run it again",
        "is RateLimiter only called from handle_all or is there another caller outside of the tests",
        "hmm, why does quota/limits.py fail?",
        "why do we not test quota/limits.py?",
        "fix tests/test_limits.py and quota/limits.py",
        "make the header blue",
        "RateLimiter を変更したら burst_size はどうなる\uff1f",
        "no, quota/limits.py should be quota/bounds.py",
        "move quota/limits.py into the package, sounds good?",
        "consider this review of quota/limits.py: " + "the limit should be read once and kept. " * 8,
        "```\nRateLimiter failed\n```\nfix this",
    ],
)
def test_nothing_is_told_of_tests(asked: Account, prompt: str) -> None:
    assert told(asked, prompt, "tests") == []


def test_the_test_of_a_name_is_one_that_names_it(quota: Account) -> None:
    two = "def split_words(text):\n    return text\n\n\ndef join_words(text):\n    pass\n"
    project = Path(quota.project)
    quota.write(project / "tests/test_all.py", "import quota\n\n\ndef test_it():\n    quota.split_words('a b')\n")
    quota.write(project / "tests/test_words.py", "from quota import words\n")
    quota.write(project / "quota/words.py", two)
    commit(quota, "Test words")

    (line,) = told(quota, "split_words should keep quotes", "tests")
    assert line.startswith("tests/test_all.py:5 — tests split_words, named there once")
    assert told(quota, "join_words should add a blank", "tests") == []


def test_a_longer_name_is_not_the_name_that_is_tested(quota: Account) -> None:
    policy = "package quota\n\nfunc TestPolicy(t *T) {\n\tparseLimitOrPanic(1)\n\tparseLimitOrPanic(2)\n}\n"
    for path, text in {
        "south/reader.go": "package quota\n\nfunc parseLimit() {}\n",
        "south/policy_test.go": policy,
        "south/reader_test.go": "package quota\n\nfunc TestParse(t *T) {\n\tparseLimit(1)\n}\n",
        "go.mod": "module quota\n",
    }.items():
        quota.write(Path(quota.project) / path, text)
    commit(quota, "Parse limits")

    (line,) = told(quota, "parseLimit should accept 0, fix it", "tests")
    assert line.startswith("south/reader_test.go:4 — tests parseLimit, named there once")


def test_of_a_method_the_tests_of_its_class_are_told(asked: Account) -> None:
    lines = told(asked, "write a test for RateLimiter.now with a dead clock", "tests")

    assert [line.partition(",")[0] for line in lines] == ["tests/test_limits.py:5 — tests RateLimiter"]


def test_symfony_s_bridge_runs_the_tests_of_a_php_project(quota: Account) -> None:
    for path, text in {
        "composer.json": '{"require-dev": {"symfony/phpunit-bridge": "^7"}}\n',
        "src/Reader.php": "<?php\nclass Reader {}\n",
        "tests/ReaderTest.php": "<?php\nclass ReaderTest {}\n",
    }.items():
        quota.write(Path(quota.project) / path, text)
    commit(quota, "Read in PHP")

    lines = told(quota, "fix src/Reader.php", "tests")
    assert "\n".join(lines).endswith("run it alone: `vendor/bin/simple-phpunit tests/ReaderTest.php`")


def test_a_helper_of_the_tests_is_no_test(quota: Account) -> None:
    used = "from quota.load import load_all\n\n\ndef twice():\n    load_all(1)\n    load_all(2)\n"
    quota.write(Path(quota.project) / "tests/helpers.py", used)
    commit(quota, "Helpers")

    (line,) = told(quota, "load_all should raise for a missing path", "tests")
    assert line.startswith("tests/test_load.py:5 ")


def test_tests_that_the_conversation_has_open_are_not_told(quota: Account) -> None:
    call = {"type": "tool_use", "name": "Read", "input": {"file_path": f"{quota.project}/tests/test_limits.py"}}
    record = {"type": "assistant", "message": {"id": "m1", "content": [call]}}
    transcript = quota.write("t.jsonl", json.dumps(record, separators=(",", ":")) + "\n")
    event = {"transcript_path": str(transcript), "cwd": str(quota.project / "quota")}

    assert told(quota, "fix the off-by-one in quota/limits.py", "tests", **event) == []


def test_a_test_of_another_folder_s_file_of_that_name_is_not_told(quota: Account) -> None:
    for path in ("north/reader.go", "south/reader.go", "south/reader_test.go", "go.mod"):
        quota.write(Path(quota.project) / path, "package quota\n\nfunc Read() {}\n")
    commit(quota, "Read in two places")

    assert told(quota, "fix north/reader.go", "tests") == []
    (line,) = told(quota, "fix south/reader.go", "tests")
    assert line == "south/reader_test.go — tests reader.go, by its name; run its package alone: `go test ./south`"


RESTRUCTURED = """Developing
==========

Setting up
----------

.. code-block:: bash

    python -m venv venv

Do not close a ticket just because there is a pull request for it.

When submitting a pull request, push it onto :branch:`the next
branch <next>`.

.. _checks:

Checks
------

For the checks, please have a look at `the settings <settings.toml>`_ of each of the tools.

To check the code::

    ruff check .

.. code-block:: python

    pytest plugins

Running tests
^^^^^^^^^^^^^

To run all tests:

.. code-block:: console
   :caption: All

   $ tox -e unit

Adding exporters
----------------

1. Write ``NAME.py`` with `one function`_.

   .. note:: Its name does not matter.

   The function gets a report.

2. List it in ``all.py``.

.. _one function: https://example.org
"""


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("fix the lint errors", "docs/developing.rst:25 — checks the code: `ruff check .`"),
        ("run the tests", "docs/developing.rst:39 — runs the tests: `tox -e unit`"),
        (
            "open a pull request",
            'docs/developing.rst:13, on pull requests: "When submitting a pull request, push it onto the next branch."',
        ),
        (
            "add an exporter for YAML",
            'docs/developing.rst:44, on adding an exporter: "Write `NAME.py` with one function; List it in `all.py`"',
        ),
    ],
)
def test_a_document_in_restructured_text_tells_its_sentences_and_commands(
    account: Account, prompt: str, line: str
) -> None:
    account.write("project/docs/developing.rst", RESTRUCTURED)
    account.write("project/quota.py", "")
    commit(account, "Start")

    assert told(account, prompt, "ways") == [line]


@pytest.mark.parametrize(
    ("path", "text", "prompt", "line"),
    [
        (
            "CONTRIBUTING.md",
            "# Tests\n\n```\npython -m pip install pytest\ntox -av\ntox -e release\npytest -q\n```\n",
            "run the tests",
            "CONTRIBUTING.md:7 — runs the tests: `pytest -q`",
        ),
        ("announce/release-2.0.md", "# Tests\n\n```\npytest -q\n```\n", "run the tests", ""),
        (
            "CONTRIBUTING.md",
            "# Stale pull requests\n\nMark pull requests `old`.\n\n# Pull requests\n\nBase pull requests on `next`.\n",
            "open a pull request",
            'CONTRIBUTING.md:7, on pull requests: "Base pull requests on `next`."',
        ),
        (
            "docs/developer_notes.md",
            "# A new release\n\nMuch is done for you.\n\nThe only argument:\n\n```\ngo run release.go 0.14.0\n```\n",
            "prepare the 0.19.2 release",
            'docs/developer_notes.md:5, on releases: "The only argument: `go run release.go 0.14.0`"',
        ),
        (
            "CODING_GUIDELINES.md",
            "# Style\n\n## Git commit message\n\n1. Limit the subject to 44 characters. It should name the part\n",
            "ok write the commit message following our guidelines",
            'CODING_GUIDELINES.md:5, on commits: "Limit the subject to 44 characters. It should name the part"',
        ),
        (
            "CODE_STYLE.md",
            "# Code style\n\nYou should use this format for comments: `// Capital letter, no full stop`.\n",
            "run the linter",
            "",
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\nThere's no need to update the changelog (`History.md`).\n",
            "does this need an entry in History.md? how do we write those",
            'CONTRIBUTING.md:3, on the changelog: "There\'s no need to update the changelog (`History.md`)."',
        ),
    ],
    ids=[
        "what is no run of the tests",
        "an announcement",
        "what maintainers do later",
        "words before a command",
        "messages of commits in a guide to style",
        "formats of the code in a guide to style",
        "a changelog that is left alone",
    ],
)
def test_what_a_document_says_on_something_else_is_not_told(
    account: Account, path: str, text: str, prompt: str, line: str
) -> None:
    account.write(f"project/{path}", text)
    commit(account, "Start")

    assert told(account, prompt, "ways") == ([line] if line else [])


def test_the_list_of_changes_that_sphinx_makes_is_no_changelog(account: Account) -> None:
    account.write("project/docs/Makefile", "changes:\n\t$(SPHINXBUILD) -b changes . out\n")
    commit(account, "Start")

    assert told(account, "update the changelog", "ways") == []


def test_of_two_tests_that_import_a_file_both_are_told(quota: Account) -> None:
    quota.write(Path(quota.project) / "quota/scales.py", "def weigh(one):\n    return one\n")
    for name in ("north", "south"):
        quota.write(Path(quota.project) / f"tests/test_{name}.py", "from quota.scales import weigh\n\nweigh(1)\n")
    commit(quota, "Weigh in two places")

    both = "tests/test_north.py tests/test_south.py"
    assert told(quota, "quota/scales.py is too slow, fix it", "tests") == [
        f"{both.replace(' ', ', ')} — import scales.py; run them alone: `uv run pytest {both}`"
    ]


def test_of_a_go_file_the_tests_of_a_name_are_run_alone(quota: Account) -> None:
    tests = "package quota\n\nfunc TestParseLimit(t *T) {\n\tparseLimit(1)\n}\n"
    for path, text in {
        "south/reader.go": "package quota\n\nfunc parseLimit() {}\n",
        "south/reader_test.go": tests,
        "go.mod": "module quota\n",
    }.items():
        quota.write(Path(quota.project) / path, text)
    commit(quota, "Parse limits")

    (line,) = told(quota, "parseLimit should accept 0, fix it", "tests")
    assert line.endswith("tests parseLimit, named there once; run it alone: `go test ./south -run ParseLimit`")


@pytest.mark.parametrize(
    ("manifest", "source", "test", "run"),
    [
        ("Quota.sln", "src/Limits.cs", "tests/LimitsTests.cs", "dotnet test --filter FullyQualifiedName~LimitsTests"),
        (
            "back/Quota.csproj",
            "back/Limits.cs",
            "back/tests/LimitsTests.cs",
            "cd back && dotnet test --filter FullyQualifiedName~LimitsTests",
        ),
        ("Package.swift", "Sources/Limits.swift", "Tests/LimitsTests.swift", "swift test --filter LimitsTests"),
    ],
)
def test_tests_of_dotnet_and_swift_have_their_command(
    quota: Account, manifest: str, source: str, test: str, run: str
) -> None:
    for path in (manifest, source, test):
        quota.write(Path(quota.project) / path, "class Limits {\n}\n")
    commit(quota, "Port the limits")

    lines = told(quota, f"fix the off-by-one in {source}", "tests")
    assert lines == [f"{test} — tests {source.rpartition('/')[2]}, by its name; run it alone: `{run}`"]


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("run the rate table tests", "tests/test_rate_tables.py"),
        ("fix the tests of the rate table", "tests/test_rate_tables.py"),
        ("the failing tests for the limits, please fix them", ""),
        ("how can I run the limits tests?", "tests/test_limits.py"),
        ("run the table tests", ""),
        ("extend the parser tests", ""),  # those of the units are parser tests, too
        ("run the unit tests", ""),
        ("add the export test, too", ""),
        ("run the tests", ""),
        ("fix this and run all tests", ""),
        ("* tests", ""),
    ],
)
def test_tests_that_a_prompt_describes_are_told(quota: Account, prompt: str, path: str) -> None:
    names = ("rate_tables", "all", "export", "parser", "unit_parser")
    for name in ("test.js", "export/test_csv.py", *(f"test_{one}.py" for one in names)):
        quota.write(Path(quota.project) / f"tests/{name}", "def test_it():\n    pass\n")
    commit(quota, "Test the tables")

    lines = told(quota, prompt, "tests")
    assert [line.partition(";")[0] for line in lines] == ([f"{path} — the only test file of that name"] if path else [])


def test_in_a_monorepo_the_test_is_run_in_its_package(account: Account) -> None:
    manifest = {"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "3"}}
    for path, text in {
        "package.json": '{"private": true, "scripts": {"test": "turbo run test"}}',
        "pnpm-lock.yaml": "lockfileVersion: 9\n",
        "pnpm-workspace.yaml": "packages: [packages/*]\n",
        "packages/api/package.json": json.dumps(manifest),
        "packages/api/src/util.ts": "export const roundUp = (x: number) => Math.ceil(x);\n",
        "packages/api/test/util.test.ts": 'import { roundUp } from "../src/util";\nroundUp(1);\n',
    }.items():
        account.write(Path(account.project) / path, text)
    commit(account, "Start")

    (line,) = told(account, "roundUp muss auch negative Zahlen runden, ändere das", "tests")
    assert line.startswith("packages/api/test/util.test.ts:2 — tests roundUp, named there once; ")
    assert line.endswith("run it alone: `cd packages/api && pnpm exec vitest run test/util.test.ts`")
    (line,) = told(account, "run the tests", "ways")
    assert line == "package.json:1 — runs the tests: `pnpm test` (turbo run test, pnpm by pnpm-lock.yaml)"


def test_a_name_that_the_whole_project_says_has_no_test_of_its_own(quota: Account) -> None:
    for number in range(14):
        quota.write(Path(quota.project) / f"quota/part{number}.py", "from quota.limits import RateLimiter\n")
    commit(quota, "Limit all parts")

    assert told(quota, "RateLimiter should allow empty keys", "tests") == []


def test_it_is_what_was_just_changed(quota: Account) -> None:
    call = {"type": "tool_use", "name": "Edit", "input": {"file_path": f"{quota.project}/quota/limits.py"}}
    record = {"type": "assistant", "message": {"id": "m1", "content": [call]}}
    transcript = quota.write("t.jsonl", json.dumps(record, separators=(",", ":")) + "\n")

    (line,) = told(quota, "now test it", "tests", transcript_path=str(transcript))
    assert line.startswith("tests/test_limits.py — tests limits.py")


def test_the_script_of_eslint_checks_the_code(quota: Account) -> None:
    scripts = {"stylelint": "stylelint src", "eslint": "eslint src"}
    quota.write("project/package.json", json.dumps({"scripts": scripts}, indent=1))
    quota.cli("code", "index")

    (line,) = told(quota, "跑一下 eslint", "ways")
    assert line == "package.json:4 — checks the code: `npm run eslint` (eslint src)"
