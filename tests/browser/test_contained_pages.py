"""What the pages must not do: ask anything of another machine, run what was typed into a prompt, complain."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from visiting import Visit, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

KNOWN = "the server responded with a status of 404"
"""What the browser itself says of a missing trace, whose page explains itself."""


@pytest.fixture(scope="module")
def toured(browser: Browser, live: str, pages: dict[str, str]) -> Iterator[Visit]:
    """A window that has been to every kind of page, and then shows a page again."""
    with visiting(browser, live) as visit:
        for path in pages.values():
            visit.open(path)
        yield visit


def test_no_page_asks_another_machine_for_anything(toured: Visit) -> None:
    assert {urlsplit(request).netloc for request in toured.requests} == {urlsplit(toured.address).netloc}


def test_no_page_makes_the_browser_complain(toured: Visit) -> None:
    assert [said for said in toured.complaints if KNOWN not in said] == []


def test_what_was_typed_into_a_prompt_runs_nowhere(browser: Browser, live: str, pages: dict[str, str]) -> None:
    with visiting(browser, live) as visit:
        ran = [kind for kind, path in pages.items() if visit.open(path).evaluate("window.ran === true")]

    assert ran == []


def test_markup_in_a_prompt_is_read_as_it_was_typed(browser: Browser, live: str, pages: dict[str, str]) -> None:
    with visiting(browser, live) as visit:
        visit.open(pages["traces"] + "?q=basket+script")
        visit.follow(visit.link(r"/trace/\w+$"))

        assert "<script>window.ran = true</script>" in visit.page.locator("main").inner_text()
