"""Compute the report of an experiment: five metrics of each variant (arm), the paired differences, and a verdict.

Prompts of one session are similar, so where a session has several prompts, tests compare sessions instead of prompts.
Nothing is rounded here.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

from workbench.statistics.intervals import Interval, Quantile, Share, bootstrap_quantiles, share_changed
from workbench.statistics.pairs import (
    Shift,
    Verdict,
    benjamini_hochberg,
    hodges_lehmann,
    mcnemar_midp,
    mean_by_session,
    minimum_detectable_effect,
    minimum_detectable_share,
    minimum_detectable_shift,
    signed_rank,
    verdict_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from storage.evaluation.experiments import ArmResult

    Metrics = tuple[tuple[str, str, "Better", Callable[[ArmResult], float | None]], ...]
    Better = Literal["higher", "lower", ""]
    Test = Literal["mid-p McNemar", "signed rank", "none: the arms are the same"]

SIGNIFICANT = 0.05
"""A metric counts as changed if its adjusted p-value is below this."""
SAME_ARMS: Test = "none: the arms are the same"


def _optional(value: float | None) -> float | None:
    return None if value is None else float(value)


METRICS: Metrics = (
    ("tokens", "tokens", "", lambda one: float(one.tokens)),
    ("latency_ms", "ms", "", lambda one: one.latency_ms),
    ("success", "share", "higher", lambda one: float(one.succeeded)),
    ("quality", "share", "higher", lambda one: one.quality),
    ("violations", "per prompt", "lower", lambda one: _optional(one.violations)),
)
"""For each metric of an answer: its name, its unit, whether higher or lower is better, and a function that returns it.

Costs (tokens and latency) have no better direction, and do not affect the verdict.
"""
METRICS_OF_RESPONSES: Metrics = (
    ("tokens", "tokens", "", lambda one: _optional(one.prompt_tokens and one.tokens)),
    ("latency_ms", "ms", "", lambda one: one.latency_ms),
    ("success", "share", "higher", lambda one: float(one.succeeded)),
    ("quality", "score", "higher", lambda one: one.quality),
    ("violations", "per response", "", lambda one: _optional(one.violations)),
)
"""The same metrics for a model's responses.

