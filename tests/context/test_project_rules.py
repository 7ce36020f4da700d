"""What a project asks of a commit, a push, a pull request or a raised version, through the real hook."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_ways import commit, told

if TYPE_CHECKING:
    from simulator import Account

DEPLOY = "on:\n  push:\n    branches: [main]\njobs:\n  deploy:\n    steps: []\n"
RELEASE = "on:\n  push:\n    tags: ['v*']\njobs:\n  publish:\n    steps: []\n"
SUBJECT = "Start the subject with the area that you changed, as in `cli: …`."
CHECKS = "on: [push, pull_request]\njobs:\n  test:\n    steps: []\n"
MANIFEST = '[project]\nname = "quota"\ndependencies = [\n  "attrs>=23.1",\n  "requests[socks]~=2.28",\n]\n'


def project(account: Account, **files: str) -> Account:
    """Commit files, each a path and its text, into the account's project and index it."""
    for name, text in files.items():
        account.write(Path(account.project) / name, text)
    commit(account, "Start")
    return account


def check_out(account: Account, branch: str) -> None:
    """Check out a branch of this name at the newest commit."""
    subprocess.run(["git", "-C", str(account.project), "checkout", "-qB", branch], check=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sign off all commits with `git commit -s`, by which you agree to the DCO.",
        'Please include a "Signed-off-by" line in every patch that you send.',
        "If you set your name, you can sign your commits automatically with `git commit -s`.",
    ],
)
def test_who_asks_for_a_commit_is_told_to_sign_it_off(account: Account, sentence: str) -> None:
    text = f"# Contributing\n\n## Commit messages\n\n{SUBJECT}\n\n## DCO\n\n{sentence}\n"
    project(account, **{"CONTRIBUTING.md": text})

    starts = ["CONTRIBUTING.md:5, on commits", "CONTRIBUTING.md:9, on signing off"]
    assert [line.partition(": ")[0] for line in told(account, "ok commit", "ways")] == starts
    assert told(account, "fix the sign-off button", "ways", session_id="another") == []


def test_a_sign_off_of_reviewers_is_none_of_commits(account: Account) -> None:
    text = "# Contributing\n\n## Review\n\nEvery change needs the sign-off of two maintainers of the area.\n"
    project(account, **{"CONTRIBUTING.md": text})

    assert told(account, "commit this", "ways") == []


@pytest.mark.parametrize("prompt", ["looks good. push it", "and push", "push the branch", "dann push mal"])
def test_who_pushes_is_told_what_that_deploys(account: Account, prompt: str) -> None:
    project(account, **{".github/workflows/deploy.yml": DEPLOY})
    check_out(account, "main")

    assert told(account, prompt, "ways") == [".github/workflows/deploy.yml:1 — deploys on a push to main"]


def test_a_push_of_another_branch_deploys_nothing(account: Account) -> None:
    project(account, **{".github/workflows/deploy.yml": DEPLOY})
    check_out(account, "wider-cards")

    assert told(account, "push it", "ways") == []
    assert "another branch" in str(account.trace()["items"])
    assert told(account, "merge to main and push to main", "ways") != []


@pytest.mark.parametrize(
    "prompt",
    [
        "what happens when I push this?",
        "what happens if we merge this into main",
        "what happens when I push / merge this?",
        "does a merge to main deploy anything?",
        "was passiert wenn ich das pushe?",
        "mainにマージするとどうなる?",
    ],
)
def test_who_asks_what_a_push_starts_is_told_the_workflows(account: Account, prompt: str) -> None:
    project(
        account,
        **{
            ".github/workflows/ci.yml": CHECKS,
            ".github/workflows/d.yml": DEPLOY,
            ".github/workflows/r.yml": RELEASE,
        },
    )

    assert told(account, prompt, "ways") == [
        ".github/workflows/ — any push or a pull request: ci.yml; a push to main: d.yml; a pushed tag `v*`: r.yml"
    ]


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("bump requests to 2.32", True),
        ("upgrade attrs and run mypy", True),
        ("pin attrs==24.1 please", True),
        ("aktualisiere requests auf 2.32", True),
        ("обнови requests до 2.32", True),
        ("把 requests 升级到 2.32", True),
        ("bump the timeout to 2.5", False),
        ("bump opacity to 0.5", False),
        ("update requests to send the new header", False),
        ("the update of requests broke this", False),
    ],
)
def test_who_raises_the_version_of_a_dependency_is_told_how(account: Account, prompt: str, *, is_told: bool) -> None:
    project(account, **{"pyproject.toml": MANIFEST, "uv.lock": "version = 1\n"})

    line = "uv.lock — adds or updates a dependency: `uv add NAME`"
    assert (line in told(account, prompt, "ways")) == is_told


