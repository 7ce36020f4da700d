"""Windows of long lists, and the index of words that finds the same."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from big_history import write_history

from storage.db import database
from storage.traces import search, trace_pages
from storage.traces.filter_text import parse
from storage.traces.selection import EVERYTHING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

PROMPTS = 1_500


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    state = tmp_path_factory.mktemp("windows")
    write_history(state, PROMPTS)
    with closing(database.connect(str(state))) as db:
        yield db


def pages(db: sqlite3.Connection, text: str) -> list[str]:
    """Return the ids of a selection, read page by page from the marks."""
    which = search.with_index(parse(text), db)
    first = trace_pages.page(db, which)
    marks = (
        [first[-1].id, *trace_pages.marks(db, which, behind=first[-1].id)]
        if len(first) == trace_pages.PAGE_ROWS
        else []
    )
    found = [line.id for line in first]
    for mark in marks:
        found += [line.id for line in trace_pages.page(db, which, before=mark)]
    return found


def ids(db: sqlite3.Connection, text: str) -> list[str]:
    which = parse(text)
    query = f"select id from traces where {which.where} order by id desc"
    return [row[0] for row in db.execute(query, which.parameters)]


@pytest.mark.parametrize(
    "text",
    ["", "type:debug", "host:opencode", "-status:ok ms>10", "label:any", "ms>60", "-ms>5", "tokens>=20 type:ops"],
)
def test_the_pages_together_are_the_list(db: sqlite3.Connection, text: str) -> None:
    assert pages(db, text) == ids(db, text)


def test_marks_and_rest_count_the_list(db: sqlite3.Connection) -> None:
    first = trace_pages.page(db, EVERYTHING)
    marks = [first[-1].id, *trace_pages.marks(db, EVERYTHING, behind=first[-1].id)]

    counted = len(marks) * trace_pages.PAGE_ROWS + trace_pages.rest(db, EVERYTHING, behind=marks[-1])

    assert counted == len(ids(db, ""))


def test_a_ranking_begins_with_the_greatest(db: sqlite3.Connection) -> None:
    slow = [line.latency_ms for line in trace_pages.ranking(db, EVERYTHING, by="slowest")]

    assert slow == sorted(slow, reverse=True)
    assert slow[0] == db.execute("select max(latency_ms) from traces where origin <> 'test'").fetchone()[0]


def test_words_are_found_the_slow_way_until_they_are_indexed_and_then_the_same_ones(db: sqlite3.Connection) -> None:
    slowly = pages(db, "marmalade -type:chat")
    before = search.with_index(parse("marmalade"), db).match

    left = search.catch_up(db)

    assert (before, left) == ("", 0)
    assert search.with_index(parse("marmalade"), db).match
    assert pages(db, "marmalade -type:chat") == slowly == ids(db, "marmalade -type:chat")


def test_an_index_that_was_interrupted_goes_on_where_it_was(tmp_path) -> None:
    write_history(tmp_path, 1_200)
    with closing(database.connect(str(tmp_path))) as db:
        stops = iter((False, True))
        left = search.catch_up(db, should_stop=lambda: next(stops))
        rest = search.waiting(db)
        search.catch_up(db)

        assert (left, rest) == (700, 700)
        assert db.execute("select count(*) from trace_numbers").fetchone()[0] == 1_200


def test_two_prompts_of_one_microsecond_have_two_numbers(tmp_path) -> None:
    with closing(database.connect(str(tmp_path))) as db:
        for end in ("aaaaaaaaaa", "bbbbbbbbbb"):
            _insert(db, f"0660a6e64610a2{end}")
        search.catch_up(db)

        numbers = [row[0] for row in db.execute("select number from trace_numbers order by number")]

        assert numbers[1] == numbers[0] + 1


def test_another_writer_gets_its_turn_after_every_batch_of_the_index(tmp_path) -> None:
    write_history(tmp_path, 1_200)
    turns = []
    with closing(database.connect(str(tmp_path))) as db, closing(database.connect(str(tmp_path))) as other:
        other.execute("pragma busy_timeout = 0")

        def take_a_turn() -> bool:
            other.execute("begin immediate")
            other.execute("rollback")
            turns.append(search.waiting(other))
            return False

        search.catch_up(db, should_stop=take_a_turn)

    assert turns == [1_200, 700, 200]


def _insert(db: sqlite3.Connection, own: str) -> None:
    from storage import traces

    trace = traces.Trace()
    trace.id, trace.prompt = own, "find me"
    for table, rows in traces.flatten(trace).items():
        db.executemany(traces.insertion(table, traces.TABLES[table]), rows)
