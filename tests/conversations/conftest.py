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
    return _well_used(account)


@pytest.fixture
def new_and_well_used(new_account: Account) -> Account:
    """The same where nothing of ours has run yet, so that there is no database."""
    return _well_used(new_account)


def _well_used(account: Account) -> Account:
    for host, place in PLACES.items():
        save(told(host), account, place)
    return account
