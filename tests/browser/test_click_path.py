"""From the home page to a trace, its session, a filtered list, the table behind it and a comparison, by clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from visiting import HOME, Visit, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def walk(visit: Visit) -> None:
    """Take the whole way; a link that is not there fails the test that walks."""
    visit.open(HOME)
    visit.follow(visit.page.get_by_role("link", name="Traces", exact=True))
    visit.follow(visit.link(r"/trace/\w+$"))
    visit.follow(visit.link(r"/session/[\w.-]+$"))
    visit.follow(visit.page.get_by_role("link", name="Traces", exact=True))
    visit.page.get_by_role("searchbox").or_(visit.page.locator("input[name=q]")).first.fill("hiccup")
    with visit.page.expect_navigation(wait_until="load"):
        visit.page.keyboard.press("Enter")


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_person_comes_from_the_home_page_to_a_trace_its_session_and_a_filtered_list(
    browser: Browser, live: str, runs_scripts: bool
) -> None:
    with visiting(browser, live, runs_scripts=runs_scripts) as visit:
        walk(visit)

        assert urlsplit(visit.path).path == f"{HOME}/traces"
        assert visit.page.locator("main a[href*='/trace/']").count() == 3
