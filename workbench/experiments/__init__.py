"""Run an experiment: let two variants (arms) answer the same prompts, and compare their answers and latencies.

For each prompt, both arms first answer once untimed to warm up, in the order b a; then each is timed twice, in the
order a b b a. For every second prompt, a and b change places. A run after one of the same arm is faster than one after
the other arm; in this order, both arms have as many of each, so equal arms get equal times.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.prompt.redaction import redact
from storage.evaluation.experiments import ArmResult
from storage.traces import storable
from workbench.experiments.report import AnswerPair, ExperimentReport, report_on
from workbench.experiments.text_form import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.experiments.arms import Arm, ArmAnswer, ArmTask
    from workbench.experiments.questions import ExperimentPrompt

ORDERS = ("abba", "baab")


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The report of an experiment, and all results.

    ``results`` has two entries for each prompt, first that of arm a and then that of arm b.
    """

    report: ExperimentReport
    results: tuple[ArmResult, ...]


def run(questions: Iterable[ExperimentPrompt], *, a: Arm, b: Arm, left_out: Counter[str]) -> ExperimentResult:
    """Let both arms answer every prompt, and return the result.

    Prompts that one of the arms cannot answer are added to ``left_out``, which counts them by reason.
    """
    pairs: list[AnswerPair] = []
    breaches: dict[str, Counter[str]] = {"a": Counter(), "b": Counter()}
    unknown = 0
    for question in questions:
        tasks = {"a": a.task(question), "b": b.task(question)}
        ready = {name: task for name, task in tasks.items() if task is not None}
        if len(ready) < len(tasks):
            left_out[f"no answer of arm {next(name for name in tasks if name not in ready)}"] += 1
            continue
        order = ORDERS[len(pairs) % 2]  # by the pairs so far, as prompts that were left out have no order
        answers = {name: ready[name].answer() for name in reversed(order[:2])}
        times = _timed(ready, order)
        results = {}
        for name, arm in (("a", a), ("b", b)):
            results[name], broken = _result(name, question, ready[name], answers[name], times[name])
            breaches[name].update(broken)
            arm.record_shown(question, answers[name])
        unknown += any(task.is_unknown for task in ready.values())
        pairs.append(AnswerPair(question.session, results["a"], results["b"]))
    report = report_on(pairs, same_arms=a.hash == b.hash, breaches=breaches, left_out=left_out, unknown_context=unknown)
    return ExperimentResult(report, tuple(one for pair in pairs for one in (pair.a, pair.b)))


def _timed(tasks: dict[str, ArmTask], order: str) -> dict[str, float]:
    """Return each arm's mean time for its answer in milliseconds; ``order`` names each arm twice."""
    total = dict.fromkeys(tasks, 0)
    for name in order:
        begin = time.perf_counter_ns()
        tasks[name].answer()
        total[name] += time.perf_counter_ns() - begin
    return {name: nanoseconds / 2 / 1e6 for name, nanoseconds in total.items()}


def _result(
    name: str, question: ExperimentPrompt, task: ArmTask, answer: ArmAnswer, measured_ms: float
) -> tuple[ArmResult, tuple[str, ...]]:
    reading = read(
        answer.text, terms=task.terms, tokens=task.tokens, already_shown=task.already_shown, names=answer.names or None
    )
    result = ArmResult(
        question.row.id,
        name,
        answer.task_type,
        answer.tokens,
        measured_ms if answer.latency_ms is None else answer.latency_ms,
        not answer.failure and not reading.fault,
        question.quality(answer.task_type),
        len(reading.violations),
        redact(storable(answer.text))[0],
    )
    return result, reading.violations
