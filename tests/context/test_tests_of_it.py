"""A prompt that asks for tests of what the conversation is about, without naming it, through the real hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from invented_test_requests import ASKED, NOT_ASKED
from test_ways import commit as commit_all
from test_ways import committed, told, with_quota

from enricher.prompt.conversation.wanted_tests import wanted

if TYPE_CHECKING:
    from simulator import Account

__all__ = ["committed"]  # a fixture
LIMITS = ("Edit", {"file_path": "quota/limits.py", "new_string": "    return 4\n"})
BURST = ("Edit", {"file_path": "quota/limits.py", "new_string": "def burst_size(key):\n    return 4\n"})
STORAGE = ("Edit", {"file_path": "quota/storage.py", "new_string": "    return [path]\n"})
WORDS = ("Edit", {"file_path": "quota/words.py", "new_string": "    return []\n"})
TEST_LIMITS = ("Edit", {"file_path": "tests/test_limits.py", "new_string": "    assert burst_size('a') == 4\n"})
OF_LIMITS = "tests/test_limits.py — tests limits.py, by its name; run it alone: `uv run pytest tests/test_limits.py`"
OF_BURST = "tests/test_limits.py:9 — tests burst_size, named there once"
ALONE = "tests/test_limits.py — run it alone: `uv run pytest tests/test_limits.py`"
LIMITS_AND_WHY = ["> fix the limit", LIMITS, "Done.", "> why 4?"]
NEW_TESTS = (
    "add tests", "füg Tests hinzu", "ajoute des tests", "vale. añade tests", "adicione testes", "aggiungi i test",
    "добавь тесты", "加测试", "テストを追加して",
)  # fmt: skip
Turn = tuple[str, dict[str, Any]] | str


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, committed: Path) -> Account:
    """An account in an indexed project with tests, for all tests that only ask."""
    from simulator import Account

    return with_quota(Account(tmp_path_factory.mktemp("of_it") / "home"), committed)


def after(account: Account, turns: list[Turn]) -> dict[str, str]:
    """Write a transcript: a text in capitals is a command, one that begins with ">" a prompt, any other an answer."""
    records = []
    for number, turn in enumerate(turns):
        if isinstance(turn, str) and turn.startswith("> "):
            records.append({"type": "user", "message": {"role": "user", "content": turn[2:]}})
            continue
        block: dict[str, Any] = {"type": "text", "text": turn}
        if not isinstance(turn, str):
            name, given = turn
            path = {"file_path": f"{account.project}/{given['file_path']}"} if "file_path" in given else {}
            block = {"type": "tool_use", "name": name, "input": given | path}
        records.append({"type": "assistant", "message": {"id": f"m{number}", "content": [block]}})
    lines = (json.dumps(record, separators=(",", ":")) for record in records)
    return {"transcript_path": str(account.write("t.jsonl", "\n".join(lines) + "\n"))}


@pytest.mark.parametrize("line", ASKED.strip().splitlines())
def test_a_prompt_asks_for_the_tests_of_something_that_it_does_not_name(line: str) -> None:
    kind, prompt = line.split("|", 1)

    assert wanted(prompt) == kind


@pytest.mark.parametrize("prompt", NOT_ASKED.strip().splitlines())
def test_a_prompt_that_only_speaks_of_tests_does_not(prompt: str) -> None:
    assert wanted(prompt) == ""


@pytest.mark.parametrize(
    ("turns", "prompt", "line"),
    [
        (["> fix the limit", LIMITS, "Done."], "and the tests for it?", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "und die Tests dafür?", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "looks good. is there a test for that? if not write one", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "ok now a test for it", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "spec for that, and a changelog line", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "now a test for it, 40 keys and every one of them full", OF_LIMITS),
        (["> fix the limit", BURST, "Done."], "does anything test this?", OF_BURST),
        (["> fix the limit", BURST, "Done."], "run just that test", OF_BURST),
        (["> fix the limit", LIMITS, "Done.", "> thanks. why 4?", "Because of bursts."], "add a test", OF_LIMITS),
        (["> how large is a burst?", "`burst_size` says 3 for every key."], "which test covers that?", OF_BURST),
        *(([*LIMITS_AND_WHY, "`load_all` reads it."], prompt, OF_LIMITS) for prompt in NEW_TESTS),
        ([*LIMITS_AND_WHY, "`load_all` reads it."], "which test covers that?", "tests/test_load.py"),
        ([*LIMITS_AND_WHY, "`burst_size` should be larger."], "add tests", OF_LIMITS),
        (["> where is it?", "In `quota/limits.py`, at the top."], "哪个测试覆盖了这个?", OF_LIMITS),
        (["> fix the limit", LIMITS, TEST_LIMITS, "Done."], "run just that test", ALONE),
        (["> fix the limit", LIMITS, ("Read", {"file_path": "tests/test_limits.py"})], "run the tests for it", ALONE),
        (["> test bursts", TEST_LIMITS, "Done."], "run just that test", ALONE),
        (["> fix both", LIMITS, STORAGE, "Done."], "tests?", "tests/test_load.py, tests/test_limits.py — "),
        (["> fix both", LIMITS, WORDS, "Done."], "tests?", OF_LIMITS),
        (["> fix the limit", LIMITS, "Done."], "now a test for the surge, and run only that one", OF_LIMITS),
        (["> fix loading", STORAGE, "Done.", "> now the limit", LIMITS, "Done."], "tests?", OF_LIMITS),
        (["> the limit", LIMITS, "> the words", WORDS, "Done."], "schreib noch einen Test für die limits", OF_LIMITS),
        (["> the limit", LIMITS, "> the words", WORDS, "Done."], "and tests? do we have any for limits", OF_LIMITS),
    ],
)
def test_the_tests_of_what_the_conversation_is_about_are_told(
    asked: Account, turns: list[Turn], prompt: str, line: str
) -> None:
    assert [one.startswith(line) for one in told(asked, prompt, "tests", **after(asked, turns))] == [True]


@pytest.mark.parametrize(
    ("turns", "prompt"),
    [
        (["> fix the words", WORDS, "Done."], "and the tests for it?"),
        (["> fix the limit", LIMITS, TEST_LIMITS, "Done."], "and the tests for it?"),
        (["> fix the limit", ("Read", {"file_path": "tests/test_limits.py"}), LIMITS], "and the tests for it?"),
        (["> fix the limit", LIMITS, "Done."], "no tests please"),
        (["> fix the limit", LIMITS, "Done."], "make test\nsuite of the words\n1 of 40 failed"),
        (["> fix the limit", LIMITS, "Done."], "tests, lint and build are red"),
        (["> fix the limit", LIMITS, "Done."], "the tests pass. now show the limits in the page"),
        (["> fix the limit", LIMITS, "Done."], "add a logout button to the header and a test for it"),
        (["> how large is a burst?", "tests/test_limits.py shows it: `burst_size`."], "is there a test for that?"),
        (["> how?", "`burst_size` limits what `load_all` reads."], "is there a test for that?"),
        (["> fix it", TEST_LIMITS, ("Bash", {"command": "pytest -q"}), "Done."], "run just that test"),
        (["> hello", "Hello."], "and the tests for it?"),
        (
            [*LIMITS_AND_WHY, "It should rather be in `load_all`."],
            "ok, add tests",
        ),
        ([*LIMITS_AND_WHY, "`load_all` reads it, ¿añado pruebas?"], "vale. añade tests"),
        (["> the words", WORDS, "Done.", "> why?", "`load_all` reads them."], "add tests"),
        ([], "and the tests for it?"),
    ],
)
def test_nothing_is_told_where_it_is_known_or_may_be_something_else(
    asked: Account, turns: list[Turn], prompt: str
) -> None:
    assert told(asked, prompt, "tests", **after(asked, turns)) == []


@pytest.mark.parametrize(
    ("contributing", "line"),
    [
        ("", "`uv run pytest FILE` runs one test file"),
        ("Run the tests with `make test VERBOSE=1`.\n", "`uv run pytest FILE` runs one test file"),
        (
            "# Tests\n\nRun one test with `make test ARGS=tests/test_limits.py`.\n",
            "CONTRIBUTING.md:3 — runs one test: `make test ARGS=tests/test_limits.py`",
        ),
        (
            "# Tests\n\n```\npytest\npytest -k NAME\n```\n",
            "CONTRIBUTING.md:5 — runs one test: `pytest -k NAME`",
        ),
    ],
)
def test_who_asks_how_to_run_a_single_test_is_told_the_command(
    account: Account, committed: Path, contributing: str, line: str
) -> None:
    quota = with_quota(account, committed)
    quota.write(Path(quota.project) / "CONTRIBUTING.md", contributing)
    commit_all(quota, "Say how to test")

    assert told(quota, "how do I run a single test?", "ways") == [line]
    has_run = after(quota, ["> fix it", ("Bash", {"command": "uv run pytest"})])
    assert told(quota, "wie führe ich einen einzelnen Test aus?", "ways", **has_run) == []


def test_a_bare_command_that_every_agent_tries_first_is_not_told(account: Account, committed: Path) -> None:
    quota = with_quota(account, committed)
    (Path(quota.project) / "uv.lock").unlink()
    commit_all(quota, "Drop the lock")

    assert told(quota, "how do I run a single test here?", "ways") == []


def project_with(account: Account, files: dict[str, str]) -> None:
    """Commit these files as the project, and index it."""
    for path, text in files.items():
        account.write(Path(account.project) / path, text)
    commit_all(account, "Start")


WEIGH = ("Edit", {"file_path": "lib/weigh-gen.js", "new_string": "exports.weigh = 2\n"})


@pytest.mark.parametrize(
    "prompt",
    [
        "where do the tests for this go, crates.test.js or internals",
        "where does the test for it belong, test/crates.test.js or in internals?",
        "wo gehören die Tests dafür hin, crates.test.js oder internals",
        "où vont les tests pour ça, crates.test.js ou internals ?",
    ],
)
def test_who_asks_where_tests_go_is_told_those_of_the_edit(account: Account, prompt: str) -> None:
    project_with(account, {
        "lib/weigh-gen.js": "exports.weigh = 1\n", "test/internals/weigh-gen.test.js": "", "test/crates.test.js": "",
    })  # fmt: skip

    (line,) = told(account, prompt, "tests", **after(account, ["> fix it", WEIGH, "Done."]))
    assert line.startswith("test/internals/weigh-gen.test.js — tests weigh-gen.js, by its name")


@pytest.mark.parametrize(
    "prompt", ["which tests cover this?", "welche Tests decken das ab?", "テストも足して", "quels tests couvrent ça ?"]
)
@pytest.mark.parametrize(("opened", "count"), [(2, 1), (5, 0)])
def test_the_tests_of_the_few_files_that_were_opened_are_told(
    account: Account, prompt: str, opened: int, count: int
) -> None:
    files = {f"lib/{name}.rb": "def x\nend\n" for name in ("lids", "crates", "racks", "doors", "bolts")}
    project_with(account, files | {"test/unit/crates_test.rb": "", "Gemfile": "gem 'minitest'\n"})
    turns: list[Turn] = ["> where is it?", *(("Read", {"file_path": path}) for path in list(files)[:opened])]

    lines = told(account, prompt, "tests", **after(account, [*turns, "It closes after a while."]))
    assert [one.partition(";")[0] for one in lines] == [
        "test/unit/crates_test.rb — tests crates.rb, by its name"
    ] * count


@pytest.mark.parametrize("prompt", ["テストも足して。http の方も", "add tests as well", "y los tests?"])
def test_a_name_in_the_title_of_a_test_is_tested_there(account: Account, prompt: str) -> None:
    test = "test('dropLid', (t) => {\n  crate.dropLid(1)\n  crate.dropLid(2)\n})\n"
    files = {"lib/crate.js": "Crate.prototype.dropLid = function (lid) {}\n", "test/crate-lids.test.js": test,
             "test/types/crate.tst.ts": "expect(crate.dropLid).type.toBe<number>()\n",
             "test/types/crate.test-d.ts": "expectType<number>(crate.dropLid)\n"}  # fmt: skip
    project_with(account, files)
    turns: list[Turn] = ["> what does it do?", ("Read", {"file_path": "lib/crate.js"}), "`dropLid` deletes the key."]

    (line,) = told(account, prompt, "tests", **after(account, turns))
    assert line.startswith("test/crate-lids.test.js:1 — tests dropLid, named there 3 times")


@pytest.mark.parametrize(
    ("files", "edited", "line"),
    [
        pytest.param({"src/pans.c": "int pans(void) { return 2; }\n", "tests/unit/pans.tcl": "test {pans} {\n}\n"},
                     "src/pans.c", "tests/unit/pans.tcl — tests pans.c, by its name", id="a script of Tcl"),
        pytest.param({"src/pans.go": "package scales\n", "test/test_pans.rb": "def test_it\nend\n"},
                     "src/pans.go", "test/test_pans.rb — tests pans.go, by its name", id="another language"),
        pytest.param({"src/pans.go": "package scales\n", "test/pans.rb": "def start\nend\n"}, "src/pans.go", "",
                     id="a helper of the tests"),
        pytest.param({"lua/scales/pans.lua": "", "lua/scales/net/pans.lua": "", "test/lua/pans_spec.lua": "",
                      "test/plugin/net/pans_spec.lua": ""},
                     "lua/scales/pans.lua", "test/lua/pans_spec.lua — tests pans.lua, by its name",
                     id="the other file of that name has its own"),
        pytest.param({"lua/scales/pans.lua": "", "lua/scales/net/pans.lua": "", "test/lua/pans_spec.lua": ""},
                     "lua/scales/pans.lua", "", id="the other file of that name may be meant"),
        pytest.param({"scales/lidframe.h": "class LidFrame {\n};\n",
                      "scales/lidframe.cpp": "int LidFrame::size() {\n}\n",
                      "tests/test_scales.cpp": "void testSize() {\n  LidFrame one;\n  LidFrame two;\n}\n"},
                     "scales/lidframe.cpp", "tests/test_scales.cpp:2 — tests LidFrame, named there 2 times",
                     id="the class of a file"),
        pytest.param({"src/weigh_lids.rs": "pub fn run() {}\n#[cfg(test)]\nmod tests {\n}\n",
                      "tests/scales.rs": "#[test]\nfn weigh_lids_twice() {}\n#[test]\nfn weigh_lids_in_rain() {}\n"},
                     "src/weigh_lids.rs", "tests/scales.rs:2 — 2 functions named after weigh_lids.rs",
                     id="functions named after a file"),
        pytest.param({"scales/weigh_lids.py": "", "scales/pans.py": "",
                      "tests/test_pans.py": "def test_weigh_lids():\n    pass\n\ndef test_weigh_lids_b():\n    pass\n"},
                     "scales/weigh_lids.py", "", id="functions in the tests of another file"),
    ],
)  # fmt: skip
def test_the_tests_of_a_file_are_found_without_a_file_of_its_name(
    account: Account, files: dict[str, str], edited: str, line: str
) -> None:
    project_with(account, files)
    edit: Turn = ("Edit", {"file_path": edited, "new_string": "\n"})

    lines = told(account, "ok now the tests", "tests", **after(account, ["> fix it", edit, "Done."]))
    assert [one.partition(";")[0] for one in lines] == ([line] if line else [])


@pytest.mark.parametrize(("opened", "count"), [(["scales/disk.py"], 1), (["scales/disk.py", "scales/net.py"], 0)])
def test_a_name_that_several_files_define_is_that_of_the_file_that_was_opened(
    account: Account, opened: list[str], count: int
) -> None:
    files = {f"scales/{name}.py": "def weigh_down():\n    return 1\n" for name in ("disk", "net")}
    project_with(account, files | {"tests/test_disk.py": "def test_it():\n    assert disk.weigh_down() == 1\n"})
    reads: list[Turn] = [("Read", {"file_path": path}) for path in opened]

    lines = told(account, "weigh_down() is slow, fix + test", "tests", **after(account, ["> why?", *reads, "A lock."]))
    assert [one.partition(";")[0] for one in lines] == [
        "tests/test_disk.py:2 — tests weigh_down, named there once"
    ] * count
