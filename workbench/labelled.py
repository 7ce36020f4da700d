"""Labelled prompts as numbers: which signals each fires, what it was labelled.

Prompts of one repository belong together; whatever is fitted is judged on
repositories that were left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE, Observation, matching, scanned_part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.classify.table import Table

Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt; ``alternative`` is a second task type that is also right, or empty."""

    text: str
    task_type: str
    alternative: str
    search_intent: str
    repository: str
    is_picked: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """Labelled prompts with what the table sees in them: one row per prompt."""

    prompts: list[Prompt]
    signals: Numbers
    words: Numbers
    foreign: Numbers


def read_labelled(paths: Iterable[str | Path]) -> list[Prompt]:
    """Return the prompts of JSONL files: ``text`` (or ``prompt``), ``task_type`` and, if known, the other labels."""
    found = []
    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.append(
                Prompt(
                    row["text"] if "text" in row else row["prompt"],
                    row["task_type"],
                    row.get("alt_task_type") or "",
                    row.get("search_intent") or "none",
                    (row.get("source") or row.get("project") or "").partition("@")[0],
                    row.get("sample") == "rare",
                )
            )
    return found


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
    "Numbers",
    "Observed",
    "Prompt",
    "classes_of",
    "observe",
    "read_labelled",
    "targets",
    "weights_of",
    "with_task_type",
]
