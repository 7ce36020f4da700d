"""Labelled prompts as numbers: which signals each fires, what it was labelled.

Prompts of one repository belong together; whatever is fitted is judged on
repositories that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE, Observation, matching, scanned_part
from workbench.labelled_rows import LabelError, Prompt, read_labelled, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.classify.table import Table

Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Observed:
    """Labelled prompts with what the table sees in them: one row per prompt."""

    prompts: list[Prompt]
    signals: Numbers
    words: Numbers
    foreign: Numbers


def check_labels(prompts: Iterable[Prompt], table: Table) -> None:
    """Raise LabelError for a label that no rule defines."""
    for facet, of in (
        (TASK_TYPE, lambda prompt: (prompt.task_type, prompt.alternative)),
        (SEARCH_INTENT, lambda prompt: (prompt.search_intent,)),
    ):
        known = [name for _, name in classes_of(table, facet)]
        for prompt in prompts:
            for label in filter(None, of(prompt)):
                if label not in known:
                    kind = facet.replace("_", " ")
                    raise LabelError(f"{prompt.place}: {label!r} is no {kind}; known: {', '.join(known)}")


def with_intent(observed: Observed) -> list[int]:
    """Return the numbers of the rows whose search intent is known."""
    return [at for at, prompt in enumerate(observed.prompts) if prompt.search_intent]


def part(observed: Observed, rows: list[int]) -> Observed:
    """Return some of the rows."""
    prompts = [observed.prompts[at] for at in rows]
    return Observed(prompts, observed.signals[rows], observed.words[rows], observed.foreign[rows])


def observe(prompts: list[Prompt], table: Table) -> Observed:
    """Return the prompts with the signals they fire and the plain words they hold."""
    vocabulary = {word: at for at, word in enumerate(table.leaning_words())}
    signals = np.zeros((len(prompts), len(table.places)))
    words = np.zeros((len(prompts), len(vocabulary)))
    foreign = np.zeros(len(prompts))
    for row, prompt in enumerate(prompts):
        seen = Observation(scanned_part(prompt.text), table)
        signals[row, list(seen.found)] = 1
        held = {word for at, word in enumerate(seen.read.words) if word in vocabulary and at not in seen.read.quiet}
        words[row, [vocabulary[word] for word in held]] = 1
        foreign[row] = "non_english" in seen.features
    return Observed(prompts, signals, words / np.sqrt(np.maximum(1, words.sum(1, keepdims=True))), foreign)


def with_task_type(signals: Numbers, task_types: list[str], table: Table) -> Numbers:
    """Return the signals with those that rest on a task type, here the one each prompt came out as."""
    found = signals.copy()
    for row, task_type in enumerate(task_types):
        before = dict.fromkeys(np.flatnonzero(signals[row]).tolist(), (-1, -1))
        found[row, list(matching.fired_late(before, task_type, table))] = 1
    return found


def classes_of(table: Table, facet: str) -> list[tuple[int, str]]:
    """Return the classes of a facet: number in the table and name."""
    return [(at, name) for at, (of, name) in enumerate(table.classes) if table.facets[of]["name"] == facet]


def weights_of(table: Table, facet: str) -> Numbers:
    """Return the weights as written: one row per signal, one column per class of the facet."""
    column = {at: index for index, (at, _) in enumerate(classes_of(table, facet))}
    found = np.zeros((len(table.places), len(column)))
    for number in range(len(table.places)):
        for class_at, weight in table.condition(number)[2]:
            if class_at in column:
                found[number, column[class_at]] += weight
    return found


def targets(prompts: list[Prompt], names: list[str], facet: str) -> Numbers:
    """Return what should come out: one for the label, split three to one with a second one that is also right."""
    found = np.zeros((len(prompts), len(names)))
    for row, prompt in enumerate(prompts):
        label = prompt.task_type if facet == TASK_TYPE else prompt.search_intent
        other = prompt.alternative if facet == TASK_TYPE else ""
        found[row, names.index(label)] = 1.0
        if other and other != label:
            found[row, names.index(label)], found[row, names.index(other)] = 0.75, 0.25
    return found


__all__ = [
    "SEARCH_INTENT",
    "TASK_TYPE",
    "LabelError",
    "Numbers",
    "Observed",
    "Prompt",
    "check_labels",
    "classes_of",
    "observe",
    "part",
    "read_labelled",
    "read_rows",
    "targets",
    "weights_of",
    "with_intent",
    "with_task_type",
]
