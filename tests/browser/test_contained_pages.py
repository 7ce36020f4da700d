"""What the pages must not do: ask anything of another machine, run what was typed into a prompt, complain."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from published import published
from visiting import HOME, Visit, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser
    from simulator import Account

pytestmark = pytest.mark.browser

PASSWORD = "correct horse battery"
KNOWN = "the server responded with a status of 404"
"""What the browser itself says of a missing trace, whose page explains itself."""


@pytest.fixture(scope="module")
def toured(browser: Browser, served: tuple[str, dict[str, str]]) -> Iterator[Visit]:
    """A window that has been to every kind of page."""
    address, pages = served
    with visiting(browser, address) as visit:
        for path in pages.values():
            visit.open(path)
        yield visit


def test_no_page_asks_another_machine_for_anything(toured: Visit) -> None:
    assert {urlsplit(request).netloc for request in toured.requests} == {urlsplit(toured.address).netloc}


def test_no_page_makes_the_browser_complain(toured: Visit) -> None:
    assert [said for said in toured.complaints if KNOWN not in said] == []


def test_what_was_typed_into_a_prompt_runs_nowhere(browser: Browser, served: tuple[str, dict[str, str]]) -> None:
    address, pages = served
    with visiting(browser, address) as visit:
        ran = [kind for kind, path in pages.items() if visit.open(path).evaluate("window.ran === true")]

    assert ran == []


def test_markup_in_a_prompt_is_read_as_it_was_typed(browser: Browser, served: tuple[str, dict[str, str]]) -> None:
    address, pages = served
    with visiting(browser, address) as visit:
        visit.open(pages["traces"] + "?q=basket+script")
        visit.follow(visit.link(r"/trace/\w+$"))

        assert "<script>window.ran = true</script>" in visit.page.locator("main").inner_text()


def test_without_the_password_nothing_is_shown(browser: Browser, shop: Account) -> None:
    with published(shop.state, password=PASSWORD) as address, visiting(browser, address) as visit:
        answers = [visit.page.request.get(address + path) for path in ("/", HOME, f"{HOME}/traces.json", "/history")]

        assert {answer.status for answer in answers} == {401}
        assert "hiccup" not in "".join(answer.text() for answer in answers)


def test_with_the_password_everything_is_shown(browser: Browser, shop: Account) -> None:
    with (
        published(shop.state, password=PASSWORD) as address,
        visiting(browser, address, password=PASSWORD) as visit,
    ):
        assert "hiccup" in visit.open(f"{HOME}/traces").locator("main").inner_text()
