"""The addresses of the memory: read in every form that clients write, written so that they can be read."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some
from simulator import ROOT

from enricher.sources.uris import (
    MEMORY,
    SEARCH,
    TOPIC,
    TOPICS,
    TOPICS_URI,
    UriError,
    memory_uri,
    parse_uri,
    search_uri,
    suggested,
    topic_uri,
)


@pytest.mark.conformance("S1-3.7a")
@pytest.mark.parametrize(
    ("address", "parsed"),
    [
        pytest.param("enricher://search/auth", (SEARCH, "auth"), id="search"),
        pytest.param("enricher://search/session%20cookie", (SEARCH, "session cookie"), id="percent"),
        pytest.param("enricher://search/c++", (SEARCH, "c++"), id="a plus is a plus"),
        pytest.param("enricher://search/caf%C3%A9", (SEARCH, "café"), id="UTF-8"),
        pytest.param("enricher://search/café", (SEARCH, "café"), id="not encoded"),
        pytest.param("enricher://search/app/auth.py", (SEARCH, "app/auth.py"), id="slash"),
        pytest.param("enricher://search/why?#1", (SEARCH, "why?#1"), id="question mark"),
        pytest.param("enricher://search/100%", (SEARCH, "100%"), id="a lone percent sign"),
        pytest.param("enricher://search/%zz%e", (SEARCH, "%zz%e"), id="no percent sequence"),
        pytest.param("enricher://search/%ff", (SEARCH, "\ufffd"), id="no UTF-8"),
        pytest.param("enricher://topics", (TOPICS, ""), id="topics"),
        pytest.param("enricher://topics/", (TOPICS, ""), id="topics with a slash"),
        pytest.param("enricher://topics/error-handling", (TOPIC, "error-handling"), id="topic"),
        pytest.param("subcog://topics/auth", (TOPIC, "auth"), id="alias"),
        pytest.param("ENRICHER://topics", (TOPICS, ""), id="scheme in capitals"),
        pytest.param("enricher://memory/m-0123456789", (MEMORY, "m-0123456789"), id="memory"),
    ],
)
def test_an_address_is_read(address: str, parsed: tuple[str, str]) -> None:
    assert parse_uri(address) == parsed


@pytest.mark.conformance("S1-3.7a")
@pytest.mark.parametrize(
    "address",
    ["", "topics", "http://topics", "enricher:topics", "enricher://", "enricher://search", "enricher://search/%20",
     "enricher://memory/", "enricher://nope/x", "enricher://search/" + "x" * 1001],
)  # fmt: skip
def test_another_address_is_an_error_that_names_ours(address: str) -> None:
    with pytest.raises(UriError, match=r"enricher://topics|at most 1000"):
        parse_uri(address)


@given(some.text(min_size=1, max_size=50).filter(lambda text: text.strip()))
def test_every_text_comes_back_from_its_address(text: str) -> None:
    storable = text.strip().encode(errors="replace").decode()

    assert parse_uri(search_uri(text)) == (SEARCH, storable)
    assert parse_uri(topic_uri(text)) == (TOPIC, storable)
    assert parse_uri(memory_uri(text)) == (MEMORY, storable)
    assert search_uri(text).isascii()


@pytest.mark.conformance("S1-6.3a", "S1-6.3b", "S1-6.3c")
@pytest.mark.parametrize(
    ("topics", "addresses"),
    [
        pytest.param([], [TOPICS_URI], id="none"),
        pytest.param(["a"], ["enricher://search/a", TOPICS_URI], id="one"),
        pytest.param(["a", "b"], ["enricher://search/a", "enricher://search/b", TOPICS_URI], id="two"),
        pytest.param(
            ["c++", "größe", "x y", "d", "e"],
            ["enricher://search/c%2B%2B", "enricher://search/gr%C3%B6%C3%9Fe", "enricher://search/x%20y", TOPICS_URI],
            id="five",
        ),
        pytest.param(["a", "a", " "], ["enricher://search/a", TOPICS_URI], id="each once"),
    ],
)
def test_suggested_addresses(topics: list[str], addresses: list[str]) -> None:
    assert suggested(topics) == addresses
    assert [parse_uri(address)[0] for address in addresses] == [SEARCH] * (len(addresses) - 1) + [TOPICS]


def test_addresses_load_nothing() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules); import enricher.sources.uris; "
    code += "print(*sorted(set(sys.modules) - before))"

    ended = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)

    assert set(ended.stdout.split()) <= {"enricher", "enricher.sources", "enricher.sources.uris", "__future__"}
