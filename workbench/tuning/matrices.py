"""Turn labelled prompts into matrices for fitting weights: which signals fire, which words occur, and the labels.

Each prompt keeps its repository, because cross-validation leaves out whole repositories, whose prompts are similar.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE, matching, reading
from enricher.classify.verdict import Observation, scanned_part
from enricher.rules.compiling.signals import MARKERS, wording_key
from workbench.tuning.labelled_prompts import LabelError, LabelledRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.classify.table import Table

Numbers = np.ndarray[Any, np.dtype[Any]]

LEAST_PROMPTS, LEAST_REPOSITORIES = 10, 6
"""A word can get a weight only if at least so many prompts and repositories contain it.

A rarer word is the topic of a few prompts, or one user's habit.
"""

NAMES = {marker: name for name, marker in MARKERS.items()}
WORD = re.compile(r"[^\W\d_][\w'.+-]*")
SIGNS = reading.MARKS | {*MARKERS.values()}
"""Tokens without letters that the instructions may list among the plain words with weights (``leanings``)."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Labelled prompts and their features, one row per prompt.

    ``signals`` has a column per signal, with a 1 if it fires on the prompt. ``wordings`` has everything in a prompt to
    which the instructions could give a weight under ``leanings``: words, word pairs, words that begin a sentence
    (``@lead``), and words in the object of a command (``@object``). ``foreign`` is 1 for prompts that are not English.
    """

    prompts: list[LabelledRow]
    signals: Numbers
    wordings: list[frozenset[str]]
    foreign: Numbers


def check_labels(prompts: Iterable[LabelledRow], table: Table) -> None:
    """Raise LabelError if a prompt is labelled with a task type or search intent that the rules do not define."""
    for facet, of in (
        (TASK_TYPE, lambda prompt: (prompt.task_type, prompt.alternative)),
        (SEARCH_INTENT, lambda prompt: (prompt.search_intent,)),
    ):
        known = names_of(table, facet)
        for prompt in prompts:
            for label in filter(None, of(prompt)):
                if label not in known:
                    kind = facet.replace("_", " ")
                    raise LabelError(f"{prompt.place}: {label!r} is no {kind}; known: {', '.join(known)}")


def part(observed: Observed, rows: Iterable[int]) -> Observed:
    """Return the prompts with the indices ``rows``, in that order, with their features."""
    rows = list(rows)
    prompts, wordings = [observed.prompts[at] for at in rows], [observed.wordings[at] for at in rows]
    return Observed(prompts, observed.signals[rows], wordings, observed.foreign[rows])


def joined(one: Observed, other: Observed) -> Observed:
    """Return the prompts of ``one`` followed by those of ``other``, with their features."""
    return Observed(
        one.prompts + other.prompts,
        np.vstack([one.signals, other.signals]),
        one.wordings + other.wordings,
        np.hstack([one.foreign, other.foreign]),
    )


def observe(prompts: list[LabelledRow], table: Table) -> Observed:
    """Return the prompts with the signals that fire on them and the wordings (words, word pairs) that they contain."""
    signals = np.zeros((len(prompts), len(table.places)))
    foreign = np.zeros(len(prompts))
    wordings = []
    for row, prompt in enumerate(prompts):
        seen = Observation(scanned_part(prompt.text), table)
        signals[row, list(seen.found)] = 1
        foreign[row] = "non_english" in seen.features
        wordings.append(frozenset(map(intern, matching.wordings(seen.read))))  # most words are in many prompts
    return Observed(prompts, signals, wordings, foreign)


def vocabulary(observed: Observed) -> list[str]:
    """Return, sorted, the words and word pairs that enough prompts and repositories contain to get a weight.

    Enough are LEAST_PROMPTS prompts and LEAST_REPOSITORIES repositories, or all repositories if there are fewer.
    """
    prompts = Counter(wording for wordings in observed.wordings for wording in wordings)
    repositories: dict[str, set[str]] = {}
    for prompt, wordings in zip(observed.prompts, observed.wordings, strict=True):
        for wording in wordings if prompt.repository else ():
            repositories.setdefault(wording, set()).add(prompt.repository)
    least = min(LEAST_REPOSITORIES, len({prompt.repository for prompt in observed.prompts if prompt.repository}))
    return sorted(
        wording
        for wording, count in prompts.items()
        if count >= LEAST_PROMPTS and len(repositories.get(wording, ())) >= least and is_writable(wording)
    )


def is_writable(wording: str) -> bool:
    """Return whether a word or word pair can be written into the instructions so that it is read back unchanged."""
    word, _, rest = wording.partition(" ")
    words = [word] if rest.startswith("@") else wording.split(" ")  # "@lead" and "@object" are no words
    is_plain = all(one in SIGNS or WORD.fullmatch(one) for one in words)
    is_mark_alone = rest == "" or word not in reading.MARKS
    return is_plain and is_mark_alone and wording_key(as_written(wording)) == (word, rest)


def as_written(wording: str) -> str:
    """Return a wording (a word or a pair) in the syntax of the instructions: ``add@lead``, ``can you``, ``<file>``."""
    return " ".join(NAMES.get(one, one) for one in wording.split(" ")).replace(" @", "@")


def columns_of(observed: Observed, known: list[str]) -> Numbers:
    """Return a matrix with a row for each prompt and a column for each word or word pair in ``known``.

    A cell is 1 / sqrt(n) if the prompt contains that word or pair, where n is how many of ``known`` the prompt
    contains; otherwise it is 0.
    """
    column = {wording: at for at, wording in enumerate(known)}
    found = np.zeros((len(observed.wordings), len(known)), np.float32)
    for row, wordings in enumerate(observed.wordings):
        found[row, [column[wording] for wording in wordings if wording in column]] = 1
    return np.asarray(found / np.sqrt(np.maximum(1, found.sum(1, keepdims=True))))


def with_task_type(signals: Numbers, task_types: list[str], table: Table) -> Numbers:
    """Return a copy of ``signals`` (1 where a signal fires) with those added that fire only for some task types.

    Each row of ``signals`` is a prompt, each column a signal. ``task_types`` has the predicted or labelled task type of
    each prompt.
    """
    found = signals.copy()
    for row, task_type in enumerate(task_types):
        before = dict.fromkeys(np.flatnonzero(signals[row]).tolist(), (-1, -1))  # positions do not matter
        found[row, list(matching.fired_late(before, task_type, table))] = 1
    return found


def classes_of(table: Table, facet: str) -> list[tuple[int, str]]:
    """Return the number in the compiled table, and the name, of each class of ``facet``, such as the task type."""
    return [(at, name) for at, (of, name) in enumerate(table.classes) if of == facet]


def names_of(table: Table, facet: str) -> list[str]:
    """Return the names of the classes of a facet, in the order of the compiled table."""
    return [name for _, name in classes_of(table, facet)]


def weights_of(table: Table, facet: str) -> Numbers:
    """Return the current weights in the compiled table: one row per signal, one column per class of the facet."""
    column = {at: index for index, (at, _) in enumerate(classes_of(table, facet))}
    found = np.zeros((len(table.places), len(column)))
    for number in range(len(table.places)):
        for class_at, weight in table.condition(number)[2]:
            if class_at in column:
                found[number, column[class_at]] += weight
    return found


def targets(prompts: list[LabelledRow], names: list[str], facet: str) -> Numbers:
    """Return the shares that a fit should predict, with a row for each prompt and a column for each class in ``names``.

    The share of the label is 1; if a second task type is right, too, the shares are 0.75 and 0.25.
    """
    found = np.zeros((len(prompts), len(names)))
    for row, prompt in enumerate(prompts):
        label = prompt.task_type if facet == TASK_TYPE else prompt.search_intent
        other = prompt.alternative if facet == TASK_TYPE else ""
        found[row, names.index(label)] = 1.0
        if other and other != label:
            found[row, names.index(label)], found[row, names.index(other)] = 0.75, 0.25
    return found
