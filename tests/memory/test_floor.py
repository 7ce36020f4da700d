"""The floor of the channel ``memory``: prompts about other things get none, questions about a memory get it.

The store and the prompts are invented. The value itself was set on the questions and
answers of public manuals; ``python -m tests.memory.retrieval`` measures that.
"""

from __future__ import annotations

import itertools
import json
from contextlib import closing

import pytest

from enricher.prompt.project import identify
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Memory

STORE = """
decisions: Money is kept as integer cents; floats lost a cent in the March invoices
decisions: The session cookie holds ids only, everything else about a user stays in redis
decisions: We chose Postgres advisory locks over a lock service for the nightly jobs
decisions: Public endpoints are versioned in the path, never by header
decisions: Search runs on Postgres full text; the Elastic cluster was switched off in 2025
patterns: To add a migration, append a numbered function to migrations.py and raise SCHEMA_VERSION
patterns: Every outgoing call to the courier goes through fetch_with_retry with three attempts
patterns: New feature flags are declared in flags.toml and removed within two releases
patterns: Background workers take their jobs from the outbox table in batches of fifty
learnings: Parallel uploads of avatars exhausted the file descriptors; the pool is limited to eight
learnings: Timezones of warehouses must be stored, an offset breaks when summer time begins
learnings: Snapshot tests of the invoice PDF break with every new font version
blockers: The staging certificate expires each April and has to be renewed by the customer
blockers: The nightly export fails when the disk of the build host is full
context: The warehouse team reads the stock feed at six in the morning and alarms when it is late
context: Customers in Norway get their receipts by letter
security: Webhook signatures are compared in constant time, the old comparison leaked
performance: The stock page was slow because each row asked for its supplier; it is one query now
config: LOG_FORMAT=plain is needed on the workers, the collector cannot read JSON there
testing: Tests that need the courier sandbox are marked courier and run at night only
"""

QUESTIONS = """
how do I add a migration for the new column?|SCHEMA_VERSION
why does the nightly export fail again?|build host
where do we keep the data of a user's session, in the cookie?|ids only
the staging certificate has expired, what now?|April
are amounts of money floats or integer cents?|integer cents
why is the stock page slow?|one query
how are feature flags declared and removed?|flags.toml
what do the tests of the courier sandbox need?|at night only
how do background workers take jobs from the outbox?|batches of fifty
do we compare webhook signatures in constant time?|constant time
"""

ACTIONS = (
    "add dark mode to {}", "write a unit test for {}", "rename the helper in {} and update its callers",
    "why does {} crash when the list is empty?", "explain how {} works", "fix the lint errors in {}",
    "make {} faster please", "can you review {} before I open a pull request?", "translate the labels of {} to French",
    "remove the unused imports from {}",
)  # fmt: skip
THINGS = (
    "the settings dialog", "src/components/Calendar.tsx", "the websocket client", "the image carousel",
    "the markdown parser", "the login form", "my dockerfile", "the chess engine", "the CSV reader", "the audio player",
)  # fmt: skip


@pytest.fixture
def stocked(account):
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        for line in STORE.strip().splitlines():
            namespace, _, text = line.partition(": ")
            project = identify(str(account.project)).id
            memories.add(db, Memory(text, project=project, namespace=namespace, created_at="2026-06-01"))
    return account


def told(account, prompts):
    """What the memory adds to each prompt, through the installed command."""
    given = "".join(json.dumps({"id": str(at), "prompt": prompt}) + "\n" for at, prompt in enumerate(prompts))
    account.write("prompts.jsonl", given)
    answers = account.cli("enrich", "--jsonl", str(account.home / "prompts.jsonl"), "--cwd", str(account.project))
    found = [json.loads(line) for line in answers.splitlines()]
    return [list(answer["memory_context"]["injected_memories"]) for answer in found]


def test_of_a_hundred_prompts_about_other_things_at_most_five_get_a_memory(stocked):
    prompts = [action.format(thing) for action, thing in itertools.product(ACTIONS, THINGS)]
    gotten = [prompt for prompt, items in zip(prompts, told(stocked, prompts), strict=True) if items]

    assert len(prompts) == 100
    assert len(gotten) <= 5, gotten


def test_questions_about_a_memory_get_it(stocked):
    pairs = [line.split("|") for line in QUESTIONS.strip().splitlines()]
    items = told(stocked, [question for question, _ in pairs])
    missed = [
        question
        for (question, part), found in zip(pairs, items, strict=True)
        if not found or part not in found[0]["content_preview"]
    ]

    assert len(missed) <= 2, missed
