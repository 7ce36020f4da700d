"""Choose when a class is shown: what a lead is worth, and from which confidence on.

Both are read off prompts whose repositories had no part in the weights that judged them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.tuning.fitting import fit, scores, softmax
from workbench.tuning.labelled import TASK_TYPE, classes_of, part, targets

if TYPE_CHECKING:
    from enricher.classify.table import Table
    from workbench.tuning.labelled import Numbers, Observed, Prompt

INNER_FOLDS = 3
RIGHT_WHEN_SHOWN = 0.92
"""The share that must be right among the prompts left out; on repositories of strangers it is less."""

LOUD_CHAT = 0.045
"""The share of small talk that may be shown a class."""

LEAST_SHOWN = 0.36
"""A class that is shown more seldom is not worth having: the thresholds rise no further."""

DOUBLES = np.arange(2.5, 8.1, 0.25)
CONFIDENCES = np.arange(0.4, 0.9, 0.02)
SILENCES = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12])


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings of the facet that a person reads under "Task type"."""

    points_that_double: float
    min_confidence: float
    max_silent: float


def folds_of(prompts: list[Prompt], folds: int) -> Numbers:
    """Deal out whole repositories, the largest first, each to the emptiest fold."""
    sizes: dict[str, int] = {}
    for prompt in prompts:
        sizes[prompt.repository] = sizes.get(prompt.repository, 0) + 1
    load, fold = [0] * folds, {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[name] = load.index(min(load))
        load[fold[name]] += sizes[name]
    return np.array([fold[prompt.repository] for prompt in prompts])


def points_left_out(observed: Observed, table: Table) -> Numbers:
    """Return the points per task type of every prompt of a repository, by the other repositories; zeros elsewhere.

    Prompts of no repository take part in every fit.
    """
    is_real = np.array([bool(prompt.repository) for prompt in observed.prompts])
    points = np.zeros((len(observed.prompts), len(classes_of(table, TASK_TYPE))))
    real = part(observed, np.flatnonzero(is_real))
    fold_of = np.full(len(observed.prompts), -1)
    fold_of[is_real] = folds_of(real.prompts, INNER_FOLDS)
    for fold in range(INNER_FOLDS):
        out = np.flatnonzero(fold_of == fold)
        weights = fit(part(observed, np.flatnonzero(fold_of != fold)), table, TASK_TYPE)
        points[out] = scores(weights, part(observed, out))
    return points


def calibrate(points: Numbers, observed: Observed, table: Table) -> Thresholds:
    """Return the thresholds that hold for prompts of repositories that were left out of their weights.

    Of those that show enough and are silent at small talk: the ones that show most while enough is right,
    else the ones with most right.
    """
    rows = [at for at, prompt in enumerate(observed.prompts) if prompt.repository and not prompt.is_picked]
    points, observed = points[rows], part(observed, rows)
    doubles = _likeliest(points, observed, table)
    right, chat = _acceptable(points, observed, table), _is_silent(observed, table)
    best, merit = Thresholds(doubles, 0.5, 1.0), (False, False, 0.0)
    for confidence in CONFIDENCES:
        for silence in SILENCES:
            choice = Thresholds(doubles, round(float(confidence), 2), float(silence))
            shown = is_shown(points, observed, choice, table)
            if shown.mean() < LEAST_SHOWN:
                continue
            share_right = float(right[shown].mean())
            is_quiet = bool(shown[chat].sum() <= LOUD_CHAT * chat.sum())
            is_good = is_quiet and share_right >= RIGHT_WHEN_SHOWN
            if (found := (is_good, is_quiet, float(shown.mean()) if is_good else share_right)) > merit:
                best, merit = choice, found
    return best


def is_shown(points: Numbers, observed: Observed, thresholds: Thresholds, table: Table) -> Numbers:
    """Say for which prompts the class would be shown; the hook's own, on one prompt, is in ``enricher.classify``."""
    odds, silent = _odds(points, thresholds.points_that_double), _silent(table)
    sure = np.round(odds.max(1), 2) >= thresholds.min_confidence
    quiet = silent[odds.argmax(1)] | (odds[:, silent].sum(1) > thresholds.max_silent) | (observed.foreign > 0)
    return np.asarray(sure & ~quiet)


def _odds(points: Numbers, doubles: float) -> Numbers:
    return softmax(points, lambda lead: np.exp2(lead / doubles))


def _silent(table: Table) -> Numbers:
    facet = next(facet for facet in table.facets if facet["name"] == TASK_TYPE)
    return np.isin([name for _, name in classes_of(table, TASK_TYPE)], facet["silent"])


def _likeliest(points: Numbers, observed: Observed, table: Table) -> float:
    """Return what a lead must be worth for the confidence to be the share that is right."""
    goal = targets(observed.prompts, [name for _, name in classes_of(table, TASK_TYPE)], TASK_TYPE)
    losses = [-(goal * np.log(_odds(points, doubles) + 1e-12)).sum() for doubles in DOUBLES]
    return float(DOUBLES[int(np.argmin(losses))])


def _is_silent(observed: Observed, table: Table) -> Numbers:
    """Say which prompts are labelled as a class that is never shown."""
    names = [name for _, name in classes_of(table, TASK_TYPE)]
    return np.asarray(_silent(table)[[names.index(prompt.task_type) for prompt in observed.prompts]])


def _acceptable(points: Numbers, observed: Observed, table: Table) -> Numbers:
    names = [name for _, name in classes_of(table, TASK_TYPE)]
    best = [names[at] for at in points.argmax(1)]
    return np.array(
        [name in (prompt.task_type, prompt.alternative) for name, prompt in zip(best, observed.prompts, strict=True)]
    )
