"""Memories by hand: put in, listed, shown, reviewed, and forgotten for good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account


def added(account: Account, text: str, *words: str, cwd: Path | None = None) -> dict[str, Any]:
    value = json.loads(account.cli("memory", "add", text, *words, "--json", cwd=cwd))
    assert isinstance(value, dict)
    return value


def listed(account: Account, *words: str, cwd: Path | None = None) -> list[dict[str, Any]]:
    value = json.loads(account.cli("memory", "list", "--json", *words, cwd=cwd))
    assert isinstance(value, list)
    return value


def test_a_memory_is_kept_with_what_was_said_of_it(account: Account) -> None:
    words = ("--namespace", "decisions", "--tag", "money", "--tag", "db", "--date", "2026-01-02", "--path", "shop/")

    kept = added(account, "prices are integer cents", *words)

    assert (kept["namespace"], kept["tags"], kept["created_at"]) == ("decisions", ["money", "db"], "2026-01-02")
    assert (kept["path_prefix"], kept["reviewed"], kept["origin"]) == ("shop", True, "added")
    assert listed(account) == [kept]
    assert json.loads(account.cli("memory", "show", kept["id"][:6], "--json")) == kept
    assert "prices are integer cents" in account.cli("memory", "show", kept["id"])
    assert "decisions" in account.cli("memory", "list")


def test_the_same_text_is_one_memory_and_a_secret_is_none(account: Account) -> None:
    first = added(account, "the key is sk-ant-api03-" + "aB3dE5gH7jK9" * 8)
    added(account, "the key is sk-ant-api03-" + "aB3dE5gH7jK9" * 8)

    assert "[redacted" in first["content"]
    assert len(listed(account)) == 1


def test_projects_do_not_see_each_other_but_all_see_what_is_shared(account: Account) -> None:
    other = account.home / "other"
    other.mkdir()
    added(account, "only the first project deploys by hand")
    added(account, "all of us write dates in UTC", "--shared")

    assert [one["project"] for one in listed(account, cwd=other)] == ["shared"]
    assert len(listed(account)) == 2
    older = listed(account, "--before", listed(account, "--limit", "1")[0]["id"])
    assert [one["content"] for one in older] == ["only the first project deploys by hand"]


def test_memories_of_one_second_are_listed_newest_first(account: Account) -> None:
    sentences = [f"step {number} of the release is done by hand" for number in range(6)]
    for sentence in sentences:
        added(account, sentence)

    assert [one["content"] for one in listed(account)] == sentences[::-1]


def test_forgetting_says_what_it_removed_and_leaves_no_trace(account: Account) -> None:
    first = added(account, "the zanzibar cluster is retired")
    added(account, "the zebra cluster stays", "--namespace", "config")
    added(account, "builds are hermetic", "--namespace", "patterns")

    by_id = account.cli("memory", "forget", first["id"][:8], "--yes")
    by_words = account.cli("memory", "forget", "--match", "Zebra cluster", "--yes")
    by_kind = json.loads(account.cli("memory", "forget", "--namespace", "patterns", "--yes", "--json"))

    assert by_id == f"deleted {first['id']}: the zanzibar cluster is retired\n"
    assert "the zebra cluster stays" in by_words
    assert [one["content"] for one in by_kind] == ["builds are hermetic"]
    assert listed(account) == []
    left = b"".join(file.read_bytes() for file in account.state.glob("enricher.db*"))
    assert b"zanzibar" not in left
    assert b"zebra" not in left


def test_what_is_wrong_is_said_with_its_remedy(account: Account) -> None:
    added(account, "one fact about ports")
    added(account, "another fact about hosts")

    assert "enricher memory list" in account.cli("memory", "show", "nonsense", exit_code=1)
    assert "enricher memory list" in account.cli("memory", "forget", "\udcff", exit_code=1)
    assert "2 memories begin with 'm-'" in account.cli("memory", "forget", "m-", exit_code=1)
    assert "2026-03-31" in account.cli("memory", "add", "x y", "--date", "soon", exit_code=2)
    assert "the text is empty" in account.cli("memory", "add", " ", exit_code=2)
    assert "name the memories to delete" in account.cli("memory", "forget", exit_code=2)
    assert "decisions" in account.cli("memory", "add", "x", "--namespace", "nonsense", exit_code=2)


def test_what_was_captured_is_approved_edited_or_dropped(account: Account) -> None:
    for text in ("first we decided on tabs", "second is a secret place", "third is kept as it is"):
        account.cli("memory", "capture", text)
    waiting = json.loads(account.cli("memory", "review", "--json"))
    assert len(waiting) == 3
    assert {one["origin"] for one in waiting} == {"captured"}

    account.cli("memory", "review", given="a\nd\ne\nfirst we decided on spaces\n")

    kept = listed(account)
    assert all(one["reviewed"] for one in kept)
    assert len(kept) == 2
    assert any(one["content"] == "first we decided on spaces" for one in kept)


def test_a_review_without_a_person_names_the_memory(account: Account) -> None:
    one, two = (
        json.loads(account.cli("memory", "capture", text, "--json"))["id"] for text in ("first fact", "second fact")
    )

    assert account.cli("memory", "review", one, "--approve").startswith(f"approved {one}")
    assert json.loads(account.cli("memory", "review", two, "--drop", "--yes", "--json")) == {
        "id": two,
        "verdict": "drop",
    }
    assert [kept["id"] for kept in listed(account)] == [one]
    assert account.cli("memory", "review") == ""
    assert "--approve and --drop need the ID of a memory" in account.cli("memory", "review", "--drop", exit_code=2)


def test_control_characters_do_not_reach_the_terminal(account: Account) -> None:
    added(account, "red \x1b[31m alarm")

    assert "\x1b" not in account.cli("memory", "list")
    assert "\x1b" not in account.cli("memory", "forget", "--match", "alarm", "--dry-run")
    assert "\x1b" not in account.cli("memory", "forget", "--match", "alarm", "--yes")


def test_a_list_leaves_room_for_the_text_on_a_narrow_terminal(account: Account) -> None:
    account.write(
        "project/docs/adr/0001-how-prices-are-stored-in-the-database.md", "# Prices are cents\n\nNo floats.\n"
    )
    account.cli("memory", "import")

    assert "Prices are cents" in account.cli("memory", "list")
