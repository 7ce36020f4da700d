"""The store of memories: what is kept, changed, replaced and really gone."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from storage import traces
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Memory
from storage.traces import spool


@pytest.fixture
def db(tmp_path):
    with closing(database.connect(str(tmp_path / "state"))) as opened:
        yield opened


def found(db, words):
    return [row[0] for row in db.execute("select m.content from memories_fts f join memories m on m.number = f.rowid "
                                         "where memories_fts match ? order by rank", (words,))]  # fmt: skip


def test_a_memory_is_kept_and_found_by_its_words(db):
    made = memories.add(db, Memory("Sessions hold ids only", project="p", namespace="decisions", tags=["auth"]))

    kept = memories.get(db, made)
    assert (kept.content, kept.namespace, kept.tags, kept.reviewed) == (
        "Sessions hold ids only", "decisions", ["auth"], True,
    )  # fmt: skip
    assert len(made) == 12
    assert found(db, "session") == found(db, "auth") == ["Sessions hold ids only"]


def test_the_parts_of_an_identifier_are_found(db):
    memories.add(db, Memory("parseHTTPHeader drops the charset", project="p"))

    assert found(db, "header") == ["parseHTTPHeader drops the charset"]


def test_the_same_key_is_brought_up_to_date_and_stays_approved(db):
    first = memories.add(db, Memory("Use argon2", project="p", origin="import:notes", key="auth.md#1", reviewed=False))
    memories.approve(db, first)
    second = memories.add(db, Memory("Use scrypt", project="p", origin="import:notes", key="auth.md#1", reviewed=False))

    assert first == second
    assert memories.get(db, first).reviewed
    assert (found(db, "scrypt"), found(db, "argon2")) == (["Use scrypt"], [])


def test_replacing_tells_what_was_added_changed_and_removed(db):
    def notes(*texts):
        return [Memory(text, project="", source=f"docs/{name}", key=name) for name, text in texts]

    before = memories.replace_all(db, "p", "import:notes", "docs/", notes(("a", "one"), ("b", "two"), ("c", "three")))
    after = memories.replace_all(db, "p", "import:notes", "docs/", notes(("a", "one"), ("b", "2"), ("d", "four")))

    assert (before, after) == ((3, 0, 0), (1, 1, 1))
    assert {memory.content for memory in memories.listing(db, project="p")} == {"one", "2", "four"}


def test_replacing_leaves_other_sources_alone(db):
    memories.add(db, Memory("from elsewhere", project="p", origin="import:notes", source="wiki/x"))
    memories.replace_all(db, "p", "import:notes", "docs/", [])

    assert [memory.content for memory in memories.listing(db)] == ["from elsewhere"]


def test_forgetting_leaves_no_byte_behind(db, tmp_path):
    made = memories.add(db, Memory("the zanzibar incident", project="p"))
    assert memories.forget(db, [made, "m-unknown"]) == 1
    db.execute("pragma wal_checkpoint(truncate)").fetchall()

    left = b"".join((tmp_path / "state" / name).read_bytes() for name in os.listdir(tmp_path / "state")
                    if name.startswith("enricher.db"))  # fmt: skip
    assert b"zanzibar" not in left
    assert b"zanzi" not in left


def test_a_given_id_is_kept_and_a_taken_one_replaced(db):
    assert memories.add(db, Memory("one", project="p", id="turn-1")) == "turn-1"
    other = memories.add(db, Memory("two", project="q", id="turn-1"))

    assert other != "turn-1"
    assert memories.get(db, other).content == "two"


def test_an_unknown_namespace_is_named(db):
    with pytest.raises(ValueError, match="no namespace 'wishes': one of decisions"):
        memories.add(db, Memory("x", project="p", namespace="wishes"))


def test_pages_follow_each_other(db):
    for at in range(5):
        memories.add(db, Memory(f"memory {at}", project="p", created_at=f"2026-01-0{at + 1}"))
    first = memories.listing(db, limit=2)
    second = memories.listing(db, limit=2, after=first[-1].id)

    assert [memory.content for memory in first + second] == ["memory 4", "memory 3", "memory 2", "memory 1"]


def test_a_memory_that_a_prompt_left_in_the_spool_is_taken_in_and_found(tmp_path):
    state = str(tmp_path / "state")
    trace = traces.Trace()
    trace.memories = [
        ("m-0123456789", "decisions", "we deploy on fridays", "[]", "p", "", "", "captured", "k", "2026-11-21",
         "2026-11-21", 0, "", ""),
    ]  # fmt: skip
    assert spool.record(state, trace) == "spooled"

    with closing(database.connect(state)) as db:
        assert found(db, "deployed") == ["we deploy on fridays"]
        assert not memories.get(db, "m-0123456789").reviewed
        assert db.execute("select memories from memory_counts where project = 'p'").fetchone()[0] == 1


def test_an_id_that_is_no_text_names_no_memory(db):
    assert memories.get(db, "\udcff") is None
    assert memories.approve(db, "\udcff") is False
    assert memories.forget(db, ["\udcff"]) == 0
