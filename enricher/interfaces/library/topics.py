"""Index the memories of a project by topic, to list the topics and to find the memories of each topic.

A memory's topics are its namespace, its tags and the keywords of its text. The index is held in RAM and built from the
stored memories, so nothing has to be kept in sync on disk; when the store has changed, only the changed memories are
indexed again.
"""

from __future__ import annotations

import gc
import re
import threading
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from storage.memory.memories import Note

__all__ = ["TopicIndexService", "TopicInfo", "keywords", "normalise", "topics_of"]

MOST_KEYWORDS = 5
SHORTEST_KEYWORD, LONGEST_KEYWORD = 3, 30
LONGEST_TOPIC = 60
SCANNED = 4000  # characters at the beginning of a memory, where its topic is stated, that are searched for keywords

_SEPARATORS = str.maketrans(dict.fromkeys('\t\n\r\x0b\x0c"`()[]{}<>,;:!?/\\|=*&^%$@~', " "))
_GAPS = re.compile(r"[\s_/:,;|-]+")
_FOREIGN = re.compile(r"[^\w+#.-]+")

STOP_WORDS = frozenset(
    """
    about above across add added adding after again against ago all almost alone along already also although always
    am among an and another any anyone anything are around as ask at away back be became because become been before
    began behind being below best better between big both but by call called came can cannot case change changed
    changes could did different do does doing done down during each either else end enough even ever every everyone
    everything far few find first fix fixed for found from full gave get gets getting give given go goes going gone
    good got had happen has have having he help her here hers him his how however if in instead into is it its
    itself just keep keeps kept kind knew know known last later least less let like likely little long look looks
    lot made main make makes making many may maybe me mean means might mine more most much must my need needed needs
    neither never new next no nobody non none nor not note nothing now of off often ok old on once one ones only
    onto or other others our out over own part per perhaps please put quite rather really run runs said same saw say
    says see seem seems seen set sets several shall she should show shows since so some someone something soon still
    such sure take taken takes tell than that the their them then there therefore these they thing things think this
    those though three through thus till time times to together told too took toward towards tried try trying turn
    turned two under unless until up upon us use used uses using very via want wanted wants was way ways we well
    went were what whatever when where whether which while who whole whose why will with within without wont would
    yes yet you your yours don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain etc
    that's it's don't doesn't didn't isn't can't won't i've i'm we've we're you're they're there's let's what's http
    https www com
    """.split()
)


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic, the number of memories that have it, and the namespaces (kinds) of these memories, sorted."""

    name: str
    memory_count: int
    namespaces: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the topic as a JSON object, with its name, the number of memories and their namespaces."""
        return asdict(self)


Topics: TypeAlias = list[TopicInfo]
Ids: TypeAlias = list[str]


@lru_cache(maxsize=32768)  # the same words occur in many memories
def normalise(topic: str) -> str:
    """Return the canonical form of a topic: ``Error_Handling`` and ``error handling`` are the same topic.

    The form is lower case with words joined by ``-``; the only other marks kept are those in names such
    as ``c++``, ``c#`` and ``node.js``. Empty if nothing is left.
    """
    joined = _GAPS.sub("-", _FOREIGN.sub("-", topic.lower()))
    return joined.strip("-.")[:LONGEST_TOPIC].strip("-.")


def keywords(text: str) -> list[str]:
    """Return a few keywords of ``text``, the most frequent first, ties in order of appearance."""
    # A dot at the end of a word is punctuation; within a word, it is part of a name such as node.js.
    spoken = f"{text[:SCANNED]} ".lower().translate(_SEPARATORS).replace(". ", " ").split()
    words = [word for word in spoken if word not in STOP_WORDS]
    counts = Counter(words)
    often = sorted((word for word, count in counts.items() if count > 1), key=counts.__getitem__, reverse=True)
    found: dict[str, None] = {}
    for word in (*often, *counts):
        topic = normalise(word)
        if SHORTEST_KEYWORD <= len(topic) <= LONGEST_KEYWORD and topic[0].isalpha() and topic not in STOP_WORDS:
            found[topic] = None
            if len(found) == MOST_KEYWORDS:
                break
    return list(found)


