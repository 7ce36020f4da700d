"""Choose when a task type is shown: how a lead in points becomes a confidence, and the thresholds.

All are fitted to points of prompts that were computed with weights fitted without the prompts' repositories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from enricher.classify import TASK_TYPE
from workbench.tuning.fitting import fit, scores, softmax
from workbench.tuning.labelled import classes_of, part, targets

if TYPE_CHECKING:
    from enricher.classify.table import Table
    from workbench.tuning.labelled import Numbers, Observed
    from workbench.tuning.labelled_rows import LabelledRow

INNER_FOLDS = 3
RIGHT_WHEN_SHOWN = 0.92
"""The share of shown classes that must be right in cross-validation; it is lower on unknown repositories."""

LOUD_CHAT = 0.045
"""The maximum share of small-talk prompts for which a class may be shown."""

LEAST_SHOWN = 0.36
"""The minimum share of prompts for which a class must be shown; stricter thresholds are not considered."""

DOUBLES = np.arange(2.5, 8.1, 0.25)
CONFIDENCES = np.arange(0.4, 0.9, 0.02)
SILENCES = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12])


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The settings of the task type facet, as written in the instructions under "Task type"."""

    points_that_double: float
    min_confidence: float
    max_silent: float


def folds_of(prompts: list[LabelledRow], folds: int) -> Numbers:
    """Return the fold of each prompt: whole repositories, the largest first, each go to the emptiest fold."""
    sizes: dict[str, int] = {}
    for prompt in prompts:
        sizes[prompt.repository] = sizes.get(prompt.repository, 0) + 1
    load, fold = [0] * folds, {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[name] = load.index(min(load))
        load[fold[name]] += sizes[name]
    return np.array([fold[prompt.repository] for prompt in prompts])


def points_left_out(observed: Observed, table: Table) -> Numbers:
    """Return each prompt's points per task type, with weights fitted without its fold of repositories.

    Prompts without a repository are used in every fit; their own points are zeros.
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
    """Return the best thresholds for these cross-validated points.

    Thresholds that show a class for less than LEAST_SHOWN are skipped. Of those that meet LOUD_CHAT and
    RIGHT_WHEN_SHOWN, the ones that show most win; if none meet both, those with the highest share right.
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
    """Return for each prompt whether its class would be shown; the hook's version is in ``enricher.classify``."""
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
    """Return the lead in points that should double the odds, so that confidences match the share that is right."""
    goal = targets(observed.prompts, [name for _, name in classes_of(table, TASK_TYPE)], TASK_TYPE)
    losses = [-(goal * np.log(_odds(points, doubles) + 1e-12)).sum() for doubles in DOUBLES]
    return float(DOUBLES[int(np.argmin(losses))])


def _is_silent(observed: Observed, table: Table) -> Numbers:
    """Return for each prompt whether its label is a class that is never shown."""
    names = [name for _, name in classes_of(table, TASK_TYPE)]
    return np.asarray(_silent(table)[[names.index(prompt.task_type) for prompt in observed.prompts]])


def _acceptable(points: Numbers, observed: Observed, table: Table) -> Numbers:
    names = [name for _, name in classes_of(table, TASK_TYPE)]
    best = [names[at] for at in points.argmax(1)]
    return np.array(
        [name in (prompt.task_type, prompt.alternative) for name, prompt in zip(best, observed.prompts, strict=True)]
    )
