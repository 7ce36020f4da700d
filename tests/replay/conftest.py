"""A history whose outcomes are real: every example of the instructions, judged and recorded as the hook does."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from in_one_file import in_one_file
from recorded import keep, keep_version, record

from enricher.classify import Rules
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from storage.db import database
from workbench.replay.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
    return in_one_file()


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
