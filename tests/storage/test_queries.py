"""Questions about the traces: found by the start of an id, filtered, paged, counted, timed."""

from __future__ import annotations

import pytest

from storage import traces
from storage.db import database
from storage.evaluation import replays
from storage.traces import filter_text, labels, queries, spool


@pytest.fixture
def log(ready, whole_trace):
    """Record traces as described and return a connection to ask."""
    connections = []

    def make(*described):
        made = []
        for changes in described:
            trace = whole_trace(**changes)
            assert spool.record(ready, trace) == "spooled"
            made.append(trace.id)
        connections.append(database.connect(ready))
        return connections[-1], made

    yield make
    for connection in connections:
        connection.close()


def test_a_trace_is_found_by_the_start_of_its_id(log):
    db, (one, two) = log({"id": "aaa1"}, {"id": "aab1"})

    assert (queries.find(db, "aaa"), queries.find(db, "aab1")) == (one, two)


def test_bytes_that_are_no_text_name_no_host_and_no_replay(log):
    db, _ = log({"host": "codex"})

    with pytest.raises(queries.UnknownTraceError):
        queries.last(db, host="\udcff")
    with pytest.raises(replays.UnknownReplayError):
        replays.find(db, "\udcff")


def test_an_id_that_begins_another_is_itself(log):
    db, _ = log({"id": "aaa"}, {"id": "aaa1"})

    assert queries.find(db, "aaa") == "aaa"


@pytest.mark.parametrize(
    ("wanted", "why"), [("a", "several"), ("b", "no trace"), ("", "no trace"), ("\ud800", "no trace")]
)
def test_what_names_no_single_trace_is_refused(log, wanted, why):
    db, _ = log({"id": "aaa"}, {"id": "aab"})

    with pytest.raises(queries.UnknownTraceError, match=why):
        queries.find(db, wanted)


@pytest.mark.parametrize(
    ("which", "positions"),
    [
        pytest.param("", [3, 2, 1, 0], id="all, newest first"),
        pytest.param("status:silent", [2], id="status"),
        pytest.param("host:codex", [1], id="host"),
        pytest.param("session:s9", [3], id="session"),
        pytest.param("type:docs project:p", [0], id="project and class"),
        pytest.param('session:"\'; drop table traces"', [], id="no SQL"),
    ],
)
def test_filters(log, which, positions):
    db, ids = log(
        {"at": "2026-01-01T00:00:00.000Z", "task_type": "docs", "project": "p"},
        {"at": "2026-02-01T00:00:00.000Z", "host": "codex"},
        {"at": "2026-03-01T00:00:00.000Z", "status": "silent"},
        {"at": "2026-04-01T00:00:00.000Z", "session_id": "s9"},
    )

    found = queries.matching(db, filter_text.parse(which), limit=10)

    assert [row["id"] for row in found] == [ids[position] for position in positions]


def test_the_next_page_begins_where_the_last_one_ended(log):
    db, ids = log(*[{}] * 5)
    first = queries.matching(db, limit=3)
    second = queries.matching(db, limit=3, before=str(first[-1]["id"]))

    assert [row["id"] for row in (*first, *second)] == ids[::-1]


def test_the_last_trace_is_that_of_the_session_else_of_the_host_else_of_all(log):
    db, ids = log({"session_id": "a"}, {"host": "codex"}, {})

    assert [queries.last(db, session_id="a"), queries.last(db, host="codex"), queries.last(db)] == ids
    with pytest.raises(queries.UnknownTraceError, match="session 'nobody'"):
        queries.last(db, session_id="nobody")


@pytest.mark.conformance("E25")
def test_a_trace_is_shown_with_all_that_was_weighed(log, whole_trace):
    db, (trace_id,) = log({})
    shown = queries.show(db, trace_id)

    assert list(shown)[: len(traces.TABLES["traces"])] == list(traces.TABLES["traces"])
    assert shown["inputs"] == {"skills": ["tdd"], "spent": 0}
    assert shown["topics"] == ["login"]
    assert (shown["uncertain"], shown["partial"]) == (False, False)
    assert shown["scores"][0]["evidence"] == [["fix", 0, 3, 4]]
    assert [item["kept"] for item in shown["items"]] == [True, False]
    assert shown["channels"][0]["kept"] == 1
    assert shown["label"] is None


