"""On the live history, a signed-in person finds a wrong prompt, says what it should have been, and home counts it."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from published import PATIENCE_S, published
from visiting import HOME, Visit, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser
    from simulator import Account

pytestmark = pytest.mark.browser

PROMPT = "there was a hiccup of the upload queue"
COUNTED = re.compile(r"% of (\d+) labelled prompts got the right task type")


@pytest.fixture
def signed_in(shop: Account, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a server over a copy of the history, and the path that signs a reader in there."""
    shutil.copytree(shop.state, tmp_path / "state")
    output = tmp_path / "output.txt"
    with published(tmp_path / "state", output=output) as address:
        until = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"sign in once at (\S+)", output.read_text())):
            assert time.monotonic() < until, output.read_text()
            time.sleep(0.05)
        yield address, found[1].removeprefix(address)


def text(visit: Visit) -> str:
    return " ".join(visit.page.locator("main").inner_text().split())


def labelled(visit: Visit) -> int:
    """Return how many labelled prompts the home page counts."""
    found = COUNTED.search(text(visit))
    assert found, text(visit)
    return int(found[1])


@pytest.mark.parametrize("runs_scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_wrong_prompt_is_labelled_and_counted(
    browser: Browser, signed_in: tuple[str, str], runs_scripts: bool
) -> None:
    address, sign_in = signed_in
    with visiting(browser, address, runs_scripts=runs_scripts) as visit:
        visit.open(sign_in)
        visit.open(HOME)
        before = labelled(visit)
        trace = visit.follow(visit.page.locator("main a[href*='/trace/']").get_by_text(PROMPT))
        task_type = visit.page.locator("h1").inner_text().split()[0]
        assert "Nobody has labelled this prompt yet." in text(visit)
        should = "ops" if task_type != "ops" else "docs"
        visit.page.get_by_label("It should be").select_option(should)
        visit.follow(visit.page.get_by_role("button", name="Label it"))
        on_its_page = text(visit)
        visit.follow(visit.page.locator("header").get_by_role("link", name="Home", exact=True))
        assert labelled(visit) == before + 1
        row = visit.page.locator("tr", has_text=should).first
        row_text = " ".join(row.inner_text().split())
        visit.follow(row.locator("a"))

        assert visit.path.startswith(f"{HOME}/traces")
        assert f"Newest label: should be {should}" in on_its_page
        assert row_text == f"{task_type} {should} 1"
        assert visit.links(r"/trace/\w+$") == {trace.split("#")[0]}
        assert visit.complaints == []
