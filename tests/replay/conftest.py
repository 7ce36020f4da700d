"""A history whose outcomes are real: every example of the instructions, judged and recorded as the hook does."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enricher.classify import verdict
from enricher.context import CHANNELS, Candidate, Gathered
from enricher.context.conversation import Conversation
from enricher.decision import Inputs, decide
from enricher.recording import describe
from enricher.rules.cache import Rules
from enricher.rules.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from storage import database, spool, traces
from storage.lean import dumps
from workbench.corpus import Corpus

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from enricher.classify import Classification

FIRST = 1_700_000_000_000_000
BESIDE = (
    "the login test fails with KeyError 'user' in tests/test_login.py, why?",
    "do the same for the other one",
    "don't change the tests, just rename parse_date to read_date everywhere",
    "what's the difference between the two caches? does that mean we need both?",
    "If so, so be it: i thought you'd fix it. " * 6,
    "Could you please review src/app.py and tell me what you mean by “stable”?",
    "how do I add a column to the reports table, and how would we test it?",
    "yes",
    "so " * 14 + "does that mean it works?",
    '```\nTraceback (most recent call last):\n  File "a.py", line 3\nValueError: no\n```\nwhat now',
)


@pytest.fixture(scope="session")
def packaged() -> str:
    return Path(packaged_file()).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def rules() -> Rules:
    compiled = compile_layers([Layer("packaged", packaged_file())])
    return Rules(compiled.hash, compiled.body)


@pytest.fixture(scope="session")
def prompts() -> list[str]:
    compiled = compile_layers([Layer("packaged", packaged_file())])
    return [*BESIDE, *(example for rule in compiled.classes for example in rule.examples)]


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory, rules: Rules, prompts: list[str]) -> str:
    """A state folder with one trace for each prompt, four to a session."""
    folder = str(tmp_path_factory.mktemp("history"))
    with contextlib.closing(database.connect(folder)) as db:
        for at, prompt in enumerate(prompts):
            keep(db, record(prompt, rules, number=at, session=f"s{at // 4}"))
    keep_version(folder, rules)
    return folder


def keep_version(folder: str, rules: Rules) -> None:
    texts = compile_layers([Layer("packaged", packaged_file())]).texts
    spool.put_version(folder, rules.hash, lambda: dumps(rules.body))
    spool.put_sources(folder, rules.hash, texts)
    database.connect(folder).close()


def record(
    prompt: str,
    rules: Rules,
    *,
    number: int,
    session: str,
    earlier: str = "fix the failing login test",
    judge: Callable[[str, Rules, Conversation], Classification] = verdict,
) -> traces.Trace:
    """Return what the hook records of a prompt; every other one was offered something, every fifth had a past."""
    trace = traces.Trace()
    trace.id = f"{FIRST + number * 1_000_000:014x}{number:010x}"
    trace.at = "2026-03-01T10:00:00Z"
    trace.host, trace.session_id, trace.project, trace.prompt = "claude", session, "github.com/o/r", prompt
    offered = [Candidate("", f"src/a{at}.py", 0.9 - at / 10, label=f"src/a{at}.py:3 read") for at in range(3)]
    channels = [Gathered("code", "ok", candidates=offered)] if number % 2 else [Gathered("code", "empty")]
    channels += [Gathered(name, "empty") for name in CHANNELS if name != "code"]
    conversation = Conversation()
    if number % 5 == 1:
        conversation.prompts = [earlier]
    inputs = Inputs(prompt, settings=rules.body["settings"], channels=channels, conversation=conversation)
    describe(trace, decide(inputs, rules, judge(prompt, rules, conversation)), inputs)
    trace.rules_hash = rules.hash
    return trace


def keep(db: sqlite3.Connection, trace: traces.Trace) -> None:
    for table, rows in traces.flatten(trace).items():
        db.executemany(traces.insertion(table, traces.TABLES[table]), rows)


@pytest.fixture
def corpus(state: str) -> Iterator[Corpus]:
    with contextlib.closing(database.connect(state)) as db:
        yield Corpus(db)


@pytest.fixture
def pointing_back(tmp_path: Path, rules: Rules) -> Iterator[Callable[[str, str], Corpus]]:
    """Return what records one prompt that points back to an earlier one, in a history of its own."""
    with contextlib.ExitStack() as open_ones:

        def history(prompt: str, earlier: str) -> Corpus:
            with contextlib.closing(database.connect(str(tmp_path))) as db:
                keep(db, record(prompt, rules, number=1, session="s", earlier=earlier))
            keep_version(str(tmp_path), rules)
            return Corpus(open_ones.enter_context(contextlib.closing(database.connect(str(tmp_path)))))

        yield history


@pytest.fixture
def edited(packaged: str) -> Callable[[str, str], str]:
    """Return the packaged instructions with one part replaced, which must be there."""

    def edit(old: str, new: str) -> str:
        assert old in packaged
        return packaged.replace(old, new, 1)

    return edit
