"""Detect the search intent of a prompt, the kind of information that it seeks: a public Python API.

The hook does not use this module, but detects the intent with the same function, ``enricher.classify.verdict``. This
module uses only the signals (wordings that suggest a class) of the packaged instructions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from enricher.classify import NO_INTENT, SEARCH_INTENT, Rules
from enricher.classify.verdict import verdict
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.signals import label
from enricher.rules.layers import Layer, packaged_file

if TYPE_CHECKING:
    from enricher.rules.compiling.compiled import Compiled

__all__ = ["SIGNALS", "DetectionSource", "SearchIntent", "SearchIntentType", "detect"]


class _Named(Enum):
    def __str__(self) -> str:
        return str(self.value)


class SearchIntentType(_Named):
    """The kind of information that would help before acting on a prompt.

    ``HOWTO``: a procedure; ``LOCATION``: where something is; ``EXPLANATION``: what or why something is;
    ``COMPARISON``: one thing against another; ``TROUBLESHOOT``: a defect's cause; ``GENERAL``: any other information.
    """

    HOWTO = "howto"
    LOCATION = "location"
    EXPLANATION = "explanation"
    COMPARISON = "comparison"
    TROUBLESHOOT = "troubleshoot"
    GENERAL = "general"

    @property
    def description(self) -> str:
        """Return the description of this intent in the packaged instructions, in one paragraph."""
        return _packaged().rules[f"{SEARCH_INTENT}.{self.value}"].prose

    def as_str(self) -> str:
        """Return the lower-case name, as used in traces and settings."""
        return str(self.value)

    @classmethod
    def parse(cls, name: str) -> SearchIntentType:
        """Return the intent called ``name``; raises ValueError if there is none."""
        return cls(name)


class DetectionSource(_Named):
    """How the intent was detected: by signals (``detect``), by a model, or by both (``compat.hybrid``)."""

    KEYWORD = "keyword"
    LLM = "llm"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class SearchIntent:
    """A detected intent, with the matched keywords and the topics of the prompt."""

    intent_type: SearchIntentType = SearchIntentType.GENERAL
    confidence: float = 0.0
    keywords: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    source: DetectionSource = DetectionSource.KEYWORD


def detect(prompt: str) -> SearchIntent | None:
    """Return the search intent of ``prompt`` according to the packaged signals; None if it has none."""
    judged = verdict(prompt, packaged_rules())
    if not judged.search_intent:
        return None
    return SearchIntent(
        SearchIntentType(judged.search_intent), judged.intent_confidence, judged.keywords, judged.topics
    )


@cache
def _packaged() -> Compiled:
    return compile_layers([Layer("packaged", packaged_file())])


@cache
def packaged_rules() -> Rules:
    """Return the packaged rules, which are compiled only once per process."""
    return Rules(_packaged().hash, _packaged().body)


def _signals() -> tuple[tuple[SearchIntentType, str], ...]:
    return tuple(
        (SearchIntentType(rule.name), label(signal))
        for rule in _packaged().classes
        if rule.facet == SEARCH_INTENT and rule.name != NO_INTENT
        for signal in rule.signals
    )


def __getattr__(name: str) -> object:
    if name == "SIGNALS":
        return _signals()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


SIGNALS: tuple[tuple[SearchIntentType, str], ...]
"""Every signal of the packaged instructions for a search intent, with that intent; compiled on first access."""
