"""A check or a test that the prompt names, and the hooks that run at each commit, through the real hook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_runs_of_tests import start
from test_ways import told

if TYPE_CHECKING:
    from simulator import Account

ON_INSTALLING = "# Committing\n\nRun `pre-commit install` once after cloning.\n"
HOOKS = "repos:\n- hooks:\n  - id: trailing-whitespace\n  - id: check-yaml\n  - id: codespell\n"
LINT = """on: pull_request
jobs:
  lint:
    steps:
      - run: ./ci/check-commit-subject.py
      - run: python3 ci/check-licences.py
"""
OF_SUBJECTS = "ci/check-commit-subject.py — runs in CI: .github/workflows/lint.yml:5"
MESON = """project('crates', 'c')
test('weights', weights)
test('Paper-Sizes', paper_sizes, suite: 'slow')
foreach one : all
  test(one, exe)
endforeach
"""
CMAKE = """add_test(NAME weights COMMAND weights)
add_test(paper-sizes paper_sizes)
"""


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({}, ""),
        ({"CONTRIBUTING.md": ON_INSTALLING}, "hooks that run at each commit: codespell and 2 more"),
        ({"CONTRIBUTING.md": "# Checks\n\nDo not use `pre-commit install` here.\n"}, ""),
        (
            {".git/hooks/pre-commit": "#!/bin/sh\nexec pre-commit hook-impl\n"},
            "hooks that run at each commit: codespell",
        ),
    ],
)
def test_hooks_run_at_each_commit_where_they_are_installed(account: Account, files: dict[str, str], line: str) -> None:
    start(account, {".pre-commit-config.yaml": HOOKS, "weigh.py": ""})
    for path, text in files.items():
        account.write(Path(account.project) / path, text)
    start(account, {"lids.py": ""}) if ".git/hooks/pre-commit" not in files else account.cli("code", "index")

    lines = [one for one in told(account, "commit this", "ways") if "pre-commit" in one.partition(" — ")[0]]
    assert [one.partition(" — ")[2].startswith(line) for one in lines] == ([True] if line else [])


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("commit. mind the subject line check", OF_SUBJECTS),
        ("commit it, the commit message lint is strict", OF_SUBJECTS),
        ("committe das, achte auf die Prüfung der Betreffzeile (lint)", OF_SUBJECTS),
        ("commit. mind the licence check", "ci/check-licences.py — "),
        ("commit. mind the spelling check", ""),
        ("commit this", ""),
    ],
)  # fmt: skip
def test_a_check_that_the_prompt_names_is_the_file_of_that_check(account: Account, prompt: str, line: str) -> None:
    scripts = {"ci/check-commit-subject.py": "", "ci/check-licences.py": ""}
    start(account, scripts | {".github/workflows/lint.yml": LINT, ".pre-commit-config.yaml": HOOKS,
                              "CONTRIBUTING.md": ON_INSTALLING})  # fmt: skip

    lines = told(account, prompt, "ways")
    assert [one.startswith(line) for one in lines if one.startswith("ci/")] == ([True] if line else [])
    assert any(one.startswith(".pre-commit-config.yaml") for one in lines) is (prompt == "commit this")


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("run the tests, only weights and paper-sizes", "weights Paper-Sizes"),
        ("跑一下测试, 只要 weights", "weights"),
        ("lance les tests, juste paper-sizes", "Paper-Sizes"),
        ("führ nur den Test weights aus", "weights"),
        ("run the tests", ""),
        ("run the tests, then weigh weights", ""),
        ("run the tests and fix weights", ""),
        ("the weights are wrong, run the build", ""),
        ("fix the weights", ""),
    ],
)
def test_tests_that_a_build_file_names_are_run_by_name(account: Account, prompt: str, names: str) -> None:
    start(account, {"meson.build": "subdir('checks')\n", "checks/meson.build": MESON, "weights.c": "int x;\n"})

    lines = [one for one in told(account, prompt, "ways") if "meson test" in one]
    assert [one.partition("`")[2] for one in lines] == ([f"meson test -C build {names}`"] if names else [])


def test_tests_of_cmake_are_run_by_name(account: Account) -> None:
    start(account, {"CMakeLists.txt": CMAKE, "weights.c": "int x;\n"})

    (line,) = told(account, "run only the paper-sizes test", "ways")
    assert line == "CMakeLists.txt:2 — names the test: `ctest --test-dir build -R '^(paper-sizes)$'`"


def test_an_option_that_builds_the_tests_is_told_with_them(account: Account) -> None:
    option = "option('tests', type: 'boolean', value: false)\n"
    start(account, {"meson.build": MESON, "meson.options": option, "weights.c": "int x;\n"})

    (line,) = told(account, "run only the weights test", "ways")
    assert line == "meson.build:2 — names the test: `meson test -C build weights` (built with -Dtests=true)"


ANDROID = "plugins {\n    id 'com.android.application'\n}\n\nandroid {\n    namespace 'crates'\n}\n"
INSTALLED = "gradlew — builds it and installs it on the connected device: `./gradlew installDebug`"


@pytest.mark.parametrize(
    ("build", "prompt", "lines"),
    [
        pytest.param(ANDROID, "adb install", [INSTALLED], id="the command of the tool"),
        pytest.param(ANDROID, "build and install the app", [INSTALLED], id="the app"),
        pytest.param(ANDROID, "install the mockk dependency", [], id="something else"),
        pytest.param(
            ANDROID.replace("namespace", "productFlavors"), "reinstall the app", [], id="an app with flavours"
        ),
        pytest.param(ANDROID.replace("application", "library"), "reinstall the app", [], id="a library"),
    ],
)
def test_an_android_app_is_installed_by_the_task_of_its_build(
    account: Account, build: str, prompt: str, lines: list[str]
) -> None:
    start(account, {"gradlew": "#!/bin/sh\n", "app/build.gradle": build, "app/src/Crate.kt": "class Crate\n"})

    assert [line for line in told(account, prompt, "ways") if "install" in line] == lines
