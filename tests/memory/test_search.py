"""What a search finds, in which order, and what it never shows."""

from __future__ import annotations

from contextlib import closing

import pytest

from storage.db import database
from storage.memory import memories, recall
from storage.memory.memories import Memory
from storage.memory.stemming import stem

NOW = 1_795_000_000.0  # 2026-11-18
FILLING = (
    "Deploys run on Fridays after the standup", "The invoice export writes UTF-8 with a byte order mark",
    "Retries use exponential backoff", "Images are resized by a worker", "Feature flags live in flags.toml",
)  # fmt: skip


@pytest.fixture
def db(tmp_path):
    with closing(database.connect(str(tmp_path / "state"))) as opened:
        for text in FILLING:
            memories.add(opened, Memory(text, project="p", created_at="2026-01-01"))
        yield opened


def kept(db, text, **fields):
    return memories.add(db, Memory(text, **{"project": "p", "created_at": "2026-01-01", **fields}))


def found(db, text, **asked):
    return recall.search(db, text, **{"project": "p", "now": NOW, **asked})


@pytest.mark.parametrize(
    ("content", "question"),
    [
        pytest.param("Sessions are stored in redis", "where do we store a session?", id="stemming"),
        pytest.param("Anna went to Lisbon", "when does anna go to lisbon", id="irregular forms"),
        pytest.param("parseHTTPHeader drops the charset", "which header parser drops it", id="camel case"),
        pytest.param("parseHTTPHeader drops the charset", "header", id="camel case alone"),
        pytest.param("Anna adopted a dog", "what did anna do in march 2019?", id="the month"),
        pytest.param("the retry_limit of fetch_feed is three", "what is the retry limit", id="snake case"),
        pytest.param("all timestamps have a timezone", "time zone of timestamps", id="compounds"),
        pytest.param("the database runs on port 5433", "which port does the db have", id="abbreviations"),
        pytest.param("kubernetes restarts the pod", "why does k8s restart it", id="numeronyms"),
        pytest.param("the scheduler skips leap seconds", "the schedluer", id="a misspelt word"),
        pytest.param("Größe der Warteschlange ist 50", "größe der warteschlange", id="letters beyond ASCII"),
        pytest.param("see docs/adr/0007-cookies.md", "adr cookies", id="paths"),
    ],
)
def test_a_question_finds_its_memory(db, content, question):
    kept(db, content, created_at="2019-03-09")

    assert [hit.content for hit in found(db, question)][:1] == [content]


def test_stop_words_alone_find_nothing(db):
    kept(db, "what is the way to do it")

    assert found(db, "what is the way to do it?") == []


def test_another_project_sees_nothing_and_what_is_shared_is_seen(db):
    kept(db, "the billing token lives in vault", project="github.com/o/secret")
    shared = kept(db, "billing tokens expire monthly", project="shared")

    assert [hit.id for hit in found(db, "billing token")] == [shared]
    assert [hit.id for hit in found(db, "billing token", project="github.com/o/other")] == [shared]


def test_a_small_project_is_found_beside_a_large_one(db):
    for at in range(300):
        kept(db, f"cache entry {at} of the cache", project="large")
    small = kept(db, "the cache of thumbnails is never emptied and grows, says the long note of a small project")

    assert [hit.id for hit in found(db, "cache")] == [small]


def test_the_newer_of_two_equal_memories_comes_first(db):
    old = kept(db, "the queue drops jobs", key="a", created_at="2020-05-01")
    new = kept(db, "the queue drops jobs", key="b", created_at="2026-11-01T10:00:00Z")

    assert [hit.id for hit in found(db, "queue drops")] == [new, old]


@pytest.mark.parametrize(
    "head", ["Anna: ", "Anna Berg: ", "[3 May 2023] Anna: ", "**Anna**: ", "[Anna]: ", "Anna (3 May): "]
)
def test_who_speaks_comes_before_who_is_spoken_of(db, head):
    said = kept(db, f"{head}the violin is broken", created_at="2024-01-01")
    heard = kept(db, "Carl: violin, Anna", created_at="2024-01-02")

    assert [hit.id for hit in found(db, "what did Anna say about the violin?")] == [said, heard]


def test_what_nobody_approved_ranks_lower_and_what_was_superseded_lowest(db):
    late = kept(db, "the queue drops jobs", key="a", superseded_by="m-0000000000")
    raw = kept(db, "the queue drops jobs", key="b", reviewed=False)
    read = kept(db, "the queue drops jobs", key="c")
    hits = found(db, "queue drops")

    assert [hit.id for hit in hits] == [read, raw, late]
    assert [bool(hit.superseded) for hit in hits] == [False, False, True]


def test_what_is_about_a_folder_is_found_in_it_and_from_above_but_not_beside_it(db):
    scoped = kept(db, "amounts are in cents", path_prefix="services/pay")
    scores = {place: [hit.score for hit in found(db, "amounts in cents", cwd_prefix=place) if hit.id == scoped]
              for place in ("services/pay", "services/pay/api", "", "services", "services/payroll", "web")}  # fmt: skip

    assert scores["services/pay"] == scores["services/pay/api"] > scores[""] == scores["services"] > []
    assert scores["services/payroll"] == scores["web"] == []


def test_scores_stay_between_0_and_1_whatever_the_weights(db):
    for at in range(30):
        kept(db, "redis cache redis cache redis", namespace="patterns", key=str(at))
    hits = found(db, "redis cache", weights={"patterns": 1.5}, limit=30)

    assert len(hits) == 30
    assert all(0.0 < hit.raw < hit.score <= 1.0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize(
    "text",
    ["", "???", '" OR 1=1 --', "NEAR(a b)", "content:x", "a\x00b", "\ud800", "*", "x" * 100_000, "cache " * 50_000,
     "-", "^redis", "AND OR NOT", "\u202eredis"],
)  # fmt: skip
def test_no_question_breaks_the_search(db, text):
    assert isinstance(found(db, text), list)


def test_the_stemmer_is_that_of_sqlite(db):
    endings = "ational tional enci anci izer logi bli entli ousli alli eli ization ation ator iveness fulness ousness"
    endings += " alism biliti aliti iviti icate ative alize iciti ical ful ness ement ance ence able ible ment ant ent"
    beginnings = "tr rel comput hop hopp gener adjust vi fil siz plast cont feu man trou opera a be"
    endings += " ion ism ate iti ous ive ize al er ic ou ed ing eed ies s sses y e ll sion tion"
    said = {begin + end for end in endings.split() for begin in beginnings.split()}
    db.execute("create virtual table said using fts5 (word, tokenize = 'porter unicode61')")
    db.execute("create virtual table stems using fts5vocab (said, instance)")
    listed = sorted(said)
    db.executemany("insert into said (rowid, word) values (?, ?)", enumerate(listed))

    theirs = {listed[at]: term for term, at in db.execute("select term, doc from stems")}
    assert {word: stem(word) for word in listed} == theirs
