"""Fit the weights of signals, and the least confidence with which a task type is shown, to labelled prompts.

The weights come from regularised multinomial regression with bounds on each weight. The thresholds, and how many points
double the odds of a class, are chosen by cross-validation: the points of a prompt come from weights that were fitted
without its repository. Neither random numbers nor the clock are used, so the same prompts always give the same weights.
No signals are added or removed here; a signal gets weights only for the classes that list it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.classify.verdict import least_confidence
from enricher.rules.compiling.signals import MOST_FITTED
from workbench.tuning.matrices import columns_of, names_of, part, targets, vocabulary, weights_of, with_task_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.classify.table import Table
    from workbench.tuning.labelled_prompts import LabelledRow
    from workbench.tuning.matrices import Numbers, Observed

SIGNAL_STEP = {TASK_TYPE: 0.245, SEARCH_INTENT: 0.231}
"""For each facet (task type, search intent): the regression coefficient that equals one point of a signal's weight.

With these values, the largest useful weight is about nine.
"""

SIGNAL_PRIOR = {TASK_TYPE: 0.2, SEARCH_INTENT: 0.05}
"""For each facet: the value towards which the regression pulls the coefficient of every signal (the prior)."""

SIGNAL_PULL = {TASK_TYPE: 1.0, SEARCH_INTENT: 0.5}
WORD_STEP, WORD_PULL, LEAST_WORD = 0.5, 0.15, 0.75
"""For plain words: the regression coefficient of one point of weight, the pull towards zero, and the least coefficient.

Coefficients that are closer to zero than the least one are set to zero.
"""

RARITY = 0.2
"""A prompt counts as (prompts of the largest class / prompts of its class) to this power: rare classes count more."""

OWN = 1.6
"""Importance of a prompt without a repository, where 1 is the average; these were invented, each for one phrasing."""

ROUNDS = 160  # iterations of ``_descend``
INNER_FOLDS = 3
RIGHT_WHEN_SHOWN = 0.92
"""The share of the shown task types that must be right in cross-validation; in new repositories, fewer will be."""

LOUD_CHAT = 0.045
"""Maximum share of small-talk prompts for which a task type may be shown."""

LEAST_SHOWN = 0.36
"""Minimum share of prompts for which a task type must be shown; stricter thresholds are not considered."""

# The values that ``calibrate`` tries; a confidence is that of a task type which is right as often as all together.
DOUBLES = np.arange(2.5, 8.1, 0.25)
CONFIDENCES = np.arange(0.3, 0.9, 0.01)

DOUBT_PULL, LEAST_SLOPE = 3.0, 0.2
"""The regularisation of each task type's doubt, and the minimum weight of the confidence in the regression."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole-number weights for one facet (task type or search intent), with a column for each class in ``names``.

    The rows of ``signals`` are the signals of the compiled table, those of ``words`` the plain words in ``vocabulary``.
    """

    names: list[str]
    signals: Numbers
    vocabulary: list[str]
    words: Numbers


def fit(
    observed: Observed, table: Table, facet: str, *, task_types: list[str] | None = None, least: int = 0
) -> Weights:
    """Return the weights for a facet (task type or search intent) that fit the labels of the prompts best.

    ``least`` is the lowest weight that a signal may get for a class that lists it. For search intents, pass the task
    type of each prompt as ``task_types``, because some signals require one.
    """
    names = names_of(table, facet)
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
    # The coefficients of the last column, which is constant, are the bias of each class.
    columns = np.hstack([held, np.full((len(goal), 1), 0.5, np.float32)])
    free = np.full((columns.shape[1], goal.shape[1]), np.inf)
    found = _descend(columns, goal, importance, bounds=(-free, free), prior=np.zeros((1, 1)), pull=WORD_PULL)
    words = np.where(np.abs(found[:-1]) < LEAST_WORD, 0.0, found[:-1])
    return np.clip(np.rint(words / WORD_STEP), -MOST_FITTED, MOST_FITTED), found[-1] * 0.5


def _add_bias(weights: Numbers, bias: Numbers, table: Table) -> None:
    """Add ``bias``, which was fitted together with the plain words, to the weights of the signal that always fires."""
    if always := table.features.get("always"):
        number = always[0]
        points = weights[number] + bias / (WORD_STEP / 2)  # half, because ``scores`` doubles the weights of words
        # A constant added to all classes changes nothing, so the smallest becomes 0.
        weights[number] = np.clip(np.rint(points - points.min()), 0, MOST_FITTED)


def _descend(
    columns: Numbers,
    goal: Numbers,
    importance: Numbers,
    *,
    bounds: tuple[Numbers, Numbers],
    prior: Numbers,
    pull: float,
) -> Numbers:
    """Return the coefficients within ``bounds`` that bring softmax(columns @ coefficients) closest to ``goal``.

    ``importance`` is the weight of each row in the loss, and ``pull`` the strength with which the coefficients are
    drawn to ``prior``. The method is accelerated projected gradient descent, with a step size derived from the largest
    singular value of ``columns``.
    """
    columns, goal, importance = (matrix.astype(np.float32) for matrix in (columns, goal, importance))
    direction = np.ones(columns.shape[1], np.float32)
    for _ in range(20):  # power iteration: the direction approaches the largest singular vector
        direction = columns.T @ (columns @ direction)
        direction /= np.linalg.norm(direction) or 1.0
    # The softmax loss has a curvature of at most 1/2, so a step of this size cannot overshoot.
    steepest = 0.5 * float(importance.max()) * float(np.linalg.norm(columns @ direction)) ** 2 + pull
    bounds = bounds[0].astype(np.float32), bounds[1].astype(np.float32)
    prior = prior.astype(np.float32)
    found: Numbers = np.clip(np.zeros(bounds[0].shape, np.float32), *bounds)
    ahead, momentum = found, 1.0
    for _ in range(ROUNDS):
        slope = columns.T @ (importance * (softmax(columns @ ahead) - goal)) + pull * (ahead - prior)
        following = np.clip(ahead - slope / steepest, *bounds)
        after = (1 + (1 + 4 * momentum**2) ** 0.5) / 2  # FISTA (Beck & Teboulle 2009)
        ahead = following + (momentum - 1) / after * (following - found)
        found, momentum = following, after
    return found


def softmax(scores: Numbers, power: Callable[[Numbers], Numbers] = np.exp) -> Numbers:
    """Turn each row of scores into shares that sum to 1, as ``enricher.classify`` does for one prompt in the hook.

    ``power`` turns a difference in scores into odds.
    """
    odds = power(scores - scores.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))


def scores(weights: Weights, observed: Observed, *, signals: Numbers | None = None) -> Numbers:
    """Return the points that the weights give every prompt (row) for every class (column), summed as in the hook.

    ``signals``, if given, is used instead of ``observed.signals``.
    """
    held = observed.signals if signals is None else signals
    # The factor 2, the square root in ``columns_of`` and the rounding are those of ``matching.word_points``.
    return np.asarray(held @ weights.signals + np.rint(2 * columns_of(observed, weights.vocabulary) @ weights.words))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers in the instructions that decide whether a prompt's task type is shown, as far as they are fitted.

    ``floors`` has the least confidence of each task type that states one of its own.
    """

    points_that_double: float
    min_confidence: float
    floors: dict[str, float]


