"""SQL of readers that SQLite cannot interrupt: it is ended, and other pages do not wait for it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import datasette
import pytest
from datasette.app import Datasette
from publishing import published

from workbench.web.native import query_processes
from workbench.web.server.serving import datasette_over

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulator import Account

LONG = "replace(hex(zeroblob(30000000)), '0', 'a')"
"""A text of 60 million characters."""
ENDLESS = {
    "printf": "select printf('%.*c', 2147483647, 'x')",
    "replace": f"select length(replace({LONG}, substr({LONG}, 1, 20000000) || 'b', 'c'))",
    "instr": f"select instr({LONG}, substr({LONG}, 1, 20000000) || 'b')",
    "patterns": f"select {LONG} like '%' || substr({LONG}, 1, 900) || 'b'",
    "json": "with many(x) as (select group_concat('\"' || value || '\":1') from (with recursive n(value) as (select 1"
    " union all select value + 1 from n where value < 300000) select value from n))"
    " select length(json_patch('{' || x || '}', '{' || replace(x, ',\"', ',\"a') || '}')) from many",
    "recursion": "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n",
    "join": "with recursive n(x) as (select 1 union all select x + 1 from n where x < 100000)"
    " select count(*) from n a, n b, n c where a.x + b.x + c.x = 0",
}
"""Each takes half a minute or more where nothing ends it."""


@asynccontextmanager
async def serving(library: Account, *, limit_ms: int) -> AsyncIterator[Datasette]:
    served = datasette_over(f"{library.state}/enricher.db", is_immutable=False)
    await served.client.get("/history")  # Datasette reads the schemas once; the limit is not meant for that
    served.sql_time_limit_ms = limit_ms
    yield served
    served.get_database("history").close()


def busy(served: Datasette) -> int:
    """Return how many processes were started; each was started for a question."""
    own = served.get_database("history").readers
    return len(own.alive) if own else 0


def asked(sql: str) -> str:
    return f"/history{'' if datasette.__version__.startswith('0.') else '/-/query'}.json?sql={quote(sql)}"


@pytest.mark.parametrize("sql", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.slow
async def test_what_runs_on_is_ended(library: Account, sql: str) -> None:
    async with serving(library, limit_ms=300) as served:
        answer = await served.client.get(asked(sql))
        after = await served.client.get(asked("select 'still here' as said"))

    assert (answer.status_code, "took too long" in answer.text) == (400, True)
    assert after.json()["rows"] in ([["still here"]], [{"said": "still here"}])


@pytest.mark.slow
async def test_other_pages_do_not_wait_for_it(library: Account) -> None:
    pages = (
        "/-/enricher",
        "/-/enricher/traces",
        "/history",
        "/history/traces",
        "/history/how_often_is_the_class_right",
    )
    async with serving(library, limit_ms=120_000) as served:
        await served.invoke_startup()
        running = [asyncio.create_task(served.client.get(asked(ENDLESS["recursion"]))) for _ in range(4)]
        while busy(served) < query_processes.PROCESSES and not any(one.done() for one in running):  # noqa: ASYNC110  # no event tells
            await asyncio.sleep(0.01)
        answers = [(await served.client.get(page)).status_code for page in pages]
        are_running = [not one.done() for one in running]
        served.get_database("history").close()
        await asyncio.wait(running)

    assert answers == [200] * len(pages)
    assert all(are_running)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        pytest.param('select 1 as a, \'x\' as "b ""c"', [[1, "x"]], id="names with quotes"),
        pytest.param("select null, 1.5, 'ä'", [[None, 1.5, "ä"]], id="every type"),
        pytest.param("select count(*) > 0 from traces", [[1]], id="of the history"),
        pytest.param("select 1 where 0", [], id="nothing"),
        pytest.param("select day_of('0006400000000000')", [["1970-03-21"]], id="with functions of ours"),
    ],
)
async def test_other_sql_is_answered_as_ever(library: Account, sql: str, rows: list[list[object]]) -> None:
    async with serving(library, limit_ms=20_000) as served:
        found = (await served.client.get(f"{asked(sql)}&_shape=arrays")).json()["rows"]

    assert found == rows


async def test_what_is_wrong_with_a_query_is_said(library: Account) -> None:
    async with serving(library, limit_ms=20_000) as served:
        answer = await served.client.get(asked("select * from nowhere"))

    assert answer.status_code == 400
    assert "no such table: nowhere" in answer.text


async def test_more_rows_than_are_shown_are_told(library: Account) -> None:
    many = "with recursive n(x) as (select 1 union all select x + 1 from n where x < 5000) select x from n"
    async with serving(library, limit_ms=20_000) as served:
        found = (await served.client.get(f"{asked(many)}&_shape=arrays")).json()

    assert (len(found["rows"]), found["truncated"]) == (1000, True)


@pytest.mark.slow
def test_a_page_with_a_filter_in_sql_is_answered_by_the_process_that_publishes(library: Account) -> None:
    with published(library, "--port", "0") as server:
        endless = server.get(asked(ENDLESS["printf"]))
        filtered = server.get("/history/traces.json?_where=" + quote("prompt like '%basket%'"))
        found = server.get("/history/traces.json?_search=basket")
        assert server.end()[0] == 0

    assert (endless.status, "took too long" in endless.text) == (400, True), endless.text
    assert (filtered.status, found.status) == (200, 200)
    assert "basket" in filtered.text and "basket" in found.text


async def test_a_plain_datasette_has_the_same_bounds(library: Account) -> None:
    served = Datasette([f"{library.state}/enricher.db"], settings={"sql_time_limit_ms": 300})
    await served.invoke_startup()
    answer = await served.client.get(asked(ENDLESS["printf"]).replace("/history", "/enricher", 1))
    served.get_database("enricher").close()

    assert (answer.status_code, "took too long" in answer.text) == (400, True)
