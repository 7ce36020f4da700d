"""A home that has been in use for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kept import PLACES, save, told

if TYPE_CHECKING:
    from simulator import Account


@pytest.fixture
def well_used(account: Account) -> Account:
    """A home in which all four clients hold the same conversation."""
    for host, place in PLACES.items():
        save(told(host), account, place)
    return account
