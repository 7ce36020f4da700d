"""Add a language model's classification of a prompt (its opinion) to the classification by rules, as one more signal.

Points are odds on a logarithmic scale: ``points_that_double`` points double the odds of a class. If a model that is
right with probability a names one of k classes, Bayes' rule multiplies the odds of that class by a (k - 1) / (1 - a),
assuming that errors are spread evenly over the other classes. This factor, converted to points, is added to the points
of the rules' signals, so strong signals outvote the model and weak ones do not.
"""

from __future__ import annotations

from math import log2

from enricher.classify import BOTH, FROM_MODEL, MODEL, SEARCH_INTENT, TASK_TYPE, Evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification
    from enricher.classify.table import Table

GENERAL = "general"
"""The search intent "no particular kind of information"; a model that answers with it adds no points."""
MOST_TOPICS = 5
HIGHEST_ACCURACY = 0.95
"""Maximum accuracy that is assumed of any model: at 1.0 the factor above would be infinite."""
ASSUMED_ACCURACY = 0.65
"""Accuracy assumed for a model that has not been measured.

It is low on purpose: in simulations (``enricher model measure --simulate``), models with an accuracy of .7 to .9 help
almost as much as with their true accuracy, and one of .6 does no harm.
"""


class Opinion:
    """A language model's classification of a prompt: its task type, search intent, topics and effort.

    ``task_type`` and ``search_intent`` are empty if the model was not asked for them or named no existing class.
    ``confidence`` and ``intent_confidence`` are the model's own estimates, 0 to 1; ``complexity`` is the effort that
    the prompt asks for, 0 to 100, None if the model did not estimate it. ``accuracy`` is the share of prompts that
    this model is known or assumed to classify correctly.
    """

    __slots__ = ("accuracy", "complexity", "confidence", "intent_confidence", "search_intent", "task_type", "topics")

    def __init__(
        self,
        *,
        task_type: str = "",
        confidence: float = 0.0,
        search_intent: str = "",
        intent_confidence: float = 0.0,
        topics: list[str] | None = None,
        accuracy: float = ASSUMED_ACCURACY,
        complexity: float | None = None,
    ) -> None:
        self.task_type, self.confidence = task_type, confidence
        self.search_intent, self.intent_confidence = search_intent, intent_confidence
        self.topics = topics or []
        self.accuracy, self.complexity = accuracy, complexity

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Opinion:
        return Opinion(**{name: value[name] for name in Opinion.__slots__ if name in value})

    def add_points(self, result: Classification, table: Table) -> None:
        """Add points to ``result.scores`` for the classes that the model named, and the evidence for these points."""
        opinions = {TASK_TYPE: (self.task_type, self.confidence)}
        if self.search_intent != GENERAL:
            opinions[SEARCH_INTENT] = (self.search_intent, self.intent_confidence)
        for facet in table.facets:
            name, confidence = opinions.get(facet["name"], ("", 0.0))
            scores = result.scores.get(facet["name"], {})
            if name not in scores:
                continue
            # A model that doubts its own answer counts less; one that overestimates itself does not count more.
            weight = points(min(self.accuracy, confidence), len(scores), facet["points_that_double"])
            if weight:
                scores[name] += weight
                found = Evidence(facet["name"], name, FROM_MODEL, start=0, end=result.scanned_chars, weight=weight)
                result.evidence.append(found)

    def complete(self, result: Classification) -> None:
        """Set the source of ``result``, and add the model's topics to those of the search intent.

        If the rules alone lead to another search intent, the source is MODEL and the confidence is the model's own.
        Otherwise the source is BOTH and the confidence computed from the rules' signals is kept (seed 001, task 5.6;
        ruling R17).
        """
        result.source = BOTH
        if not result.search_intent:
            return
        if _by_rules_alone(result) != result.search_intent:
            result.source = MODEL
            result.intent_confidence = round(self.intent_confidence, 2)
        known = {topic.lower() for topic in result.topics}
        result.topics = result.topics + [topic for topic in self.topics if topic.lower() not in known]


def _by_rules_alone(result: Classification) -> str:
    """Return the search intent that has the most points without those that the model added."""
    scores = dict(result.scores[SEARCH_INTENT])
    for one in result.evidence:
        if (one.signal, one.facet) == (FROM_MODEL, SEARCH_INTENT):
            scores[one.name] -= one.weight
    return max(scores, key=scores.__getitem__)


def points(accuracy: float, classes: int, points_that_double: float) -> int:
    """Return the points that a model with this accuracy adds to the class that it names, one of ``classes`` classes.

    A model that is no better than a guess adds 0 points.
    """
    accuracy = min(accuracy, HIGHEST_ACCURACY)
    if classes < 2 or accuracy * classes <= 1:
        return 0
    return round(points_that_double * log2(accuracy * (classes - 1) / (1 - accuracy)))
