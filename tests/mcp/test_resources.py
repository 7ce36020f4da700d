"""What stands at the addresses of the memory, read by the installed command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from enricher.home import project_root
from enricher.interfaces.compat.intent import SearchIntentType
from enricher.interfaces.compat.recall import Recall, SearchContextBuilder
from enricher.sources.uris import memory_uri

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Account


@pytest.fixture
def read(account: Account) -> Callable[[str], dict[str, Any]]:
    return lambda uri: json.loads(account.cli("resources", "read", uri, "--json"))


@pytest.fixture
def filled(remember: Callable[..., str]) -> dict[str, str]:
    return {
        "cookie": remember("the session cookie holds ids only, auth reads the rest", "decisions", tags=["auth"]),
        "retry": remember("auth tokens are retried twice before a login", "patterns", tags=["auth", "Retry_Policy"]),
        "broker": remember("the broker drops messages above 1 MB", "blockers", tags=["queue"]),
    }


@pytest.mark.conformance("S1-3.8a")
def test_the_addresses_are_listed(account: Account) -> None:
    listed = {one["uri"] for one in json.loads(account.cli("resources", "list", "--json"))["resources"]}

    assert {"enricher://search/{query}", "enricher://topics", "enricher://topics/{topic}"} <= listed
    assert listed == {line.split()[0] for line in account.cli("resources", "list").splitlines()}


@pytest.mark.conformance("S1-3.9a", "S1-3.9b", "S1-3.9c")
@pytest.mark.parametrize("scheme", ["enricher", "subcog"])
def test_a_search_has_memories_with_scores_and_topics(
    filled: dict[str, str], read: Callable[[str], dict[str, Any]], scheme: str
) -> None:
    found = read(f"{scheme}://search/session%20cookie")

    first = found["memories"][0]
    assert (first["id"], first["namespace"]) == (filled["cookie"], "decisions")
    assert first["preview"].startswith("the session cookie")
    assert 0 < first["score"] <= 1.5
    assert found["topics"] == ["session", "cookie"]
    assert found["count"] == len(found["memories"])


@pytest.mark.conformance("S1-3.10a", "S1-3.10b", "S1-3.10c")
def test_the_topics_are_listed_with_their_number_and_age(
    filled: dict[str, str], read: Callable[[str], dict[str, Any]]
) -> None:
    found = read("enricher://topics")

    assert filled
    assert found["topics"][0] == {
        "name": "auth", "memory_count": 2, "namespaces": ["decisions", "patterns"], "uri": "enricher://topics/auth",
    }  # fmt: skip
    assert found["count"] == found["total"] == len(found["topics"])
    assert found["last_indexed"][:2] == "20"
    assert found["last_indexed"].endswith("Z")


@pytest.mark.conformance("S1-3.11a", "S1-3.11b")
def test_a_topic_has_full_memories_and_its_companions(
    filled: dict[str, str], read: Callable[[str], dict[str, Any]]
) -> None:
    found = read("enricher://topics/Retry%20policy")

    assert [(one["id"], one["content"]) for one in found["memories"]] == [
        (filled["retry"], "auth tokens are retried twice before a login")
    ]
    assert {"auth", "patterns"} <= {one["name"] for one in found["related_topics"]}


@pytest.mark.conformance("S1-3.16a", "S1-6.14b")
def test_every_resource_is_json_and_every_address_in_it_can_be_read(
    filled: dict[str, str], read: Callable[[str], dict[str, Any]]
) -> None:
    pages = [read(uri) for uri in ("enricher://search/auth", "enricher://topics", "enricher://topics/auth")]

    named = {pages[0]["memories"][0]["uri"], pages[1]["topics"][1]["uri"], pages[2]["memories"][0]["uri"]}
    named |= set(pages[0]["suggested_resources"])
    assert all(read(uri) for uri in named)
    assert read(f"enricher://memory/{filled['broker']}")["content"] == "the broker drops messages above 1 MB"


@pytest.mark.conformance("S1-3.16b", "S1-3.12c")
def test_an_unknown_topic_and_an_empty_store_are_empty(account: Account, read: Callable[[str], dict[str, Any]]) -> None:
    unknown, topics, search = read("enricher://topics/nope"), read("enricher://topics"), read("enricher://search/nope")

    assert (unknown["memories"], unknown["related_topics"]) == ([], [])
    assert (topics["count"], topics["topics"]) == (0, [])
    assert search["memories"] == []
    assert "no topics" in account.cli("topics")


@pytest.mark.conformance("S1-2.7a")
def test_the_id_of_an_injected_memory_is_resolved(
    account: Account, filled: dict[str, str], read: Callable[[str], dict[str, Any]]
) -> None:
    recall = Recall(str(account.project), state=str(account.state))

    injected = SearchContextBuilder(recall=recall).build_context(None, query="session cookie").injected_memories

    assert injected[0].id == filled["cookie"]
    assert read(memory_uri(injected[0].id))["content"].startswith("the session cookie holds ids only")


@pytest.mark.parametrize(
    ("uri", "said"),
    [("http://topics", "enricher://search/{query}"), ("enricher://memory/m-nope", "no memory 'm-nope'")],
)
def test_a_wrong_address_is_told_with_a_remedy(account: Account, uri: str, said: str) -> None:
    assert said in account.cli("resources", "read", uri, exit_code=1)


def test_memories_of_another_project_cannot_be_read(account: Account, remember: Callable[..., str]) -> None:
    foreign = remember("kafka of another project", tags=["kafka"], project="github.com/other/one")

    assert "no memory" in account.cli("resources", "read", f"enricher://memory/{foreign}", exit_code=1)
    assert json.loads(account.cli("topics", "kafka", "--json"))["memories"] == []
    assert json.loads(account.cli("resources", "read", "enricher://search/kafka", "--json"))["memories"] == []


def test_topics_are_shown_to_a_person(account: Account, filled: dict[str, str]) -> None:
    assert project_root(str(account.project)) == str(account.project)
    assert account.cli("topics").splitlines()[0].split() == ["2", "auth", "decisions,", "patterns"]
    assert filled["retry"] in account.cli("topics", "auth")
    assert "no memory has the topic nope" in account.cli("topics", "nope")


@pytest.mark.conformance("S1-6.13a")
def test_help_explains_the_intents_and_names_the_addresses(account: Account) -> None:
    said = account.cli("help", "intent")

    assert all(f"{intent.value:<13} " in said for intent in SearchIntentType)
    assert said.count("for example: ") == len(SearchIntentType)
    assert all(uri in said for uri in ("enricher://search/{query}", "enricher://topics", "enricher://topics/{topic}"))
