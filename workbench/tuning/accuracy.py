"""Measure how often the classifier is right, by cross-validation over repositories.

Weights and thresholds are fitted to the labelled prompts of some repositories, and evaluated on the prompts of the
others. The signals (what the classifier looks for in a prompt) are not fitted, but taken from the packaged
instructions. The thresholds are fitted by a second, inner cross-validation. The confidence intervals come from
resampling whole repositories instead of prompts, because prompts of one repository are similar.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.classify.table import Table
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from workbench.tuning.fitting import calibrate, fit, folds_of, is_shown, points_left_out, scores
from workbench.tuning.labelled_prompts import read_labelled, without_copies
from workbench.tuning.matrices import joined, names_of, observe, part, with_task_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from workbench.tuning.labelled_prompts import LabelledRow
    from workbench.tuning.matrices import Observed

FOLDS = 6
APART = -1  # the fold of repositories that are in no fit
RESAMPLES = 1000
CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Prediction:
    """A labelled prompt, and the classes that were predicted for it.

    ``is_shown`` means that the task type is certain enough to be shown, ``is_apart`` that no fit used the prompt's
    repository.
    """

    prompt: LabelledRow
    task_type: str
    search_intent: str
    is_shown: bool
    is_apart: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of accuracy: its value, and the interval that contains 95 % of the values from resampling."""

    name: str
    value: float
    low: float
    high: float


def packaged_table() -> Table:
    """Compile the packaged instructions and return the table of signals that the classifier uses."""
    return Table(compile_layers([Layer("packaged", packaged_file())]).body["classes"])


def leave_repositories_out(
    paths: Sequence[str | Path], *, also: Sequence[str | Path], apart: Collection[str]
) -> list[Prediction]:
    """Classify every prompt in the files ``paths`` with weights and thresholds fitted without the prompt's repository.

    Prompts in the files ``also``, which are invented and belong to no repository, are used in every fit and never
    evaluated; prompts of the repositories in ``apart`` are evaluated but used in no fit.
    """
    table = packaged_table()
    observed, invented = observe(without_copies(read_labelled(paths)), table), observe(read_labelled(also), table)
    is_apart = np.array([prompt.repository in apart for prompt in observed.prompts])
    fold_of = np.where(is_apart, APART, folds_of(observed.prompts, FOLDS))
    judged: list[Prediction] = []
    for fold in sorted(set(fold_of.tolist())):
        inside = joined(part(observed, np.flatnonzero((fold_of != fold) & ~is_apart)), invented)
        judged += _classify(part(observed, np.flatnonzero(fold_of == fold)), inside, table, is_apart=fold == APART)
    return judged


def _classify(out: Observed, inside: Observed, table: Table, *, is_apart: bool) -> list[Prediction]:
    """Classify ``out`` with weights and thresholds fitted to ``inside``; copy ``is_apart`` into the predictions."""
    task_names = names_of(table, TASK_TYPE)
    intent_names = names_of(table, SEARCH_INTENT)
    thresholds = calibrate(points_left_out(inside, table), inside, table)
    points = scores(fit(inside, table, TASK_TYPE), out)
    task_types = [task_names[at] for at in points.argmax(1)]
    shown = is_shown(points, out, thresholds, table)
    known = [prompt.task_type for prompt in inside.prompts]
    late = with_task_type(out.signals, task_types, table)
    intents = scores(fit(inside, table, SEARCH_INTENT, task_types=known), out, signals=late).argmax(1)
    return [
        Prediction(prompt, task_types[at], intent_names[int(intents[at])], bool(shown[at]), is_apart)
        for at, prompt in enumerate(out.prompts)
    ]


def values(judged: list[Prediction]) -> dict[str, float]:
    """Return all measures of accuracy, leaving out prompts that were picked because their class is rare."""
    natural = _natural(judged)
    return {name: measure(natural) for name, measure in MEASURES.items()}


def _natural(judged: list[Prediction]) -> list[Prediction]:
    return [one for one in judged if not one.prompt.is_picked]