@pytest.mark.parametrize(
    ("path", "text", "prompt", "line"),
    [
        ("doc/RUNNING_TESTS", "Tests\n=====\n\nRun `rake test` to run all tests.\n", "run the tests", "`rake test`"),
        ("HACKING", "Tests\n=====\n\nRun `make test` to run all.\n", "run the tests", "`make test`"),
        (
            "docs/development/git.md",
            "# Commits\n\nStart the commit message with the area that you changed, as in `cli: …`.\n",
            "commit this",
            "Start the commit message",
        ),
        (
            "docs/contribute.md",
            "# Pull requests\n\nEvery pull request must target the branch `next`.\n",
            "what do I need for a PR here?",
            "must target the branch `next`",
        ),
        (
            "CONTRIBUTING.md",
            "# Publishing\n\nOnly members of the team publish, with `et publish`. Never run `npm publish`.\n",
            "can I just run npm publish?",
            "with `et publish`. Never run `npm publish`.",
        ),
        (
            "CONTRIBUTING.md",
            "# Release\n\n`just cut` bumps the version, tags the commit and pushes both to the server.\n",
            "release it",
            "`just cut` bumps the version",
        ),
        (
            "CONTRIBUTING.md",
            "# Releases\n\nFor each commit on `main` that is a `feat`, a release is published automatically.\n",
            "release it",
            "a release is published automatically",
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\nKeep commits focussed on the specific change; don't change imports.\n",
            "great, add it to the changelog and commit",
            "Keep commits focussed",
        ),
        (
            "CHANGES.md",
            "# Changes\n\n## 1.4.0 (pending)\n\n## 1.3.0 (2026-01-02)\n",
            "and the changelog",
            "CHANGES.md:3 — the section 1.4.0 (pending) takes the next entry",
        ),
        (
            "CHANGES.rst",
            "Changes\n=======\n\n1.4.0.dev0\n----------\n",
            "update the changelog",
            "CHANGES.rst:4 — the section 1.4.0.dev0 takes the next entry",
        ),
        ("CHANGES.md", "# Changes\n\n## 1.3.0 (2026-01-02)\n\n## Next\n", "update the changelog", ""),
        (
            "docs/RELEASE-PROCEDURE.md",
            "# Release\n\n## Tag\n\nTag the commit: `git tag -s`.\n\n## Announce\n\n## Celebrate\n",
            "release it",
            "docs/RELEASE-PROCEDURE.md — describes how this project releases: Tag, Announce, Celebrate",
        ),
        (
            "docs/releases.md",
            "# Releases\n\n## 2.1\n\n- Do not release tabs.\n\n## 2.0\n\n## 1.9.3\n\n## Older\n",
            "release it",
            "",
        ),
        (
            "doc/internal/howto-release.md",
            "# How to cut a release\n\n## Tag\n\nTag the commit.\n\n## Announce\n\n## Celebrate\n",
            "let's cut 2.45. what are the steps",
            "doc/internal/howto-release.md — describes how this project releases: Tag, Announce, Celebrate",
        ),
        (
            "docs/publish.md",
            "# Publish the reports\n\n## Here\n\n## For others\n\n## On a server\n",
            "make a release",
            "",
        ),
        (
            "Makefile",
            "check:\n\t$(BIN)/ruff check .\n\t$(BIN)/pyright\n",
            "run the linter",
            "Makefile:1 — checks the code: `make check` ($(BIN)/ruff check .)",
        ),
        (
            "Makefile",
            "check:\n\t$(BIN)/pytest -q\n",
            "run the tests",
            "Makefile:1 — runs the tests: `make check` ($(BIN)/pytest -q)",
        ),
        (
            "CONTRIBUTING.md",
            "# Contributing\n\nFor a PR to be accepted:\n\n* it must have an issue\n* all checks must pass\n",
            "what do I need for a PR?",
            '"For a PR to be accepted: it must have an issue; all checks must pass;"',
        ),
        (
            "CONTRIBUTING.md",
            "# Release\n\nTo finalize a release, run `tox -e finalize` and push the changes.\n",
            "release it",
            "To finalize a release, run `tox -e finalize`",
        ),
        (
            "docs/build-commit.1.md",
            "# Commits\n\nNever commit the layers of an image unless `--squash` is given.\n",
            "commit this",
            "",
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\nThis label means that the pull request must get 3 votes.\n",
            "open a PR",
            "",
        ),
        (
            "CONTRIBUTING.md",
            "# Use of AI\n\nIn this project, we do not accept code that an AI has written in whole or part.\n",
            "review this before I open a PR, anything that would get it rejected?",
            'CONTRIBUTING.md:3, on AI: "In this project, we do not accept code that an AI has written',
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\nPRs that are just general refactors won't be accepted.\n",
            "what do I need for a PR?",
            "won't be accepted",
        ),
        (
            "CONTRIBUTING.md",
            "# Commits\n\n- use the imperative, not the past\n- do not capitalize\n- never end in a full stop\n",
            "commit this",
            '"use the imperative, not the past; do not capitalize; never end in a',
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\n- If your change closes an issue, prefix the commit message with `[Fix #1]`.\n",
            "ok, commit it. the issue is 12",
            "prefix the commit message with `[Fix #1]`.",
        ),
        (
            "CONTRIBUTING.md",
            '# Commits\n\nCommits follow the guide. Any commit of an issue must end in "Issue: #9".\n\nBe kind.\n',
            "commit this",
            "Commits follow the guide. Any commit of an issue must end in 'Issue: #9'.\"",
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\n1. Keep it focused.\n2. Before committing, run `make test`.\n",
            "thx, commit",
            "",
        ),
        (
            "COMMIT_GUIDELINES.md",
            "# Format\n\nCommit messages must follow this scheme: `TYPE(Scope): Summary`.\n",
            "commit this",
            'COMMIT_GUIDELINES.md:3, on commits: "Commit messages must follow this scheme',
        ),
        (
            "CONTRIBUTING.md",
            "# Tests\n\nBefore running them, please ensure that the `test` dependencies are installed.\n",
            "raise Pillow to 10.4",
            "",
        ),
        (
            "CONTRIBUTING.md",
            "# Pull requests\n\nWe strongly prefer pull requests, each with 1 commit, to mailed patches.\n",
            "open a PR",
            "",
        ),
        ("Makefile", "build:\n\tcargo build\n", "build the docs", ""),
        ("AGENTS.md", "# AI\n\nAn AI must not touch `vendor/` on its own initiative.\n", "open a PR", ""),
        ("CONTRIBUTING.md", "# Tests\n\n```\ntox -e narrativedocs\n```\n", "run the tests", ""),
        ("CONTRIBUTING.md", "# Commits\n\n`Signed-off-by: Jo` - we do not use this header.\n", "commit this", ""),
        ("CONTRIBUTING.md", "# Building\n\nTo build the docs, run `tox -e docs`.\n", "build the project", ""),
    ],
)
def test_what_a_document_asks_for_is_told(account: Account, path: str, text: str, prompt: str, line: str) -> None:
    project(account, **{path: text})

    lines = told(account, prompt, "ways")
    assert [line in one for one in lines] == ([True] if line else [])


