"""Begin, continue and report experiments that compare two ways (arms) of asking a language model.

The experiment is stored before the first call, and each response before the next call, so that an interrupted
experiment can be reported and continued. It continues only with cases whose two prompts, one per arm, have not changed
since it began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from enricher.structured import templates
from enricher.structured.responses import StructuredResponseParser, quality
from enricher.validation.rules import PromptRuleEngine
from storage.evaluation import experiments
from workbench.experiments import prompt_arms
from workbench.experiments.model_calls import Comparison, ResponseQuality, ask_missing
from workbench.experiments.prompt_arms import NAMES
from workbench.experiments.report import AnswerPair, finite, report_on_responses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from storage.evaluation.experiments import ArmResult, Experiment
    from workbench.experiments.model_calls import ModelCalls
    from workbench.experiments.prompt_arms import ModelCase, PromptArm

CHANGED = "its prompt is not the one that the experiment began with"
INTERRUPTED = "it was interrupted"
USUAL: dict[str, Any] = {"examples": "", "facts": "", "workflows": [], "guardrails": []}
"""Default values of the template variables that a case may omit.

Defaults for ``task_types``, ``rules`` (validation rules for this type of prompt) and ``form`` are added later.
"""
USUAL_FORM = "task"
"""The form of a template that is used by default; in ``classification``, it asks the model for a task type."""


@dataclass(frozen=True, slots=True)
class PromptSource:
    """What prompts to a model are made from: the current templates, and the task types with their meanings."""

    generator: templates.PromptGenerator
    task_types: Mapping[str, str]


def comparison_of(
    found: Iterable[ModelCase],
    *,
    template: str,
    arms: Mapping[str, PromptArm],
    prompts: str,
    prices: prompt_arms.Prices,
    budget: float | None,
    most_tokens: int,
    source: PromptSource,
) -> Comparison:
    """Return the comparison of two arms on these cases; raises ArmError if the template cannot be used for a case."""
    generator = source.generator
    try:
        forms = generator.template(template).forms or ()
    except templates.TemplateProblemError as problem:
        raise prompt_arms.ArmError(str(problem)) from None
    usual = {**USUAL, "task_types": dict(source.task_types)}
    engine = PromptRuleEngine.load()
    usual["rules"] = engine.apply(template) if template in engine.prompt_types else []
    usual["form"] = USUAL_FORM if USUAL_FORM in forms else next(iter(forms), "")

    def render(case: ModelCase, variables: Mapping[str, Any], mode: str | None) -> str:
        try:
            return generator.generate(template, {**usual, **variables}, mode=mode)
        except templates.TemplateProblemError as problem:
            raise prompt_arms.ArmError(f"case {case.id}: {problem}") from None

    asked = [prompt_arms.pairing(case, arms, render) for case in found]
    return Comparison(template, arms, asked, prompts, prices, budget, most_tokens)


def begin(db: sqlite3.Connection, comparison: Comparison, *, question: str) -> Experiment:
    """Store a new experiment that has no responses yet."""
    arms = {
        name: {
            "name": arm.label,
            "hash": prompt_arms.arm_hash(name, arm, comparison.asked),
            "mode": arm.mode or "configured",
            "model": arm.model,
        }
        for name, arm in comparison.arms.items()
    }
    labels = " or ".join(arm.label for arm in comparison.arms.values())
    plan = comparison.stored()
    report = report_of(plan, arms, [], stopped=INTERRUPTED)
    text = question or f"{comparison.template}: {labels}?"
    return experiments.store(db, [], question=text, arms=arms, report=report, plan=plan)


def resumed(
    db: sqlite3.Connection,
    one: Experiment,
    *,
    model: str,
    budget: float | None,
    source: PromptSource,
) -> Comparison:
    """Return the comparison of a stored experiment, limited to the cases whose prompts have not changed.

    ``model`` is the configured model; ``budget`` None means the budget of the stored experiment. Raises ArmError if the
    experiment began with another model, QuestionError if the file with the cases cannot be read.
    """
    plan = one.plan
    hashes = {case_id: hashed for case_id, _session, hashed in plan["cases"]}  # in the order in which cases are asked
    found = prompt_arms.cases_in_file(plan["prompts"]) if plan["prompts"] else prompt_arms.cases_of_traces(db, hashes)
    by_id = {case.id: case for case in found}
    arms = {name: prompt_arms.named(plan[name], model=model) for name in NAMES}
    for name, arm in arms.items():
        if arm.model != one.arms[name]["model"]:
            raise prompt_arms.ArmError(
                f"model.name is {arm.model!r}; this experiment began with {one.arms[name]['model']!r}"
            )
    again = comparison_of(
        (by_id[case_id] for case_id in hashes if case_id in by_id),
        template=plan["template"],
        arms=arms,
        prompts=plan["prompts"],
        prices={name: (price[0], price[1]) for name, price in plan["prices"].items()},
        budget=plan["budget"] if budget is None else budget,
        most_tokens=plan["most_tokens"],
        source=source,
    )
    same = [each for each in again.asked if each.hash == hashes[each.case.id]]
    return replace(again, asked=same)


def continue_run(
    db: sqlite3.Connection, one: Experiment, comparison: Comparison, *, ask: ModelCalls, source: PromptSource
) -> Experiment:
    """Make the missing calls and store a new report; return the experiment with that report."""
    response = source.generator.template(comparison.template).response
    done = {(result.prompt_id, result.arm): result for result in experiments.results(db, one.id)}
    stopped = ask_missing(
        comparison,
        done,
        ask=ask,
        judge=lambda text: evaluate_response(text, response),
        store=lambda result: experiments.add(db, one.id, result),
    )
    kept = {each.case.id for each in comparison.asked}
    return experiments.replace_report(db, one, report_of(one.plan, one.arms, done.values(), stopped=stopped, kept=kept))


def evaluate_response(text: str, response: str) -> ResponseQuality:
    """Rate a model's response: whether it is valid, its quality, and how many violations it reports.

    ``text`` is the response, and ``response`` is the type that it should have. Never raises, whatever the text is.
    """
    parsed = StructuredResponseParser().parse(text, response)
    found = parsed.data.get("violations") or []
    # Findings of a validation are faults of the code that it was asked about, not of the response.
    score = quality(parsed, () if response == "validation" else found)
    return ResponseQuality(parsed.is_valid, score.total, len(found), "; ".join(parsed.problems))


def report_of(
    plan: Mapping[str, Any],
    arms: Mapping[str, Any],
    results: Iterable[ArmResult],
    *,
    stopped: str,
    kept: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return the report on the responses so far, as a dictionary of JSON values.

    ``stopped`` says why calls are missing. ``kept`` has the ids of the cases with unchanged prompts; None means all
    cases.
    """
    done = {(one.prompt_id, one.arm): one for one in results}
    every = [(case_id, session) for case_id, session, _hash in plan["cases"]]
    pairs = [
        AnswerPair(session, done[case_id, "a"], done[case_id, "b"])
        for case_id, session in every
        if (case_id, "a") in done and (case_id, "b") in done
    ]
    answered = {pair.a.prompt_id for pair in pairs}
    still = None if kept is None else set(kept)
    changed = sum(still is not None and one not in still for one, _session in every if one not in answered)
    left_out = Counter({"not asked by both arms": len(every) - len(pairs) - changed, CHANGED: changed})
    report = report_on_responses(
        pairs,
        same_arms=arms["a"]["hash"] == arms["b"]["hash"],
        faults={name: Counter(one.fault for one in done.values() if one.arm == name and one.fault) for name in NAMES},
        left_out=+left_out,
    )
    value: dict[str, Any] = finite(
        {**report.to_json(), "template": plan["template"], "calls": _calls(plan, done.values()), "stopped": stopped}
    )
    return value


def _calls(plan: Mapping[str, Any], results: Iterable[ArmResult]) -> dict[str, Any]:
    """Return how many calls of the model were planned and made, and the tokens and costs of each arm, if known."""
    every = list(results)
    by_arm = {name: [one for one in every if one.arm == name] for name in NAMES}
    return {
        "planned": len(NAMES) * len(plan["cases"]),
        "made": len(every),
        "without_count": sum(one.prompt_tokens is None for one in every),
        "prompt_tokens": {name: sum(one.prompt_tokens or 0 for one in of) for name, of in by_arm.items()},
        "response_tokens": {name: sum(one.response_tokens or 0 for one in of) for name, of in by_arm.items()},
        "usd": {name: _sum([one.usd for one in of if one.usd is not None]) for name, of in by_arm.items()},
    }


def _sum(known: Sequence[float]) -> float | None:
    return round(sum(known), 8) if known else None  # without the noise of a sum of floats
