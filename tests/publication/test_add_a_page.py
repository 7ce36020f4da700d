"""The section "Add a page" of CONTRIBUTING, followed in a copy of the checkout, also with a step left out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from checkout import Checkout, recipe

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

pytestmark = pytest.mark.slow

STEPS = recipe("Add a page")
NAME = "clients"
ADDRESS = f"/-/enricher/{NAME}"
SERVED = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from contextlib import closing
from storage.db import database
from workbench.web.server.serving import datasette_over

async def answers(state, *addresses):
    with closing(database.connect(state)):
        served = datasette_over(f"{state}/enricher.db", is_immutable=False)
    await served.invoke_startup()
    for address in addresses:
        answer = await served.client.get(address)
        print(json.dumps([answer.status_code, answer.text]))

asyncio.run(answers(*sys.argv[2:]))
"""


@pytest.fixture
def checkout(account: Account, tmp_path: Path) -> Checkout:
    account.ask("why does the login test fail?")
    return Checkout(tmp_path / "checkout", account)


def add_route(checkout: Checkout) -> None:
    """Take the second step: the import and the row of the address."""
    file, row = re.findall(r"In `(.*?)`, import `NAME` and add to `ROUTES`: `(.*?,)`$", STEPS, re.MULTILINE)[0]
    checkout.edit(file, "from workbench.web.pages import ", f"from workbench.web.pages import {NAME}, ")
    checkout.edit(file, "\n]\n", f"\n    {row.replace('NAME', NAME)}\n]\n")


def add_place(checkout: Checkout) -> None:
    """Take the third step: the entry of the menu."""
    file, row, table = re.findall(r"In `(.*?)`, add `(\(.*?,)` to `(\w+)`", STEPS)[0]
    checkout.edit(
        file, f"\n{table} = (\n", f"\n{table} = (\n    {row.replace('NAME', NAME).replace('Title', 'Clients')}\n"
    )


def answers(checkout: Checkout, *addresses: str) -> list[tuple[int, str]]:
    """Return status and text of each address, from a process that serves the account's history."""
    ended = checkout.python(SERVED, str(checkout.account.state), *addresses)
    assert ended.returncode == 0, ended.stderr
    return [tuple(json.loads(line)) for line in ended.stdout.splitlines()]


def test_the_section_has_at_most_eight_lines() -> None:
    assert 0 < len(STEPS.splitlines()) <= 8


def test_who_follows_the_section_sees_the_new_page_and_its_data(checkout: Checkout) -> None:
    checkout.copy(STEPS, NAME)
    add_route(checkout)
    add_place(checkout)
    named = [one.replace("NAME", NAME) for one in re.findall(r"at `(/-/enricher/NAME.*?)`", STEPS)]

    (status, page), (_status, data), (_also, home) = answers(checkout, *named, "/-/enricher")

    assert (status, "How many prompts each agent client sent." in page) == (200, True)
    assert [(one["host"], one["prompts"]) for one in json.loads(data)["rows"]] == [("claude", 1)]
    assert f'href="{ADDRESS}"' in home


def test_without_its_row_the_page_is_not_found(checkout: Checkout) -> None:
    checkout.copy(STEPS, NAME)
    add_place(checkout)

    assert [status for status, _text in answers(checkout, ADDRESS)] == [404]


def test_without_its_place_the_page_is_missing_in_the_menu_only(checkout: Checkout) -> None:
    checkout.copy(STEPS, NAME)
    add_route(checkout)

    ((status, page),) = answers(checkout, ADDRESS)
    assert (status, f'href="{ADDRESS}.json"' in page, f'href="{ADDRESS}"' in page) == (200, True, False)
