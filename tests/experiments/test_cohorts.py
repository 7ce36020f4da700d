"""Sessions in two cohorts: dealt by their ids alone, compared by what people said of them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.evaluation.experiments import SessionFigures
from workbench.experiments.cohorts import cohort_of, compare
from workbench.tui.panes.experiment_text import cohorts_text

if TYPE_CHECKING:
    from simulator import Account


def sessions(*, right_in_a: float, right_in_b: float, count: int = 200) -> list[SessionFigures]:
    """Draw sessions of four labelled prompts, right as often as their cohort is."""
    chance = random.Random(3)
    found = []
    for n in range(count):
        share = {"a": right_in_a, "b": right_in_b}[cohort_of(f"s{n}", name="x")]
        found.append(SessionFigures(f"s{n}", 5, 0, 100 + n % 7, 4, sum(chance.random() < share for _ in range(4))))
    return found


@given(st.text(max_size=300), st.text(max_size=80))
def test_a_session_keeps_its_cohort(session_id: str, name: str) -> None:
    assert cohort_of(session_id, name=name) == cohort_of(session_id, name=name)


def test_half_of_the_sessions_are_in_each_cohort_and_another_name_deals_anew() -> None:
    first = [cohort_of(f"s{n}", name="x") for n in range(2000)]
    second = [cohort_of(f"s{n}", name="y") for n in range(2000)]

    assert 900 < first.count("b") < 1100
    assert 900 < sum(one != other for one, other in zip(first, second, strict=True)) < 1100


def test_a_cohort_that_does_better_is_seen_with_the_size_of_the_effect() -> None:
    made = compare(sessions(right_in_a=0.5, right_in_b=0.8), name="x")
    right = made.effects["right"]

    assert right is not None
    assert (made.verdict, 0.3 in right.interval, 0.4 < right.size < 0.9) == ("changed", True, True)


def test_cohorts_that_do_alike_are_inconclusive_and_one_that_does_worse_has_regressed() -> None:
    assert compare(sessions(right_in_a=0.6, right_in_b=0.6), name="x").verdict == "inconclusive"
    assert compare(sessions(right_in_a=0.9, right_in_b=0.5), name="x").verdict == "regressed"


def test_the_app_shows_every_figure_of_an_effect() -> None:
    made = compare(sessions(right_in_a=0.5, right_in_b=0.8), name="x")
    (_name, difference, interval, size), *_others = made.effect_cells()

    assert " to " in interval
    assert f"right               b - a {difference}, 95 % {interval}, size {size}" in cohorts_text(made)


def test_without_sessions_there_is_no_effect() -> None:
    made = compare([], name="x")

    assert (made.verdict, set(made.effects.values())) == ("inconclusive", {None})


@pytest.mark.conformance("E62")
def test_the_effect_is_reported_per_cohort_from_recorded_traces_and_labels(account: Account) -> None:
    dealt = {"one": "a", "three": "a", "two": "b", "five": "b"}
    for session in dealt:
        account.ask("why is the build red?", session_id=session)
    account.rest()
    for trace in account.traces():
        account.cli("trace", "label", trace["id"], "ok" if dealt[trace["session_id"]] == "b" else "wrong")
    made = json.loads(account.cli("ab", "effect", "--name", "try", "--json"))

    assert account.cli("ab", "cohort", "two", "--name", "try") == "b\n"
    assert (made["a"]["sessions"], made["b"]["sessions"]) == (2, 2)
    assert (made["effects"]["right"]["difference"], made["verdict"]) == (1, "inconclusive")
    assert made["effects"]["right"]["size"] == pytest.approx(3.14159, abs=1e-4)


def test_prompts_that_were_only_recorded_are_counted_as_held_back(account: Account) -> None:
    account.env["ENRICHER_SHADOW"] = "1"
    account.ask("the build is failing, fix it", session_id="session-1")
    account.rest()
    made = json.loads(account.cli("ab", "effect", "--name", "try", "--json"))

    assert made["a"]["held_back"] + made["b"]["held_back"] == 1
