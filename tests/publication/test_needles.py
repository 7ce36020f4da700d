"""Needles in every text column of every table of a live history: none is in a snapshot, nor on a page that shows it.

Tables, columns and allowed values are read from the schema, so a table or column that is added is searched as well.
"""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest
from served_history import over

from storage.db import database
from workbench.web.native import description
from workbench.web.snapshot import columns
from workbench.web.snapshot import writing as snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SESSION = "3f2a9c51-7b1e-4c1d-9a55-0123456789ab"
NEEDLES = ("quark", "zoey", "zq-app", SECRET.lower(), SESSION)
"""Login, host, family name, e-mail domain; first name; a folder that no prompt was typed in; a secret; a session."""
HAYSTACK = (
    'crash of %s at File "/srv/zq-app/worker.py", line 3, for Quark (zoeyquark@quarkbox, joe@quark.example, Zoey)'
    f" in /home/zoeyquark/shop/x.py with {SECRET} in session {SESSION}"
)
IDS = ("0123456789abcdef01234567", HAYSTACK % "id")
"""What rows are known by: an id as the product makes it, and one of another program."""
OUTCOME = {
    **dict.fromkeys(("task_type", "search_intent", "workflow", "approach", "text"), HAYSTACK),
    "guardrails": [HAYSTACK], "unknown": [HAYSTACK], "items": [[HAYSTACK, HAYSTACK]], "shown": True, "tokens": 1,
}  # fmt: skip
LIKE_IT_IS = {
    ("coverage_measured", "clusters"): [{"terms": ["quark", "zoey", "worker"], "prompts": 2, "examples": [IDS[0]]}],
    ("coverage_measured", "overlaps"): [[0]],
    ("coverage_measured", "labels"): {HAYSTACK: 1},
    ("replays", "figures"): {
        "concerned": 1, "share": None, "tokens_per_session": [1, 1], "silent": [0, 0], "unknown": 0,
        "by_kind": {HAYSTACK: 1}, "approved": 1, "regressed": [HAYSTACK], "gained": 0, "lost": 0,
    },
    ("replay_results", "before"): OUTCOME,
    ("replay_results", "after"): {**OUTCOME, "unknown": [], "text": f"{HAYSTACK}, too"},
    ("rule_coverage", "examples"): [HAYSTACK],
    ("trace_scores", "evidence"): [[HAYSTACK, 0, 5, 1]],
    ("traces", "topics"): ["quark", "worker"],
}  # fmt: skip
"""JSON documents whose form the pages rely on."""


class Column(NamedTuple):
    table: str
    name: str
    kind: str
    words: list[str]
    is_json: bool
    is_key: bool

    @property
    def mark(self) -> str:
        """A word that stands in this column's needle only."""
        return f"xq{self.table}{self.name}qx".replace("_", "").replace("-", "")

    def value(self, identity: str) -> object:
        if self.words:
            return self.words[0]
        if self.kind == "blob":
            return (HAYSTACK % self.mark).encode()
        if self.kind not in ("text", ""):
            return 1
        if self.is_key:
            return identity
        if (self.table, self.name) == ("traces", "session_id"):
            return SESSION
        if self.is_json:
            filled = LIKE_IT_IS.get((self.table, self.name), {HAYSTACK: [HAYSTACK]})
            return json.dumps(filled).replace("%s", self.mark)
        day = "2026-09-01 " if self.name == "at" else ""
        return day + HAYSTACK % self.mark


def tables(db: sqlite3.Connection, *kinds: str) -> list[str]:
    """Return the tables of these kinds, those that others refer to first."""
    query = """
        select list.name from pragma_table_list as list join sqlite_master using (name)
        where list.schema = 'main' and list.type in (select value from json_each(:kinds)) order by sqlite_master.rowid
    """
    return [row[0] for row in db.execute(query, {"kinds": json.dumps(kinds)})]


def columns_of(db: sqlite3.Connection, table: str) -> list[Column]:
    made = str(db.execute("select sql from sqlite_master where name = :name", {"name": table}).fetchone()[0])
    allowed = {one: re.findall("'([^']*)'", words) for one, words in re.findall(r"check \((\w+) in \(([^)]*)\)", made)}
    keys = {row[3] for row in db.execute(f'pragma foreign_key_list("{table}")')}
    if table in columns.COLUMNS:
        keys |= {row[1] for row in db.execute(f'pragma table_info("{table}")') if row[5] == 1}
    return [
        Column(table, name, kind.lower(), allowed.get(name, []), f"json_valid({name})" in made, name in keys)
        for _at, name, kind, *_rest in db.execute(f'pragma table_info("{table}")')
    ]


def plant(db: sqlite3.Connection) -> list[Column]:
    """Put a row for each id into every table that takes rows, and return the columns."""
    db.execute("pragma foreign_keys = off")
    known = {table: columns_of(db, table) for table in tables(db, "table") if not table.startswith("sqlite_")}
    for table, own in known.items():
        db.execute(f'delete from "{table}"') if table == "rolled_up" else None
        for number, identity in enumerate(IDS, 1):
            row = {one.name: one.value(identity) for one in own}
            row |= {one.name: number for one in own if one.name in ("number", "position", "id") and one.kind != "text"}
            if table == "labels":
                row |= {"verdict": "class"}
            if table == "parallel_attempts":
                row |= {"num_agents": 2}
            if table == "rolled_up":
                row = {"up_to": 0, "trace_id": ""}
            marks = ", ".join("?" * len(row))
            names = ", ".join(f'"{name}"' for name in row)
            db.execute(f'insert or replace into "{table}" ({names}) values ({marks})', [*row.values()])
    db.execute("delete from rolled_up where rowid > 1")
    return [one for own in known.values() for one in own]


