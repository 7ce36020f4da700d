"""What is chosen from labelled prompts: which plain words, and from which confidence on a class is shown."""

from __future__ import annotations

import numpy as np
import pytest

from enricher.classify import matching
from enricher.classify.table import Table
from enricher.classify.verdict import Observation
from enricher.rules.compiling.class_table import compile_classes
from enricher.rules.compiling.signals import ClassRule
from workbench.tuning.accuracy import packaged_table
from workbench.tuning.fitting import RIGHT_WHEN_SHOWN, calibrate, is_shown
from workbench.tuning.labelled_prompts import LabelledRow, without_copies
from workbench.tuning.matrices import (
    LEAST_PROMPTS,
    LEAST_REPOSITORIES,
    Observed,
    as_written,
    classes_of,
    is_writable,
    observe,
    vocabulary,
)


def prompt(text: str, *, repository: str = "", task_type: str = "debug", place: str = "a.jsonl:1") -> LabelledRow:
    return LabelledRow(text, task_type, "", "none", repository, is_picked=False, place=place)


def test_a_wording_leans_only_where_enough_repositories_hold_it() -> None:
    repositories = [f"r{at}" for at in range(LEAST_REPOSITORIES)]
    shared = [prompt("why again", repository=repositories[at % len(repositories)]) for at in range(LEAST_PROMPTS)]
    habit = [prompt("kindly revert", repository="r0") for _ in range(LEAST_PROMPTS)]
    own = [prompt("kindly revert") for _ in range(LEAST_PROMPTS)]

    found = vocabulary(observe([*shared, *habit, *own], packaged_table()))

    assert {"why", "why again", "why @lead"} <= {*found}
    assert "kindly" not in found


@pytest.mark.parametrize(
    "text", ["ok, add tests for <x> please. can you? add it", "do not change this, then fix the bug"]
)
def test_the_fit_sees_what_the_hook_sees(text: str) -> None:
    wordings = matching.wordings(Observation(text, packaged_table()).read)
    leaning = ClassRule("task_type", "x", [], [], {"1": [as_written(one) for one in wordings if is_writable(one)]})
    table = Table(compile_classes([leaning], lists={"openers": ["ok", "please"], "requests": ["can you"]}))

    found = matching.weighted_wordings(Observation(text, table).read, table)
    seen = matching.wordings(Observation(text, table).read)

    assert len(found) == len([one for one in seen if is_writable(one) and one in wordings])


def test_what_an_earlier_file_says_of_a_repository_is_not_said_twice() -> None:
    first, again = prompt("Fix it!", repository="r"), prompt("fix  it", repository="r", place="b.jsonl:1")
    other = prompt("fix it", repository="s", place="b.jsonl:2")

    assert without_copies([first, first, again, other]) == [first, first, other]


def test_a_class_is_shown_where_nearly_all_are_right() -> None:
    table = packaged_table()
    names = [name for _, name in classes_of(table, "task_type")]
    chance = np.random.default_rng(1)
    leads = chance.uniform(0, 30, 2000)
    is_right = chance.random(2000) < 1 / (1 + 2 ** (-leads / 5))
    points = np.zeros((2000, len(names)))
    points[:, names.index("debug")] = leads
    points[:, names.index("question")] = 0
    points[:, [at for at, name in enumerate(names) if name not in ("debug", "question")]] = -200
    prompts = [prompt("x", repository="r", task_type="debug" if right else "question") for right in is_right]
    observed = Observed(prompts, points, [frozenset()] * 2000, np.zeros(2000))

    found = calibrate(points, observed, table)
    shown = is_shown(points, observed, found, table)

    assert 4 <= found.points_that_double <= 6
    assert 0.4 < shown.mean() < 1
    assert is_right[shown].mean() >= RIGHT_WHEN_SHOWN


def test_a_task_type_that_is_wrong_more_often_than_others_as_sure_is_shown_later() -> None:
    table = packaged_table()
    names = [name for _, name in classes_of(table, "task_type")]
    chance = np.random.default_rng(1)
    leads, is_debug = chance.uniform(0, 30, 2000), np.arange(2000) % 2 == 0
    is_right = chance.random(2000) < 1 / (1 + 2 ** ((np.where(is_debug, 0, 12) - leads) / 5))
    points = np.full((2000, len(names)), -200.0)
    points[:, names.index("question")] = 0
    points[is_debug, names.index("debug")] = leads[is_debug]
    points[~is_debug, names.index("planning")] = leads[~is_debug]
    best = np.where(is_debug, "debug", "planning")
    prompts = [
        prompt("x", repository="r", task_type=name if right else "question")
        for name, right in zip(best, is_right, strict=True)
    ]

    floors = calibrate(points, Observed(prompts, points, [frozenset()] * 2000, np.zeros(2000)), table).floors

    assert floors["planning"] > floors["debug"] + 0.1
    assert {"chat"}.isdisjoint(floors)
