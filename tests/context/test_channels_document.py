"""What ``docs/channels.md`` says is so: its commands, its example program, its tables."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from simulator import ROOT

from enricher.rules.compiling.schema import DeclaredChannel
from enricher.settings import DEFAULTS, GATES, named_in

if TYPE_CHECKING:
    from simulator import Account

TEXT = (ROOT / "docs" / "channels.md").read_text(encoding="utf-8")
PROMPT = "the login test fails, please fix the session middleware"


def blocks(language: str) -> list[str]:
    """Return the fenced blocks in this language, outside of the rule that is shown."""
    fenced = TEXT.partition("````markdown")[0] + TEXT.rpartition("````")[2]
    parts = (part.partition("\n") for part in fenced.split("```")[1::2])
    return [content for named, _, content in parts if named == language]


def table(first: str) -> list[list[str]]:
    """Return the rows of the table that has this first column, each cell without its backticks."""
    _, _, behind = TEXT.partition(f"\n| {first} |")
    rows = behind.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def names(first: str) -> set[str]:
    return {name for row in table(first) for name in row[0].split(", ")}


def test_the_commands_of_the_document_work(account: Account) -> None:
    lines = [line for block in blocks("") for line in block.strip().splitlines()]
    assert len(lines) == 5

    for line in lines:
        words = shlex.split(line, comments=True)
        given = None
        if "|" in words:
            given, words = words[1], words[words.index("|") + 1 :]
        assert words[0] == "enricher"
        assert account.cli(*words[1:], given=given), line


def test_the_example_is_a_channel(account: Account) -> None:
    (program,) = blocks("python")
    (rule,) = re.findall(r"^````markdown\n(.*?)^````$", TEXT, re.MULTILINE | re.DOTALL)
    file = account.write("bin/notes-search", program)
    account.write("project/NOTES.md", "Buy milk.\nThe session middleware drops users.\n")
    account.instruct(rule.replace("/home/me/bin/notes-search", f"{sys.executable}, -I, -S, {file}"))
    asked = {"v": 1, "prompt": PROMPT, "cwd": str(account.project), "session_id": "", "deadline_ms": 150}
    command = [sys.executable, str(file)]
    ended = subprocess.run(
        command, input=json.dumps(asked).encode() + b"\n", cwd=account.project, capture_output=True, check=True
    )
    account.compile()
    for _attempt in range(8):
        if "NOTES.md:2" in (context := account.ask(PROMPT).context):
            break

    assert json.loads(ended.stdout)["items"] == [
        {"text": "The session middleware drops users.", "ref": "NOTES.md:2", "score": 2 / 3}
    ]
    assert '- NOTES.md:2: "The session middleware drops users."' in context


def test_the_request_has_these_keys(account: Account) -> None:
    account.channel("ears", f"head -1 > {account.home}/heard")
    account.compile()
    account.ask(PROMPT)

    assert set(json.loads((account.home / "heard").read_text())) == names("asked")


def test_a_rule_has_these_keys_and_defaults() -> None:
    fields = {name: field for name, field in DeclaredChannel.model_fields.items() if name not in ("disabled", "extend")}

    assert names("rule") == set(fields)
    said = {row[0]: row[1] for row in table("rule") if row[1]}
    assert said == {name: str(fields[name].default).lower().removesuffix(".0") for name in said}


def test_an_event_has_these_fields(account: Account) -> None:
    account.env["ENRICHER_EVENTS_FILE"] = "events.jsonl"
    account.channel("notes", "echo '{\"items\": []}'")
    account.compile()
    account.ask(PROMPT)

    told = json.loads((account.state / "events.jsonl").read_text().splitlines()[0])
    others = {row[1].removeprefix("not ") for row in table("field") if row[1]}
    assert names("field") | others == set(told)
    assert told["topic"] in TEXT


def test_settings_and_variables_of_the_document_exist() -> None:
    variables = set(re.findall(r"`((?:ENRICHER|OMNICLAUDE|ENABLE)_[A-Z_]+)", TEXT))
    known = {name for name, _key in named_in(dict.fromkeys(variables, "1"))}

    assert variables - known == {"ENRICHER_CHANNEL", "OMNICLAUDE_EMIT_TIMEOUT"}
    assert {"events.file", "events.socket"} <= set(DEFAULTS)
    assert {gate.upper() for gate in GATES} <= variables