class Planted(NamedTuple):
    state: Path
    columns: list[Column]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    state = tmp_path_factory.mktemp("planted") / "state"
    with closing(database.connect(str(state))) as db:
        return Planted(state, plant(db))


@pytest.fixture(autouse=True)
def _who_publishes(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    (planted.state / "gitconfig").write_text("[user]\nname = Zoey Quark\nemail = zoey@quark.example\n")
    for name, value in (("HOME", "/home/zoeyquark"), ("USER", "zoeyquark")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(planted.state / "gitconfig"))
    monkeypatch.setattr(socket, "gethostname", lambda: "quarkbox")


@pytest.fixture(params=[columns.REDACTED, columns.HASH])
def file(planted: Planted, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    snapshot.write(str(planted.state), str(tmp_path / "history.db"), text=request.param)
    return tmp_path / "history.db"


def values(file: Path) -> Iterator[tuple[str, str]]:
    """Yield where a value stands, and the value: an index of words cuts them, a long text is spread over pages."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("create virtual table temp.said using fts5vocab (main, prompts_fts, row)")
        yield from (("prompts_fts", str(row[0])) for row in db.execute("select term from temp.said"))
        for table in tables(db, "table", "shadow", "virtual"):
            cursor = db.execute(f'select * from "{table}"')
            for row in cursor:
                yield from (
                    (f"{table}.{one[0]}", str(value)) for one, value in zip(cursor.description, row, strict=True)
                )


def test_every_table_is_published_by_decision(planted: Planted) -> None:
    with closing(database.connect(str(planted.state))) as db:
        found = {table for table in tables(db, "table", "virtual") if not table.startswith("sqlite_")}

    assert found == {*columns.COLUMNS, *columns.BUILT, *columns.NOT_PUBLISHED}


def test_every_text_column_of_a_published_table_holds_a_needle(planted: Planted) -> None:
    with closing(database.connect(str(planted.state))) as db:
        empty = {
            f"{one.table}.{one.name}"
            for one in planted.columns
            if one.table in columns.COLUMNS and one.kind == "text" and not one.words
            and not any(
                needle in str(row[0]).lower()
                for row in db.execute(f'select "{one.name}" from "{one.table}"') for needle in NEEDLES
            )
        }  # fmt: skip

    assert empty == {"coverage_measured.overlaps"}  # a list of numbers


def test_no_needle_is_in_the_file(file: Path) -> None:
    content = file.read_bytes().lower()

    assert {where for where, value in values(file) for one in NEEDLES if one in value.lower()} == set()
    assert [one for one in NEEDLES if one.encode() in content] == []


def test_what_is_not_published_left_no_word_in_the_file(planted: Planted, file: Path) -> None:
    content, text = file.read_bytes().lower(), snapshot.read(str(file)).text
    left_out = [
        one.mark
        for one in planted.columns
        if one.table in columns.NOT_PUBLISHED
        or (one.table in columns.COLUMNS and "{c}" not in getattr(columns.COLUMNS[one.table][one.name], text))
    ]

    assert len(left_out) > 40
    assert [mark for mark in left_out if mark.encode() in content] == []


def test_a_redacted_snapshot_keeps_what_is_no_needle(planted: Planted, tmp_path: Path) -> None:
    snapshot.write(str(planted.state), str(tmp_path / "s.db"))
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        prompt = db.execute("select prompt from traces where id = ?", IDS[:1]).fetchone()[0]
        terms = db.execute("select json_extract(clusters, '$[0].terms') from coverage_measured").fetchone()[0]

    assert 'File "[folder]/worker.py", line 3, for [name]' in prompt
    assert json.loads(terms) == ["worker"]


async def test_no_needle_is_on_a_page(file: Path) -> None:
    served = await over(file, is_immutable=True)
    with closing(sqlite3.connect(file)) as db:
        known = [*tables(db, "table", "virtual", "view"), *description.queries()]
        session = db.execute("select session_id from traces").fetchone()[0]
        version, replay = (db.execute(f"select {one}").fetchone()[0] for one in (
            "rules_hash from coverage_measured", "id from replays"))  # fmt: skip
    ours = ["", "/traces", f"/trace/{IDS[0]}", f"/session/{session}", "/compare", f"/compare/{replay}", "/coverage",
            "/instructions", f"/instructions/{version}"]  # fmt: skip
    asked = [f"/-/enricher{place}{form}" for place in ours for form in ("", ".json", ".csv")]
    asked += [f"/history/{name}{form}" for name in known for form in ("", ".json", ".csv")]
    asked += [
        "/history/traces?_search=worker",
        "/history.json",
        "/-/metadata.json",
        f"/-/enricher/trace/{IDS[0]}?all=1",
    ]
    answers = {one: await served.client.get(one) for one in asked}
    shown = {one: answer.text.lower() for one, answer in answers.items()}

    assert "worker" in shown["/-/enricher/coverage"] or snapshot.read(str(file)).text == columns.HASH
    assert [one for one, answer in answers.items() if answer.status_code >= 500] == []
    assert sum(answer.status_code == 200 for answer in answers.values()) > len(asked) // 2
    assert {one for one, text in shown.items() for needle in NEEDLES if needle in text} == set()
