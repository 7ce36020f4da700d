"""How often the classifier is right, on repositories that had no part in its weights.

The signals are the file's; their weights are fitted anew without the repositories
that are judged. Intervals resample repositories, not prompts: prompts of one
repository are alike.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from enricher.classify.table import Table
from enricher.rules.compiler import compile_layers
from enricher.rules.layers import Layer, packaged_file
from workbench.fitting import fit, scores, softmax
from workbench.labelled import SEARCH_INTENT, TASK_TYPE, classes_of, observe, read_labelled, with_task_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.labelled import Numbers, Observed, Prompt

FOLDS = 10
RESAMPLES = 1000
CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Judged:
    """One prompt with what came out for it."""

    prompt: Prompt
    task_type: str
    search_intent: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured share with the interval that 95 % of the resamples fall into."""

    name: str
    value: float
    low: float
    high: float


def evaluation_file() -> Path | None:
    """Return the labelled prompts: under ENRICHER_EVAL, else beside the work tree; None where there are none."""
    folder = os.environ.get("ENRICHER_EVAL")
    path = Path(folder) if folder else Path(__file__).parents[2] / "shared" / "eval"
    file = path / "prompts_tune.jsonl"
    return file if file.is_file() else None


def packaged_table() -> Table:
    """Return the table of the instructions that we ship, compiled now."""
    return Table(compile_layers([Layer("packaged", packaged_file())]).body["classes"])


def leave_repositories_out(paths: Sequence[str | Path], *, also: Sequence[str | Path] = ()) -> list[Judged]:
    """Judge every prompt of ``paths`` with weights that its repository had no part in.

    Prompts of ``also`` (our own inventions) take part in every fit and are never judged.
    """
    table = packaged_table()
    observed, invented = observe(read_labelled(paths), table), observe(read_labelled(also), table)
    fold_of = _folds(observed.prompts)
    task_names = [name for _, name in classes_of(table, TASK_TYPE)]
    intent_names = [name for _, name in classes_of(table, SEARCH_INTENT)]
    task_points = np.zeros((len(observed.prompts), len(task_names)))
    for fold in range(FOLDS):
        out = fold_of == fold
        weights = fit(_joined(_part(observed, ~out), invented), table, TASK_TYPE)
        task_points[out] = scores(weights, _part(observed, out))
    task_types = [task_names[at] for at in task_points.argmax(1)]
    late = with_task_type(observed.signals, task_types, table)
    intent_points = np.zeros((len(observed.prompts), len(intent_names)))
    for fold in range(FOLDS):
        out = fold_of == fold
        part = _joined(_part(observed, ~out), invented)
        known = [task_types[at] for at in np.flatnonzero(~out)] + [prompt.task_type for prompt in invented.prompts]
        weights = fit(part, table, SEARCH_INTENT, task_types=known)
        intent_points[out] = scores(weights, _part(observed, out), signals=late[out])
    shown = _shown(task_points, observed, table)
    return [
        Judged(prompt, task_types[at], intent_names[int(intent_points[at].argmax())], bool(shown[at]))
        for at, prompt in enumerate(observed.prompts)
    ]


def _folds(prompts: list[Prompt]) -> Numbers:
    """Deal out whole repositories, the largest first, each to the emptiest fold."""
    sizes: dict[str, int] = {}
    for prompt in prompts:
        sizes[prompt.repository] = sizes.get(prompt.repository, 0) + 1
    load, fold = [0] * FOLDS, {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[name] = load.index(min(load))
        load[fold[name]] += sizes[name]
    return np.array([fold[prompt.repository] for prompt in prompts])


def _part(observed: Observed, rows: Numbers) -> Observed:
    prompts = [observed.prompts[at] for at in np.flatnonzero(rows)]
    return type(observed)(prompts, observed.signals[rows], observed.words[rows], observed.foreign[rows])


def _joined(one: Observed, other: Observed) -> Observed:
    return type(one)(
        [*one.prompts, *other.prompts],
        np.vstack([one.signals, other.signals]),
        np.vstack([one.words, other.words]),
        np.hstack([one.foreign, other.foreign]),
    )


def _shown(points: Numbers, observed: Observed, table: Table) -> Numbers:
    """Say for which prompts the class would be shown, by the settings of the facet."""
    facet = next(facet for facet in table.facets if facet["name"] == TASK_TYPE)
    names = [name for _, name in classes_of(table, TASK_TYPE)]
    odds = softmax(points, lambda lead: np.exp2(lead / facet["points_that_double"]))
    silent = np.isin(names, facet["silent"])
    sure = np.round(odds.max(1), 2) >= facet["min_confidence"]
    quiet = silent[odds.argmax(1)] | (odds[:, silent].sum(1) > facet["max_silent"]) | (observed.foreign > 0)
    return np.asarray(sure & ~quiet)


def figures(judged: list[Judged]) -> list[Figure]:
    """Return the figures of the accuracy table, over prompts that were not picked for a rare class."""
    natural = [one for one in judged if not one.prompt.is_picked]
    by_repository: dict[str, list[Judged]] = {}
    for one in natural:
        by_repository.setdefault(one.prompt.repository, []).append(one)
    groups = list(by_repository.values())
    source = np.random.default_rng(0)
    samples = [
        [one for at in source.integers(0, len(groups), len(groups)) for one in groups[at]] for _ in range(RESAMPLES)
    ]
    return [_figure(name, measure, natural, samples) for name, measure in MEASURES.items()]


def _figure(
    name: str, measure: Callable[[list[Judged]], float], natural: list[Judged], samples: list[list[Judged]]
) -> Figure:
    low, high = np.quantile([measure(sample) for sample in samples], [0.025, 0.975])
    return Figure(name, measure(natural), float(low), float(high))


def _share(judged: list[Judged], holds: Callable[[Judged], bool]) -> float:
    return sum(map(holds, judged)) / max(1, len(judged))


def _is_right(one: Judged) -> bool:
    return one.task_type == one.prompt.task_type


def _is_acceptable(one: Judged) -> bool:
    return one.task_type in (one.prompt.task_type, one.prompt.alternative)


def _macro_f1(pairs: list[tuple[str, str]]) -> float:
    found = []
    for name in {label for label, _ in pairs}:
        hits = sum(label == out == name for label, out in pairs)
        found.append(2 * hits / sum((label == name) + (out == name) for label, out in pairs))
    return sum(found) / max(1, len(found))


MEASURES: dict[str, Callable[[list[Judged]], float]] = {
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


def recall_per_class(judged: list[Judged]) -> dict[str, tuple[int, float]]:
    """Return per task type how many prompts there are, picked ones included, and the share found."""
    found = {}
    for name in sorted({one.prompt.task_type for one in judged}):
        rows = [one for one in judged if one.prompt.task_type == name]
        found[name] = len(rows), _share(rows, _is_right)
    return found


def report(judged: list[Judged]) -> str:
    """Return the figures as Markdown."""
    repositories = len({one.prompt.repository for one in judged})
    lines = [
        f"{len(judged)} prompts of {repositories} repositories; weights fitted without the repositories judged.",
        "",
        "| measure | value | 95 % interval (repositories resampled) |",
        "|---|---|---|",
        *(f"| {one.name} | {one.value:.3f} | {one.low:.3f} to {one.high:.3f} |" for one in figures(judged)),
        "",
        "| task type | prompts | found |",
        "|---|---|---|",
        *(f"| {name} | {count} | {share:.2f} |" for name, (count, share) in recall_per_class(judged).items()),
    ]
    return "\n".join(lines)
