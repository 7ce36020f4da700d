"""From the home page to a trace, its session, a filtered list, the table behind it and a comparison, by clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from visiting import HOME, Visit, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

RUNS_SCRIPTS = pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "no scripts"])


def menu(visit: Visit, name: str) -> None:
    """Click an entry of the menu."""
    visit.follow(visit.page.locator("header").get_by_role("link", name=name, exact=True))


@RUNS_SCRIPTS
def test_a_person_comes_from_the_home_page_to_a_trace_its_session_and_a_filtered_list(
    browser: Browser, served: tuple[str, dict[str, str]], runs_scripts: bool
) -> None:
    with visiting(browser, served[0], runs_scripts=runs_scripts) as visit:
        visit.open(HOME)
        menu(visit, "Traces")
        visit.follow(visit.link(r"/trace/\w+$"))
        visit.follow(visit.link(r"/session/[^/]+$"))
        menu(visit, "Traces")
        visit.page.locator("input[name=q]").fill("hiccup")
        with visit.page.expect_navigation(wait_until="load"):
            visit.page.keyboard.press("Enter")

        assert urlsplit(visit.path).path == f"{HOME}/traces"
        assert len(visit.links(r"/trace/\w+$")) == 3


@RUNS_SCRIPTS
def test_a_person_comes_from_the_tables_of_datasette_to_a_filtered_one_and_back_to_a_trace(
    browser: Browser, served: tuple[str, dict[str, str]], runs_scripts: bool
) -> None:
    with visiting(browser, served[0], runs_scripts=runs_scripts) as visit:
        visit.open(HOME)
        menu(visit, "Data")
        visit.follow(visit.page.locator("h2 a, h3 a").get_by_text("traces", exact=True))
        visit.page.locator("select[name=_filter_column]").first.select_option("status")
        visit.page.locator("input[name=_filter_value]").first.fill("skipped")
        with visit.page.expect_navigation(wait_until="load"):
            visit.page.keyboard.press("Enter")
        rows = visit.page.locator("table.rows-and-columns tbody tr").count()
        visit.follow(visit.page.locator(f"a[href*='{HOME}/trace/']").first)

        assert rows == 1
        assert "/clear" in visit.page.locator("main").inner_text()


@RUNS_SCRIPTS
def test_a_person_comes_from_the_home_page_to_a_comparison_and_a_prompt_that_it_changes(
    browser: Browser, served: tuple[str, dict[str, str]], runs_scripts: bool
) -> None:
    with visiting(browser, served[0], runs_scripts=runs_scripts) as visit:
        visit.open(HOME)
        menu(visit, "Compare")
        visit.follow(visit.link(r"/compare/\w+$"))
        compared = visit.page.locator("main").inner_text()
        visit.follow(visit.link(r"/trace/\w+$"))

        assert "3 of 12 prompts change" in compared
        assert "hiccup" in visit.page.locator("main").inner_text()
