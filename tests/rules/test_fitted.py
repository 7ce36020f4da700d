"""What is fitted stands in files beside the instructions, and counts as if it stood in them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulator import ROOT

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer

if TYPE_CHECKING:
    from simulator import Account

INSTRUCTIONS = ROOT / "instructions"
MAIN = INSTRUCTIONS / "prompt-enricher-instructions.md"
READ_IN_TEN_MINUTES = 600
NAMES = "# Classification\n\n## Fitted\n\n```yaml\nfiles: [fitted/more.md]\n```\n\n"
GADGET = NAMES + "## Task type: gadget\n\n```yaml\nsignals:\n  - {phrase: zork, weight: 9}\n```\n"
MORE = "# Classification\n\n## Task type: gadget\n\n```yaml\nsignals:\n  - {phrase: blorb, weight: 30}\n```\n"
WRONG = [
    pytest.param("signals: [{phrse: x}]", 6, "error", "unknown key 'phrse'", id="a signal"),
    pytest.param("leanings: {12: [x]}", 6, "error", "'12' is outside 1 to 9", id="a leaning"),
    pytest.param("examples: [x]", 6, "error", "write 'examples' into the instructions file", id="what people write"),
    pytest.param("signals: []\n```\n\n## Task type: gizmo\n\n```yaml\nsignals: []", 9, "warning",
                 "the instructions file has no rule 'task_type.gizmo'", id="a rule that nobody wrote"),
]  # fmt: skip


def test_a_person_can_read_the_instructions_from_top_to_bottom() -> None:
    lines = len(MAIN.read_text(encoding="utf-8").splitlines())

    assert lines <= READ_IN_TEN_MINUTES, "move word lists and further wordings to instructions/fitted/"


def test_fitted_files_hold_lists_and_the_instructions_no_leanings() -> None:
    compiled = compile_layers([Layer("packaged", str(MAIN))])

    assert compiled.problems == []
    assert len(compiled.fitted) == len([*(INSTRUCTIONS / "fitted").glob("*.md")])
    assert "\nleanings:" not in MAIN.read_text(encoding="utf-8")


def test_a_fitted_signal_counts_and_is_named_with_its_own_line(account: Account) -> None:
    account.instruct(GADGET)
    file = account.write("config/fitted/more.md", MORE)
    account.compile()

    explained = account.cli("explain", "blorb the moon")
    account.ask("blorb the moon")
    rows = json.loads(account.cli("coverage", "--json"))["rows"]

    assert re.search(r'gadget +\d+ +.*"blorb" \+30', explained)
    assert [(row["file"], row["line"]) for row in rows if row["label"] == '"blorb"'] == [(str(file), 7)]


def test_a_task_type_is_shown_from_its_own_confidence_on_where_it_demands_more_than_all(account: Account) -> None:
    account.instruct(GADGET)
    more = account.write("config/fitted/more.md", MORE.replace("signals:", "min_confidence: 0.99\nsignals:"))

    own = account.cli("explain", "blorb the zork")
    more.write_text(MORE.replace("signals:", "min_confidence: 0.1\nsignals:"))
    general = account.cli("explain", "blorb the zork")

    assert "is below min_confidence 0.99 of gadget" in " ".join(own.split())
    assert "uncertain because" not in general


def test_a_fitted_file_that_is_not_there_is_an_error_where_it_is_named(account: Account) -> None:
    own = account.instruct(GADGET)

    told = account.cli("check", exit_code=1)

    missing = own.parent / "fitted" / "more.md"
    assert told.startswith(f"{own}:6: error: the fitted file {missing} does not exist")
    assert "put it there, or correct the path" in told


@pytest.mark.parametrize(("block", "line", "severity", "message"), WRONG)
def test_a_mistake_in_a_fitted_file_has_its_line_there(
    account: Account, block: str, line: int, severity: str, message: str
) -> None:
    account.instruct(GADGET)
    file = account.write(
        "config/fitted/more.md", f"# Classification\n\n## Task type: gadget\n\n```yaml\n{block}\n```\n"
    )

    told = account.cli("check", exit_code=int(severity == "error"))

    assert f"{file}:{line}: {severity}: " in told and message in told


def test_a_copy_of_the_instructions_alone_goes_with_the_packaged_fitted_files(account: Account) -> None:
    lone = Path(shutil.copy(MAIN, account.home / "copy.md"))

    told = account.cli("explain", "--instructions", str(lone), "where is the retry logic?")

    assert "plain words" in told
    assert f"{lone}:" in account.cli("check", str(lone))


@pytest.mark.slow
def test_tune_writes_leanings_into_the_fitted_file(account: Account) -> None:
    folder = shutil.copytree(INSTRUCTIONS, account.home / "rules")
    prompts = ROOT / "tests" / "accuracy" / "invented_prompts.jsonl"

    diff = account.cli("tune", str(prompts), "--force", "--instructions", str(folder / MAIN.name))

    main, _, fitted = diff.partition("\n--- fitted/task-types.md")
    assert re.search(r"^[+-]  -?\d: \[", fitted, re.MULTILINE)
    assert not re.search(r"^[+-]  -?\d: \[", main, re.MULTILINE)


def test_an_edited_fitted_file_is_compiled_anew(account: Account) -> None:
    account.instruct(GADGET)
    file = account.write("config/fitted/more.md", MORE)
    account.compile()
    file.write_text(MORE.replace("blorb", "frotz"))

    assert "frotz" in account.cli("explain", "frotz the moon")
