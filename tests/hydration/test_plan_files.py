"""The mode ``hydrate-file``: the file, its folder, its removal, and what happens if it cannot be written."""

from __future__ import annotations

import os
import re
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_plans import EXAMPLE_1, EXAMPLE_3, read

from enricher.prompt.text import estimate_tokens
from storage.state import plan_files

if TYPE_CHECKING:
    from simulator import Account, Answer

HOSTILE = "fix `x` {} {0} {prompt} \"quoted\" 'single' ``` fence\r\nsecond line $(rm -rf /) <tag> \\u0041 %s\r\n"


@pytest.fixture
def handing(account: Account) -> Account:
    """An account in the mode ``hydrate-file``."""
    account.env["ENRICHER_MODE"] = "hydrate-file"
    return account


def folder(account: Account) -> Path:
    return Path(account.env["TMPDIR"]) / "claude-hydrator"


def file_of(answer: Answer) -> Path:
    found = re.search(r"`(/[^`]+/hydrate_\w+\.md)`", answer.context)
    assert found, answer.context
    return Path(found[1])


@pytest.mark.conformance("Y34", "Y36", "Y39")
def test_the_text_is_short_and_names_a_private_file(handing: Account) -> None:
    answer = handing.ask_patiently(EXAMPLE_3)
    file = file_of(answer)

    assert estimate_tokens(answer.context) <= 150
    assert file.parent == folder(handing)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text(encoding="utf-8").startswith("# Prompt hydration context\n")


@pytest.mark.conformance("Y35")
def test_the_file_holds_prompt_session_candidates_catalogue_and_plan(handing: Account) -> None:
    text = file_of(handing.ask_patiently(EXAMPLE_1)).read_text(encoding="utf-8")

    headings = re.findall(r"^## (Prompt|Session state|Candidates|Workflow catalogue|Drafted plan)$", text, re.MULTILINE)
    assert headings == ["Prompt", "Session state", "Candidates", "Workflow catalogue", "Drafted plan"]
    assert EXAMPLE_1 in text
    shortlist = text.partition("## Candidates")[2].partition("## Drafted plan")[0]
    assert estimate_tokens(shortlist) <= 2000
    assert "`minor-edit`" in shortlist


@pytest.mark.conformance("Y52")
@pytest.mark.parametrize("prompt", [HOSTILE, "fix this: " + "x y `z` {} " * 20_000], ids=["signs", "long"])
def test_the_file_holds_any_prompt_byte_for_byte(handing: Account, prompt: str) -> None:
    answer = handing.ask_patiently(prompt)

    assert prompt.encode() in file_of(answer).read_bytes()
    assert estimate_tokens(answer.context) <= 150


@pytest.mark.slow
@pytest.mark.conformance("Y37")
def test_prompts_of_many_sessions_at_once_get_a_whole_file_each(handing: Account) -> None:
    handing.ask_patiently(EXAMPLE_3)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _number: handing.ask(EXAMPLE_3), range(50)))
    files = {file_of(answer) for answer in answers if answer.context}

    assert len(files) == len([answer for answer in answers if answer.context]) > 40
    assert all(file.name.startswith("hydrate_") for file in files)
    assert all(file.read_text(encoding="utf-8").endswith("])\n```\n") for file in files)


def test_a_session_has_one_file(handing: Account) -> None:
    first, second = (handing.ask_patiently(prompt, session_id="same") for prompt in (EXAMPLE_3, "fix parser.py"))

    assert file_of(first) == file_of(second)
    assert "fix parser.py" in file_of(second).read_text(encoding="utf-8")


@pytest.mark.conformance("Y38")
def test_only_own_files_older_than_an_hour_are_removed(handing: Account) -> None:
    old, young, other, target = (
        handing.write(folder(handing) / name, "x")
        for name in ("hydrate_old.md", "hydrate_young.md", "notes.md", "t.md")
    )
    link = folder(handing) / "hydrate_link.md"
    link.symlink_to(target)
    for file, minutes in ((old, 61), (young, 59), (other, 61), (target, 61)):
        os.utime(file, (time.time() - minutes * 60,) * 2)
    os.utime(link, (time.time() - 3660,) * 2, follow_symlinks=False)

    handing.ask_patiently(EXAMPLE_3)

    assert not old.exists()
    assert young.exists() and other.exists() and target.exists() and link.is_symlink()


@pytest.mark.conformance("Y27", "Y40")
def test_a_file_that_cannot_be_written_means_the_inline_plan_a_notice_and_an_error(handing: Account) -> None:
    handing.write("tmp/claude-hydrator", "a file in place of the folder")
    handing.write(f"tmp/claude-hydrator-{os.geteuid()}", "and of the other one")
    answer = handing.ask_patiently(EXAMPLE_3)

    assert (answer.exit_code, read(answer.context).workflow) == (0, "debugging")
    assert "no file could be written for the plan" in answer.told
    assert [record["level"] for record in handing.log() if record["stage"] == "hydration"] == ["ERROR"]


def test_a_link_in_place_of_the_folder_is_not_followed(handing: Account) -> None:
    trap = handing.home / "trap"
    trap.mkdir()
    folder(handing).symlink_to(trap)

    file = file_of(handing.ask_patiently(EXAMPLE_3))

    assert file.parent == folder(handing).with_name(f"claude-hydrator-{os.geteuid()}")
    assert not [*trap.iterdir()]


def test_the_command_prints_the_plan_of_a_file(handing: Account) -> None:
    file = file_of(handing.ask_patiently(EXAMPLE_3))

    assert read(handing.cli("hydrate", "--context", str(file)).rstrip("\n")).workflow == "debugging"


@pytest.mark.conformance("Y28")
def test_a_missing_file_is_a_clear_error(handing: Account) -> None:
    said = handing.cli("hydrate", "--context", "/nonexistent/hydrate_x.md", exit_code=1)

    assert "/nonexistent/hydrate_x.md cannot be read" in said
    assert "Traceback" not in said
    assert "is no context file" in handing.cli("hydrate", "--context", "/etc/hostname", exit_code=1)


def test_a_text_that_names_a_file_is_replayed_byte_for_byte(handing: Account) -> None:
    handing.ask_patiently(EXAMPLE_3)

    assert handing.cli("replay", "--verify")


def test_a_forgotten_prompt_is_in_no_file(handing: Account) -> None:
    file = file_of(handing.ask_patiently(EXAMPLE_1))
    foreign = handing.write("tmp/claude-hydrator/notes.md", "of somebody else")
    handing.cli("trace", "forget", handing.trace()["id"], "--yes")

    assert not file.exists()
    assert foreign.exists()


def test_forgetting_removes_the_files_of_any_number_of_plans(handing: Account) -> None:
    file = file_of(handing.ask_patiently(EXAMPLE_1))
    for number in range(2 * plan_files.MOST_CHECKED):
        (folder(handing) / f"hydrate_{number}.md").touch()
    handing.cli("trace", "forget", handing.trace()["id"], "--yes")

    assert not file.exists()
    assert not [*folder(handing).iterdir()]
