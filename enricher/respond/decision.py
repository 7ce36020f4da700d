"""Decide what to add to a prompt, in such a way that a replay reproduces the recorded result.

Everything that comes from outside is first collected into ``Inputs``, and recorded in the prompt's trace. The same
inputs and the same rules always give the same text, byte for byte.
"""

from __future__ import annotations

from enricher.classify.verdict import classify, verdict
from enricher.prompt.text import estimate_tokens
from enricher.respond import Enrichment, Inputs, guidance
from enricher.respond.guidance import OmittedGuidance, Scored
from enricher.respond.ranking import rank_items
from enricher.respond.render import HARD_CAP_TOKENS, Item, TextLines, finish, render
from enricher.settings import DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification, Rules
    from enricher.complexity.estimate import Estimate
    from enricher.context import ChannelResult
    from enricher.respond import RankedItem

MAX_TOKENS = DEFAULTS["search_intent.max_tokens"]
WORDS = "{words}"  # in a guardrail's sentence: the words of the prompt that triggered it
PIPELINE = "pipeline"
"""Value of ``Inputs.form`` for the format specified in seed 004.

Empty means the usual text, and any other value a plan (``enricher.respond.hydration``).
"""
SPLITTING = "consider-splitting"  # id of an approach that only suggests to split the task
BESIDE, ALONE = "beside", "alone"  # values of a setting: show the task type only with other lines, or also alone


def verdict_on(inputs: Inputs, rules: Rules, *, is_explained: bool = True) -> Classification:
    """Classify the prompt in ``inputs`` by ``rules``, and by a model's opinion if the inputs contain one.

    With ``is_explained``, the classification contains its evidence: which words fired which signals.
    """
    return verdict(inputs.prompt, rules, inputs.conversation, opinion=inputs.opinion, is_explained=is_explained)


def decide(inputs: Inputs, rules: Rules, judged: Classification) -> Enrichment:
    """Return the final text to add to a prompt, and what led to it; ``judged`` is the classification of the prompt.

    The result depends only on the arguments: no clock, no files, no randomness.
    """
    body = rules.body
    if not inputs.settings["search_intent.enabled"]:
        judged = judged.changed({"search_intent": "", "intent_confidence": 0.0})
    result = Enrichment(judged)
    result.partial = [_late(one) for one in inputs.channels if one.status == "timeout"]
    reason = guidance.silence_reason(judged, body, inputs.settings, inputs.prompt)
    if reason:
        result.misses.append(OmittedGuidance("everything", reason))
        return result
    _choose_workflow(result, rules)
    if inputs.settings.get("complexity.enabled") and body["complexity"]:
        result.estimate = _estimated(inputs, judged, rules)
    if inputs.form == PIPELINE:
        from enricher.respond.formats import write

        rank_items(result, inputs, body)
        write(result)
    elif inputs.form:
        from enricher.respond.hydration.writing import write as write_plan

        rank_items(result, inputs, body)
        write_plan(result, inputs, rules)
    elif not inputs.is_as_specified and inputs.spent >= int(inputs.settings["budgets.session_tokens"]):
        result.misses.append(OmittedGuidance("everything", "the session's budget is spent", score=inputs.spent))
    else:
        _guide(result, inputs, rules)
        rank_items(result, inputs, body)
        _write(result, inputs, body)
    result.text = finish(result.text)
    return result


def _choose_workflow(result: Enrichment, rules: Rules) -> None:
    scores = result.classification.scores
    result.workflow, result.why_workflow = guidance.choose_workflow(
        rules.body["workflows"],
        signal_scores=scores.get("workflow", {}),
        shares=guidance.shares_of(scores.get("task_type", {}), rules.table.facets),
    )


def _estimated(inputs: Inputs, judged: Classification, rules: Rules) -> Estimate:
    from enricher.complexity.estimate import estimate

    task_type = "" if judged.uncertain else judged.task_type
    opinion = inputs.model.get("opinion") or {}
    thresholds = rules.packed("complexity")
    return estimate(inputs.prompt, thresholds, task_type=task_type, model_score=opinion.get("complexity"))


def _guide(result: Enrichment, inputs: Inputs, rules: Rules) -> None:
    judged, body = result.classification, rules.body
    result.shown = inputs.is_as_specified or not judged.uncertain
    task_type = judged.task_type if result.shown else ""
    if inputs.is_as_specified or body["approaches"]["rules"]:  # the packaged ones are for as-specified only
        from enricher.respond.facts import read_facts

        result.facts = read_facts(inputs.prompt, judged.features, inputs.skills)
    guardrail_scores, approach_scores = (judged.scores.get(facet, {}) for facet in ("guardrail", "approach"))
    result.guardrails, misses = guidance.select_guardrails(
        body["guardrails"],
        task_type=task_type,
        signal_scores=guardrail_scores,
        injected=inputs.already_shown,
        has_past=bool(inputs.conversation),
        has_edits=inputs.conversation.has_edits,
        are_runs_refused=inputs.are_runs_refused,
        is_offered=inputs.conversation.is_offered,
        is_as_specified=inputs.is_as_specified,
    )
    for one in result.guardrails:
        if WORDS in one.sentence:
            words = _trigger_words(one.id, inputs.prompt, judged, rules)
            one.sentence = one.sentence.replace(WORDS, words) if words else ""
    result.approach, more = guidance.suggest_approach(
        body["approaches"],
        result.facts,
        task_type=task_type,
        signal_scores=approach_scores,
        injected=inputs.already_shown,
        is_as_specified=inputs.is_as_specified,
    )
    if inputs.is_as_specified and result.estimate:
        _suggest_splitting(result, result.estimate)
    result.misses += misses + more
    if not result.shown:
        result.misses.insert(
            0, OmittedGuidance("classification", f"{judged.task_type} is uncertain", score=judged.confidence)
        )


