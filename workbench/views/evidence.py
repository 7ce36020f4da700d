"""Find the places in a prompt that led to its outcome, from recorded evidence.

Pure. Offsets are code points of the recorded prompt; a signal for the prompt as a whole has no place.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Row = dict[str, Any]

TASK_TYPE, SEARCH_INTENT, NO_INTENT = "task_type", "search_intent", "none"
OF_THE_WHOLE = ("plain words", "earlier turn")
"""Signals that sum up many words, or words of another prompt; names of structural features are in angle brackets."""


class EvidenceSignal(NamedTuple):
    """A signal that scored a class: ``start`` and ``end`` bound its words, ``weight`` is in points, maybe negative."""

    name: str
    start: int
    end: int
    weight: float

    def is_at_a_place(self, length: int) -> bool:
        """Return whether the signal covers only a part of a prompt of that length, not the prompt as a whole."""
        is_of_words = not self.name.startswith("<") and self.name not in OF_THE_WHOLE
        return is_of_words and 0 <= self.start < self.end <= length and self.end - self.start < length


class ScoredSignal(NamedTuple):
    """A signal that scored the class ``name`` of a facet; ``is_chosen`` means that the prompt was given this class."""

    facet: str
    name: str
    signal: EvidenceSignal
    is_chosen: bool

    @property
    def is_for_class(self) -> bool:
        """Whether the signal scored the chosen task type."""
        return self.is_chosen and self.facet == TASK_TYPE


def signals(evidence: object) -> Iterator[EvidenceSignal]:
    """Yield the well-formed signals in the evidence of one score: ``[[signal, start, end, weight], …]``."""
    for one in evidence if isinstance(evidence, list) else ():
        if isinstance(one, list) and len(one) == 4:
            name, start, end, weight = one
            if isinstance(name, str) and type(start) is type(end) is int and isinstance(weight, int | float):
                yield EvidenceSignal(name, start, end, weight)


def places(
    scores: Sequence[Row], task_type: str, *, length: int, with_rivals: bool = False, most: int | None = None
) -> Iterator[ScoredSignal]:
    """Yield the signals with a place in the prompt that scored for the outcome, in the order of ``scores``.

    ``scores`` are rows of ``trace_scores`` with the evidence as values; ``with_rivals`` adds the signals that scored
    for losing classes. At most the first ``most`` signals of each class are used.
    """
    intents = [one["name"] for one in scores if one["facet"] == SEARCH_INTENT]
    chosen = {TASK_TYPE: task_type, SEARCH_INTENT: intents[0] if intents else ""}
    for one in scores:
        facet, name = one["facet"], one["name"]
        is_chosen = chosen.get(facet, name) == name
        if (not is_chosen and not with_rivals) or (facet == SEARCH_INTENT and name == NO_INTENT):
            continue
        for signal in islice(signals(one["evidence"]), most):
            if signal.weight > 0 and signal.is_at_a_place(length):
                yield ScoredSignal(facet, name, signal, is_chosen)
