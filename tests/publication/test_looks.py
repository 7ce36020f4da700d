"""Style sheets and scripts: kept by the browser for as long as they stay the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from workbench.web.page import STATIC
from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from datasette.app import Datasette
    from simulator import Account

LINKED = re.compile(r'(?:href|src)="([^"]+\.(?:css|js)\?[^"]+)"')


@pytest.fixture
async def guarded(library: Account, live: Datasette) -> Datasette:
    """The live history behind the guard, as the command serves it."""
    served = datasette_over(
        f"{library.state}/enricher.db", is_immutable=False, plugin={"allowed_hosts": ["localhost"], "home": True}
    )
    await served.invoke_startup()
    return served


@pytest.mark.parametrize("path", ["/-/enricher", "/history/labels"], ids=["a page of ours", "a page of Datasette"])
async def test_a_browser_keeps_the_style_sheets_of_a_page(guarded: Datasette, path: str) -> None:
    page = await guarded.client.get(path)

    linked = [await guarded.client.get(address) for address in LINKED.findall(page.text)]

    assert linked
    assert {answer.headers.get("cache-control") for answer in linked} == {"private, max-age=31536000, immutable"}


async def test_a_style_sheet_asked_for_without_its_mark_is_not_kept(guarded: Datasette) -> None:
    answer = await guarded.client.get("/-/static-plugins/prompt-enricher/enricher.css")

    assert "immutable" not in answer.headers.get("cache-control", "")


async def test_a_static_file_that_is_not_there_is_not_kept(guarded: Datasette) -> None:
    answer = await guarded.client.get("/-/static-plugins/prompt-enricher/none.css?1234")

    assert (answer.status_code, "immutable" in answer.headers.get("cache-control", "")) == (404, False)


def test_pages_of_ours_have_no_script() -> None:
    templates = STATIC.parent / "templates" / "enricher"

    assert [file.name for file in templates.glob("*.html") if "<script" in file.read_text()] == []
