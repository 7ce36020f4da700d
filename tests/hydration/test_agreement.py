"""``python -m tests.hydration.agreement``, and invented prompts with the workflow that a reader expects."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hydration.agreement import suggested

ROOT = Path(__file__).parents[2]


def agreement(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.hydration.agreement", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_agreement_and_confusions_are_printed_without_prompts(tmp_path: Path) -> None:
    rows = [
        {"prompt": "what workflows are available?", "workflow": "simple-question"},
        {"prompt": "fix the typo in the header", "workflow": "docs", "second": "minor-edit"},
    ]
    file = tmp_path / "labelled.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    done = agreement(file)

    assert "first choice: 1 of 2 = 0.50 (0.09-0.91)" in done.stdout
    assert "either choice: 2 of 2 = 1.00" in done.stdout
    assert "1  reader docs, chosen minor-edit" in done.stdout
    assert "typo" not in done.stdout


def test_a_missing_file_or_a_broken_line_is_a_clear_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"prompt": "hello", "workflow": "docs"}\n{"prompt": "hello"}\n')

    assert "usage: python -m tests.hydration.agreement FILE" in agreement().stderr
    assert "No such file" in agreement(tmp_path / "none.jsonl").stderr
    assert f"{broken}:2: not a JSON object with prompt and workflow" in agreement(broken).stderr


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("there is a small bug in cache.py: the variable size hides the function size", "minor-edit"),
        ("what are the pros and cons of storing the sessions in redis?", "simple-question"),
        ("should we continue here or is it enough for today?", "simple-question"),
        ("write a checklist of what I have to do before the first customer logs in", "docs"),
        ("draw a mermaid diagram of the order states below the second heading", "docs"),
        ("I rolled back your last change, I do not like it. Let's find another way to load the fonts", "plan-mode"),
        ("roll back the deployment of yesterday evening", "ops-release"),
        ("design and implement a rate limiter for the public endpoints", "feature-dev"),
        ("the export button is in the footer, but that is not right, it belongs into the toolbar", "minor-edit"),
        ("starting from develop will not work here, this pr should branch off the release branch", "ops-release"),
        ("the export writes an empty file since yesterday", "debugging"),
        ("after the login the open orders disappear from the list", "debugging"),
        ("investigate and fix the flickering of the menu", "debugging"),
        (
            "Looks right. Continue with the second half. We have to talk about the prices before the third",
            "feature-dev",
        ),
        ("Run the linter and repair the modules. Make a plan about which module to repair first", "feature-dev"),
        ("we should talk about the import before we change it", "plan-mode"),
        ("once the code review is over, drop the old flag", "feature-dev"),
        ("that name is odd. we will see it in the code review later", "simple-question"),
        ("when you review the parser, look at the escapes", "code-review"),
        ("please do a code review after you have fixed the tests", "code-review"),
        ("is every route of the shop behind the login", "simple-question"),
        ("should we also filter the stamps by colour?", "simple-question"),
        ("what are the options for the stamps?", "plan-mode"),
        ("ok, the totals of the letters arrive in the wrong box", "debugging"),
        (
            "Add a table of the letters to the start page:\n- a column for the stamp\n- a column for the sender",
            "feature-dev",
        ),
        ("make the headline bold", "minor-edit"),
        ("bump the retries from 3 to 5", "minor-edit"),
        ("the old name of the box is still used, change it everywhere", "batch"),
        ("here is my lock, is this ok?", "code-review"),
        ("first a failing test for the weight of a letter, then mend it", "tdd"),
        ("el botón de enviar no funciona desde ayer", "debugging"),
        ("schreib eine Anleitung für neue Boten, die Dokumentation ist zu alt", "docs"),
        ("from now on you run the formatter after every edit", "framework-change"),
        ("should we close the issue? if yes, delete the branch", "plan-mode"),
        ("should we keep the flag? remove it otherwise", "plan-mode"),
        ("should we make the avatar optional?", "simple-question"),
        ("The dropdown should read its options from the config file", "feature-dev"),
        ("add a button that keeps reminding you of unpaid invoices", "feature-dev"),
        ("can the exporter also write semicolons?", "feature-dev"),
        ("I want to read the shop's mails on my phone. are there other options than an app", "plan-mode"),
        (
            "Our clean-up so far:\n1. We have moved the helpers\n2. We have updated each file\n\nRename the rest",
            "refactor",
        ),
    ],
)
def test_an_invented_prompt_gets_the_workflow_that_a_reader_expects(prompt: str, expected: str) -> None:
    assert suggested(prompt) == expected
