"""Every kind of page as it looks: wide and narrow, light and dark; ``--screenshots FOLDER`` keeps them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from visiting import NARROW, WIDE, visiting

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HALF = 3 * 128
LOOKS = tuple(product((WIDE, NARROW), (False, True)))


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path | None:
    """Return the folder in which the pictures are kept; None, as they take long, if nobody asked for them."""
    return request.config.getoption("--screenshots", default=None)


@pytest.mark.parametrize(("width", "is_dark"), LOOKS, ids=[f"{w}{' dark' * dark}" for w, dark in LOOKS])
def test_every_kind_of_page_has_the_colours_that_the_browser_prefers(
    browser: Browser, live: str, pages: dict[str, str], folder: Path | None, width: int, is_dark: bool
) -> None:
    colours = "dark" if is_dark else "light"
    papers = set()
    with visiting(browser, live, width=width, is_dark=is_dark) as visit:
        for kind, path in pages.items():
            page = visit.open(path)
            if folder:
                page.screenshot(path=folder / f"{kind.replace(' ', '-')}-{width}-{colours}.png", full_page=True)
            papers.add(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert {_brightness(paper) < HALF for paper in papers} == {is_dark}


def _brightness(colour: str) -> int:
    """Return the sum of red, green and blue in a computed ``rgb(...)``."""
    return sum(int(part) for part in colour.strip("rgba()").split(",")[:3])
