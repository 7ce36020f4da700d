"""What people who do not see, do not point or do not use a wide light screen meet on every kind of page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from chromium import axe
from visiting import HOME, NARROW, visiting

from workbench.web.native.description import source

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

TABLE_AND_ROOM = """() => {
    const table = document.querySelector('table.rows-and-columns')
    return table && [table.scrollWidth, table.parentElement.clientWidth]
}"""
GRAVE = ("serious", "critical")
WHAT_HAS_FOCUS = """() => {
    const one = document.activeElement
    const hasMark = part => {
        const style = getComputedStyle(part)
        return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 || style.boxShadow !== 'none'
    }
    const isMarked = [one, one.parentElement, one.parentElement?.parentElement].some(part => part && hasMark(part))
    const box = one.getBoundingClientRect()
    return {
        tag: one.tagName, name: one.name || '', text: one.textContent.trim(), href: one.getAttribute('href') || '',
        place: [...document.querySelectorAll('*')].indexOf(one), isMarked,
        isSeen: box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0,
    }
}"""


def grave_faults(page: Page) -> list[str]:
    """Return what axe-core finds of serious or critical faults, each with the first element that has it."""
    page.evaluate(axe())
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [
        f"{one['impact']} {one['id']}: {one['nodes'][0]['html'][:200]} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in GRAVE
    ]


def tabbed(page: Page, times: int) -> list[dict[str, Any]]:
    """Return what has the focus after each press of the tab key."""
    seen = []
    for _ in range(times):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(WHAT_HAS_FOCUS))
    return seen


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_no_page_has_a_serious_fault_of_accessibility(
    browser: Browser, live: str, pages: dict[str, str], is_dark: bool
) -> None:
    with visiting(browser, live, is_dark=is_dark) as visit:
        faults = {kind: grave_faults(visit.open(path)) for kind, path in pages.items()}

    assert {kind: found for kind, found in faults.items() if found} == {}


def test_the_check_of_accessibility_finds_a_fault(browser: Browser, live: str) -> None:
    with visiting(browser, live) as visit:
        visit.page.set_content("<html lang=en><title>x</title><main><h1>x</h1><img src='data:,'><input></main>")

        assert {fault.split(":")[0] for fault in grave_faults(visit.page)} >= {"critical image-alt", "critical label"}


def test_the_first_key_leads_past_the_menu_to_what_the_page_is_about(browser: Browser, live: str) -> None:
    with visiting(browser, live) as visit:
        page = visit.open(HOME)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        assert page.evaluate("document.querySelector('main').closest(location.hash) !== null || "
                             "document.activeElement.tagName === 'MAIN'")  # fmt: skip


def test_the_search_is_reached_by_the_tab_key_in_the_order_of_the_page(browser: Browser, live: str) -> None:
    with visiting(browser, live) as visit:
        visit.open(f"{HOME}/traces")
        steps = tabbed(visit.page, 20)

    places = [step["place"] for step in steps]
    assert places == sorted(places)
    assert "q" in [step["name"] for step in steps]


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_what_has_the_focus_shows_it(browser: Browser, live: str, pages: dict[str, str], is_dark: bool) -> None:
    hidden = []
    with visiting(browser, live, is_dark=is_dark) as visit:
        for kind, path in pages.items():
            visit.open(path)
            hidden += [(kind, step) for step in tabbed(visit.page, 12) if not (step["isMarked"] and step["isSeen"])]

    assert [one for one in hidden if one[1]["tag"] != "BODY"] == []


def test_no_table_is_wider_than_the_page(browser: Browser, live: str) -> None:
    with visiting(browser, live) as visit:
        widths = {name: visit.open(f"/history/{name}").evaluate(TABLE_AND_ROOM) for name in source()["tables"]}

    assert {name: found for name, found in widths.items() if found and found[0] > found[1]} == {}


def test_no_page_is_wider_than_a_phone(browser: Browser, live: str, pages: dict[str, str]) -> None:
    with visiting(browser, live, width=NARROW) as visit:
        widths = {
            kind: visit.open(path).evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            for kind, path in pages.items()
        }

    assert {kind: found for kind, found in widths.items() if found[0] > NARROW or found[1] != NARROW} == {}


def test_paper_shows_the_page_without_the_menu(browser: Browser, live: str, pages: dict[str, str]) -> None:
    with visiting(browser, live, is_dark=True) as visit:
        visit.page.emulate_media(media="print", color_scheme="light")
        visit.open(pages["trace"])

        assert visit.page.locator("main").is_visible()
        assert not visit.page.locator("nav").first.is_visible()
