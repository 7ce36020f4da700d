"""The little language in which a person says which traces are meant."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from storage import traces
from storage.db import database
from storage.traces import labels
from storage.traces.filter_text import FIELDS, SelectionError, completions, parse
from storage.traces.selection import EVERYTHING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

HOUR_US = 3_600_000_000
NOW_S = 1_790_000_000


def put(db: sqlite3.Connection, name: str, *, hours_ago: float = 1, **changed: object) -> None:
    """Store a trace whose prompt begins with its name."""
    trace = traces.Trace()
    trace.id = f"{int(NOW_S * 1_000_000 - hours_ago * HOUR_US):014x}{name.encode().hex():0>10}"[:24]
    trace.prompt, trace.status, trace.task_type = f"{name}: fix the 100% broken export_file", "ok", "debug"
    for column, value in changed.items():
        setattr(trace, column, value)
    for table, rows in traces.flatten(trace).items():
        db.executemany(traces.insertion(table, traces.TABLES[table]), rows)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    state: Path = tmp_path_factory.mktemp("selection")
    with closing(database.connect(str(state))) as db:
        put(db, "a", host="claude", project="github.com/acme/shop", session_id="abc-1", output_tokens=40, latency_ms=9,
            channels=[("code", "timeout", 150.0, 0, 0, 0, "", "")])  # fmt: skip
        put(db, "b", hours_ago=30, task_type="test", latency_ms=25, rules_hash="ab12cd", search_intent="howto",
            project="local-483926", cwd="/home/me/bakery")  # fmt: skip
        put(db, "c", hours_ago=80, status="silent", task_type="chat", guardrails=[("H3", "Verify", 2.0)])
        put(db, "d", origin="test", status="skipped", skip_reason="slash_command")
        put(
            db,
            "e",
            origin="import",
            channels=[("my tool", "ok", 2.0, 0, 0, 0, "", "")],
            scores=[("task_type", "debug", 4.0, [["stack_trace", 0, 3, 4]])],
        )
        for name, verdict in (("a", "ok"), ("b", "ok"), ("b", "wrong"), ("c", "debug")):
            found = db.execute("select id from traces where prompt like :name", {"name": f"{name}:%"}).fetchone()
            labels.add(db, found[0], verdict)
        yield db


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "abce", id="tests are left out"),
        pytest.param("origin:test", "d", id="unless they are named"),
        pytest.param("since:2026Z", "abce", id="a year of UTC"),
        pytest.param("host:\udcff", "", id="bytes that are no text"),
        pytest.param(f"since:{'9' * 400}d", "abce", id="longer ago than a number can say"),
        pytest.param("type:debug", "ae", id="a field"),
        pytest.param("type:test,chat", "bc", id="any of several values"),
        pytest.param("-type:debug", "bc", id="turned round"),
        pytest.param("type:debug origin:import", "e", id="all parts must hold"),
        pytest.param("intent:howto", "b", id="intent"),
        pytest.param("guardrail:H3", "c", id="guardrail"),
        pytest.param("-guardrail:H3", "abe", id="without a guardrail"),
        pytest.param("channel:code", "a", id="a channel"),
        pytest.param('channel:"code timeout"', "a", id="how a channel ended"),
        pytest.param('channel:"code ok"', "", id="not how it ended"),
        pytest.param('channel:"my tool"', "e", id="a channel with a blank in its name"),
        pytest.param("reason:slash_command origin:test", "d", id="why it was skipped"),
        pytest.param("reason:empty origin:test", "", id="not why it was skipped"),
        pytest.param("signal:stack_trace", "e", id="signal"),
        pytest.param("host:claude", "a", id="host"),
        pytest.param("project:shop", "a", id="the end of a project"),
        pytest.param("project:bakery", "b", id="the folder of a project without a remote"),
        pytest.param("guardrail:h3", "c", id="a guardrail in small letters"),
        pytest.param("session:abc", "a", id="the beginning of a session"),
        pytest.param("status:silent", "c", id="status"),
        pytest.param("version:ab", "b", id="the beginning of a version"),
        pytest.param("label:wrong", "b", id="the newest label counts"),
        pytest.param("label:ok", "a", id="an older label does not"),
        pytest.param("label:class", "c", id="another class"),
        pytest.param("label:none", "e", id="no label"),
        pytest.param("label:correct", "a", id="a label that confirms the task type"),
        pytest.param("label:incorrect", "bc", id="a label that contradicts it"),
        pytest.param("should:debug", "c", id="the task type that a label asks for"),
        pytest.param("label:any", "abc", id="any label"),
        pytest.param("ms>20", "b", id="slower than"),
        pytest.param("ms<=9 label:any", "ac", id="at most"),
        pytest.param("tokens>=40", "a", id="tokens"),
        pytest.param("since:2d", "abe", id="since"),
        pytest.param("before:1d", "bc", id="before"),
        pytest.param("shown:yes", "a", id="something was added"),
        pytest.param("shown:no", "bce", id="nothing was added"),
        pytest.param("EXPORT", "abce", id="a word, whatever its case"),
        pytest.param('"broken export"', "abce", id="a phrase"),
        pytest.param("100%", "abce", id="a sign of the pattern language is a letter"),
        pytest.param("export-file", "", id="an underscore is a letter too"),
        pytest.param('-"a: fix"', "bce", id="without a phrase"),
    ],
)
def test_what_a_text_selects(db: sqlite3.Connection, text: str, expected: str) -> None:
    which = parse(text, now=NOW_S)
    rows = db.execute(f"select prompt from traces where {which.where} order by prompt", which.parameters)

    assert "".join(row[0][0] for row in rows) == expected


@pytest.mark.parametrize(
    ("text", "position", "told"),
    [
        pytest.param("ok typ:debug", 3, "did you mean type:?", id="a field that is not there"),
        pytest.param("http://x", 0, "put quotes around words", id="an address"),
        pytest.param("ms:3", 2, "like ms>20", id="the wrong sign"),
        pytest.param("ms>fast", 3, "no number", id="no number"),
        pytest.param("since:soon", 6, "is not a time", id="is not a time"),
        pytest.param("label:maybe", 6, "incorrect, none, any", id="no such value"),
        pytest.param("type:", 5, "no value", id="nothing behind the sign"),
        pytest.param('a "phrase', 2, 'end the phrase with "', id="open quotes"),
        pytest.param("a -", 2, "there is nothing here", id="a lonely minus"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_place_and_a_remedy(text: str, position: int, told: str) -> None:
    with pytest.raises(SelectionError, match=r".") as caught:
        parse(text)

    assert caught.value.position == position
    assert told in str(caught.value)


def test_what_is_typed_never_becomes_sql() -> None:
    hostile = "x'); drop table traces; --"

    assert hostile.split(maxsplit=1)[0] not in parse(f'type:"{hostile}" "{hostile}"').where


def test_an_empty_text_is_everything() -> None:
    assert parse("  ") == EVERYTHING


@pytest.mark.parametrize("field", FIELDS)
def test_the_example_of_every_field_can_be_parsed(field: str) -> None:
    assert parse(FIELDS[field].example).where != EVERYTHING.where


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("gua", ["guardrail:"], id="a field"),
        pytest.param("type:debug -ho", ["type:debug -host:"], id="a field behind others"),
        pytest.param("status:sk", ["status:skipped"], id="a fixed value"),
        pytest.param("type:d", ["type:debug", "type:docs"], id="values that are given"),
        pytest.param("type:debug,d", ["type:debug,docs"], id="a second value"),
        pytest.param("words", [], id="words are not completed"),
    ],
)
def test_what_the_last_part_can_become(text: str, expected: list[str]) -> None:
    assert completions(text, {"type": ("debug", "docs", "test")}) == expected
