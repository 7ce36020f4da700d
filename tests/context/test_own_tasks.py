"""The project's own tasks, and what its documents say on translations, settings and sign-offs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from simulator import Account
from test_project_rules import project
from test_ways import told

if TYPE_CHECKING:
    from collections.abc import Mapping

MAKEFILE = """all: build

parser:
\tgoyacc -o parser.go parser.y

ui-lint:
\tcd ui && npm run lint

update-all-go-deps:
\t./deps.sh go

lint:
\tgolangci-lint run
"""
CONTRIBUTING = f"""# Contributing

## Translations

Do not edit the files in `i18n/` by hand. Run `./lang.sh update` after a text was changed.

## Adding a setting

Add the key to `Settings` in `quota/settings.py`.

## Checklist

* **Note the change** in the file for it. {"Please take your time for it. " * 9}
  Add an entry to the changelog at the top of `CHANGES.txt`, with its number.
"""
TEMPLATE = "<!--\n  - Please sign-off your commits with `git commit -s`.\n-->\n"
FILES: Mapping[str, str] = {
    "Makefile": MAKEFILE,
    "CONTRIBUTING.md": CONTRIBUTING,
    ".github/PULL_REQUEST_TEMPLATE.md": TEMPLATE,
    "scripts/update-npm-assets.sh": "npm ci\n",
    "scripts/release": "#!/bin/sh\ngit tag\n",
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account in a project with tasks of its own, for tests that only ask."""
    return project(Account(tmp_path_factory.mktemp("tasks") / "home"), **FILES)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("how do i regenerate the query parser", "Makefile:3 — `make parser`"),
        ("now regen the parser", "Makefile:3 — `make parser`"),
        ("lass mal den ui linter laufen", "Makefile:6 — `make ui-lint`"),
        ("run the linter of the ui", "Makefile:6 — `make ui-lint`"),
        ("bump the go dependencies", "Makefile:9 — `make update-all-go-deps`"),
        ("and the go deps, how do we bump those here", "Makefile:9 — `make update-all-go-deps`"),
        ("update the npm assets", "scripts/update-npm-assets.sh — the script for it"),
        ("run the linter pls", "Makefile:12 — checks the code: `make lint`"),
        ("how do we cut a release in this repo", "scripts/release — releases: `./scripts/release`"),
    ],
)
def test_a_task_is_found_by_the_words_of_its_name(asked: Account, prompt: str, line: str) -> None:
    (found,) = told(asked, prompt, "ways")

    assert found.startswith(line)


@pytest.mark.parametrize(
    "prompt",
    [
        "write a parser for the new format",
        "the ui lint fails on the second page",
        "fix the parser",
        "update the parser so that it accepts tabs",
        "build a parser",
        "don't update the go deps",
        "update the label of the npm assets page in the settings of the ui and then show it in the menu",
    ],
)
def test_what_only_has_the_words_of_a_task_gets_none(asked: Account, prompt: str) -> None:
    assert told(asked, prompt, "ways") == []


MISE = (
    """[tools]
lint = "1"

[tasks]
lint = "cargo clippy"

[tasks.generate]
description = "Generate CLI reference"
run = "cargo test generate_reference -- --exact"

[tasks."sync-all-fonts"]
description = "Fetch fonts and logos from the server of the designers"
run = ["curl fonts", "curl logos"]

[tasks.test-all]
run = """
    '"""\ncargo build\ncargo test\n"""\n'
)
TASKFILE = """version: '3'

vars:
  release: 1

tasks:
  default:
    deps: [lint]
  lint: golangci-lint run
  generate:
    desc: Generate the CLI reference
    cmds:
      - go run ./tools/reference
  sync-all-fonts:
    cmds:
      - cmd: curl fonts
  test-all:
    cmd: go test ./...
  refresh-old-logos:
    internal: true
    cmd: curl logos
"""


@pytest.mark.parametrize(
    ("prompt", "in_mise", "in_taskfile"),
    [
        (
            "regenerate the cli reference",
            "7 — `mise run generate` (cargo test generate",
            "10 — `task generate` (go run",
        ),
        (
            "sync the fonts",
            "11 — `mise run sync-all-fonts` (curl fonts; curl",
            "14 — `task sync-all-fonts` (curl fonts)",
        ),
        (
            "run the linter",
            "5 — checks the code: `mise run lint` (cargo clippy)",
            "9 — checks the code: `task lint` (golang",
        ),
        (
            "run the tests",
            "15 — runs the tests: `mise run test-all` (cargo build; cargo test)",
            "17 — runs the tests: `task test-all` (go test ./...)",
        ),
    ],
)
def test_the_tasks_of_mise_and_task_are_known_by_name_and_description(
    account: Account, prompt: str, in_mise: str, in_taskfile: str
) -> None:
    project(account, **{"mise.toml": MISE})
    (line,) = told(account, prompt, "ways")
    assert line.startswith(f"mise.toml:{in_mise}")
    for silent in ("generate the sitemap", "release", "refresh the old logos", "sync the clocks"):
        assert told(account, silent, "ways") == []

    account.project.joinpath("mise.toml").unlink()
    project(account, **{"Taskfile.yml": TASKFILE})
    (line,) = told(account, prompt, "ways")
    assert line.startswith(f"Taskfile.yml:{in_taskfile}")
    for silent in ("generate the sitemap", "release", "refresh the old logos"):
        assert told(account, silent, "ways") == []


@pytest.mark.parametrize(
    "text", ["[tasks", "tasks = 1", "[tasks]\nlint = 1", "[[tasks]]\nrun = 'ruff'", "[tasks.lint]\nrun = {a = 1}"]
)
def test_a_file_of_mise_that_says_nothing_is_no_trouble(account: Account, text: str) -> None:
    project(account, **{".mise.toml": text, "Makefile": "test:\n\tcargo test\n"})

    assert told(account, "run the tests", "ways") == ["Makefile:1 — runs the tests: `make test` (cargo test)"]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "update the translations",
            'CONTRIBUTING.md:5, on translations: "Do not edit the files in `i18n/` by hand. Run',
        ),
        ("add a setting for the limit", 'CONTRIBUTING.md:9, on settings: "Add the key to `Settings` in'),
        ("add a changelog entry", 'CONTRIBUTING.md:13, on the changelog: "Add an entry to the changelog at the top of'),
        ("commit that", '.github/PULL_REQUEST_TEMPLATE.md:2, on signing off: "Please sign-off your commits'),
    ],
)
def test_what_a_document_says_is_told_for_the_action(asked: Account, prompt: str, line: str) -> None:
    (found,) = told(asked, prompt, "ways")

    assert found.startswith(line)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "make ui-lints fails on my machine",
            "Makefile:6 — `make ui-lint` (cd ui && npm run lint), the nearest to `make ui-lints`",
        ),
        ("`make update-all-go-dep` hangs", "Makefile:9 — `make update-all-go-deps` (./deps.sh go), the nearest to"),
        ("make ui-lint fails on my machine", ""),
        ("make lints faster please", ""),
        ("make ui-theme work again", ""),
    ],
)
def test_a_command_that_does_not_exist_gets_the_nearest(asked: Account, prompt: str, line: str) -> None:
    lines = [one for one in told(asked, prompt, "ways") if "nearest" in one]

    assert len(lines) == bool(line), lines
    assert all(one.startswith(line) for one in lines)
