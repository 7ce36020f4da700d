"""The facets of selected prompts: the same whether from the roll-ups or from the rows."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage.db import database
from storage.metrics import facets, rollups
from storage.metrics.overview import Count
from storage.traces import filter_text, labels, search, selection, spool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from storage import traces

PROMPTS = 24
EVERY_SELECTION = (
    "", "type:debug", "-host:codex", "version:ca", "status:ok,silent intent:howto", "guardrail:h3", "-guardrail:H3",
    "label:wrong", "label:none", "basket", "ms>20", "session:s1", "origin:test", "workflow:tdd",
    "type:debug guardrail:H5 tokens>1",
)  # fmt: skip


@pytest.fixture
def db(state: str, whole_trace: Callable[..., traces.Trace]) -> Iterator[sqlite3.Connection]:
    """Two dozen prompts of which no reader has counted any yet."""
    for number in range(PROMPTS):
        trace = whole_trace(
            task_type=("debug", "test", "")[number % 3],
            search_intent=("howto", "none")[number % 2],
            workflow=("debugging", "tdd", "")[number % 3],
            host=("claude", "codex")[number % 4 == 0],
            status=("ok", "silent")[number % 5 == 0],
            rules_hash=("cafe", "beef")[number > 20],
            prompt=("mend the basket", "mend the login")[number % 2],
            session_id=("s1", "s2")[number % 2],
            latency_ms=float(number * 2),
            origin="test" if number == 7 else "hook",
            guardrails=[("H5", "Evidence", 3.0), ("H3", "Verify", 2.0)][: number % 3],
        )
        spool.record(state, trace)
    with closing(database.connect(state)) as db:
        for (own,) in db.execute("select id from traces order by id limit 3").fetchall():
            labels.add(db, own, "wrong")
        yield db


def from_the_rows(db: sqlite3.Connection, text: str) -> dict[str, Counter[str]]:
    which = filter_text.parse(text)
    found: dict[str, Counter[str]] = {}
    for field, column in facets.COLUMNS.items():
        query = f"select {column} from traces where {which.where} and {column} <> ''"
        found[field] = Counter(row[0] for row in db.execute(query, which.parameters))
    query = f"""
        select trace_guardrails.guardrail_id from traces join trace_guardrails on trace_id = traces.id
        where {which.where}
    """
    found["guardrail"] = Counter(row[0] for row in db.execute(query, which.parameters))
    return found


def as_counts(found: facets.Facets) -> dict[str, Counter[str]]:
    every = [one for field, one in found.by_field.items() if field != "label"]
    return {one.field: Counter({count.value: count.prompts for count in one.values}) for one in every}


@pytest.mark.parametrize("text", EVERY_SELECTION)
@pytest.mark.parametrize("is_counted", [True, False])
def test_they_are_what_the_rows_say(db: sqlite3.Connection, text: str, *, is_counted: bool) -> None:
    if is_counted:
        rollups.catch_up(db)
        search.catch_up(db)

    found = facets.facets(db, filter_text.parse(text))

    assert as_counts(found) == from_the_rows(db, text)
    assert found.is_all and found.by_field["guardrail"].is_all


@pytest.mark.parametrize("text", ["", "ms>=0"])
def test_a_guardrail_that_is_written_in_two_ways_is_one_as_it_is_for_the_filter(
    db: sqlite3.Connection, text: str
) -> None:
    some = db.execute("select max(trace_id) from trace_guardrails where guardrail_id = 'H5'").fetchone()[0]
    db.execute("update trace_guardrails set guardrail_id = 'h5' where trace_id = ? and guardrail_id = 'H5'", (some,))
    every = from_the_rows(db, "guardrail:H5")["guardrail"]
    rollups.catch_up(db)

    found = {one.value: one.prompts for one in facets.facets(db, filter_text.parse(text)).by_field["guardrail"].values}

    assert (found["H5"], found.get("h5")) == (every["H5"] + every["h5"], None)


def test_what_no_reader_has_counted_yet_is_counted_beside_the_roll_ups(
    db: sqlite3.Connection, state: str, whole_trace: Callable[..., traces.Trace]
) -> None:
    rollups.catch_up(db)
    spool.record(state, whole_trace(task_type="ops", guardrails=[("H9", "Ask", 1.0)]))
    database.connect(state).close()

    found = facets.facets(db, selection.EVERYTHING)

    assert Count("ops", 1) in found.by_field["type"].values and Count("H9", 1) in found.by_field["guardrail"].values
    assert found.prompts == PROMPTS


def test_of_many_the_newest_are_counted_and_it_is_said(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "NEWEST", 5)
    found = facets.facets(db, filter_text.parse("ms>=0"))

    assert (found.prompts, found.is_all) == (5, False)
    assert found.by_field["version"].values == (Count("beef", 3), Count("cafe", 2))


def test_classes_are_exact_where_guardrails_are_those_of_the_newest(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "NEWEST", 5)
    rollups.catch_up(db)

    found = facets.facets(db, filter_text.parse("type:debug"))

    assert (found.by_field["type"].values, found.is_all) == ((Count("debug", 8),), True)
    guardrail, label = found.by_field["guardrail"], found.by_field["label"]
    assert (guardrail.prompts, guardrail.is_all, label.prompts) == (5, False, 5)


@pytest.mark.parametrize("text", ["", "type:debug,test", "ms>=0"])
def test_labels_are_the_newest_of_each_prompt(db: sqlite3.Connection, text: str) -> None:
    newest = db.execute("select max(id) from traces where task_type = 'test'").fetchone()[0]
    labels.add(db, newest, "ok")
    labels.add(db, newest, "wrong")

    counts = {one.value: one.prompts for one in facets.facets(db, filter_text.parse(text)).by_field["label"].values}

    assert counts["wrong"] == from_labels(db, text)
    assert "ok" not in counts


def from_labels(db: sqlite3.Connection, text: str) -> int:
    which = filter_text.parse(f"{text} label:wrong")
    return int(db.execute(f"select count(*) from traces where {which.where}", which.parameters).fetchone()[0])
