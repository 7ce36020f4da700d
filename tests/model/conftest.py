"""What the tests of the model client share: a loopback server for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from serving import ModelServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server
