"""Fit the integer weights of named signals: regularised multinomial regression with a box around each weight.

No randomness and no clock: the same prompts give the same weights. Which signals
exist is not decided here; a class gets a weight only where the file names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from enricher.rules.compiling.signals import MOST_FITTED
from workbench.tuning.labelled import (
    SEARCH_INTENT,
    TASK_TYPE,
    classes_of,
    columns_of,
    targets,
    vocabulary,
    weights_of,
    with_task_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.classify.table import Table
    from workbench.tuning.labelled import Numbers, Observed

SIGNAL_STEP = {TASK_TYPE: 0.245, SEARCH_INTENT: 0.231}
"""What one point of weight is worth in the regression; the largest useful weight is then about nine."""

SIGNAL_PRIOR = {TASK_TYPE: 0.2, SEARCH_INTENT: 0.05}
"""What a signal is thought to be worth before any prompt was seen."""

SIGNAL_PULL = {TASK_TYPE: 1.0, SEARCH_INTENT: 0.5}
WORD_STEP, WORD_PULL, LEAST_WORD = 0.5, 0.15, 0.75
"""Plain words: step, pull towards zero, and what is too little to be written down."""

RARITY = 0.2
"""Rare classes count more by this power of their rarity."""

OWN = 1.6
"""Prompts of no repository are our own inventions, each for one way to say a thing: they count more."""

ROUNDS = 160


@dataclass(frozen=True, slots=True)
class Weights:
    """Integer weights of one facet: per signal and class, per wording of ``vocabulary`` and class."""

    names: list[str]
    signals: Numbers
    vocabulary: list[str]
    words: Numbers


def fit(
    observed: Observed, table: Table, facet: str, *, task_types: list[str] | None = None, least: int = 0
) -> Weights:
    """Return the weights that fit the labels best; ``least`` keeps every named signal alive.

    The search intents need ``task_types``: what each prompt came out as.
    """
    names = [name for _, name in classes_of(table, facet)]
    goal = targets(observed.prompts, names, facet)
    counts = goal.sum(0)
    importance = (goal @ (counts.max() / np.maximum(1, counts)) ** RARITY)[:, None]
    importance /= importance.mean()
    importance[[not prompt.repository for prompt in observed.prompts]] = OWN
    named = weights_of(table, facet) > 0
    signals = observed.signals if task_types is None else with_task_type(observed.signals, task_types, table)
    step = SIGNAL_STEP[facet]
    used = np.flatnonzero(named.any(1))
    found = _descend(
        signals[:, used], goal, importance,
        bounds=(np.where(named[used], least * step, 0.0), np.where(named[used], MOST_FITTED * step, 0.0)),
        prior=np.where(named[used], SIGNAL_PRIOR[facet], 0.0), pull=SIGNAL_PULL[facet],
    )  # fmt: skip
    weights = np.zeros(named.shape)
    weights[used] = np.rint(found / step)
    known = vocabulary(observed) if facet == TASK_TYPE else []
    words = np.zeros((len(known), len(names)))
    if known:
        words, bias = _words(columns_of(observed, known), goal, importance)
        _add_bias(weights, bias, table)
    return Weights(names, weights, known, words)


def _words(held: Numbers, goal: Numbers, importance: Numbers) -> tuple[Numbers, Numbers]:
    columns = np.hstack([held, np.full((len(goal), 1), 0.5, np.float32)])
    free = np.full((columns.shape[1], goal.shape[1]), np.inf)
    found = _descend(columns, goal, importance, bounds=(-free, free), prior=np.zeros((1, 1)), pull=WORD_PULL)
    words = np.where(np.abs(found[:-1]) < LEAST_WORD, 0.0, found[:-1])
    return np.clip(np.rint(words / WORD_STEP), -MOST_FITTED, MOST_FITTED), found[-1] * 0.5


def _add_bias(weights: Numbers, bias: Numbers, table: Table) -> None:
    """Give the bias of the plain words to the signal that always holds, as far as the file has one."""
    for number in table.features.get("always", ()):
        if weights[number].any() or number == table.features["always"][0]:
            points = weights[number] + bias / (WORD_STEP / 2)
            weights[number] = np.clip(np.rint(points - points.min()), 0, MOST_FITTED)
            return


def _descend(
    columns: Numbers,
    goal: Numbers,
    importance: Numbers,
    *,
    bounds: tuple[Numbers, Numbers],
    prior: Numbers,
    pull: float,
) -> Numbers:
    """Minimise the loss by accelerated projected gradient; the step follows from the largest singular value."""
    columns, goal, importance = (matrix.astype(np.float32) for matrix in (columns, goal, importance))
    direction = np.ones(columns.shape[1], np.float32)
    for _ in range(20):
        direction = columns.T @ (columns @ direction)
        direction /= np.linalg.norm(direction) or 1.0
    steepest = 0.5 * float(importance.max()) * float(np.linalg.norm(columns @ direction)) ** 2 + pull
    bounds = bounds[0].astype(np.float32), bounds[1].astype(np.float32)
    prior = prior.astype(np.float32)
    found: Numbers = np.clip(np.zeros(bounds[0].shape, np.float32), *bounds)
    ahead, momentum = found, 1.0
    for _ in range(ROUNDS):
        slope = columns.T @ (importance * (softmax(columns @ ahead) - goal)) + pull * (ahead - prior)
        following = np.clip(ahead - slope / steepest, *bounds)
        after = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        ahead = following + (momentum - 1) / after * (following - found)
        found, momentum = following, after
    return found


def softmax(scores: Numbers, power: Callable[[Numbers], Numbers] = np.exp) -> Numbers:
    """Return the shares of each row's scores; the hook's own, on one prompt, is in ``enricher.classify``."""
    odds = power(scores - scores.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))


def scores(weights: Weights, observed: Observed, *, signals: Numbers | None = None) -> Numbers:
    """Return the points of every prompt in every class, as the hook would add them up."""
    held = observed.signals if signals is None else signals
    return np.asarray(held @ weights.signals + np.rint(2 * columns_of(observed, weights.vocabulary) @ weights.words))