def test_npm_is_what_an_agent_tries_first(account: Account) -> None:
    project(account, **{"package.json": '{"name": "quota"}', "package-lock.json": "{}"})

    assert told(account, "add a dependency", "ways") == []
    assert "an agent tries it first" in str(account.trace()["items"])


def test_where_two_managers_add_dependencies_neither_is_told(account: Account) -> None:
    project(account, **{"package.json": '{"name": "quota"}', "yarn.lock": "\n"})
    assert told(account, "add a dependency", "ways") == ["yarn.lock — adds or updates a dependency: `yarn add NAME`"]

    project(account, **{"pyproject.toml": MANIFEST, "uv.lock": "version = 1\n"})
    assert told(account, "add a dependency", "ways", session_id="another") == []


def test_a_package_has_a_changelog_of_its_own(account: Account) -> None:
    changelog = "# Changelog\n\n## Unpublished\n\n## 2.0.0\n"
    project(account, **{f"packages/{name}/CHANGELOG.md": changelog for name in ("cards", "wires")})

    assert told(account, "update the changelog", "ways") == []
    cwd = str(Path(account.project) / "packages/wires")
    (line,) = told(account, "update the changelog", "ways", cwd=cwd)
    assert line == "packages/wires/CHANGELOG.md:3 — the section Unpublished takes the next entry"


def test_the_third_of_several_requests_is_answered_if_nothing_is_known_of_the_second(account: Account) -> None:
    text = f"# Commits\n\n{SUBJECT}\n\n# Pull requests\n\nEvery PR must name its ticket.\n"
    project(account, **{"CONTRIBUTING.md": text})

    lines = told(account, "提交并推送,然后开一个 PR", "ways")
    assert [line.partition(", on ")[2].partition(":")[0] for line in lines] == ["commits", "pull requests"]
