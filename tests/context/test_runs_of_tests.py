"""The command that runs only the tests that are meant, and silence where none does, through the real hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_tests_of_it import after
from test_ways import commit, told

if TYPE_CHECKING:
    from simulator import Account

CARGO = '[package]\nname = "crates"\nversion = "0.1.0"\n'


def start(account: Account, files: dict[str, str]) -> None:
    """Commit the project's files and index them."""
    for path, text in files.items():
        account.write(Path(account.project) / path, text)
    commit(account, "Start")


def node(scripts: dict[str, str], **more: Any) -> dict[str, str]:
    """Return a project of JavaScript with these scripts."""
    return {
        "package.json": json.dumps({"name": "crates", "scripts": scripts, **more}),
        "lib/weigh.js": "module.exports = (one) => one\n",
        "test/weigh.test.js": "const test = require('node:test')\ntest('weighs', () => {})\n",
    }


@pytest.mark.parametrize(
    ("scripts", "run"),
    [
        pytest.param({"test": "npm run lint && npm run unit && tsd", "unit": "borp", "lint": "eslint ."},
                     "npx borp test/weigh.test.js", id="a script that calls the runner"),
        pytest.param({"test": "run-s check:* unit:all", "check:js": "standard", "unit:all": "c8 tap"},
                     "npx tap test/weigh.test.js", id="a script with a wrapper, by the name of another"),
        pytest.param({"test": "standard && tape test/*.js"}, "npx tape test/weigh.test.js",
                     id="a runner behind a check"),
        pytest.param({"test": "yarn lint; yarn test:unit", "test:unit": "cross-env CI=1 mocha -R dot"},
                     "npx mocha test/weigh.test.js", id="a script that sets a variable"),
        pytest.param({"test": "node --test"}, "node --test test/weigh.test.js", id="one of Node itself"),
        pytest.param({"test": "react-scripts test"}, "npm test -- test/weigh.test.js", id="one that takes files"),
        pytest.param({"test": "npm run lint && npm run check", "check": "node run-all.js"}, "", id="no known runner"),
        pytest.param({"test": "bash scripts/all.sh"}, "", id="a script of the shell"),
        pytest.param({"test": "npm run a", "a": "npm run b", "b": "npm run a"}, "", id="scripts that call each other"),
        pytest.param({"test": "grunt test"}, "", id="a task"),
    ],
)  # fmt: skip
def test_a_script_is_told_only_where_it_runs_the_one_file(account: Account, scripts: dict[str, str], run: str) -> None:
    start(account, node(scripts, devDependencies={"eslint-plugin-mocha": "1", "tap-spec": "5"}))

    (line,) = told(account, "fix the rounding in lib/weigh.js", "tests")
    assert line.partition("; run it alone: ")[2] == (run and f"`{run}`")


@pytest.mark.parametrize(
    ("runner", "configuration", "text", "run"),
    [
        ("borp", ".borp.yaml", "files:\n  - 'test/**/*.test.js'\n", "node --test test/weigh.test.js"),
        ("borp", ".borp.yaml", "reporters:\n  - spec\n", "npx borp test/weigh.test.js"),
        ("mocha", ".mocharc.json", '{\n  "spec": ["test/**/*.js"]\n}\n', ""),
        ("mocha", ".mocharc.yml", "timeout: 5000\n", "npx mocha test/weigh.test.js"),
    ],
)
def test_a_runner_that_adds_files_of_its_own_is_not_told_for_one(
    account: Account, runner: str, configuration: str, text: str, run: str
) -> None:
    start(account, node({"test": runner}) | {configuration: text})

    (line,) = told(account, "fix the rounding in lib/weigh.js", "tests")
    assert line.partition("; run it alone: ")[2] == (run and f"`{run}`")