def test_of_several_labels_the_newest_counts(log):
    db, (trace_id,) = log({})
    for verdict in ("ok", "wrong", "refactor"):
        labels.add(db, trace_id, verdict)

    shown = queries.show(db, trace_id)["label"]
    assert (shown["verdict"], shown["task_type"]) == ("class", "refactor")
    assert db.execute("select count(*) from what_people_said").fetchone()[0] == 1


@pytest.mark.parametrize("verdict", ["ok", "refactor"])
def test_the_same_label_twice_is_one_label(log, verdict):
    db, (trace_id,) = log({})
    first, again = labels.add(db, trace_id, verdict), labels.add(db, trace_id, verdict)

    assert again == first
    assert db.execute("select count(*) from labels").fetchone()[0] == 1


def test_an_export_goes_through_all_pages(log, monkeypatch):
    monkeypatch.setattr(queries, "PAGE_ROWS", 2)
    db, ids = log(*[{}] * 5)

    assert [row["id"] for row in queries.export(db, with_children=True)] == ids[::-1]


def test_stats_count_what_happened(log):
    db, _ = log(
        *[{}] * 4,
        *[{"status": "silent"}] * 3,
        {"status": "error", "error": "boom", "host": "codex", "at": "2026-01-01T00:00:00.000Z"},
        *[{"status": "skipped", "skip_reason": "duplicate"}] * 2,
        *[{"status": "skipped", "skip_reason": "bypass"}] * 10,
    )
    stats = queries.stats(db)

    assert (stats.prompts, stats.by_status) == (20, {"ok": 4, "silent": 3, "skipped": 12, "error": 1})
    assert (stats.failure_rate, stats.silent_share) == (0.05, 3 / 8)
    assert list(stats.skips.items()) == [("bypass", 10), ("duplicate", 2)]
    assert stats.last_seen["codex"] == "2026-01-01T00:00:00.000Z"


def test_percentiles_are_those_of_the_nearest_rank_per_stage_and_in_total(log):
    db, _ = log(*({"latency_ms": float(n), "stages": [("read", n / 10)]} for n in range(1, 101)))
    total, read = queries.stats(db).latencies

    assert (total.stage, total.measurements, total.p50_ms, total.p95_ms, total.p99_ms) == ("total", 100, 50, 95, 99)
    assert (read.stage, read.p50_ms, read.p95_ms, read.p99_ms) == ("read", 5.0, 9.5, 9.9)


def test_stats_of_nothing_are_zero(log):
    db, _ = log()
    stats = queries.stats(db)

    assert (stats.prompts, stats.failure_rate, stats.silent_share, stats.latencies) == (0, 0.0, 0.0, ())


def test_instructions_are_found_by_their_hash(ready, log):
    spool.put_version(ready, "cafe", lambda: "# rules")
    db, _ = log({})

    assert queries.instructions(db, "cafe") == "# rules"
    assert queries.instructions(db, "beef") is None


@pytest.mark.parametrize(
    "text", ["2026", "2026-03", "2026-02-28", "2026-03-31T14", "2026-03-31T14:00:05.1Z", "2026-03Z"]
)
def test_a_date_or_the_beginning_of_one_is_readable(text):
    assert queries.is_date(text)


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-13", "2026-02-30", "2026T10", "2026-03-31T25", "2026-03-31 14:00", "20", "2026-03T10"]
)
def test_anything_else_is_no_date(text):
    assert not queries.is_date(text)


def test_what_the_reader_of_the_rows_meets_is_not_blamed_on_the_database(state):
    with pytest.raises(BrokenPipeError), database.storage_errors(state):
        raise BrokenPipeError
