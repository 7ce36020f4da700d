"""A caller of the format ``pipeline`` for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pipeline_caller import Caller

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture
def caller(account: Account) -> Caller:
    """A caller whose gates are open and who has compiled the rules once."""
    found = Caller(account)
    found.open_gates()
    return found
