"""Imports: what is taken from where, again and again, and what happens to bad input."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from simulator import ENTRY, ROOT

from enricher.prompt.project import identify
from enricher.sources.memory import imports, refreshing
from storage.db import database
from storage.memory import memories

if TYPE_CHECKING:
    from simulator import Account

ADR = """\
# {title}

Date: 2026-03-0{day}

## Status

{status}

## Decision

{text}
"""


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    ended = subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True)
    return ended.stdout.strip()


def commit(folder: Path, message: str) -> str:
    git(folder, "commit", "--allow-empty", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def taken(account: Account, *words: str, exit_code: int = 0) -> list[dict[str, Any]]:
    value = json.loads(account.cli("memory", "import", *words, "--json", exit_code=exit_code))
    assert isinstance(value, list)
    return value


def counts(outcome: dict[str, Any]) -> tuple[int, ...]:
    return tuple(outcome[name] for name in ("added", "changed", "unchanged", "removed"))


def kept(account: Account) -> list[memories.Memory]:
    with closing(database.connect(str(account.state))) as db:
        return sorted(memories.listing(db, limit=-1), key=lambda one: (one.source, one.key))


def refresh(account: Account) -> None:
    with patch.dict(os.environ, account.env, clear=True):
        refreshing.refresh(identify(str(account.project)), str(account.state), at_once=True)


def test_lines_are_taken_with_their_ids_and_only_changes_the_second_time(account: Account) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a1", "namespace": "Decision", "content": "cents", "tags": ["m"], "created_at": "2026-01-02"},
        {"id": 7, "content": "seven", "project": "shared"},
        {"content": "no id"},
    ]
    file = account.write("project/m.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    first = taken(account, str(file))
    again = taken(account, str(file))
    rows[0]["content"] = "euros"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    third = taken(account, str(file))

    assert [counts(one[0]) for one in (first, again, third)] == [(3, 0, 0, 0), (0, 0, 3, 0), (0, 1, 1, 1)]
    assert sorted(one.id for one in kept(account)) == ["7", "a1"]
    assert {one.id: (one.namespace, one.content, one.created_at) for one in kept(account)}["a1"] == (
        "decisions", "euros", "2026-01-02",
    )  # fmt: skip
    assert {one.id: one.project for one in kept(account)}["7"] == "shared"


def test_a_secret_in_any_part_of_a_line_is_not_kept(account: Account) -> None:
    token = "ghp_" + "a1B2" * 9
    line = {"content": f"Deploys use {token}", "tags": [token], "source": f"https://example.org/?token={token}"}
    file = account.write("lines.jsonl", json.dumps(line))

    account.cli("memory", "import", str(file))

    assert [one["origin"] for one in json.loads(account.cli("memory", "list", "--json"))] == ["import:jsonl"]
    assert not [one for one in account.state.rglob("*") if one.is_file() and token.encode() in one.read_bytes()]


def test_bad_lines_are_named_and_the_others_taken(account: Account) -> None:
    lines = [
        b'{"id": "ok", "content": "kept"}',
        b"not json",
        b"[1]",
        b'{"id": "x"}',
        b'{"content": "bad \xff byte"}',
        b'{"id": "ok", "content": "other"}',
        b'{"id": [1], "content": "x"}',
        b'{"content": "' + b"x" * 1_000_000 + b'"}',
        b"{" * 100_000,
        b'{"content": "a\\u0000b", "created_at": "2999-01-01", "namespace": "recipes"}',
        b'{"content": "date", "created_at": "yesterday"}',
        b"",
        b"\0\0\0",
    ]
    file = account.write("project/bad.jsonl", b"\n".join(lines))

    (outcome,) = taken(account, str(file), exit_code=1)

    named = [int(problem.removeprefix(f"{file}:").partition(":")[0]) for problem in outcome["problems"]]
    assert named == [2, 3, 4, 5, 6, 7, 8, 9, 13]
    assert outcome["added"] == 3
    assert len(outcome["remarks"]) == 3
    special = next(one for one in kept(account) if one.content == "a b")
    assert (special.namespace, special.tags) == ("context", ["recipes"])
    assert special.created_at < "2999"
    printed = account.cli("memory", "import", str(file), exit_code=1)
    assert "bad.jsonl: 0 added, 0 changed, 3 unchanged, 0 removed" in printed


def test_ten_thousand_lines_are_taken(account: Account) -> None:
    rows = ({"id": f"n{n}", "content": f"fact {n} about the exporter and its queue"} for n in range(10_000))
    file = account.write("m.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    (outcome,) = taken(account, str(file))

    assert counts(outcome) == (10_000, 0, 0, 0)


def test_a_folder_of_notes_is_followed(account: Account) -> None:
    account.write(
        "project/docs/adr/0001-cents.md", ADR.format(title="Cents", day=1, status="Accepted", text="Integers.")
    )
    old = account.write(
        "project/docs/adr/0002-mongo.md", ADR.format(title="Mongo", day=2, status="Superseded by 0001", text="Mongo.")
    )
    note = account.write("project/docs/adr/note.md", "---\nnamespace: learnings\ntags: a, b\n---\nThe proxy caches.\n")
    account.write("project/docs/adr/empty.md", "")
    account.write("project/docs/adr/photo.png", b"\x89PNG\0")

    first = taken(account, str(account.project / "docs" / "adr"))
    note.write_text("---\nnamespace: learnings\ntags: a, b\n---\nThe proxy does not cache.\n")
    old.unlink()
    refresh(account)

    assert counts(first[0]) == (3, 0, 0, 0)
    cents, proxy = kept(account)
    assert (cents.namespace, cents.created_at, cents.source) == ("decisions", "2026-03-01", "docs/adr/0001-cents.md")
    assert cents.content.startswith("Cents:\nIntegers.")
    assert (proxy.namespace, proxy.tags, proxy.content) == ("learnings", ["a", "b"], "The proxy does not cache.")


def test_a_superseded_decision_is_known_as_one(account: Account) -> None:
    account.write(
        "project/docs/adr/0001-a.md", ADR.format(title="A", day=1, status="Superseded by [B](0002-b.md)", text="A.")
    )
    account.write("project/docs/adr/0002-b.md", ADR.format(title="B", day=2, status="Accepted", text="B."))
    account.write("project/docs/adr/0003-c.md", "---\nstatus: rejected\n---\n# C\n\nC.\n")

    taken(account, str(account.project / "docs" / "adr"))

    assert [one.superseded_by for one in kept(account)] == ["docs/adr/0002-b.md", "", "superseded (rejected)"]


def test_sections_of_agents_instructions_are_marked(account: Account) -> None:
    text = "# House\n\nBe brief.\n\n## Testing\n\nRun pytest -q.\n\n## Code style\n\nTabs are not used.\n"
    file = account.write("project/CLAUDE.md", text)

    taken(account, str(file))

    found = {one.namespace: one for one in kept(account)}
    assert {one.origin for one in found.values()} == {"import:agents"}
    assert found["testing"].content == "House / Testing:\nRun pytest -q."
    assert found["patterns"].source == "CLAUDE.md"
    file.unlink()
    assert "no such file" in account.cli("memory", "import", str(file), exit_code=1)


def test_each_rule_of_short_agents_instructions_is_a_memory(account: Account) -> None:
    rules = "1. Never push to main;\n   branch.\n2. Tokens are hashed, as an audit asked.\n\nAsk before a release.\n"
    file = account.write("project/CLAUDE.md", f"# House\n\n{rules}")

    taken(account, str(file))

    assert [one.content for one in kept(account)] == [
        "House:\nNever push to main;\n   branch.",
        "House:\nTokens are hashed, as an audit asked.",
        "House:\nAsk before a release.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Before a commit:\n\n- run pytest\n- run ruff\n", id="a list that a sentence introduces"),
        pytest.param("```\n- a\n- b\n```\n", id="code"),
        pytest.param("Be brief.\n\nBe kind.\n", id="paragraphs"),
    ],
)
def test_agents_instructions_without_a_list_of_rules_stay_whole(account: Account, text: str) -> None:
    file = account.write("project/CLAUDE.md", text)

    taken(account, str(file))

    assert [one.content for one in kept(account)] == [text.strip()]


def test_decisions_are_found_in_the_history(account: Account) -> None:
    git(account.project, "init", "-q")
    commit(account.project, "Add the exporter")
    tried = commit(
        account.project, "Use threads\n\nWe decided on threads, forking is slow here.\n\nAlso rename a file."
    )
    commit(account.project, "Fix a typo\n\nSigned-off-by: A <a@example.org>")
    undo = commit(account.project, f'Revert "Use threads"\n\nThis reverts commit {tried}.\n\nDeadlocks under load.')
    commit(
        account.project,
        f'Revert "Merge threads"\n\nThis reverts commit {"a" * 40}, reversing\nchanges made to {tried}.',
    )
    trailer = commit(account.project, "Drop Python 3.9\n\nDecision: support what upstream supports\n\nReviewed-by: B")

    first = taken(account, "--git")
    again = taken(account, "--git", str(account.project))

    assert (counts(first[0]), counts(again[0])) == ((3, 0, 0, 0), (0, 0, 3, 0))
    found = {one.source: one for one in kept(account)}
    assert set(found) == {f"git:{sha}" for sha in (tried, undo, trailer)}
    assert found[f"git:{tried}"].superseded_by == f"git:{undo}"
    assert "rename" not in found[f"git:{tried}"].content
    assert "Deadlocks under load." in found[f"git:{undo}"].content
    assert found[f"git:{undo}"].namespace == "learnings"
    assert "Reviewed-by" not in found[f"git:{trailer}"].content


def test_what_was_done_and_why_is_no_decision(account: Account) -> None:
    git(account.project, "init", "-q")
    for message in (
        "Use threads instead of processes",
        "Use threads\n\nForking is slow here, because each process loads the model again.",
        "Retry uploads\n\nWithout this the nightly job could not finish; it must never wait for the network.",
        "feat!: drop python 3.9\n\nBREAKING CHANGE: the oldest version is 3.10 now",
        "Reject old keys\n\nThe old key is rejected at load time, what was decided before is kept.",
    ):
        commit(account.project, message)

    assert counts(taken(account, "--git")[0]) == (0, 0, 0, 0)


def test_what_a_body_states_as_decided_is_kept_in_any_language(account: Account) -> None:
    git(account.project, "init", "-q")
    statements = (
        "We decided against a cache: prices change by the minute.",
        "I chose SQLite over a file for each prompt.",
        "The team agreed to keep one table.",
        "Decision: no retries in the client.",
        "Wir haben entschieden, dass Preise ganze Cent sind.",
        "Nous avons décidé de garder une seule table.",
        "Hemos decidido guardar los precios en céntimos.",
        "Abbiamo deciso di tenere una sola tabella.",
        "Решили хранить цены в копейках.",
    )
    for statement in statements:
        commit(account.project, f"Rework the store\n\n{statement}\n\nAlso tidies a test.")

    taken(account, "--git")

    assert sorted(one.content.partition("\n")[2] for one in kept(account)) == sorted(statements)


def test_what_is_reapplied_is_no_longer_taken_back(account: Account) -> None:
    git(account.project, "init", "-q")
    tried = commit(account.project, "Use threads\n\nDecision: forking is slow.")
    undo = commit(account.project, f'Revert "Use threads"\n\nThis reverts commit {tried}.\n\nDeadlocks.')
    redo = commit(account.project, f'Reapply "Use threads"\n\nThis reverts commit {undo}.\n\nThe lock is gone.')

    taken(account, "--git")

    found = {one.source: one.superseded_by for one in kept(account)}
    assert found == {f"git:{tried}": "", f"git:{undo}": f"git:{redo}", f"git:{redo}": ""}


def test_without_a_path_a_repository_gives_what_it_has(account: Account) -> None:
    git(account.project, "init", "-q")
    account.write("project/docs/decisions/1.md", "# Tabs\n\nWe use spaces.\n")
    account.write("project/AGENTS.md", "## Build\n\nmake all\n")
    git(account.project, "add", ".")
    commit(account.project, "Start\n\nWe chose a monorepo, because releases are joint.")

    printed = account.cli("memory", "import")

    assert [line.partition(": ")[0] for line in printed.splitlines()] == ["docs/decisions", "AGENTS.md", "git log"]
    assert "CLAUDE.md" in account.cli("memory", "import", "--cwd", str(account.home), exit_code=1)


def test_a_new_commit_is_taken_after_a_prompt(account: Account) -> None:
    git(account.project, "init", "-q")
    commit(account.project, "Start\n\nWe decided that we must.")
    taken(account, "--git")
    commit(account.project, "Go on\n\nWe decided that we can.")

    refresh(account)

    assert len(kept(account)) == 2


def test_two_imports_at_once_are_both_remembered(account: Account) -> None:
    account.write("project/a.md", "A.\n")
    account.write("project/b.txt", '{"content": "B."}\n')
    project = identify(str(account.project))
    first, second = (imports.load(str(account.state), project) for _ in range(2))

    with closing(database.connect(str(account.state))) as db:
        for state, name in ((first, "a.md"), (second, "b.txt")):
            imports.take(db, imports.source_at(str(account.project / name), project), project, state)
    imports.save(first, str(account.state))
    imports.save(second, str(account.state))

    remembered = imports.load(str(account.state), project).sources
    assert sorted((one.kind, one.path) for one in remembered) == [("jsonl", "b.txt"), ("notes", "a.md")]


def test_a_damaged_state_is_no_obstacle(account: Account) -> None:
    account.write("project/a.md", "A.\n")
    project = identify(str(account.project))
    state = imports.load(str(account.state), project)
    state.sources.append(imports.MemorySource("notes", "a.md"))
    for damage in (b"", b"{", b"[]", b'{"sources": [1]}', b'{"sources": [{"kind": "notes"}]}', b"\xff"):
        imports.save(state, str(account.state))
        Path(state.path).write_bytes(damage)

        assert imports.load(str(account.state), project).sources == []
        refresh(account)


def test_a_new_database_is_filled_again(account: Account) -> None:
    account.write("project/notes/a.md", "A fact.\n")
    taken(account, str(account.project / "notes"))
    for file in account.state.glob("enricher.db*"):
        file.unlink()

    refresh(account)

    assert [one.content for one in kept(account)] == ["A fact."]


def test_hostile_notes_are_named_and_cost_the_others_nothing(account: Account) -> None:
    notes = account.project / "notes"
    good = account.write("project/notes/good.md", "Good.\n")
    broken = account.write("project/notes/broken.md", "Was good once.\n")
    taken(account, str(notes))
    broken.write_bytes(b"now \0 binary\n")
    account.write("project/notes/latin.md", b"caf\xe9 at noon\n")
    account.write("project/notes/future.md", "---\ndate: 2999-12-31\n---\nLater.\n")
    account.write("project/notes/yaml.md", "---\na: [\n---\nBelow.\n")
    account.write("project/notes/long.md", "word " * 200_000)
    account.write("project/secret.md", "outside")
    (notes / "loop").symlink_to(notes)
    (notes / "self.md").symlink_to(notes / "self.md")
    (notes / "out.md").symlink_to(account.project / "secret.md")
    os.mkfifo(notes / "pipe.md")

    (outcome,) = taken(account, str(notes), exit_code=1)

    assert outcome["removed"] == 0
    told = "\n".join(outcome["problems"])
    assert "notes/broken.md:1: a NUL byte" in told
    assert "the frontmatter is no YAML" in told
    assert "pipe.md" in told
    remarks = "\n".join(outcome["remarks"])
    assert "notes/latin.md:1: not UTF-8" in remarks
    assert "in the future" in remarks
    assert "out.md: a link out of the folder" in remarks
    contents = [one.content for one in kept(account)]
    assert {"Good.", "Was good once.", "Later.", "Below."} <= set(contents)
    assert "outside" not in contents
    assert sum(content.count("word") for content in contents) == 200_000
    assert good.exists()


def test_a_file_name_that_is_no_text_keeps_its_memory(account: Account) -> None:
    folder = account.project / "notes"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/caf\xe9.md", "wb") as file:
        file.write(b"At noon.\n")
    account.write("project/notes/CLAUDE.md", "## Testing\n\nNot a note.\n")

    first, again = taken(account, str(folder)), taken(account, str(folder))

    assert (counts(first[0]), counts(again[0])) == ((1, 0, 0, 0), (0, 0, 1, 0))
    assert "import it by its name" in first[0]["remarks"][0]


@pytest.mark.parametrize("name", ["nothing.md", "photo.png", "pipe.jsonl", "/dev/null"])
def test_what_is_no_source_is_said(account: Account, name: str) -> None:
    account.write("project/photo.png", b"\x89PNG")
    os.mkfifo(account.project / "pipe.jsonl")

    assert "Error: " in account.cli("memory", "import", name, exit_code=1)


@pytest.mark.slow
def test_five_thousand_notes_are_taken(account: Account) -> None:
    for number in range(5_000):
        if number % 100 == 0:
            (account.project / "notes" / str(number)).mkdir(parents=True)
        (account.project / "notes" / str(number - number % 100) / f"{number}.md").write_text(f"Fact {number}.\n")
    project = identify(str(account.project))
    state = imports.load(str(account.state), project)

    with closing(database.connect(str(account.state))) as db:
        source = imports.source_at(str(account.project / "notes"), project)
        outcome = imports.take(db, source, project, state)

    assert (outcome.added, outcome.problems) == (5_000, [])


def test_a_terminal_shows_how_far_it_is(account: Account) -> None:
    file = account.write("m.jsonl", "".join(f'{{"id": "n{n}", "content": "fact {n}"}}\n' for n in range(2_000)))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", ENTRY, str(ROOT), "memory", "import", str(file)],
        env={**account.env, "TERM": "xterm-256color", "COLUMNS": "200"},
        cwd=account.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what Linux says when the last writer is gone
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    printed = process.communicate(timeout=60)[0]

    assert "m.jsonl: 2000 added" in printed.decode()
    assert "━" in shown.decode(errors="replace")


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("docs/adr/0002-errors-carry-the-context.md", "decisions"),
        ("docs/decisions/0003-api-versions.md", "decisions"),
        ("docs/notes/security/api-keys.md", "apis"),
    ],
)
def test_a_record_of_a_decision_is_one_whatever_it_decides_on(account: Account, name: str, namespace: str) -> None:
    account.write(f"project/{name}", "# Title\n\nA sentence about it.\n")
    taken(account, name.rpartition("/")[0])

    assert [one.namespace for one in kept(account)] == [namespace]


def test_a_repository_without_a_commit_has_no_history_and_is_no_fault(account: Account) -> None:
    git(account.project, "init", "-q")
    account.write("project/AGENTS.md", "# Rules\n\n## Testing\n\nRun pytest -q before every commit.\n")

    assert "1 added" in account.cli("memory", "import")