@pytest.mark.parametrize(
    ("files", "test", "run"),
    [
        pytest.param({"tests/test_weigh.rs": ""}, "tests/test_weigh.rs", "cargo test -p crates --test test_weigh",
                     id="a target"),
        pytest.param({"tests/parts/test_weigh.rs": "",
                      "tests/all.rs": '#[path = "parts/test_weigh.rs"]\nmod test_weigh;\n'},
                     "tests/parts/test_weigh.rs", "cargo test -p crates --test all test_weigh::",
                     id="a module by its path"),
        pytest.param({"tests/suite/test_weigh.rs": "", "tests/suite/main.rs": "mod test_weigh;\n"},
                     "tests/suite/test_weigh.rs", "cargo test -p crates --test suite test_weigh::",
                     id="a module of a folder"),
        pytest.param({"tests/ui/test_weigh.rs": "", "tests/all.rs": "// mod test_weigh;\n"},
                     "tests/ui/test_weigh.rs", "", id="no module"),
        pytest.param({"tests/test_weigh.rs": "", "tests/it.rs": "mod test_weigh;\n",
                      "Cargo.toml": CARGO + 'autotests = false\n\n[[test]]\nname = "whole"\npath = "tests/it.rs"\n'},
                     "tests/test_weigh.rs", "cargo test -p crates --test whole test_weigh::", id="one declared target"),
        pytest.param({"checks/test_weigh.rs": "",
                      "Cargo.toml": CARGO + '\n[[test]]\nname = "weights"\npath = "checks/test_weigh.rs"\n'},
                     "checks/test_weigh.rs", "cargo test -p crates --test weights", id="a declared target elsewhere"),
    ],
)  # fmt: skip
def test_a_test_of_cargo_is_run_by_its_target_and_module(
    account: Account, files: dict[str, str], test: str, run: str
) -> None:
    source = {"Cargo.toml": CARGO, "src/lib.rs": "pub mod weigh;\n", "src/weigh.rs": "pub fn weigh() {}\n"}
    start(account, source | files)

    (line,) = told(account, "fix the rounding in src/weigh.rs", "tests")
    assert line == f"{test} — tests weigh.rs, by its name" + (run and f"; run it alone: `{run}`")


@pytest.mark.parametrize(("loader", "run"), [("", ""), ("require: ts-node/register\n", "npx mocha test/weigh.test.ts")])
def test_mocha_runs_a_test_in_typescript_only_with_a_loader(account: Account, loader: str, run: str) -> None:
    files = {"lib/weigh.ts": "export const weigh = 1\n", "test/weigh.test.ts": "test('weighs', () => {})\n"}
    manifest = {"package.json": node({"test": "mocha"})["package.json"], ".mocharc.yml": f"color: true\n{loader}"}
    start(account, files | manifest)

    (line,) = told(account, "fix the rounding in lib/weigh.ts", "tests")
    assert line.partition("; run it alone: ")[2] == (run and f"`{run}`")


@pytest.mark.parametrize(
    ("test", "run"),
    [
        ("spec/lid_spec.rb", "bundle exec rspec spec/lid_spec.rb"),
        ("test/lid_test.rb", "bundle exec ruby -Itest test/lid_test.rb"),
    ],
)
def test_a_gem_with_specs_only_is_tested_by_rspec(account: Account, test: str, run: str) -> None:
    start(account, {"Gemfile": "gemspec\n", "lib/lid.rb": "x\n", test: "x\n"})

    (line,) = told(account, "fix the rounding in lib/lid.rb", "tests")
    assert line.partition("; run it alone: ")[2] == f"`{run}`"


@pytest.mark.parametrize(
    ("files", "run"),
    [
        ({"bin/rails": "#!/usr/bin/env ruby\n"}, "run them alone: `bin/rails test test/lid_test.rb test/rack_test.rb`"),
        ({}, ""),
    ],
)
def test_two_tests_in_ruby_are_run_by_a_program_that_takes_several(
    account: Account, files: dict[str, str], run: str
) -> None:
    sources = {f"lib/{name}.rb": "x\n" for name in ("lid", "rack")}
    tests = {f"test/{name}_test.rb": "x\n" for name in ("lid", "rack")}
    start(account, {"Gemfile": "gem 'minitest'\n"} | files | sources | tests)

    (line,) = told(account, "fix the rounding in lib/lid.rb and lib/rack.rb", "tests")
    assert line.partition("; run ")[2] == run.removeprefix("run ")


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("the cold-store is not emptied, fix it", False),
        ("add a cold-store header to the page", False),
        ("fix the cold-store tests", True),
        ("the shelf-plan should be sorted", True),
    ],
)
def test_an_ordinary_compound_word_names_no_test(account: Account, prompt: str, *, is_told: bool) -> None:
    start(account, node({"test": "borp"}) | {
        "test/cold-store.test.js": "", "test/shelf-plan.test.js": "", "lib/shelf-plan.js": "exports.plan = 1\n",
    })  # fmt: skip

    assert bool(told(account, prompt, "tests")) == is_told