def topics_of(memory: Note) -> list[str]:
    """Return the topics of a memory without duplicates: its namespace, its tags, the keywords of its text."""
    named = [normalise(name) for name in (memory.namespace, *memory.tags)]
    return list(dict.fromkeys(topic for topic in (*named, *keywords(memory.content)) if topic))


class TopicIndexService:
    """A thread-safe map from topics to memories; changes are atomic."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._memories: dict[str, tuple[str, Sequence[str]]] = {}
        self._topics: defaultdict[str, Ids] = defaultdict(list)
        self.last_refresh: str | None = None
        """The time of the last change to the index (ISO 8601, UTC); None if there was none."""

    def __len__(self) -> int:
        return len(self._topics)

    @property
    def memory_count(self) -> int:
        """Return the number of indexed memories."""
        return len(self._memories)

    def build(self, memories: Iterable[Note]) -> None:
        """Replace the index with one of ``memories``; an exception while reading them leaves the old one unchanged."""
        fresh = TopicIndexService()
        was_on = gc.isenabled()
        gc.disable()  # the collector would scan the growing index again and again, and find nothing
        try:
            for memory in memories:
                fresh._drop(memory.id)  # the same memory may come twice
                fresh._put(memory.id, memory.namespace, topics_of(memory))
        finally:
            if was_on:
                gc.enable()
        with self._lock:
            self._memories, self._topics = fresh._memories, fresh._topics
            self._touch()

    def add(self, memory: Note) -> None:
        """Index one memory, replacing its earlier version; an exception while reading it changes nothing."""
        topics = topics_of(memory)  # before the lock, since this takes the most time
        identity, namespace = memory.id, memory.namespace
        with self._lock:
            self._drop(identity)
            self._put(identity, namespace, topics)
            self._touch()

    add_memory = add  # the name in the specification (seed 001, task 3.6)

    def remove(self, identity: str) -> None:
        """Remove one memory; do nothing if it is not indexed."""
        with self._lock:
            self._drop(identity)
            self._touch()

    def get(self, topic: str) -> Ids:
        """Return the ids of the memories of a topic, in order of insertion; empty for an unknown topic."""
        with self._lock:
            return list(self._topics.get(normalise(topic), ()))

    def info(self, topic: str) -> TopicInfo | None:
        """Return the number and namespaces of the memories of a topic; None if there are none."""
        name = normalise(topic)
        with self._lock:
            memories = self._topics.get(name)
            return self._info(name, memories) if memories else None

    def list(self, *, prefix: str = "", limit: int | None = None) -> Topics:
        """Return the topics that begin with ``prefix``, those with most memories first, ties in alphabetical order."""
        start = normalise(prefix)
        with self._lock:
            ranked = sorted(
                ((name, memories) for name, memories in self._topics.items() if name.startswith(start)),
                key=lambda pair: (-len(pair[1]), pair[0]),
            )
            return [self._info(name, memories) for name, memories in ranked[:limit]]

    def related(self, topic: str, *, limit: int = 10) -> Topics:
        """Return the other topics of the memories that have this topic, those with most memories in common first."""
        name = normalise(topic)
        with self._lock:
            together: Counter[str] = Counter()
            for identity in self._topics.get(name, ()):
                together.update(self._memories[identity][1])
            del together[name]  # a Counter ignores a missing key
            ranked = sorted(together, key=lambda other: (-together[other], other))
            return [self._info(other, self._topics[other]) for other in ranked[:limit]]

    def _put(self, identity: str, namespace: str, topics: Sequence[str]) -> None:
        self._memories[identity] = (namespace, topics)
        for topic in topics:
            self._topics[topic].append(identity)

    def _drop(self, identity: str) -> None:
        _namespace, topics = self._memories.pop(identity, ("", []))
        for topic in topics:
            memories = self._topics[topic]
            memories.remove(identity)
            if not memories:
                del self._topics[topic]

    def _touch(self) -> None:
        self.last_refresh = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _info(self, name: str, memories: Ids) -> TopicInfo:
        return TopicInfo(name, len(memories), sorted({self._memories[one][0] for one in memories}))
