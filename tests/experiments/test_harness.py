"""How an experiment is run: in which order the arms answer, what is left out, what is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace

import pytest

from storage.evaluation.corpus import COLUMNS, RecordedPrompt
from workbench.experiments import run
from workbench.experiments.arms import ArmAnswer, ArmTask
from workbench.experiments.questions import ExperimentPrompt
from workbench.experiments.text_form import Terms

CLOCK = SimpleNamespace(ns=0)
"""The time that passes: only the arms take any, so that a busy machine changes no latency."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.experiments.time", SimpleNamespace(perf_counter_ns=lambda: CLOCK.ns))


@dataclass
class Steady:
    """An arm that always says the same, takes its time, and notes when it was asked; one prompt is not for it."""

    label: str
    hash: str
    asked: list[str]
    seconds: float = 0.0
    task_type: str = "debug"
    unknown: str = ""
    told: list[str] = field(default_factory=list)

    def task(self, question: ExperimentPrompt) -> ArmTask | None:
        terms = Terms(frozenset({"debug"}), frozenset())
        return None if question.row.id == self.unknown else ArmTask(self._answer, terms, 450, frozenset())

    def record_shown(self, question: ExperimentPrompt, answer: ArmAnswer) -> None:
        self.told.append(question.row.id)

    def _answer(self) -> ArmAnswer:
        self.asked.append(self.label)
        CLOCK.ns += round(self.seconds * 1e9)
        return ArmAnswer(self.task_type, "", 0, ())


def questions(count: int, *, right: str = "") -> list[ExperimentPrompt]:
    rows = [RecordedPrompt(**{**dict.fromkeys(COLUMNS, ""), "id": f"p{n}"}) for n in range(count)]  # type: ignore[arg-type]
    return [ExperimentPrompt(row, None, is_recorded=False, right=frozenset(filter(None, [right]))) for row in rows]


def test_no_arm_gains_by_its_place() -> None:
    asked: list[str] = []
    run(questions(2), a=Steady("a", "1", asked), b=Steady("b", "2", asked), left_out=Counter())

    assert "".join(asked) == "ba" + "abba" + "ab" + "baab"
    after_itself = Counter(one for before, one in pairwise(asked[:6]) if before == one)
    assert after_itself["a"] == after_itself["b"]


def test_a_slower_arm_is_found_slower_and_that_decides_no_verdict() -> None:
    asked: list[str] = []
    arms = Steady("a", "1", asked), Steady("b", "2", asked, seconds=0.002)
    report = run(questions(15), a=arms[0], b=arms[1], left_out=Counter()).report
    latency = next(one for one in report.metrics if one.name == "latency_ms")

    assert latency.shift is not None
    assert latency.shift.estimate == pytest.approx(2)
    assert (latency.verdict, report.verdict) == ("changed", "identical")


def test_arms_with_one_hash_are_identical_whatever_the_clock_says() -> None:
    asked: list[str] = []
    arms = Steady("a", "1", asked), Steady("b", "1", asked, seconds=0.001)
    report = run(questions(15), a=arms[0], b=arms[1], left_out=Counter()).report

    assert {(one.verdict, one.p) for one in report.metrics} == {("identical", None)}


def test_one_hash_does_not_hide_answers_that_differ() -> None:
    arms = Steady("a", "1", []), Steady("b", "1", [], task_type="docs")
    report = run(questions(5), a=arms[0], b=arms[1], left_out=Counter()).report

    assert (report.same_arms, report.verdict) == (False, "changed")


def test_a_prompt_that_one_arm_cannot_answer_is_left_out_of_both() -> None:
    left_out: Counter[str] = Counter()
    arms = Steady("a", "1", []), Steady("b", "2", [], unknown="p1")
    outcome = run(questions(3), a=arms[0], b=arms[1], left_out=left_out)

    assert [one.prompt_id for one in outcome.results] == ["p0", "p0", "p2", "p2"]
    assert outcome.report.left_out == {"no answer of arm b": 1}
    assert arms[0].told == ["p0", "p2"]


def test_one_prompt_that_became_wrong_is_inconclusive() -> None:
    arms = Steady("a", "1", []), Steady("b", "2", [], task_type="docs")
    report = run(questions(1, right="debug"), a=arms[0], b=arms[1], left_out=Counter()).report

    assert (report.verdict, report.gained, report.lost) == ("inconclusive", 0, 1)
