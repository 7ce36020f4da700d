"""What the tests of settings and profiles share: memories of the account's project, and the items of a text."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from enricher.prompt.project import identify
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Memory

if TYPE_CHECKING:
    from simulator import Account

NAMESPACES = ("progress", "blockers", "patterns", "decisions")
EACH = 5


@pytest.fixture
def remembering(account: Account) -> Account:
    """An account whose project remembers twenty texts of one weight, five in each of four namespaces."""
    project = identify(str(account.project)).id
    with closing(database.connect(str(account.state))) as db, memories.transaction(db):
        for at in range(EACH * len(NAMESPACES)):
            text = f"rotate the signing certificate of host {at}"
            namespace = NAMESPACES[at // EACH]
            memories.add(db, Memory(text, key=text, namespace=namespace, created_at="2026-01-01", project=project))
    return account
