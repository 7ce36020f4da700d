"""The estimate of a prompt's effort: score, a model's part in it, the prompt's parts, each key of the thresholds."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from simulator import ROOT

from enricher.complexity.estimate import estimate
from enricher.complexity.parts import MOST
from enricher.complexity.thresholds import compile_thresholds
from enricher.interfaces.compat.complexity import (
    CycleError,
    TaskComplexityEstimator,
    as_row,
    load_thresholds,
    parallel_groups,
)
from enricher.rules.compiling.signals import forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = ROOT / "instructions" / "complexity_thresholds.yaml"
THRESHOLDS = load_thresholds()
LISTED = """Please do this:
1. add the sessions table to schema.sql
2. once the schema is there, implement the login endpoint in api/login.py
3. document the flags in docs/cli.md
4. write tests for cart.py
5. after 2 and 4, update the changelog
"""
LARGE = "migrate all 40 modules to async and rewrite the scheduler from scratch"
SMALL = "fix the typo in README.md"
PROMPTS = (
    LISTED,
    LARGE,
    SMALL,
    "what does the parser do?",
    "rename it everywhere, and then update the docs, and then run the tests, and then deploy",
    "update a.py, b.py and c.py",
    "update a.py, b.py, c.py, d.py and e.py",
    "update a.py, b.py, c.py, d.py, e.py, f.py and g.py",
    "add an oauth permission, a recursive algorithm and a thread",
    "add x, build y, change z, check w and clean v",
    "\n".join(f"{at}. add part {at} after {at - 1}" for at in range(1, 9)),
    "\n".join(f"{at}. add part {at} after {at - 1}" for at in range(1, 6)),
    "word " * 9000,
    "update a.py and b.py",
    "rename the 10 modules",
    "1. add a\n2. fix b after 1",
    "1. see a\n2. fix b after 1\n3. move c after 1",
    "- see a\n- fix b\n- move c",
)


def failing(_prompt: str) -> object:
    raise TimeoutError("the model took too long")


@pytest.mark.conformance("S2-4a")
def test_without_a_model_the_words_give_a_score_of_0_to_100() -> None:
    scores = [TaskComplexityEstimator().estimate(prompt).score for prompt in (SMALL, LARGE, "", "ok")]

    assert all(0 <= score <= 100 for score in scores)
    assert scores[1] > scores[0]


@pytest.mark.conformance("S2-4a")
def test_a_models_score_counts_60_of_100() -> None:
    alone = TaskComplexityEstimator().estimate(SMALL)

    found = TaskComplexityEstimator(ask=lambda _prompt: {"complexity": 80}).estimate(SMALL)

    assert found.model == 80
    assert found.score == pytest.approx(0.4 * alone.score + 0.6 * 80, abs=0.05)
    assert found.reason == ""


@pytest.mark.conformance("S2-4a")
@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        pytest.param(failing, "TimeoutError: the model took too long", id="it fails"),
        pytest.param(lambda _prompt: "high", "no number", id="a word"),
        pytest.param(lambda _prompt: {"confidence": 0.9}, "no number", id="no score"),
        pytest.param(lambda _prompt: None, "no number", id="nothing"),
        pytest.param(lambda _prompt: True, "no number", id="a flag"),
        pytest.param(lambda _prompt: 101, "not between 0 and 100", id="too high"),
        pytest.param(lambda _prompt: float("nan"), "not between 0 and 100", id="NaN"),
    ],
)
def test_without_a_usable_answer_the_words_decide_alone_and_the_reason_is_kept(
    ask: Callable[[str], object], reason: str
) -> None:
    found = TaskComplexityEstimator(ask=ask).estimate(SMALL)

    assert reason in found.reason
    assert found.model is None
    assert found.score == TaskComplexityEstimator().estimate(SMALL).score


@pytest.mark.conformance("S2-4b")
def test_the_estimate_has_the_id_of_its_task() -> None:
    found = TaskComplexityEstimator().estimate(LISTED, task_id=123)

    assert (found.task_id, as_row(found).trace_id) == ("123", "123")
    assert found.tokens > found.lines > found.files == 4
    assert found.minutes >= 15


@pytest.mark.conformance("S2-4c")
def test_parts_are_grouped_by_what_they_wait_for() -> None:
    assert parallel_groups({1: [], 2: [1], 3: [1], 4: [2, 3]}) == [[1], [2, 3], [4]]


@pytest.mark.conformance("S2-4c")
def test_parts_that_wait_for_each_other_are_reported() -> None:
    with pytest.raises(CycleError, match="2 -> 3 -> 2"):
        parallel_groups({1: [], 2: [3], 3: [2], 4: [1]})
    found = estimate("1. add a after 2\n2. add b after 1\n3. add c", THRESHOLDS)
    assert "parts wait for each other: 1 -> 2 -> 1" in found.rationale
    assert found.groups == []


@pytest.mark.conformance("S2-4c")
def test_the_parts_of_a_prompt_are_its_own_list_items() -> None:
    found = TaskComplexityEstimator().estimate(LISTED)

    assert [part.text for part in found.parts] == [line.partition(". ")[2] for line in LISTED.splitlines()[1:]]
    assert found.groups == [[1, 3, 4], [2], [5]]


@pytest.mark.parametrize(
    ("prompt", "groups"),
    [
        pytest.param("rename the flag, and then update the docs; then run the tests", [[1], [2], [3]], id="clauses"),
        pytest.param("do 1) add a flag 2) test it and 3) remove the old one after 1", [[1, 2], [3]], id="steps"),
        pytest.param("- add a\n  - of this kind\n- fix b\n- then remove c", [[1, 2], [3]], id="bullets"),
        pytest.param("- fix cart.py\n- add a test\n- rename Cart in cart.py", [[1, 2], [3]], id="the same file"),
        pytest.param("- add a\n- add b (needs step 1)\n- add c, depends on 1 and 2", [[1], [2], [3]], id="needs"),
        pytest.param("- add a\n- fix b after 7", [[1, 2]], id="an unknown number"),
        pytest.param("errors:\n- foo is red\n- bar is blue\n- baz", [], id="a list of things"),
        pytest.param("```\n1. add a\n2. add b\n```\nwhy?", [], id="a pasted list"),
        pytest.param("add a flag", [], id="one task"),
        pytest.param("1. add a", [], id="one item"),
        pytest.param("\n".join(f"- add {at}" for at in range(MOST + 1)), [], id="a list of data"),
    ],
)
def test_parts_and_their_groups(prompt: str, groups: list[list[int]]) -> None:
    assert estimate(prompt, THRESHOLDS).groups == groups


def test_keywords_are_whole_words_in_any_form() -> None:
    assert estimate("we migrated the important support", THRESHOLDS).factors["high"] == ["migrate"]
    assert "high" not in estimate("the important support", THRESHOLDS).factors


def test_pasted_text_and_quotations_are_not_counted() -> None:
    assert estimate('why "rewrite the architecture"?\n```\nmigrate everything\n```', THRESHOLDS).heuristic == (
        estimate("why?", THRESHOLDS).heuristic
    )


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(one, dict | list):
            yield from leaves(one, (*path, key))
        elif isinstance(one, int | float) or key == "name":
            yield (*path, key)


STEPS = (1, -1, 0.5, -0.5, 0.05, -0.05, 10, -10, 20, -20)
DATA = yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", list(leaves(DATA)), ids=lambda path: ".".join(map(str, path)))
def test_every_number_has_an_effect(path: tuple[str | int, ...]) -> None:
    changed = copy.deepcopy(DATA)
    around = changed
    for key in path[:-1]:
        around = around[key]
    own = around[path[-1]]
    others: tuple[object, ...] = ("other",) if isinstance(own, str) else tuple(own + step for step in STEPS)

    assert any(results(changed, around, path[-1], one) != BEFORE for one in others)


def results(data: Any, around: Any, key: str | int, value: object) -> object:
    around[key] = value
    body, problems = compile_thresholds(data, forms=forms)
    return BEFORE if problems else outcomes(body)


def outcomes(body: dict[str, Any]) -> list[object]:
    types = [*DATA["task_types"]]
    found = [estimate(prompt, body, task_type=types[at % len(types)]) for at, prompt in enumerate(PROMPTS)]
    found += [estimate("add a flag", body, task_type=name, model_score=50) for name in types]
    return [one.row() for one in found]


BEFORE = outcomes(THRESHOLDS)


@pytest.mark.parametrize("group", ["keywords", "kinds"])
def test_every_word_of_the_groups_is_found(group: str) -> None:
    for name, section in DATA[group].items():
        for word in section["words"]:
            body, _mistakes = compile_thresholds(DATA, forms=forms)
            own = body[group][name]
            assert word in own["words"] or word in own["phrases"], word