Violations are those that the response reports, so that more of them may be better or worse.
"""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of both arms to one prompt of a session."""

    session: str
    a: ArmResult
    b: ArmResult

    def is_same(self) -> bool:
        """Return whether both answers have the same text and the same task type."""
        return (self.a.text, self.a.task_type) == (self.b.text, self.b.task_type)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One metric of one arm over ``n`` prompts; ``sd`` is the standard deviation over single prompts."""

    n: int
    mean: float | None
    sd: float | None
    quantiles: tuple[Quantile, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of both arms over the ``pairs`` for which it is known; ``difference`` is b minus a.

    ``shift`` is the typical difference (Hodges-Lehmann). ``p`` is the p-value of the paired test, and ``p_adjusted`` is
    ``p`` adjusted for the number of metrics (Benjamini-Hochberg). ``detectable`` is the smallest difference of means
    that this many pairs would detect with a power of 0.8. Values that cannot be computed are None.
    """

    name: str
    unit: str
    better: Better
    a: ArmFigures
    b: ArmFigures
    pairs: int
    difference: float | None
    interval: Interval | None
    shift: Shift | None
    test: Test
    tested_by: Literal["prompt", "session"]
    p: float | None
    p_adjusted: float | None
    detectable: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    """The figures of an experiment; ``share`` is the share of prompts that the arms answer differently.

    ``gained`` and ``lost`` are the numbers of labelled prompts that only arm b, or only arm a, answers correctly.
    """

    prompts: int
    sessions: int
    share: Share
    metrics: tuple[Metric, ...]
    breaches: dict[str, dict[str, int]]
    gained: int
    lost: int
    left_out: dict[str, int]
    unknown_context: int
    same_arms: bool
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the report as a dictionary of JSON values; an unbounded end of an interval is None."""
        value: dict[str, Any] = finite({**asdict(self), "metrics": {one.name: asdict(one) for one in self.metrics}})
        return value


def report_on(
    pairs: Sequence[AnswerPair],
    *,
    same_arms: bool,
    breaches: dict[str, Counter[str]],
    left_out: Counter[str],
    unknown_context: int,
) -> ExperimentReport:
    """Return the report on the answers of two arms.

    ``breaches`` counts what is wrong with each arm's texts, ``unknown_context`` the prompts with an unknown channel
    answer. If both arms have the same rules (``same_arms``) and give the same answers, nothing is tested.
    """
    is_same = same_arms and all(pair.is_same() for pair in pairs)
    metrics = _tested(pairs, METRICS, is_same=is_same)
    gained, lost = _gained_and_lost(pairs)
    changed = sum(not pair.is_same() for pair in pairs)
    verdict = verdict_of(changed, gained=gained, lost=lost)
    if any(one.verdict == "regressed" for one in metrics):
        verdict = "regressed"
    report = _report(pairs, metrics, breaches, left_out, same_arms=is_same, verdict=verdict)
    return replace(report, gained=gained, lost=lost, unknown_context=unknown_context)


def report_on_responses(
    pairs: Sequence[AnswerPair],
    *,
    same_arms: bool,
    faults: Mapping[str, Counter[str]],
    left_out: Counter[str],
) -> ExperimentReport:
    """Return the report on a model's responses; ``faults`` counts the reasons of failures by arm.

    A model rarely gives the same response twice, so the verdict follows from the metrics: "regressed" or "changed" if a
    metric has that verdict, "identical" if all responses are the same, otherwise "inconclusive".
    """
    is_each_same = all(pair.is_same() for pair in pairs)
    is_same = same_arms and is_each_same
    metrics = _tested(pairs, METRICS_OF_RESPONSES, is_same=is_same)
    verdicts = {one.verdict for one in metrics}
    verdict: Verdict = "identical" if pairs and is_each_same else "inconclusive"
    if "regressed" in verdicts:
        verdict = "regressed"
    elif "changed" in verdicts:
        verdict = "changed"
    return _report(pairs, metrics, faults, left_out, same_arms=is_same, verdict=verdict)


def _report(
    pairs: Sequence[AnswerPair],
    metrics: tuple[Metric, ...],
    breaches: Mapping[str, Counter[str]],
    left_out: Counter[str],
    *,
    same_arms: bool,
    verdict: Verdict,
) -> ExperimentReport:
    return ExperimentReport(
        len(pairs),
        len({pair.session for pair in pairs}),
        share_changed(_by_session(pairs)),
        metrics,
        {arm: dict(sorted(counts.items())) for arm, counts in breaches.items()},
        gained=0,
        lost=0,
        left_out=dict(sorted(left_out.items())),
        unknown_context=0,
        same_arms=same_arms,
        verdict=verdict,
    )


def _tested(pairs: Sequence[AnswerPair], of: Metrics, *, is_same: bool) -> tuple[Metric, ...]:
    """Compute the metrics of both arms, and test the differences; p-values are adjusted for the number of tests."""
    metrics = [_metric(pairs, *one, is_same=is_same) for one in of]
    tested = [at for at, one in enumerate(metrics) if one.p is not None]
    # "or 0.0" is only for mypy: each of these has a p-value.
    for at, adjusted in zip(tested, benjamini_hochberg([metrics[at].p or 0.0 for at in tested]), strict=True):
        metrics[at] = _with_verdict(replace(metrics[at], p_adjusted=adjusted))
    return tuple(metrics)


def _by_session(pairs: Sequence[AnswerPair]) -> list[tuple[int, int]]:
    changed, prompts = Counter[str](), Counter[str]()
    for pair in pairs:
        prompts[pair.session] += 1
        changed[pair.session] += not pair.is_same()
    return [(changed[session], size) for session, size in prompts.items()]


def _gained_and_lost(pairs: Sequence[AnswerPair]) -> tuple[int, int]:
    """Return the number of labelled prompts that only b gets right, and of those that only a gets right."""
    known = [(pair.a.quality, pair.b.quality) for pair in pairs]
    both = [(a, b) for a, b in known if a is not None and b is not None]
    return sum(a < b for a, b in both), sum(a > b for a, b in both)


def _metric(
    pairs: Sequence[AnswerPair],
    name: str,
    unit: str,
    better: Better,
    of: Callable[[ArmResult], float | None],
    *,
    is_same: bool,
) -> Metric:
    found = [(pair.session, of(pair.a), of(pair.b)) for pair in pairs]
    both = [(session, a, b) for session, a, b in found if a is not None and b is not None]
    sides = [[one[side] for one in both] for side in (1, 2)]
    a, b = (_arm([float(value) for value in side], with_quantiles=name == "latency_ms") for side in sides)
    differences = [after - before for _, before, after in both]
    sessions = [session for session, _, _ in both]
    tested_by: Literal["prompt", "session"] = "prompt" if len(set(sessions)) == len(sessions) else "session"
    # McNemar's test takes prompts as independent, so for several prompts of a session their sums are ranked instead.
    is_binary = unit == "share" and tested_by == "prompt"
    mean = mean_by_session(differences, sessions=sessions) if both else None
    test: Test = SAME_ARMS if is_same else "mid-p McNemar" if is_binary else "signed rank"
    return Metric(
        name, unit, better, a, b, len(both),
        mean.estimate if mean else None,
        mean.interval if mean else None,
        hodges_lehmann(differences) if both and unit != "share" else None,
        test,
        tested_by,
        None if is_same or not both else _p(sessions, differences, is_binary=is_binary),
        None,
        _detectable(differences, error=mean.error if mean else math.inf, is_share=unit == "share"),
        "identical" if is_same or (both and not any(differences)) else "inconclusive",
    )  # fmt: skip


def _arm(values: list[float], *, with_quantiles: bool) -> ArmFigures:
    quantiles = tuple(bootstrap_quantiles(values)) if values and with_quantiles else ()
    mean, deviation = (fmean(values) if values else None), (stdev(values) if len(values) > 1 else None)
    return ArmFigures(len(values), mean, deviation, quantiles)


def _p(sessions: Sequence[str], differences: Sequence[float], *, is_binary: bool) -> float:
    if is_binary:
        return mcnemar_midp(sum(one > 0 for one in differences), sum(one < 0 for one in differences))
    sums: defaultdict[str, list[float]] = defaultdict(list)
    for session, one in zip(sessions, differences, strict=True):
        sums[session].append(one)
    return signed_rank([math.fsum(values) for values in sums.values()])


def _detectable(differences: Sequence[float], *, error: float, is_share: bool) -> float | None:
    """Return the smallest difference between the arms that a test with these pairs would detect.

    If the metric is a share and never differs, return the smallest share of differing pairs that would be detected.
    """
    n, unequal = len(differences), sum(one != 0 for one in differences)
    if is_share and n:
        return minimum_detectable_effect(n, baseline=unequal / n) if unequal else minimum_detectable_share(n)
    return minimum_detectable_shift(error) if unequal else None  # without differences, their error is unknown


def _with_verdict(metric: Metric) -> Metric:
    if metric.p_adjusted is None or metric.p_adjusted >= SIGNIFICANT or metric.difference is None:
        return metric
    is_worse = bool(metric.better) and (metric.difference < 0) == (metric.better == "higher")
    return replace(metric, verdict="regressed" if is_worse else "changed")


def finite(value: Any) -> Any:
    """Return the value with None in place of numbers that are not finite, which JSON cannot represent."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
