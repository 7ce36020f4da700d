from __future__ import annotations

import csv
import html
import io
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.metrics import facets
from workbench.web.pages import traces
from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from datasette.app import Datasette
    from simulator import Account

FACET = re.compile(r'<li><a href="([^"]+)">(\S+) <span>(\d+)</span>')
ROW = re.compile(r'<td class="time"><a href="([^"]+)">')


async def rows(live: Datasette, query: str = "") -> list[dict[str, object]]:
    """Return the rows that the twin of the list has."""
    return list((await live.client.get(f"/-/enricher/traces.json?{query}")).json()["rows"])


def walk(db: sqlite3.Connection, text: str, *, sort: str) -> Iterator[traces.TracePage]:
    """Yield the pages of one row each, from the first to the last."""
    before: str | None = ""
    while before is not None:
        yield (page := traces.listing(db, text, sort=sort, before=before, limit=1))
        before = page.older


async def test_every_prompt_is_a_row_that_leads_to_its_trace_and_session(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces")).text

    every = await rows(live)
    assert ROW.findall(page) == [f"/-/enricher/trace/{row['id']}" for row in every]
    assert all(f"/-/enricher/session/{row['session_id']}" in page for row in every)


async def test_a_stored_script_is_shown_as_text(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces?q=%3Cscript%3E")).text

    assert "<script" not in page and "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        pytest.param("basket", "basket is empty", id="a word"),
        pytest.param("status:skipped", "/clear", id="a field"),
    ],
)
async def test_a_filter_finds_what_it_says(live: Datasette, query: str, wanted: str) -> None:
    found = await rows(live, f"q={query}")

    assert len(found) == 1 and all(word in str(found[0]["prompt"]) for word in wanted.split())


async def test_every_value_of_a_facet_leads_to_as_many_rows_as_it_says(live: Datasette) -> None:
    values = FACET.findall((await live.client.get("/-/enricher/traces")).text)

    found = {name: len(await rows(live, html.unescape(address).partition("?")[2])) for address, name, _count in values}
    assert len(values) > 5 and found == {name: int(count) for _address, name, count in values}


async def test_a_facet_of_fewer_prompts_than_the_others_says_so(
    live: Datasette, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "NEWEST", 1)
    page = (await live.client.get("/-/enricher/traces?q=status:silent")).text

    counted = re.findall(r"<h2>([^<]*)</h2><p class=\"note\">Counted over the newest 1.</p>", page)
    assert counted == ["Label"]


async def test_workflows_are_a_facet(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces")).text

    assert "<h2>Workflow</h2>" in page
    assert re.search(r'q=workflow%3A(\S+)">\1 <span>', page)


async def test_a_chosen_value_is_marked_and_its_link_takes_it_out(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces?q=basket%20status:skipped,silent")).text

    assert re.findall(r'q=([^"]*)" aria-current="true" title', page) == ["basket+status%3Askipped"]


async def test_the_words_of_a_search_are_marked(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces?q=rounding")).text

    assert "<mark>rounding</mark>" in page and len(ROW.findall(page)) == 1


async def test_an_error_is_told_with_its_place_and_the_text_stays(live: Datasette) -> None:
    page = await live.client.get("/-/enricher/traces?q=status:ok%20tpe:debug")

    assert page.status_code == 400 and 'value="status:ok tpe:debug"' in page.text
    assert "did you mean type:?" in page.text and "\n" + " " * 10 + "^" in page.text


async def test_the_twins_tell_an_error_as_well(live: Datasette) -> None:
    answer = await live.client.get("/-/enricher/traces.csv?q=tpe:debug")

    assert answer.status_code == 400 and answer.json()["remedy"] == "did you mean type:?"


async def test_the_csv_has_every_row_of_the_filter(live: Datasette) -> None:
    answer = await live.client.get("/-/enricher/traces.csv?q=-status:skipped")

    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [line["id"] for line in lines] == [row["id"] for row in await rows(live, "q=-status:skipped")]


async def test_the_slowest_come_first_where_that_is_asked(live: Datasette) -> None:
    found = [float(str(row["latency_ms"])) for row in await rows(live, "sort=slowest")]

    assert found == sorted(found, reverse=True)


async def test_an_order_that_there_is_not_is_the_usual_one(live: Datasette) -> None:
    assert await rows(live, "sort=x;drop") == await rows(live)


async def test_every_filter_of_the_explanation_works(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces")).text

    examples = re.findall(r'href="(/-/enricher/traces\?q=[^"]+)"><code>', page)
    assert len(examples) > 10
    assert {(await live.client.get(one.replace("&amp;", "&"))).status_code for one in examples} == {200}


async def test_the_link_to_the_table_shows_the_same_rows(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces?q=status:skipped")).text

    address = re.search(r'href="([^"]+)">The same rows as a table', page)
    assert address
    path, query = address[1].replace("&amp;", "&").split("?")
    table = (await live.client.get(f"{path}.json?{query}&_shape=array")).json()
    assert [row["id"] for row in table] == [row["id"] for row in await rows(live, "q=status:skipped")]


async def test_an_empty_history_says_what_to_do(tmp_path: Path) -> None:
    with closing(database.connect(str(tmp_path))):
        pass
    served = datasette_over(f"{tmp_path}/enricher.db", is_immutable=False)
    page = await served.client.get("/-/enricher/traces")

    assert page.status_code == 200 and "enricher install" in page.text


async def test_a_snapshot_without_texts_says_why_no_word_is_found(library: Account, tmp_path: Path) -> None:
    with closing(sqlite3.connect(f"{library.state}/enricher.db")) as db:
        db.execute("vacuum into :there", {"there": str(tmp_path / "shown.db")})
    with closing(sqlite3.connect(tmp_path / "shown.db")) as db:
        db.execute("create table published (at text, text text, prompts integer, since text, until text)")
        db.execute("insert into published values ('2026-11-21T20:00:00.000Z', 'hash', 5, '', '')")
        db.execute("update traces set prompt = ''")
        db.execute("drop table prompts_fts")
        db.execute("create virtual table prompts_fts using fts5 (prompt)")
        db.commit()
    served = datasette_over(str(tmp_path / "shown.db"), is_immutable=True)

    assert "keeps no text, so no words" in (await served.client.get("/-/enricher/traces?q=basket")).text


@pytest.mark.parametrize("sort", traces.SORTS)
@pytest.mark.parametrize("text", ["", "why", "-status:skipped"])
async def test_pages_show_every_row_once_and_lead_back(live: Datasette, library: Account, text: str, sort: str) -> None:
    every = [str(row["id"]) for row in await rows(live, f"q={text}&sort={sort}")]

    with closing(database.connect(str(library.state))) as db:
        pages = list(walk(db, text, sort=sort))
        back = [traces.listing(db, text, sort=sort, before=page.newer or "", limit=1) for page in pages[1:]]
    assert [line.id for page in pages for line in page.lines] == every
    assert [page.lines for page in back] == [page.lines for page in pages[:-1]]


async def test_the_pages_load_nothing_but_style_sheets_that_are_there(live: Datasette) -> None:
    page = (await live.client.get("/-/enricher/traces")).text

    loaded = re.findall(r'(?:src|stylesheet" href)="([^"]+)"', page)
    assert loaded and {(await live.client.get(one)).status_code for one in loaded} == {200}
