"""Read the resources of a project's memory (``enricher://`` URIs) as JSON, for the command line and MCP clients.

Texts are returned as stored; whoever displays them must treat them as data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.interfaces.library.topics import keywords, normalise
from enricher.prompt.text import preview
from enricher.sources.uris import (
    MEMORY,
    SEARCH,
    TEMPLATES,
    TOPIC,
    TOPICS,
    TOPICS_URI,
    memory_uri,
    parse_uri,
    suggested,
    topic_uri,
)

if TYPE_CHECKING:
    from enricher.interfaces.library import Library
    from enricher.interfaces.library.topics import TopicInfo
    from storage.memory.memories import Memory
    from storage.memory.recall import Hit

MOST_FOUND = 20
MOST_TOPICS = 500
MOST_MEMORIES = 100
MOST_RELATED = 10


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as the server describes it to MCP clients; ``uri`` is a URI, or a template with a placeholder."""

    uri: str
    name: str
    description: str

    @property
    def is_template(self) -> bool:
        """Return whether the URI contains a placeholder."""
        return "{" in self.uri


RESOURCES = (
    Resource(TEMPLATES[0], "search", "Memories that answer a query, best first, with their scores"),
    Resource(TOPICS_URI, "topics", "Every topic of this project's memory, the largest first"),
    Resource(TEMPLATES[1], "topic", "The memories of one topic in full, and the topics it occurs with"),
    Resource(TEMPLATES[2], "memory", "One memory in full"),
)


class UnknownMemoryError(LookupError):
    """Raised if no memory with the id ``identity`` is visible in this project."""

    def __init__(self, identity: str) -> None:
        super().__init__(f"no memory {identity[:100]!r} in this project; enricher memory list shows those there are")


def read(address: str, library: Library) -> dict[str, Any]:
    """Return the content at the URI ``address``; for an unknown topic, an empty list of memories.

    Raises UriError, UnknownMemoryError, StorageError.
    """
    kind, text = parse_uri(address)  # of one of these four kinds
    readers = {SEARCH: _search, TOPICS: _topics, TOPIC: _topic, MEMORY: _memory}
    return readers[kind](text, library)


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """Return a search result as the JSON object that resources and tools return."""
    return {
        "id": hit.id,
        "namespace": hit.namespace,
        "score": round(hit.score, 4),
        "preview": preview(hit.content),
        "tags": hit.tags,
        "source": hit.source,
        "created_at": hit.created_at,
        "reviewed": hit.reviewed,
        "superseded_by": hit.superseded,
        "uri": memory_uri(hit.id),
    }


def _search(query: str, library: Library) -> dict[str, Any]:
    hits = library.search(query, limit=MOST_FOUND)
    return {
        "query": query,
        "count": len(hits),
        "topics": keywords(query),
        "memories": [hit_as_json(hit) for hit in hits],
        "suggested_resources": suggested(keywords(query)),
    }


def _topics(_text: str, library: Library) -> dict[str, Any]:
    index = library.topics()
    listed = index.list(limit=MOST_TOPICS)
    return {
        "count": len(listed),
        "total": len(index),
        "memories": index.memory_count,
        "last_indexed": index.last_refresh,
        "topics": [_named(one) for one in listed],
    }


def _topic(topic: str, library: Library) -> dict[str, Any]:
    memories = library.about(topic)
    index = library.topics()
    info = index.info(topic)
    return {
        "topic": normalise(topic),
        "memory_count": len(memories),
        "namespaces": info.namespaces if info else [],
        "last_indexed": index.last_refresh,
        "memories": [_full(memory) for memory in memories[:MOST_MEMORIES]],
        "related_topics": [_named(one) for one in index.related(topic, limit=MOST_RELATED)],
    }


def _memory(identity: str, library: Library) -> dict[str, Any]:
    memory = library.memory(identity)
    if memory is None:
        raise UnknownMemoryError(identity)
    return _full(memory)


def _named(topic: TopicInfo) -> dict[str, Any]:
    return {**topic.to_dict(), "uri": topic_uri(topic.name)}


def _full(memory: Memory) -> dict[str, Any]:
    return {**memory.to_json(), "uri": memory_uri(memory.id)}