def figures(judged: list[Prediction]) -> list[Figure]:
    """Return the measures of ``values``, each with its interval over the repositories."""
    natural = _natural(judged)
    by_repository: dict[str, list[Prediction]] = {}
    for one in natural:
        by_repository.setdefault(one.prompt.repository, []).append(one)
    groups = list(by_repository.values())
    source = np.random.default_rng(0)  # a fixed seed: the same predictions always give the same figures
    samples = [
        [one for at in source.integers(0, len(groups), len(groups)) for one in groups[at]] for _ in range(RESAMPLES)
    ]
    found = []
    for name, value in values(judged).items():
        low, high = np.quantile([MEASURES[name](sample) for sample in samples], [0.025, 0.975])
        found.append(Figure(name, value, float(low), float(high)))
    return found


def _share(judged: list[Prediction], holds: Callable[[Prediction], bool]) -> float:
    return sum(map(holds, judged)) / max(1, len(judged))


def _is_right(one: Prediction) -> bool:
    return one.task_type == one.prompt.task_type


def _is_acceptable(one: Prediction) -> bool:
    return one.task_type in (one.prompt.task_type, one.prompt.alternative)


def _macro_f1(pairs: list[tuple[str, str]]) -> float:
    labels, outputs = Counter(label for label, _ in pairs), Counter(output for _, output in pairs)
    hits = Counter(label for label, output in pairs if label == output)
    found = [2 * hits[name] / (labels[name] + outputs[name]) for name in labels]
    return sum(found) / max(1, len(found))


MEASURES: dict[str, Callable[[list[Prediction]], float]] = {
    "task type, strict": lambda all_: _share(all_, _is_right),
    "task type, lenient": lambda all_: _share(all_, _is_acceptable),
    "task type, macro-F1": lambda all_: _macro_f1([(one.prompt.task_type, one.task_type) for one in all_]),
    "class shown": lambda all_: _share(all_, lambda one: one.is_shown),
    "of these right (lenient)": lambda all_: _share([one for one in all_ if one.is_shown], _is_acceptable),
    "chat: nothing shown": lambda all_: _share(
        [one for one in all_ if one.prompt.task_type == CHAT], lambda one: not one.is_shown
    ),
    "search intent": lambda all_: _share(all_, lambda one: one.search_intent == one.prompt.search_intent),
    "search intent, macro-F1": lambda all_: _macro_f1([(one.prompt.search_intent, one.search_intent) for one in all_]),
}


def report(judged: list[Prediction]) -> str:
    """Return the measures as Markdown tables: for all prompts, for each file, and for repositories that no fit used."""
    files = sorted({one.prompt.file for one in judged}, reverse=True)
    groups = [(file, [one for one in judged if one.prompt.file == file]) for file in files if len(files) > 1]
    groups += [("set apart", found) for found in [[one for one in judged if one.is_apart]] if found]
    return "\n\n".join(
        [
            _section("Weights, plain words and thresholds chosen without the repositories judged:", judged),
            *(_section(f"Of these, {name}:", found) for name, found in groups),
            _recalls(judged),
        ]
    )


def _section(title: str, judged: list[Prediction]) -> str:
    repositories = len({one.prompt.repository for one in judged})
    return "\n".join(
        [
            f"{title} {len(judged)} prompts of {repositories} repositories.",
            "",
            "| measure | value | 95 % interval (repositories resampled) |",
            "|---|---|---|",
            *(f"| {one.name} | {one.value:.3f} | {one.low:.3f} to {one.high:.3f} |" for one in figures(judged)),
        ]
    )


def _recalls(judged: list[Prediction]) -> str:
    lines = ["| task type | prompts | found |", "|---|---|---|"]
    for name in sorted({one.prompt.task_type for one in judged}):
        rows = [one for one in judged if one.prompt.task_type == name]  # also those picked because the class is rare
        lines.append(f"| {name} | {len(rows)} | {_share(rows, _is_right):.2f} |")
    return "\n".join(lines)
