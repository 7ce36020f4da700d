"""Every page leads to all others, Datasette's own as well; so does the 404 of an address at which nothing stands."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from datasette.app import Datasette
from served_history import over, page, words

from storage.db import database
from workbench.web.page import PLACES
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from pathlib import Path

NAVIGATION = [f'href="/-/enricher{"/" * bool(where)}{where}"' for where, _name in PLACES] + ['href="/history"']
MENU = re.compile(r'<div class="top">.*?</div>', re.DOTALL)
NOWHERE = ("/-/enricher/nothing", "/-/enricher/trace/a/b/c/d", "/a/b/c/d/e", "/history/nothing", "/history/a/b/c/d")


@pytest.mark.parametrize(
    "path",
    [
        "/", "/-/enricher", "/-/enricher/coverage", "/history", "/history/traces", "/history?sql=select+1",
        "/-/plugins", "/history/how_often_is_the_class_right", *NOWHERE,
    ],
)  # fmt: skip
async def test_every_page_leads_to_all_others(live: Datasette, path: str) -> None:
    page = (await live.client.get(path, follow_redirects=True)).text

    assert [link for link in NAVIGATION if link not in page] == []


@pytest.mark.parametrize(
    "path", ["/history", "/history/traces", "/history?sql=select+1", "/history/which_clients_are_in_use"]
)
async def test_pages_of_datasette_have_the_same_menu_as_ours(live: Datasette, path: str) -> None:
    answers = [await live.client.get(one, follow_redirects=True) for one in ("/-/enricher", path)]
    ours, theirs = [MENU.findall(answer.text) for answer in answers]
    current = ' aria-current="page"'

    assert len(ours) == 1
    assert [one.replace(current, "") for one in theirs] == [one.replace(current, "") for one in ours]
    assert f'<a href="/history"{current}>Data</a>' in theirs[0]


@pytest.mark.parametrize("path", NOWHERE)
async def test_where_nothing_stands_a_page_says_so(live: Datasette, path: str) -> None:
    page, data = await live.client.get(path), await live.client.get(f"{path}.json")

    assert (page.status_code, data.status_code) == (404, 404)
    assert "All prompts" in page.text
    assert data.json()["status"] == 404


async def test_a_datasette_without_a_history_is_left_alone(tmp_path: Path) -> None:
    served = Datasette(memory=True)

    assert "enricher" not in (await served.client.get("/_memory")).text


@pytest.mark.parametrize("where", ["", "traces", "trace/0fff", "compare", "compare/0fff", "instructions", "coverage"])
async def test_a_snapshot_names_no_command_that_its_reader_cannot_run(tmp_path: Path, where: str) -> None:
    with closing(database.connect(str(tmp_path))):
        snapshot.write(str(tmp_path), str(tmp_path / "s.db"))
    text = words(await page(await over(tmp_path / "s.db", is_immutable=True), where))

    assert re.findall(r"(?<!the )\benricher \w+|--\w+", text) == []
