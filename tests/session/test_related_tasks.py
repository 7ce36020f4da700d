"""Open tasks that a prompt is about, from the lists that people and agents keep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from effort import processor_s

from enricher.sources.tasklists import Task, TaskQuery, claude_tasks, score, stems

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

ISSUES = [
    ("bd-41", "Login redirect loses the return URL", "open"),
    ("bd-42", "Webhook sender: retries with backoff", "in_progress"),
    ("bd-43", "Webhook sender retries forget the signature", "closed"),
    ("bd-44", "Dark mode for the settings page", "open"),
]
TODO = """# Plan

## Soon
- [ ] Rounding of invoice totals
- [x] Rounding of invoice discounts
* [ ] Nightly backup job times out
- a line without a box about invoices
"""


def beads(account: Account, *issues: tuple[str, str, str], junk: str = "") -> Path:
    lines = [
        json.dumps({"id": identity, "title": title, "status": status, "updated_at": "2026-11-02T08:00:00Z"})
        for identity, title, status in issues
    ]
    return account.write("project/.beads/issues.jsonl", junk + "\n".join(lines) + "\n")


@pytest.mark.conformance("E39")
def test_a_related_task_is_listed_by_its_id(account: Account) -> None:
    beads(account, *ISSUES)

    context = account.ask("add retries to the webhook sender").context

    assert '- task bd-42 (.beads/issues.jsonl, in_progress): "Webhook sender: retries with backoff"' in context
    assert not any(other in context for other in ("bd-41", "bd-43", "bd-44"))


@pytest.mark.conformance("E39")
def test_a_checkbox_list_is_read_by_line(account: Account) -> None:
    account.write("project/TODO.md", TODO)

    context = account.ask("where do we round the totals of an invoice?").context

    assert '- TODO.md:4 (open): "Rounding of invoice totals"' in context
    assert "discounts" not in context and "without a box" not in context


@pytest.mark.conformance("E39")
def test_a_task_of_the_host_is_listed(account: Account) -> None:
    task = {"id": "7", "subject": "Migrate the session table to Postgres", "status": "pending", "blockedBy": []}
    account.write(".claude/tasks/s-1/7.json", json.dumps(task))

    context = account.ask("migrate the session table today", session_id="s-1").context

    assert '- task 7 (Claude Code, pending): "Migrate the session table to Postgres"' in context


def test_a_task_named_by_its_id_is_listed_even_if_it_is_done(account: Account) -> None:
    beads(account, *ISSUES)

    context = account.ask("why did we close bd-43 at all?").context

    assert "- task bd-43 (.beads/issues.jsonl, closed)" in context
    assert "bd-42" not in context


@pytest.mark.parametrize(
    "prompt",
    [
        "add a --json flag to the export command",
        "why is the build red?",
        "explain how sessions are stored",
        "fix the failing tests in the parser",
        "rename the settings class",
    ],
)
def test_an_unrelated_prompt_gets_no_task(account: Account, prompt: str) -> None:
    beads(account, *ISSUES)
    account.write("project/TODO.md", TODO)

    context = account.ask(prompt).context

    assert "task bd-" not in context and "TODO.md:" not in context


def test_what_a_prompt_points_at_finds_its_task(account: Account) -> None:
    from host_files import Claude

    beads(account, *ISSUES)
    session = Claude()
    session.asks("should we do dark mode on the settings page or the login redirect?")
    session.answers("Either:\n1. Dark mode for the settings page\n2. The login redirect that loses the return URL")
    file = session.save(account.home / "t.jsonl")

    context = account.ask("ok, option 2", transcript_path=str(file)).context

    assert "- task bd-41" in context and "bd-44" not in context


def test_broken_lines_are_passed_over(account: Account) -> None:
    beads(
        account,
        *ISSUES,
        junk='{"id": "bd-1", "title": "webhook sender retr\n[1]\n{"id": 5}\n\x00\n{"title": "webhook"}\n',
    )

    assert "- task bd-42" in account.ask("add retries to the webhook sender").context


def test_a_list_outside_the_project_is_not_read(account: Account) -> None:
    outside = account.write("elsewhere/issues.jsonl", json.dumps({"id": "bd-9", "title": "Webhook sender retries"}))
    (account.project / ".beads").symlink_to(outside.parent)
    (account.project / "TODO.md").symlink_to(account.write("elsewhere/TODO.md", "- [ ] Webhook sender retries\n"))

    assert not account.ask("add retries to the webhook sender").context.count("Webhook sender")


@pytest.mark.parametrize("session", ["", "../s-1", ".", "a/b", "nul\0"])
def test_only_a_plain_session_id_names_a_folder(session: str) -> None:
    assert claude_tasks(session) == []


def test_a_long_list_costs_little(account: Account) -> None:
    from types import SimpleNamespace

    from enricher.context.channels.tasks import offer
    from enricher.prompt.conversation import Conversation

    many = [(f"bd-{number}", f"Webhook number {number} of the long list of senders", "open") for number in range(9000)]
    beads(account, *many, ISSUES[1])
    request = SimpleNamespace(
        prompt="add retries with backoff to the webhook sender " + "and all the words that one may think of " * 30,
        conversation=Conversation(),
        project=SimpleNamespace(root=str(account.project)),
        host="claude",
        session_id="",
    )
    offered = []

    seconds = processor_s(lambda: offered.append(offer(request, SimpleNamespace(most=2))))  # type: ignore[arg-type]  # all of it that is looked at

    assert seconds < 0.15  # measured 8 ms
    assert len(offered[0]) <= 5


@pytest.mark.parametrize(
    "forms",
    [
        "retry retries",
        "plan planned planning",
        "round rounded rounding",
        "cache caches caching",
        "table tables",
        "call calling",
    ],
)
def test_number_and_tense_do_not_count(forms: str) -> None:
    assert len(set(stems(forms))) == 1


@pytest.mark.parametrize("prompt", ["explain the query", "explain the queries"])
@pytest.mark.parametrize("title", ["Query", "Queries"])
def test_a_task_is_found_by_another_number(account: Account, prompt: str, title: str) -> None:
    beads(account, ("bd-7", title, "open"), *ISSUES)

    assert "- task bd-7 " in account.ask(prompt).context


def test_names_from_programs_are_found_by_their_parts() -> None:
    assert {"webhook", "send"} <= set(stems("fix WebhookSender"))


@pytest.mark.parametrize(
    ("prompt", "title", "is_offered"),
    [
        ("the redirect after login is broken", "Login redirect loses the return URL", True),
        ("invoices are rounded wrong", "Rounding of invoice totals", True),
        ("fix flaky websocket test", "Flaky test: websocket reconnect", True),
        ("implement pagination", "Add pagination", True),
        ("fix the test of the login page", "Login redirect loses the return URL", False),
        ("add a test", "Add a test for the error case", False),
        ("push it to github and write a commit message", "Commit message hook for GitHub", False),
    ],
)
def test_two_telling_words_make_a_task_related(prompt: str, title: str, is_offered: bool) -> None:
    assert (score(Task("1", title, status="open", where="x"), TaskQuery(prompt)) >= 0.5) == is_offered
