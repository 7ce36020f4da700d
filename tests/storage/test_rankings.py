from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history

from storage.db import database
from storage.traces import search, trace_pages
from storage.traces.filter_text import parse

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

FIRST = 12


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    folder = tmp_path_factory.mktemp("ranked")
    write_history(folder, 1_500)
    with closing(database.connect(str(folder))) as db:
        search.catch_up(db)
        yield db


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rankings of a dozen among the first hundred, so that some selections have enough there and some have not."""
    monkeypatch.setattr(trace_pages, "LONGEST_RANKING", FIRST)
    monkeypatch.setattr(trace_pages, "LEADERS", 100)


@pytest.mark.parametrize("by", trace_pages.RANKINGS)
@pytest.mark.parametrize("text", ["", "type:debug", "basket", "telescope", "host:cursor", "basket type:debug -host:x"])
def test_a_ranking_is_what_sorting_everything_gives(db: sqlite3.Connection, text: str, by: str) -> None:
    which = search.with_index(parse(text), db)
    every = trace_pages.page(db, which, limit=10_000)

    key = (lambda line: (line.latency_ms, line.id)) if by == "slowest" else (lambda line: (line.tokens, line.id))
    assert trace_pages.ranking(db, which, by=by) == sorted(every, key=key, reverse=True)[:FIRST]


@pytest.mark.parametrize("text", ["basket", "type:debug", "nothing-like-this"])
def test_what_is_newer_than_a_page_is_found_from_its_first_row(db: sqlite3.Connection, text: str) -> None:
    which = search.with_index(parse(text), db)
    every = [line.id for line in trace_pages.page(db, which, limit=10_000)]

    found = [trace_pages.newer(db, which, than=one, limit=5) for one in every]
    assert found == [every[place - 6] if place > 5 else trace_pages.ABOVE_ALL for place in range(len(every))]
