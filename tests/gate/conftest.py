"""Repositories for the tests of the gate: an empty one, and one with approved cases."""

from __future__ import annotations

import json

import pytest
from maintainer import DEBUG, QUESTION, SMALL_TALK, Repository
from simulator import Account


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Three approved prompts as the hook judged them and the command wrote them, made once."""
    made = Repository(account := Account(tmp_path_factory.mktemp("approved") / "home"), account.project)
    made.git("init", "-q")
    for prompt in (DEBUG, SMALL_TALK, QUESTION):
        made.approve(prompt)
    return {json.loads(line)["prompt"]: f"{line}\n" for line in made.file.read_text().splitlines()}


@pytest.fixture
def approved(repository: Repository, lines: dict[str, str]) -> Repository:
    """A repository with two approved cases, committed."""
    repository.file.parent.mkdir()
    repository.file.write_text(lines[DEBUG] + lines[SMALL_TALK])
    repository.commit()
    return repository


@pytest.fixture
def repository(account: Account) -> Repository:
    made = Repository(account, account.project)
    made.git("init", "-q")
    return made
