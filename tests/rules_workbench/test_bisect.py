"""Every stored version of the rules is asked what it says to a prompt, and each flip is led back to its edit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edits_of_rules import ask, instruct, layer

from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from simulator import Account

PROMPT = "frobnicator the thing frobnicator"
WEAK = '{phrase: "never said", weight: 1}'
STRONG = '{phrase: "frobnicator", weight: 9}'


def _bisect(account: Account, trace_id: str) -> dict[str, Any]:
    found = json.loads(account.cli("bisect", trace_id, "--json"))
    assert isinstance(found, dict)
    return found


def _flips(found: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [
        (step["outcome"]["task_type"], [hunk["after"].strip() for hunk in step["cause"]["hunks"]])
        for step in found["steps"]
        if step["kinds"]
    ]


def test_a_flip_back_and_forth_is_seen_with_the_edit_that_made_it(account: Account) -> None:
    instruct(account, layer(WEAK))
    first = ask(account, PROMPT)
    instruct(account, layer(WEAK, STRONG))
    ask(account, PROMPT)
    instruct(account, layer(WEAK.replace("1", "2")))
    ask(account, PROMPT)

    found = _bisect(account, first)

    assert [step["is_own"] for step in found["steps"]] == [True, False, False]
    assert _flips(found) == [("docs", [f"- {STRONG}"]), ("debug", [""])]


def test_the_flip_is_printed_with_file_line_and_the_lines_of_the_edit(account: Account) -> None:
    file = instruct(account, layer(WEAK))
    ask(account, PROMPT)
    instruct(account, layer(WEAK, STRONG))
    trace_id = ask(account, PROMPT)

    printed = account.cli("bisect", trace_id[:14])

    assert f"{file}:9  Task type: docs" in printed and f"+  - {STRONG}" in printed
    assert "2 versions, 1 change" in printed


def test_a_layer_that_was_deleted_is_the_cause_of_what_it_no_longer_says(account: Account) -> None:
    file = instruct(account, layer(WEAK, STRONG))
    trace_id = ask(account, PROMPT)
    file.unlink()
    ask(account, PROMPT)

    step = _bisect(account, trace_id)["steps"][-1]

    assert step["outcome"]["task_type"] == "debug"
    assert step["cause"]["hunks"][0]["file"] == str(file) and STRONG in step["cause"]["hunks"][0]["before"]


def test_an_edit_of_a_catalogue_is_found(account: Account) -> None:
    packaged = Path(packaged_file())
    account.env["ENRICHER_PROFILE"] = "as-specified"
    texts = {name: (packaged.parent / f"{name}.md").read_text() for name in ("HEURISTICS", "guardrails")}
    folder = account.give_aops(packaged.read_text(), **texts) / "hooks" / "prompts"
    account.compile()
    trace_id = ask(account, "the login test fails with KeyError: 'user'")
    file = folder / "guardrails.md"
    file.write_text(texts["guardrails"].replace("| H3 | debug |", "| H3 | |"))
    account.compile()
    ask(account, PROMPT)

    step = _bisect(account, trace_id)["steps"][-1]

    assert "guardrail dropped" in step["kinds"]
    assert [(hunk["file"], "H3" in hunk["before"]) for hunk in step["cause"]["hunks"]] == [(str(file), True)]


def test_a_version_of_another_project_is_named_and_skipped(account: Account) -> None:
    trace_id = ask(account, PROMPT)
    other = account.home / "other"
    account.write("other/.enricher/instructions.md", layer(STRONG))
    account.cli("trust", cwd=other)
    answer = account.ask_patiently(PROMPT, cwd=str(other))

    found = _bisect(account, trace_id)

    assert answer.is_harmless()
    assert [step["skipped"] for step in found["steps"]] == [None, "applies in another folder"]


def test_a_version_of_another_release_is_named_and_skipped(account: Account) -> None:
    trace_id = ask(account, PROMPT)
    _store_version(account, "f" * 32, '{"format": 1}')

    found = _bisect(account, trace_id)

    assert [step["skipped"] for step in found["steps"]] == [None, "compiled by another release"]


def test_a_prompt_that_was_skipped_cannot_be_judged(account: Account) -> None:
    account.ask("/help")

    assert "it was skipped" in account.cli("bisect", account.trace()["id"], exit_code=1)


def test_an_unknown_trace_is_said(account: Account) -> None:
    ask(account, PROMPT)

    assert "no trace 'ffff'" in account.cli("bisect", "ffff", exit_code=1)


def _store_version(account: Account, identity: str, text: str) -> None:
    from contextlib import closing

    from storage.db import database

    with closing(database.connect(str(account.state))) as db, db:
        row = {"hash": identity, "text": text, "at": "2030-01-01T00:00:00Z"}
        db.execute("insert into instructions_versions (hash, text, first_seen_at) values (:hash, :text, :at)", row)
