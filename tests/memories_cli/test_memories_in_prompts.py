"""What was kept reaches the prompt that it is about, through the real hook, and no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulator import Account

HIT = "Prices of orders are stored as integer cents because floats lost money in the May export."
DECOY = "The staging cluster is rebuilt on Sundays, so nobody deploys on Mondays."
QUESTION = "why are the prices of orders stored as integer cents and not as floats?"


@pytest.mark.conformance("E37")
@pytest.mark.parametrize("way", ["add", "jsonl", "notes", "prompt"])
def test_a_memory_is_found_and_the_decoy_is_not(account: Account, way: str) -> None:
    if way == "add":
        account.cli("memory", "add", HIT, "--namespace", "decisions")
        account.cli("memory", "add", DECOY)
    elif way == "jsonl":
        lines = [{"id": "hit", "namespace": "decisions", "content": HIT}, {"id": "decoy", "content": DECOY}]
        file = account.write("m.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        account.cli("memory", "import", str(file))
    elif way == "notes":
        account.write("project/docs/adr/0001-cents.md", f"# Cents\n\n{HIT}\n")
        account.write("project/docs/adr/0002-staging.md", f"# Staging\n\n{DECOY}\n")
        account.cli("memory", "import")
    else:
        account.ask(f"for the record: {HIT}")
        account.ask(f"note to self: {DECOY}")
        account.cli("memory", "list")

    answer = account.ask(QUESTION)

    assert answer.is_harmless()
    assert "integer cents" in answer.context.partition("**Relevant Context**")[2]
    assert "staging" not in answer.context.lower()
    assert [item["kept"] for item in account.trace()["items"] if item["channel"] == "memory"][:1] == [True]


@pytest.mark.conformance("S1-6.14a")
@pytest.mark.parametrize(
    ("question", "intent", "namespace"),
    [
        ("how do I implement the retry of uploads in the uploader worker?", "howto", "patterns"),
        ("why does the retry of uploads in the uploader worker fail?", "troubleshoot", "blockers"),
    ],
)
def test_the_intent_decides_which_namespace_comes_first(
    account: Account, question: str, intent: str, namespace: str
) -> None:
    said = "The retry of uploads in the uploader worker backs off for"
    lines = [
        {"id": name, "namespace": name, "content": f"{said} {seconds} seconds.", "created_at": "2026-05-01"}
        for name, seconds in (("blockers", 12), ("decisions", 13), ("patterns", 14))
    ]
    file = account.write("m.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    account.cli("memory", "import", str(file))

    answer = account.ask(question)

    trace = account.trace()
    assert trace["search_intent"] == intent
    kept = [item["ref"] for item in trace["items"] if item["channel"] == "memory" and item["kept"]]
    assert kept[0] == namespace
    assert answer.context.index(f"{namespace} 2026-05-01") == answer.context.index("2026-05-01") - len(f"{namespace} ")


@pytest.mark.parametrize("own", [0, 1, 3], ids=["nothing of its own", "few of its own", "most of its own"])
def test_another_project_hears_nothing_of_it(account: Account, own: int) -> None:
    """Where a project has memories of its own they are searched, in two ways: most of all memories, or few."""
    account.cli("memory", "add", HIT, "--namespace", "decisions")
    other = account.home / "other"
    other.mkdir()
    for number in range(own):
        account.cli("memory", "add", f"The orders of shop {number} are exported every night as floats.", cwd=other)
    for _attempt in range(8):  # a busy machine may not grant the memory its 150 ms
        context = account.ask(QUESTION, cwd=str(other)).context
        statuses = {one["channel"]: one["status"] for one in account.trace()["channels"]}
        if statuses["memory"] != "timeout":
            break

    assert statuses["memory"] == ("ok" if own else "empty")
    assert "integer cents" not in context
    assert "integer cents" not in str(account.trace()["items"])


def test_what_is_forgotten_is_not_told(account: Account) -> None:
    account.cli("memory", "add", HIT, "--namespace", "decisions")
    account.cli("memory", "forget", "--match", "integer cents", "--yes")

    assert "integer cents" not in account.ask(QUESTION).context


def test_a_superseded_decision_is_not_told(account: Account) -> None:
    account.write("project/docs/adr/0001-cents.md", f"# Cents\n\nStatus: Superseded by 0002\n\n{HIT}\n")
    account.cli("memory", "import")

    assert "integer cents" not in account.ask(QUESTION).context
    offered = [item for item in account.trace()["items"] if item["channel"] == "memory"]
    assert [item["kept"] for item in offered] == [False], offered


@pytest.mark.upkeep
def test_an_edit_is_followed_after_a_prompt(account: Account) -> None:
    note = account.write("project/notes/prices.md", "Prices of orders are floats.\n")
    account.cli("memory", "import", "notes")
    note.write_text(f"{HIT}\n")

    account.ask("what is the importer for?")
    account.rest()

    assert "integer cents" in account.ask(QUESTION).context


@pytest.mark.upkeep
def test_the_decision_records_of_a_project_are_found_without_an_import(account: Account) -> None:
    record = "# A prompt starts cold\n\n## Decision\n\nThe hook reads what it needs; no server keeps it.\n"
    account.write("project/docs/adr/0001-a-resident-server.md", record)

    account.ask("what is the importer for?")
    account.rest()
    told = account.ask_patiently("what did we decide about a resident server?").context
    ordered = account.ask_patiently("show the rules for a resident server").context
    account.cli("memory", "forget", "--match", "starts cold", "--yes")
    account.ask("and what is the exporter for?")
    account.rest()

    assert "(docs/adr/0001-a-resident-server.md)" in told
    assert "0001-a-resident-server" not in ordered
    assert json.loads(account.cli("memory", "list", "--json")) == []


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("what was the reason to put tables in one file?", True),
        ("put the tables in one file", True),
        ("put the tables in another file", False),
        ("rename the command trace last", False),
    ],
)
def test_a_decision_is_told_where_its_name_stands_or_more_than_a_usual_order_is_shared(
    account: Account, prompt: str, *, is_told: bool
) -> None:
    record = "# The loader reads one thing\n\n## Decision\n\nA trace is put aside and renamed by the loader.\n"
    account.write("project/docs/adr/0006-tables-in-one-file.md", record)
    account.cli("memory", "import")

    assert ("0006-tables-in-one-file.md" in account.ask_patiently(prompt).context) == is_told


def test_whoever_asks_for_what_was_rejected_is_told_the_decision(account: Account) -> None:
    rejected = "# A prompt starts a cold process; there is no daemon\n\n## Decision\n\nThe hook reads files.\n"
    other = "# Memories stay in one file\n\n## Decision\n\nThe index keeps one row in memory for each term.\n"
    account.write("project/docs/adr/0001-no-resident-server.md", rejected)
    account.write("project/docs/adr/0002-memories.md", other)
    account.cli("memory", "import")

    asked = account.ask_patiently("add a daemon that keeps the tables in memory").context
    beside = account.ask_patiently("fix the process that hangs at the end").context

    assert "0001-no-resident-server.md" in asked
    assert "0002-memories.md" not in asked
    assert "0001-no-resident-server.md" not in beside


def test_what_the_host_has_read_itself_is_not_told_again(account: Account) -> None:
    advice = "Number them, and write the way back as well. " + "Take care. " * 20
    for name, subject in (("CLAUDE.md", "Database migrations"), ("AGENTS.md", "Release candidates")):
        file = account.write(f"project/{name}", f"# Guide\n\n## {subject}\n\n{advice}\n")
        account.cli("memory", "import", str(file))

    loaded = account.ask("add a database migration for the users").context
    fates = [item["why"] for item in account.trace()["items"] if item["channel"] == "memory"]
    told = account.ask("what did we decide about release candidates?").context

    assert "the host has it in CLAUDE.md" in fates
    assert "(CLAUDE.md)" not in loaded
    assert "(AGENTS.md)" in told


def test_the_source_of_a_memory_is_short_and_cannot_pose_as_ours(account: Account) -> None:
    account.write("project/notes/read this and obey.md", "# Cents\n\nThe invoice totals are kept as integer cents.\n")
    account.cli("memory", "import", "notes")

    told = account.ask("why are the invoice totals kept as integer cents?").context

    assert '("notes/read this and obey.md' in told
