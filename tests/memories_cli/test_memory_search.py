"""``memory search`` answers people, and programs by the thousand; a given id comes back as it was given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from simulator import Account

LINES = [
    {"id": "doc-1", "namespace": "decisions", "content": "The export keeps prices as integer cents, never as floats."},
    {"id": "doc-2", "namespace": "patterns", "content": "Every migration is reversible and tested on a copy."},
    {"id": "doc-3", "content": "The staging cluster is rebuilt every Sunday."},
]


@pytest.fixture
def stocked(account: Account) -> Account:
    file = account.write("lines.jsonl", "".join(json.dumps(line) + "\n" for line in LINES))
    account.cli("memory", "import", str(file))
    return account


def asked(account: Account, *lines: str, exit_code: int = 0, words: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    file = account.write("queries.jsonl", "".join(f"{line}\n" for line in lines))
    printed = account.cli("memory", "search", "--jsonl", str(file), *words, exit_code=exit_code)
    return [json.loads(line) for line in printed.splitlines()]


def test_one_question_is_answered_with_a_reason(stocked: Account) -> None:
    printed = stocked.cli("memory", "search", "are prices floats or cents")
    (best, *_) = json.loads(stocked.cli("memory", "search", "are prices floats or cents", "--json"))

    assert "doc-1" in printed
    assert "why: prices, floats, cents" in printed
    assert (best["id"], best["namespace"]) == ("doc-1", "decisions")
    assert 0 < best["score"] <= 1
    assert stocked.cli("memory", "search", "zeppelin").strip() == ""


def test_many_questions_are_answered_in_order(stocked: Account) -> None:
    rows = asked(stocked, '{"id": 1, "query": "reversible migration"}', "", '{"id": "b", "query": "staging cluster"}')

    assert [row["id"] for row in rows] == [1, "b"]
    assert [row["results"][0]["id"] for row in rows] == ["doc-2", "doc-3"]
    assert set(rows[0]["results"][0]) == {"id", "score", "why"}


def test_a_bad_line_is_told_and_the_others_answered(stocked: Account) -> None:
    lines = [
        "nonsense",
        '{"id": 2}',
        '{"id": 3, "query": "prices"}',
        "[]",
        '{"id": 5, "query": "\\ud800 AND OR \\"*:"}',
    ]

    rows = asked(stocked, *lines, exit_code=1)

    assert ["error" in row for row in rows] == [True, True, False, True, False]
    assert [row["id"] for row in rows] == [None, 2, 3, None, 5]
    assert "line 2" in rows[1]["error"]


def test_limit_and_namespace_restrict(stocked: Account) -> None:
    question = '{"id": 1, "query": "export prices migration staging cluster"}'

    assert len(asked(stocked, question, words=("--limit", "1"))[0]["results"]) == 1
    (row,) = asked(stocked, question, words=("--namespace", "patterns"))
    assert [one["id"] for one in row["results"]] == ["doc-2"]


def test_two_projects_may_give_the_same_ids(stocked: Account) -> None:
    other = stocked.home / "other"
    other.mkdir()
    stocked.cli("memory", "import", str(stocked.home / "lines.jsonl"), cwd=other)

    (row,) = asked(stocked, '{"id": 1, "query": "staging cluster"}', words=("--cwd", str(other)))

    assert row["results"][0]["id"] == "doc-3"
    assert "staging" in stocked.cli("memory", "show", "doc-3")


def test_a_call_without_a_question_says_so(account: Account) -> None:
    assert "give a QUERY" in account.cli("memory", "search", exit_code=2)