def _suggest_splitting(result: Enrichment, estimate: Estimate) -> None:
    from enricher.complexity.estimate import suggestion

    if sentence := suggestion(estimate):
        chosen = result.approach or Scored(SPLITTING, "", round(estimate.score))
        result.approach = Scored(chosen.id, f"{chosen.text} {sentence}".strip(), chosen.score)


def _trigger_words(identity: str, prompt: str, judged: Classification, rules: Rules) -> str:
    # Without evidence, as in a replay, the prompt is classified again.
    words = guidance.trigger_words(identity, judged.evidence, prompt)
    return words or guidance.trigger_words(identity, classify(prompt, rules.table).evidence, prompt)


def _write(result: Enrichment, inputs: Inputs, body: Mapping[str, Any]) -> None:
    lines = TextLines(is_as_specified=inputs.is_as_specified, is_bare=inputs.is_bare)
    open_items = [item for item in result.items if not item.why]
    most, tokens = int(inputs.settings["budgets.items"]), int(inputs.settings["budgets.tokens"])
    shares = {rule["name"]: rule["tokens"] for rule in body["channels"]}
    if inputs.is_as_specified:  # memories (seed 001) come on top of the usual budgets
        shares["memory"] = HARD_CAP_TOKENS  # the channel itself keeps to max_tokens
        most += sum(item.channel == "memory" for item in open_items)
        tokens += int(inputs.settings.get("search_intent.max_tokens", MAX_TOKENS))
        lines.has_no_guardrails = not result.guardrails
        _suggest_memory(lines, result, inputs)
    else:
        tokens = min(tokens, int(inputs.settings["budgets.session_tokens"]) - inputs.spent)
    lines.items = [
        Item(item.label, item.text, channel=item.channel, tokens=shares[item.channel]) for item in open_items
    ]
    lines.guardrails = result.guardrails
    if result.approach:
        chosen = result.approach
        lines.approach = _in_project(chosen.text, result.facts.get("frame", ""), open_items)
        result.approach = Scored(chosen.id, lines.approach, chosen.score)
    class_line = ALONE if inputs.is_as_specified else body["class_line"]
    has_more = bool(lines.items or lines.guardrails or lines.approach)
    if result.shown and (class_line == ALONE or (class_line == BESIDE and has_more)):
        lines.classification = result.classification.task_type
    elif result.shown:
        alone = "alone " if class_line == BESIDE else ""
        result.misses.append(OmittedGuidance("classification", f"{alone}it would tell the agent nothing"))
    lines.partial = _announced(result.partial, inputs)
    result.text, lines, kept = render(lines, tokens=tokens, most=most)
    too_late = "more relevant ones fill the text" if kept.count(True) == most else "no room"
    for item, is_kept in zip(open_items, kept, strict=True):
        item.kept, item.why = is_kept, "" if is_kept else too_late
    _mark_omitted(result, lines)
    if not (any(kept) or lines.guardrails or lines.approach or class_line == ALONE):
        result.text = ""
    result.tokens = estimate_tokens(result.text) if result.text else 0


def _announced(partial: list[str], inputs: Inputs) -> list[str]:
    # Built-in channels are mentioned only in the profile as-specified.
    if inputs.is_as_specified:
        return partial
    built_in = {_late(one) for one in inputs.channels if one.is_built_in}
    return [one for one in partial if one not in built_in]


def _late(channel: ChannelResult) -> str:
    return f"{channel.name} (time)"


def _suggest_memory(lines: TextLines, result: Enrichment, inputs: Inputs) -> None:
    from enricher.respond.memory_context import memory_context

    if inputs.has_mcp:
        context = memory_context(inputs, result)
        lines.reminder, lines.resources = context.get("reminder", ""), context["suggested_resources"]


def _in_project(text: str, frame: str, items: list[RankedItem]) -> str:
    # The path in a pasted trace may be from another computer.
    path, _, line = frame.replace("\\", "/").rpartition(":")
    for item in items:
        if item.channel == "code" and path.endswith(f"/{item.ref}"):
            return text.replace(frame, f"{item.ref}:{line}")
    return text


def _mark_omitted(result: Enrichment, lines: TextLines) -> None:
    result.misses += [
        OmittedGuidance(f"guardrail {one.id}", "no room") for one in result.guardrails[len(lines.guardrails) :]
    ]
    result.guardrails = lines.guardrails
    if result.approach and not lines.approach:
        result.misses.append(OmittedGuidance(f"approach {result.approach.id}", "no room"))
        result.approach = None
