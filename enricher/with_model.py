"""Query the configured language model about one prompt: how to classify it, and how to improve the plan for it.

Loaded only if a model is configured.
"""

from __future__ import annotations

from enricher.model import opinion_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification, Rules
    from enricher.context import Request
    from enricher.model.opinion_request import PendingOpinion
    from enricher.prompt.event import PromptEvent
    from enricher.record import Run
    from enricher.respond import Enrichment, Inputs

ANSWERS_BY_S = 1.35  # after the hook's start; the hook itself must answer within 1.5 s


def begin(event: PromptEvent, judged: Classification, rules: Rules, run: Run) -> PendingOpinion | None:
    """Start querying the model in the background; return None if there is nothing to ask before the hook's answer."""
    if _plans_late_question(event, judged, rules, run):
        return None
    until = run.started + ANSWERS_BY_S
    return opinion_request.start(event.prompt, judged, rules, run.settings, state=run.state, until=until)


def _plans_late_question(event: PromptEvent, judged: Classification, rules: Rules, run: Run) -> bool:
    """Plan to query the model after the hook's answer; return False if the settings or the client do not allow that."""
    if not (run.settings["model.late"] and run.inputs):
        return False
    from enricher.record import late

    if not late.is_wanted(event, run):
        return False
    run.inputs.model, run.late = late.plan(judged, rules, run)
    if run.inputs.model and run.late is None:
        _note_missing_opinion(run.inputs.model, run)
    return True


def take_opinion(asked: PendingOpinion, inputs: Inputs, run: Run) -> None:
    """Wait for the model's classification of the prompt, and store it in ``inputs`` or log why there is none."""
    inputs.model = asked.record()
    if not inputs.opinion:
        _note_missing_opinion(inputs.model, run)


def _note_missing_opinion(model: Mapping[str, Any], run: Run) -> None:
    spent = f"{model['latency_ms']} of {model['limit_ms']} ms" if "latency_ms" in model else "not asked"
    run.problems.append(("model", f"{model['status']}: {model['reason']} ({spent}); the rules alone decide"))


def plan(drafted: Enrichment, inputs: Inputs, rules: Rules, request: Request, run: Run) -> Enrichment:
    """Return the plan as the model improved it; if it fails or is too slow, log that and return the plan unchanged."""
    from enricher.respond.hydration.drafting import improved

    extra_s = int(run.settings["model.plan_timeout_ms"]) / 1000
    # The usual deadline is extended only for a user who allows a plan more time than the hook has anyway.
    if extra_s > ANSWERS_BY_S and run.prolong:
        run.extra_s = extra_s
        run.prolong()
    enrichment = improved(drafted, inputs, rules, request, until=run.started + ANSWERS_BY_S + run.extra_s)
    if (model := inputs.hydration.get("model")) and "plan" not in model:
        run.problems.append(("hydration", f"{model['status']}: {model['reason']}; the plan is the rules' own"))
    return enrichment