def folds_of(prompts: list[LabelledRow], folds: int) -> Numbers:
    """Return the number of the cross-validation fold that each prompt belongs to.

    Prompts of one repository stay together. The repositories are assigned one by one, the largest first, each to the
    fold that has the fewest prompts so far.
    """
    sizes: dict[str, int] = {}
    for prompt in prompts:
        sizes[prompt.repository] = sizes.get(prompt.repository, 0) + 1
    load, fold = [0] * folds, {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[name] = load.index(min(load))
        load[fold[name]] += sizes[name]
    return np.array([fold[prompt.repository] for prompt in prompts])


def points_left_out(observed: Observed, table: Table) -> Numbers:
    """Return each prompt's points for each task type, from weights that were fitted without the prompt's fold.

    A fold is a group of repositories. Prompts without a repository are used in every fit; their own points are zeros.
    """
    is_real = np.array([bool(prompt.repository) for prompt in observed.prompts])
    points = np.zeros((len(observed.prompts), len(names_of(table, TASK_TYPE))))
    real = part(observed, np.flatnonzero(is_real))
    fold_of = np.full(len(observed.prompts), -1)
    fold_of[is_real] = folds_of(real.prompts, INNER_FOLDS)
    for fold in range(INNER_FOLDS):
        out = np.flatnonzero(fold_of == fold)
        weights = fit(part(observed, np.flatnonzero(fold_of != fold)), table, TASK_TYPE)
        points[out] = scores(weights, part(observed, out))
    return points


def calibrate(points: Numbers, observed: Observed, table: Table) -> Thresholds:
    """Return the best thresholds for showing a task type, given the cross-validated points of the observed prompts.

    A task type that is wrong more often than others of the same confidence gets a higher threshold, if the instructions
    state one for it. Thresholds that show a task type for too few prompts (LEAST_SHOWN) are skipped. Thresholds are
    acceptable if they show one for only a small share of the small talk (LOUD_CHAT), and if enough of the shown task
    types are right (RIGHT_WHEN_SHOWN). Of the acceptable ones, those that show a task type for the most prompts are
    chosen. If none are acceptable, those that meet the first condition are preferred, then those with the highest share
    of right task types.
    """
    rows = [at for at, prompt in enumerate(observed.prompts) if prompt.repository and not prompt.is_picked]
    points, observed = points[rows], part(observed, rows)
    doubles = _likeliest(points, observed, table)
    right, chat = _acceptable(points, observed, table), _is_silent(observed, table)
    doubts = _doubts(points, right, doubles, table)
    best, merit = _thresholds(doubles, 0.5, doubts), (False, False, 0.0)  # if all thresholds are skipped
    for confidence in CONFIDENCES:
        choice = _thresholds(doubles, float(confidence), doubts)
        shown = is_shown(points, observed, choice, table)
        if shown.mean() < LEAST_SHOWN:
            continue
        share_right = float(right[shown].mean())
        is_quiet = bool(shown[chat].sum() <= LOUD_CHAT * chat.sum())
        is_good = is_quiet and share_right >= RIGHT_WHEN_SHOWN
        if (found := (is_good, is_quiet, float(shown.mean()) if is_good else share_right)) > merit:
            best, merit = choice, found
    return best


def _doubts(points: Numbers, right: Numbers, doubles: float, table: Table) -> dict[str, float]:
    """Return by how much the log odds of each task type must be higher for it to be right as often as the others.

    Only task types that state a ``min_confidence`` of their own are compared with the rest. The values come from a
    regression of "is right" on the log odds of the confidence and on the task type.
    """
    names, own = names_of(table, TASK_TYPE), _facet(table)["floors"]
    best, confidence = points.argmax(1), np.clip(_odds(points, doubles).max(1), 0.001, 0.999)
    kinds = [names.index(name) for name in own]
    columns = np.column_stack(
        [np.ones(len(best)), np.log(confidence / (1 - confidence)), best[:, None] == np.array(kinds, int)]
    )
    rows = ~_silent(table)[best]
    free = np.full((columns.shape[1], 2), (np.inf, 0.0))  # only the first column, "is right", has coefficients
    least, prior = -free, np.zeros(free.shape)
    least[1, 0], prior[1, 0] = LEAST_SLOPE, 1.0
    found = _descend(
        columns[rows].astype(np.float32), np.column_stack([right, ~right])[rows], np.ones((int(rows.sum()), 1)),
        bounds=(least, free), prior=prior, pull=DOUBT_PULL,
    )[:, 0]  # fmt: skip
    return {name: float(-effect / found[1]) for name, effect in zip(own, found[2:], strict=True)}


def _thresholds(doubles: float, confidence: float, doubts: dict[str, float]) -> Thresholds:
    """Return the thresholds in which ``confidence`` is required of each task type that has no doubt of its own."""
    odds = confidence / (1 - confidence)
    floors = {name: round(1 - 1 / (1 + odds * float(np.exp(doubt))), 2) for name, doubt in doubts.items()}
    return Thresholds(doubles, min([round(confidence, 2), *floors.values()]), floors)


def is_shown(points: Numbers, observed: Observed, thresholds: Thresholds, table: Table) -> Numbers:
    """Return for each prompt whether its task type would be shown, as ``enricher.classify`` decides it in the hook."""
    odds, silent = _odds(points, thresholds.points_that_double), _silent(table)
    facet = {"min_confidence": thresholds.min_confidence, "floors": thresholds.floors}
    least = np.array([least_confidence(facet, name) for name in names_of(table, TASK_TYPE)])
    # The hook also rounds a confidence before comparing it.
    sure = np.round(odds.max(1), 2) >= least[odds.argmax(1)]
    most = _facet(table)["max_silent"]
    quiet = silent[odds.argmax(1)] | (odds[:, silent].sum(1) > most) | (observed.foreign > 0)
    return np.asarray(sure & ~quiet)


def _odds(points: Numbers, doubles: float) -> Numbers:
    return softmax(points, lambda lead: np.exp2(lead / doubles))


def _facet(table: Table) -> dict[str, Any]:
    return next(facet for facet in table.facets if facet["name"] == TASK_TYPE)


def _silent(table: Table) -> Numbers:
    return np.isin(names_of(table, TASK_TYPE), _facet(table)["silent"])


def _likeliest(points: Numbers, observed: Observed, table: Table) -> float:
    """Return the number of points that should double the odds of a class, chosen so that the labels are most likely."""
    goal = targets(observed.prompts, names_of(table, TASK_TYPE), TASK_TYPE)
    losses = [-(goal * np.log(_odds(points, doubles) + 1e-12)).sum() for doubles in DOUBLES]  # 0 has no logarithm
    return float(DOUBLES[int(np.argmin(losses))])


def _is_silent(observed: Observed, table: Table) -> Numbers:
    """Return for each prompt whether its label is a task type that is never shown, such as small talk."""
    names = names_of(table, TASK_TYPE)
    return np.asarray(_silent(table)[[names.index(prompt.task_type) for prompt in observed.prompts]])


def _acceptable(points: Numbers, observed: Observed, table: Table) -> Numbers:
    names = names_of(table, TASK_TYPE)
    best = [names[at] for at in points.argmax(1)]
    return np.array(
        [name in (prompt.task_type, prompt.alternative) for name, prompt in zip(best, observed.prompts, strict=True)]
    )
