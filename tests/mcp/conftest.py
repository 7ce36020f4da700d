"""Memories for a person's project, as another process put them there."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from enricher.interfaces.library import Library
from enricher.prompt.project import identify
from storage.db import database
from storage.memory import memories

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account


@pytest.fixture
def remember(account: Account) -> Callable[..., str]:
    """Return what keeps a memory of the person's project and returns its id."""

    def keep(content: str, namespace: str = "context", **said: Any) -> str:
        project = said.pop("project", identify(str(account.project)).id)
        with closing(database.connect(str(account.state))) as db:
            return memories.add(db, memories.Memory(content, project=project, namespace=namespace, **said))

    return keep


@pytest.fixture
def library(account: Account) -> Library:
    return Library(str(account.project), state=str(account.state))
