"""Topics of memories: where they come from, what is filed under them, and that nothing is lost on the way."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

import enricher.interfaces.library.topics
from enricher.interfaces.bench.topics import _fill
from enricher.interfaces.library import Library
from enricher.interfaces.library.topics import TopicIndexService, TopicInfo, keywords, normalise
from storage.db import database
from storage.memory import memories
from storage.memory.memories import Note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator import Account


def note(identity: str, namespace: str = "context", tags: tuple[str, ...] = (), content: str = "") -> Note:
    return Note(identity, namespace, list(tags), content)


@pytest.fixture
def index() -> TopicIndexService:
    built = TopicIndexService()
    built.build(
        [
            note("m-1", "patterns", ("Error-Handling", "x"), "rust rust async"),
            note("m-2", "decisions", ("x",), "rust for the importer"),
            note("m-3", "decisions", (), "the importer reads rows"),
        ]
    )
    return built


@pytest.mark.conformance("S1-3.13a")
def test_the_index_is_exported() -> None:
    assert {"TopicIndexService", "TopicInfo"} <= set(enricher.interfaces.library.topics.__all__)


@pytest.mark.conformance("S1-3.1a")
def test_a_topic_has_a_name_a_count_and_namespaces(index: TopicIndexService) -> None:
    first = index.list()[0].to_dict()

    assert json.loads(json.dumps(first)) == {"name": "decisions", "memory_count": 2, "namespaces": ["decisions"]}


@pytest.mark.conformance("S1-3.2a", "S1-3.4a")
def test_a_topic_has_each_of_its_memories_once(index: TopicIndexService) -> None:
    assert index.get("x") == ["m-1", "m-2"]


@pytest.mark.conformance("S1-3.2b")
def test_the_index_knows_when_it_was_refreshed(index: TopicIndexService) -> None:
    assert TopicIndexService().last_refresh is None
    assert index.last_refresh is not None
    assert abs(time.time() - _seconds(index.last_refresh)) < 60


@pytest.mark.conformance("S1-3.3a", "S1-3.3b", "S1-3.3c")
@pytest.mark.parametrize(
    ("topic", "ids"),
    [
        pytest.param("patterns", ["m-1"], id="namespace"),
        pytest.param("error-handling", ["m-1"], id="tag"),
        pytest.param("rust", ["m-1", "m-2"], id="content"),
    ],
)
def test_topics_come_from_namespace_tags_and_content_of_the_store(
    remember: Callable[..., str], library: Library, topic: str, ids: list[str]
) -> None:
    names = {
        remember("rust rust async", "patterns", tags=["Error-Handling"]): "m-1",
        remember("rust for the importer", "decisions"): "m-2",
    }

    assert [names[one] for one in library.topics().get(topic)] == ids


@pytest.mark.conformance("S1-3.4b")
def test_topics_are_found_in_any_spelling(index: TopicIndexService) -> None:
    assert index.get("RUST") == index.get("rust") != []
    assert index.info("RUST") == TopicInfo("rust", 2, ["decisions", "patterns"])
    assert index.get("error_handling") == index.get("Error Handling") == ["m-1"]


@pytest.mark.conformance("S1-3.4c")
def test_an_unknown_topic_has_no_memories(index: TopicIndexService) -> None:
    assert (index.get("nope"), index.get(""), index.info("nope")) == ([], [], None)


@pytest.mark.conformance("S1-3.5a", "S1-3.5b")
def test_topics_are_listed_by_size_then_name(index: TopicIndexService) -> None:
    listed = index.list()

    assert listed == sorted(listed, key=lambda one: (-one.memory_count, one.name))
    assert [one.name for one in listed[:4]] == ["decisions", "importer", "rust", "x"]


@pytest.mark.conformance("S1-3.5c")
def test_a_topic_lists_every_namespace_it_occurs_in(index: TopicIndexService) -> None:
    assert [one.namespaces for one in index.list() if one.name == "x"] == [["decisions", "patterns"]]


@pytest.mark.conformance("S1-3.6a")
def test_what_is_added_is_listed_without_a_rebuild(index: TopicIndexService) -> None:
    index.add(note("m-4", "blockers", ("Queue",), "the broker drops messages"))

    added = {one.name for one in index.list() if index.get(one.name) == ["m-4"]}
    assert added == {"blockers", "queue", "broker", "drops", "messages"}


@pytest.mark.conformance("S1-3.6b")
def test_a_bad_record_changes_nothing_and_the_same_one_counts_once(index: TopicIndexService) -> None:
    before = index.list()

    with pytest.raises(AttributeError):
        index.add(note("m-9", "patterns", ("fine", None), "text"))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        index.build([note("m-8"), object()])  # type: ignore[list-item]
    index.add(note("m-2", "decisions", ("x",), "rust for the importer"))

    assert index.list() == before


def test_a_changed_memory_leaves_its_old_topics(index: TopicIndexService) -> None:
    index.add(note("m-1", "learnings", (), "kafka"))

    assert (index.get("error-handling"), index.get("kafka"), index.info("patterns")) == ([], ["m-1"], None)


@pytest.mark.conformance("S1-3.2c")
def test_eight_threads_add_and_list_without_losing_one() -> None:
    index = TopicIndexService()
    failures: list[Exception] = []

    def work(own: int) -> None:
        try:
            for number in range(125):
                index.add(note(f"m-{own}-{number}", "patterns", (f"thread-{own}", "all"), "kafka broker"))
                index.list(limit=5)
                index.related("all")
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failures
    assert {one.name: one.memory_count for one in index.list()} == {
        **dict.fromkeys(("all", "broker", "kafka", "patterns"), 1000),
        **{f"thread-{own}": 125 for own in range(8)},
    }


class IdOfAThreadThatStops(str):
    """An id that lets the other threads go on wherever the index looks it up."""

    __slots__ = ()

    def __hash__(self) -> int:
        time.sleep(0.0002)
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


@pytest.mark.conformance("S1-3.2c")
def test_threads_that_replace_the_same_memories_leave_each_in_the_topics_of_one_version() -> None:
    """A thread is interrupted in the middle of each change; without the lock two versions of a memory mix."""
    index, same = TopicIndexService(), ("m-0", "m-1", "m-2")
    failures: list[Exception] = []

    def work(own: int) -> None:
        try:
            for _round in range(4):
                for identity in same:
                    index.add(note(IdOfAThreadThatStops(identity), "patterns", (f"thread-{own}",), "kafka"))
                    index.list()
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    listed = {one.name: one.memory_count for one in index.list()}
    assert not failures
    assert (listed.pop("patterns"), listed.pop("kafka")) == (3, 3)
    assert sum(listed.values()) == 3, listed


@pytest.mark.conformance("S1-3.3d", "S1-3.6c")
def test_building_from_a_thousand_and_adding_one_are_quick(tmp_path: Path) -> None:
    library = Library(str(tmp_path), state=str(tmp_path / "state"))
    _fill(library, 1000)

    built_s = min(_cpu_s(library.build) for _ in range(5))
    index = library.topics()
    assert built_s < 0.1
    assert index.memory_count == 1000
    added_s = min(
        _cpu_s(lambda at=at: index.add(note(f"m-{at}", tags=(f"tag {at}",), content="a few words")))  # type: ignore[misc]
        for at in range(20)
    )
    assert added_s < 0.005


def test_the_index_follows_what_other_processes_write(remember: Callable[..., str], library: Library) -> None:
    first, second = remember("kafka broker", tags=["queue"]), remember("redis cache", tags=["queue"])
    assert library.topics().get("queue") == [first, second]

    remember("kafka broker", tags=["stream"])
    with closing(database.connect(library.state)) as db:
        memories.forget(db, [second])

    assert (library.topics().get("queue"), library.topics().get("stream")) == ([], [first])


def test_strangers_and_what_was_superseded_are_not_indexed(remember: Callable[..., str], library: Library) -> None:
    remember("kafka of another project", project="github.com/other/one")
    shared = remember("kafka for everybody", project=memories.SHARED)
    remember("kafka as it was", superseded_by=shared)

    assert library.topics().get("kafka") == [shared]


def test_a_damaged_database_is_told_in_a_sentence(account: Account) -> None:
    account.write("state/enricher.db", b"SQLite format 3\0" + b"\xff" * 4096)

    assert json.loads(account.cli("topics", "--json"))["topics"] == []
    assert "damaged" in account.log()[0]["reason"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("rust rust async", ["rust", "async"], id="the frequent first"),
        pytest.param("beta alpha beta alpha gamma", ["beta", "alpha", "gamma"], id="equals as mentioned"),
        pytest.param("The session_cookie is set in app/auth.py.", ["session-cookie", "app", "auth.py"], id="names"),
        pytest.param("go is ok, it's 42 and 3rd", [], id="short, numbers, stop-words"),
        pytest.param("Größe der Übertragung", ["größe", "der", "übertragung"], id="letters of any language"),
        pytest.param("x" * 31 + " " + "y" * 30, ["y" * 30], id="at most 30 characters"),
        pytest.param("one two red green blue pink cyan grey", ["red", "green", "blue", "pink", "cyan"], id="five"),
    ],
)  # fmt: skip
def test_keywords_of_a_text(text: str, found: list[str]) -> None:
    assert keywords(text) == found


@given(some.text())
def test_a_normalised_topic_stays_as_it_is(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once
    assert len(once) <= 60


@given(some.text(max_size=200))
def test_no_text_breaks_the_keywords(text: str) -> None:
    found = keywords(text)

    assert len(found) == len(set(found)) <= 5
    assert all(3 <= len(word) <= 30 for word in found)


def _cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment).timestamp()
