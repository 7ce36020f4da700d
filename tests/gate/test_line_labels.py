"""A line of an added text is called wrong: stored, counted as the keep-rate, taken back, merged and deleted."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from simulator import Account

from storage.db import database
from storage.db.merge import merge
from storage.traces import line_labels, queries

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "revert your last changes in the exporter"


@pytest.fixture
def account(tmp_path: Path) -> Account:
    account = Account(tmp_path / "home")
    account.ask(PROMPT)
    return account


def shown(account: Account) -> dict[str, Any]:
    return dict(json.loads(account.cli("trace", "last", "--json")))


def keep_rate(account: Account) -> dict[str, Any]:
    return dict(json.loads(account.cli("trace", "stats", "--json"))["keep_rate"])


def test_a_line_is_called_wrong_and_counted(account: Account) -> None:
    trace = shown(account)
    line = line_labels.lines(trace)[0]

    told = account.cli("trace", "wrong", trace["id"][:14], "1", "--because", "it drops   nothing")

    assert told == f"{trace['id']} line 1: {line.kind} {line.rule} wrong, because it drops nothing\n"
    assert keep_rate(account)["total"] == {"kind": "", "rule": "", "right": 0, "judged": 1}
    assert "wrong" in account.cli("trace", "show", trace["id"])
    listed = json.loads(account.cli("trace", "list", "--where", f'line:"wrong {line.kind} {line.rule}"', "--json"))
    assert [one["id"] for one in listed] == [trace["id"]]


def test_the_newest_label_counts_and_can_be_taken_back(account: Account) -> None:
    identity = shown(account)["id"]
    account.cli("trace", "wrong", identity, "1")
    account.cli("trace", "wrong", identity, "1", "--right")
    assert keep_rate(account)["total"] == {"kind": "", "rule": "", "right": 1, "judged": 1}

    account.cli("trace", "wrong", identity, "1", "--undo")
    assert keep_rate(account)["total"]["right"] == 0
    account.cli("trace", "wrong", identity, "1", "--undo")

    assert keep_rate(account)["total"]["judged"] == 0
    told = account.cli("trace", "wrong", identity, "1", "--undo", exit_code=1)
    assert f"line 1 of trace {identity} has no label" in told


def test_a_line_that_does_not_exist_is_refused_with_the_lines_there_are(account: Account) -> None:
    trace = shown(account)

    told = account.cli("trace", "wrong", trace["id"], "99", exit_code=1)

    assert f"has no line 99: the lines are 1 to {len(line_labels.lines(trace))}" in told


def test_a_secret_in_the_reason_is_redacted(account: Account) -> None:
    account.cli("trace", "wrong", shown(account)["id"], "1", "--because", "the key is AKIA" + "IOSFODNN7EXAMPLE")

    assert "IOSFODNN7" not in json.dumps(shown(account))


def test_each_guardrail_of_one_line_has_a_number() -> None:
    guardrails = [{"guardrail_id": "H3"}, {"guardrail_id": "H5"}]
    text = '## Prompt Enrichment\n**Relevant Context** (x):\n- a.py: "b"\n**Applicable Guardrails**: H3 (a, b), H5 (c)'
    items = [{"channel": "code", "kept": True}, {"channel": "memory", "kept": False}]

    found = line_labels.lines({"output_text": text, "guardrails": guardrails, "items": items})

    assert [(one.number, one.kind, one.rule, one.text) for one in found] == [
        (1, "code", "", 'a.py: "b"'),
        (2, "guardrail", "H3", "H3 (a, b)"),
        (3, "guardrail", "H5", "H5 (c)"),
    ]


def test_labels_of_lines_are_merged_once(account: Account, tmp_path: Path) -> None:
    identity = shown(account)["id"]
    account.cli("trace", "wrong", identity, "1", "--because", "no")
    mine = tmp_path / "mine"
    for _again in range(2):
        with closing(database.connect(str(mine))) as db:
            merge(db, f"{account.state}/enricher.db", state_dir=str(mine))
            labels = line_labels.of_trace(db, identity)
            count = db.execute("select count(*) from line_labels").fetchone()[0]

        assert [(one.line, one.verdict, one.because) for one in labels.values()] == [(1, "wrong", "no")]
        assert count == 1


def test_a_label_of_a_line_is_forgotten_with_its_prompt(account: Account) -> None:
    identity = shown(account)["id"]
    account.cli("trace", "wrong", identity, "1", "--because", "quokka")

    account.cli("trace", "forget", "--match", "quokka", "--yes")

    with closing(sqlite3.connect(account.state / "enricher.db")) as db:
        assert db.execute("select count(*) from line_labels").fetchone() == (0,)
        assert db.execute("select count(*) from traces where id = ?", [identity]).fetchone() == (0,)


def test_an_exported_prompt_has_the_labels_of_its_lines(account: Account) -> None:
    identity = shown(account)["id"]
    account.cli("trace", "wrong", identity, "1")

    exported = json.loads(account.cli("trace", "export").splitlines()[0])

    assert [(one["line"], one["verdict"]) for one in exported["line_labels"]] == [(1, "wrong")]
    with closing(database.connect(str(account.state))) as db:
        assert queries.show(db, identity)["line_labels"] == exported["line_labels"]


def test_last_is_the_newest_prompt_of_this_folder(account: Account) -> None:
    identity = shown(account)["id"]

    told = account.cli("trace", "wrong", "last", "1")

    assert told.startswith(f"{identity} line 1: ")
    told = account.cli("trace", "wrong", "last", cwd=account.home, exit_code=1)
    assert f"nothing was added to a prompt in {account.home}" in told
