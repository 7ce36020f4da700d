"""Find memories; the search intent decides how many and in which order: a Python API (seed 001, tasks 2.1 to 2.10).

The hook calls ``storage.memory.recall`` directly (``enricher.context.channels.memory``); both use the same
functions to decide how many memories to add, how to rank them and how to shorten them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from enricher.context.channels import memory as channel
from enricher.home import state_dir
from enricher.interfaces.compat import vectors
from enricher.prompt.project import identify
from enricher.prompt.text import LONGEST_PREVIEW, preview
from enricher.rules import cache
from enricher.settings import with_environment
from enricher.sources.uris import suggested
from storage.db import database

if TYPE_CHECKING:
    from collections.abc import Mapping

    from storage.memory.recall import Hit

__all__ = [
    "AdaptiveContextConfig", "InjectedMemory", "MemoryContext", "Recall", "SearchContextBuilder",
    "SearchIntentConfig", "memories_for", "namespace_weights", "preview",
]  # fmt: skip

COMPILE_MS = 30_000  # limit for compiling the rules; no prompt is waiting here


@dataclass(frozen=True, slots=True)
class AdaptiveContextConfig:
    """Limits on the memories added to a prompt."""

    base_count: int = 5
    max_count: int = 15
    max_tokens: int = 4000
    preview_length: int = LONGEST_PREVIEW
    min_confidence: float = 0.5

    def replace(self, **changed: Any) -> AdaptiveContextConfig:
        """Return a copy with some values changed."""
        return dataclasses.replace(self, **changed)

    def memories_for(self, confidence: float) -> int:
        """Return how many memories to add for a search intent of this confidence."""
        return channel.memories_for(confidence, base_count=self.base_count, max_count=self.max_count)


def is_model_configured(cwd: str = "") -> bool:
    """Return whether the settings that apply in ``cwd`` name the endpoint of a model."""
    settings, _problems = with_environment(cache.load(cwd, wait_ms=COMPILE_MS)[0].body["settings"], os.environ)
    return bool(settings["model.url"])


@dataclass(frozen=True, slots=True)
class SearchIntentConfig:
    """The settings for search intents, as the specification names them (seed 001, task 6.4).

    By default, ``use_llm`` is on if a model is configured.
    """

    enabled: bool = True
    use_llm: bool = field(default_factory=is_model_configured)
    llm_timeout_ms: int = 200
    min_confidence: float = 0.5
    context: AdaptiveContextConfig = field(default_factory=AdaptiveContextConfig)


@dataclass(frozen=True, slots=True)
class InjectedMemory:
    """A memory to add to a prompt, with at most 200 characters of its text; ``raw_score`` is its unweighted score."""

    id: str
    namespace: str
    content_preview: str
    score: float
    raw_score: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> InjectedMemory:
        """Restore a memory from a mapping that ``to_dict`` returned."""
        return InjectedMemory(**value)


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The memories to add to a prompt, with the search intent and the topics that led to them."""

    search_intent_detected: bool = False
    intent_type: str = ""
    topics: list[str] = field(default_factory=list)
    injected_memories: list[InjectedMemory] = field(default_factory=list)
    suggested_resources: list[str] = field(default_factory=list)
    reminder: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, which is also stored in traces; it omits an empty ``intent_type`` or ``reminder``."""
        optional = {"intent_type": self.intent_type, "reminder": self.reminder}
        return {
            "search_intent_detected": self.search_intent_detected,
            "topics": self.topics,
            "injected_memories": [one.to_dict() for one in self.injected_memories],
            "suggested_resources": self.suggested_resources,
            **{name: value for name, value in optional.items() if value},
        }

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> MemoryContext:
        """Restore a context from a mapping that ``to_dict`` returned, or that a trace contains."""
        fields = dict(value)
        fields["injected_memories"] = [InjectedMemory.from_dict(one) for one in value.get("injected_memories", [])]
        return MemoryContext(**fields)


class Intent(Protocol):
    """What ``SearchContextBuilder`` needs to know of a search intent, such as a ``compat.intent.SearchIntent``."""

    @property
    def intent_type(self) -> Any: ...
    @property
    def confidence(self) -> float: ...
    @property
    def topics(self) -> Any: ...


class Recall:
    """Searches the memories visible from one folder; each search opens its own connection to the database."""

    def __init__(self, cwd: str = "", *, state: str = "") -> None:
        self.project = identify(cwd)
        self.state = state or state_dir()

    def search(self, query: str, *, limit: int = 10, namespace_weights: Mapping[str, float] | None = None) -> list[Hit]:
        """Return the memories that match ``query``, best first. Raises ``storage.db.database.StorageError``."""
        with contextlib.closing(database.connect(self.state)) as db, database.storage_errors(self.state):
            return vectors.search(
                db,
                query,
                project=self.project,
                state=self.state,
                cwd=self.project.root,
                limit=limit,
                weights=namespace_weights,
            )


class SearchContextBuilder:
    """Finds the memories to add to a prompt with a given search intent."""

    def __init__(self, config: AdaptiveContextConfig | None = None, recall: Recall | None = None) -> None:
        self.config = config or AdaptiveContextConfig()
        self.recall = recall or Recall()

    def build_context(self, intent: Intent | None, *, query: str = "") -> MemoryContext:
        """Return the memories about ``query`` (or about the intent's topics if it is empty), within the token budget.

        Raises ``storage.db.database.StorageError``.
        """
        name = _name(intent)
        confidence = intent.confidence if intent else 0.0
        topics = [str(topic) for topic in intent.topics] if intent else []
        is_sure = bool(name) and confidence >= self.config.min_confidence
        hits = self.recall.search(
            query or " ".join(topics),
            limit=self.config.memories_for(confidence if is_sure else 0.0),  # 0.0: the least number
            namespace_weights=namespace_weights(name) if is_sure else None,
        )
        return MemoryContext(
            search_intent_detected=is_sure,
            intent_type=name if is_sure else "",
            topics=topics,
            injected_memories=self._within_budget(hits),
            suggested_resources=suggested(topics) if is_sure else [],
            reminder=channel.reminder(name) if is_sure else "",
        )

    def _within_budget(self, hits: list[Hit]) -> list[InjectedMemory]:
        previews = [preview(hit.content, longest=self.config.preview_length) for hit in hits]
        fitting = channel.within_tokens(previews, self.config.max_tokens)
        return [
            InjectedMemory(hit.id, hit.namespace, shown, hit.score, hit.raw)
            for hit, shown in zip(hits[:fitting], previews, strict=False)  # there are also previews that do not fit
        ]


def memories_for(confidence: float, config: AdaptiveContextConfig | None = None) -> int:
    """Return how many memories to add for a search intent of this confidence: 5, 10 or 15 by default."""
    return (config or AdaptiveContextConfig()).memories_for(confidence)


def namespace_weights(intent: object) -> dict[str, float]:
    """Return the factor by which a search intent (or its name) multiplies the scores of memories in each namespace.

    A namespace is a kind of memory, such as decisions; for one that is not listed, the factor is 1.0.
    """
    return dict(channel.WEIGHTS.get(_name(intent), {}))


def _name(intent: object) -> str:
    """Return the name of a search intent: a string, an enum member or an object with ``intent_type``; "" for None."""
    kind = getattr(intent, "intent_type", intent)
    return str(getattr(kind, "value", kind) or "")
