from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from datasette.app import Datasette

if TYPE_CHECKING:
    from pathlib import Path

WHAT_IMPORTING_COSTS = """
import sys, time
import datasette.app
before, begun = set(sys.modules), time.perf_counter()
import workbench.web.plugin
print(time.perf_counter() - begun)
print(*sorted(set(sys.modules) - before))
"""


@pytest.fixture
async def another(tmp_path: Path) -> Datasette:
    """A Datasette over a database of somebody else's, whose names are like ours."""
    with closing(sqlite3.connect(tmp_path / "history.db")) as db:
        db.execute("create table traces (id text primary key, session_id text, latency_ms real, status text, at text)")
        db.execute("insert into traces values ('a', 'b', 1.25, 'ok', 'now')")
        db.commit()
    served = Datasette(files=[str(tmp_path / "history.db")], memory=False)
    await served.invoke_startup()
    return served


@pytest.mark.parametrize("address", ["/", "/history", "/history/traces?_facet=status", "/history/traces/a"])
async def test_another_database_looks_as_if_we_were_not_there(another: Datasette, address: str) -> None:
    page = await another.client.get(address)

    assert page.status_code == 200
    assert "enricher" not in page.text and "one-row" not in page.text


async def test_its_cells_and_facets_are_datasettes_own(another: Datasette) -> None:
    page = (await another.client.get("/history/traces?_facet=status&_search=x")).text

    assert ">1.25</td>" in page and 'id="_search"' not in page
    assert "facet-results" in page


async def test_its_queries_know_no_function_of_ours(another: Datasette) -> None:
    page = await another.client.get("/history", params={"sql": "select middle_ms(1)"}, follow_redirects=True)

    assert "no such function" in page.text


async def test_our_pages_are_not_there(another: Datasette) -> None:
    assert (await another.client.get("/-/enricher")).status_code == 404


def test_importing_the_plugin_loads_nothing_but_itself() -> None:
    command = [sys.executable, "-c", WHAT_IMPORTING_COSTS]
    seconds, modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    assert set(modules.split()) <= {"workbench", "workbench.web", "workbench.web.plugin"}
    assert float(seconds) < 0.05
