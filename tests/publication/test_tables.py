from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served_history import over

from storage.db import database
from tests.publication import handbook
from workbench.web.native.description import configuration, metadata, queries, source
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from datasette.app import Datasette
    from simulator import Account

DOCS = Path(__file__).parents[2] / "docs" / "history.md"
WHAT_PEOPLE_SEE = """
    select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'
"""
TABLES = {name: table for name, table in source()["tables"].items() if "columns" in table}
HIDDEN = tuple(set(source()["tables"]) - set(TABLES))
FACETS = ("task_type", "search_intent", "status", "host", "origin", "rules_hash")


def columns_of(db: sqlite3.Connection) -> dict[str, list[str]]:
    names = [row[0] for row in db.execute(WHAT_PEOPLE_SEE)]
    return {
        name: [row[1] for row in db.execute(f'pragma table_info("{name}")')]
        for name in names
        if not name.startswith(HIDDEN)
    }


def described() -> dict[str, list[str]]:
    return {name: list(table["columns"]) for name, table in TABLES.items() if name != "published"}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    with closing(database.connect(str(tmp_path_factory.mktemp("schema")))) as db:
        return columns_of(db)


def test_every_column_of_the_real_schema_is_described_and_none_else(schema: dict[str, list[str]]) -> None:
    assert described() == {name: schema[name] for name in described()}
    assert set(described()) == set(schema)


def test_a_snapshot_holds_no_column_that_is_not_described(library: Account, live: Datasette, tmp_path: Path) -> None:
    snapshot.write(str(library.state), str(tmp_path / "s.db"))
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        found = columns_of(db)

    assert found.pop("published") == list(TABLES["published"]["columns"])
    assert found == {name: described()[name] for name in found}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_description_is_a_sentence_and_what_is_measured_has_its_unit(table) -> None:
    units = {"_ms": "milliseconds", "_chars": "characters", "tokens": "tokens", "_at": "UTC"}
    said = {column: about for column, about in table["columns"].items() if not about.endswith(".")}
    without_unit = {
        column
        for column, about in table["columns"].items()
        for ending, unit in units.items()
        if column.endswith(ending) and unit not in about
    }

    assert not said and not without_unit
    assert table["title"] and table["description"].endswith(".")


def test_what_a_table_is_sorted_and_labelled_by_is_a_column_of_it() -> None:
    wanted = {name: {table.get("sort_desc"), table.get("label_column")} - {None} for name, table in TABLES.items()}

    assert [name for name, columns in wanted.items() if not columns <= {*TABLES[name]["columns"]}] == []


def test_the_handbook_in_the_docs_is_what_the_code_says() -> None:
    assert handbook.written() in DOCS.read_text("utf-8"), "run: python -m tests.publication.handbook docs/history.md"


async def test_a_table_page_has_title_description_and_columns(live: Datasette) -> None:
    page = (await live.client.get("/history/trace_channels")).text

    assert "<h1>Channels" in page and "What each channel" in page
    assert "how long it took, in milliseconds" in page.lower()


async def test_internals_are_hidden(live: Datasette) -> None:
    found = (await live.client.get("/history.json")).json()["tables"]

    assert {one["name"] for one in found if not one["hidden"] and one["name"].startswith(HIDDEN)} == set()
    assert {"traces", "labels"} <= {one["name"] for one in found if not one["hidden"]}


async def test_the_page_of_the_database_counts_small_tables_and_says_many_of_big_ones(
    live: Datasette, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = live.get_database("history")
    monkeypatch.setattr(database, "count_limit" if hasattr(database, "count_limit") else "counted_up_to", 5)
    found = {one["name"]: one["count"] for one in (await live.client.get("/history.json")).json()["tables"]}

    assert found["replays"] == 0
    assert found["trace_stages"] in (None, 6), "6 stands for many in 1.0"


async def test_traces_are_shown_newest_first(live: Datasette) -> None:
    rows = (await live.client.get("/history/traces.json?_shape=array")).json()

    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)


@pytest.mark.parametrize("where", ["", "&host=claude", "&status__not=skipped", "&origin__not=test&status=silent"])
async def test_facets_from_the_sums_are_those_that_datasette_counts(live: Datasette, where: str) -> None:
    asked = "".join(f"&_facet={column}" for column in FACETS) + where
    summed = await facets(live, f"/history/traces.json?{asked}")
    counted = await facets(live, f"/history/traces.json?{asked}&prompt__not=nothing")

    assert summed == counted
    assert set(summed) == set(FACETS)


async def test_guardrails_are_summed_as_datasette_counts_them(live: Datasette) -> None:
    asked = "/history/trace_guardrails.json?_facet=guardrail_id"
    counted = await facets(live, f"{asked}&title__not=nothing")

    assert await facets(live, asked) == counted != {"guardrail_id": {}}


