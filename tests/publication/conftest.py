"""A small real history, and a Datasette over it as the command builds it."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest
from jinja2 import Environment, FileSystemBytecodeCache
from served_history import over
from simulator import Account

from storage.db import database
from workbench.web.server.upkeep import catch_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from datasette.app import Datasette

PROMPTS = (
    "why does the nightly export crash with KeyError: 'sku'?",
    "add a test for the rounding in prices.py and nothing else",
    "thanks!",
    "<script>alert('x')</script> why is the basket empty?",
    "/clear",
)


@pytest.fixture(scope="session", autouse=True)
def _compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled templates: every Datasette compiles its own, which is half of what a page costs."""
    kept = FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("datasette.app.Environment", partial(Environment, bytecode_cache=kept))
        yield


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account whose prompts went through the real hook."""
    account = Account(tmp_path_factory.mktemp("published") / "home")
    for prompt in PROMPTS:
        account.ask(prompt)
    with closing(database.connect(str(account.state))):  # imports the traces that wait in the spool
        return account


@pytest.fixture
async def live(library: Account) -> Datasette:
    """The live history, brought up to date and served read-only."""
    with closing(database.connect(str(library.state))) as db:
        catch_up(db)
    return await over(f"{library.state}/enricher.db")