JAVA = "src/test/java/org/shop/LidTest.java"


@pytest.mark.parametrize(
    ("prompt", "wrapper", "is_told"),
    [
        ("again:\n\nLidTest.closes:12 expected: <1> but was: <2>\n\nfix it", "", False),
        ("again:\n\nLidTest.closes:12 expected: <1> but was: <2>\n\nfix it", "mvnw", True),
        ("LidTest schlägt fehl, bitte korrigieren", "", False),
        ("corrige LidTest, s'il te plaît", "", False),
        ("fix the lid test", "", False),
        ("how do I run only the lid test?", "", True),
    ],
)
def test_a_test_that_the_prompt_names_is_told_only_with_a_command_of_the_project(
    account: Account, prompt: str, wrapper: str, *, is_told: bool
) -> None:
    test = "package org.shop;\n\npublic class LidTest {\n}\n"
    start(account, {"pom.xml": "<project/>\n", JAVA: test} | ({wrapper: "#!/bin/sh\n"} if wrapper else {}))

    assert bool(told(account, prompt, "tests")) == is_told


@pytest.mark.parametrize("prompt", ["run the tests for it", "test it. also with 0", "lass die Tests dafür laufen"])
@pytest.mark.parametrize(
    ("edited", "test", "line"),
    [
        ("cmd/shop/weigh.go", "cmd/shop/lids_test.go", "cmd/shop/ — the package of weigh.go: `go test ./cmd/shop`"),
        ("cmd/shop/weigh.go", "lids/lids_test.go", ""),
        ("shop/weigh.rb", "test/lids_test.rb", ""),
    ],
)
def test_who_wants_the_tests_of_an_edit_is_not_told_how_to_run_all(
    account: Account, prompt: str, edited: str, test: str, line: str
) -> None:
    start(account, {"Makefile": "test:\n\tgo test ./...\n", "go.mod": "module shop\n", edited: "x\n", test: "x\n"})
    turns: list[Any] = ["> fix it", ("Edit", {"file_path": edited, "new_string": "y\n"}), "Done."]

    assert told(account, prompt, "ways", **after(account, turns)) == []
    if "test it" not in prompt:
        lines = told(account, prompt, "tests", **after(account, turns))
        assert [one.partition(", ")[0] for one in lines] == ([line] if line else [])
    assert told(account, "run the tests", "ways", **after(account, turns)) != []


def test_the_usual_command_for_a_test_file_that_the_prompt_names_is_not_told(account: Account) -> None:
    start(account, {"pytest.ini": "[pytest]\n", "tests/test_lid.py": "def test_lid():\n    pass\n"})

    assert told(account, "run tests/test_lid.py", "tests") == []
    assert told(account, "how do I run just tests/test_lid.py?", "tests") == [
        "tests/test_lid.py — run it alone: `pytest tests/test_lid.py`"
    ]


def test_a_test_of_one_part_of_a_file_is_not_the_test_of_it(account: Account) -> None:
    parts = {f"test/weigh.{part}.test.js": "test('it', () => {})\n" for part in ("help", "alias")}
    start(account, {"lib/weigh.js": "module.exports = (one) => one\n", **parts})
    assert told(account, "fix the rounding in lib/weigh.js", "tests") == []

    account.write(Path(account.project) / "test/weigh.test.js", "test('it', () => {})\n")
    commit(account, "Test it as a whole")
    (line,) = told(account, "fix the rounding in lib/weigh.js", "tests", session_id="another")
    assert line.startswith("test/weigh.test.js — tests weigh.js, by its name")


def test_a_test_file_with_the_name_of_a_function_is_the_test_of_it(account: Account) -> None:
    start(
        account,
        {
            "lib/scales.js": "class Scales {\n  addPan(pan) {\n    this.pans.push(pan)\n  }\n}\n",
            "test/scales.help.test.js": "test('help', () => {\n  scales.addPan(1)\n  scales.addPan(2)\n})\n",
            "test/scales.addPan.test.js": "test('pans', () => {\n  scales.addPan(1)\n})\n",
        },
    )

    assert told(account, "where did addPan go, does that still work", "tests") == []
    (line,) = told(account, "fix addPan: it takes the same pan twice", "tests", session_id="another")
    assert line.startswith("test/scales.addPan.test.js:2 — tests addPan, named there once")