async def facets(live: Datasette, address: str) -> dict[str, dict[str, int]]:
    found = (await live.client.get(f"{address}&_extra=facet_results")).json()["facet_results"]
    found = found.get("results", found)
    return {name: {one["value"]: one["count"] for one in facet["results"]} for name, facet in found.items()}


async def test_a_chosen_facet_can_be_taken_back(live: Datasette) -> None:
    address = "/history/traces.json?_facet=host&host=claude&_extra=facet_results"
    found = (await live.client.get(address)).json()["facet_results"]
    chosen = found.get("results", found)["host"]["results"][0]

    assert (chosen["value"], chosen["selected"]) == ("claude", True)
    assert "host=claude" not in chosen["toggle_url"]


async def test_facets_count_what_the_sums_do_not_know_yet(library: Account, live: Datasette) -> None:
    library.ask("what is the carrier of order 12?")
    library.cli("trace", "list")
    total = (await live.client.get("/history/traces.json?_size=0&_extra=count")).json()
    found = await facets(live, "/history/traces.json?_facet=origin")

    assert found == {"origin": {"hook": total.get("count", total.get("filtered_table_rows_count"))}}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param("nightly export", 1, id="all words"),
        pytest.param("baske*", 1, id="the beginning of a word"),
        pytest.param("nightly basket", 0, id="no prompt holds both"),
        pytest.param("\"the nightly\" 'sku' (", 1, id="what the index would not understand"),
        pytest.param("(", 0, id="no word"),
    ],
)
async def test_the_table_of_traces_can_be_searched(live: Datasette, words: str, found: int) -> None:
    rows = await live.client.get("/history/traces.json", params={"_search": words, "_shape": "array"})

    assert len(rows.json()) == found


async def test_the_page_of_traces_has_a_search_box_with_what_was_searched(live: Datasette) -> None:
    page = (await live.client.get("/history/traces?_search=%3Cscript%3E")).text

    assert 'name="_search" value="&lt;script&gt;"' in page
    assert "<script>alert" not in page


async def test_a_wide_table_shows_its_usual_columns(live: Datasette) -> None:
    usual = await columns_shown(live, "/history/traces?host=claude")
    chosen = await columns_shown(live, "/history/traces?_col=approach")

    assert usual == ["id", *TABLES["traces"]["shown"]]
    assert chosen == ["id", "approach"]


async def test_the_menu_of_a_wide_table_leads_to_all_columns(live: Datasette) -> None:
    page = (await live.client.get("/history/traces?host=claude")).text
    [address] = re.findall(r'href="([^"]*)"[^>]*>\s*All columns', page)

    assert await columns_shown(live, unescape(address)) == list(TABLES["traces"]["columns"])
    assert "host=claude" in address


async def test_data_of_a_wide_table_have_all_columns(live: Datasette) -> None:
    rows = (await live.client.get("/history/traces.json?_shape=array&_size=1")).json()

    assert list(rows[0]) == list(TABLES["traces"]["columns"])


async def test_the_page_of_a_row_has_its_columns_below_each_other(live: Datasette) -> None:
    rows = (await live.client.get("/history/traces.json?_shape=array&_size=1")).json()
    page = (await live.client.get(f"/history/traces/{rows[0]['id']}")).text

    assert re.findall(r'<tr><th scope="row">(\w+)</th><td', page) == list(TABLES["traces"]["columns"])
    assert 'rows-and-columns">' not in page


async def columns_shown(datasette: Datasette, address: str) -> list[str]:
    page = (await datasette.client.get(address)).text
    return re.findall(r' data-column="(\w+)"', page)


@pytest.mark.parametrize("table", [name for name, table in TABLES.items() if "shown" in table])
def test_usual_columns_are_columns_of_the_table(table: str) -> None:
    assert set(TABLES[table]["shown"]) < set(TABLES[table]["columns"])


@pytest.mark.parametrize("told", [metadata, configuration], ids=["for 0.65", "for 1.0"])
def test_both_versions_are_told_the_same(told) -> None:
    found = told("history")["databases"]["history"]

    assert found["queries"] == queries()
    assert found["tables"]["traces"]["sort_desc"] == "id" and found["tables"]["trace_numbers"] == {"hidden": True}


async def test_an_immutable_snapshot_is_described_as_well(library: Account, live: Datasette, tmp_path: Path) -> None:
    snapshot.write(str(library.state), str(tmp_path / "s.db"))
    served = await over(tmp_path / "s.db", is_immutable=True)
    page = (await served.client.get("/history/published")).text

    assert "What this snapshot is" in page and "When it was made, in UTC." in page


async def test_a_snapshot_of_an_earlier_version_has_the_usual_columns_that_it_knows(
    library: Account, live: Datasette, tmp_path: Path
) -> None:
    snapshot.write(str(library.state), str(tmp_path / "s.db"))
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        db.execute("alter table line_labels drop column because")
        db.commit()
    served = await over(tmp_path / "s.db", is_immutable=True)

    assert (await served.client.get("/history/line_labels")).status_code == 200
