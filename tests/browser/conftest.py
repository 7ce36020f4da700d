"""A real Chromium in front of the real ``enricher publish``; runs on request only: ``make test-browser``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import MissingBrowserError, running_chromium
from published import published
from shop import set_up_shop
from simulator import Account
from visiting import kinds_of_pages, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", type=Path, metavar="FOLDER", help="keep the browser's screenshots in this folder")
    parser.addoption("--update-pictures", action="store_true", help="take the pictures of examples/publication anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the browser out unless it was asked for by its marker."""
    if "browser" in (config.option.markexpr or ""):
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="the browser runs with: make test-browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        with running_chromium() as running:
            yield running
    except MissingBrowserError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """An account with sessions, two versions of the instructions, labels and a kept replay."""
    account = Account(tmp_path_factory.mktemp("shop") / "home")
    set_up_shop(account)
    return account


@pytest.fixture(scope="session")
def live(shop: Account) -> Iterator[str]:
    """The address of the server over the live history."""
    with published(shop.state) as address:
        yield address


@pytest.fixture(scope="session")
def snapshot(shop: Account) -> Iterator[str]:
    """The address of a server over a redacted snapshot."""
    with published(shop.state, "--snapshot", str(shop.home / "snapshot.db"), "--serve") as address:
        yield address


@pytest.fixture(scope="session")
def pages(browser: Browser, live: str) -> dict[str, str]:
    """A path for every kind of page of the live history."""
    with visiting(browser, live) as visit:
        return kinds_of_pages(visit)


@pytest.fixture(scope="session", params=["live", "snapshot"])
def served(request: pytest.FixtureRequest, browser: Browser) -> tuple[str, dict[str, str]]:
    """The address of either server, and a path there for every kind of page."""
    address: str = request.getfixturevalue(request.param)
    with visiting(browser, address) as visit:
        return address, kinds_of_pages(visit)
