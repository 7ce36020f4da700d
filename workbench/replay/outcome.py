"""Compute the outcome of one recorded prompt under one set of rules.

It is computed by the same pure function ``decide`` that the hook runs, from the inputs that were recorded in the
prompt's trace.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.classify import Classification
from enricher.classify.verdict import choose_task_type
from enricher.context import UNDECLARED, ChannelInput, Request
from enricher.context.gathering import gather
from enricher.home import state_dir
from enricher.prompt.event import PromptEvent
from enricher.prompt.project import identify
from enricher.respond import RECORDED_SETTINGS, Enrichment, Inputs
from enricher.respond.decision import decide, verdict_on
from enricher.respond.guidance import silence_reason
from enricher.settings import DEFAULTS, with_environment
from workbench.replay.channel_inputs import can_rerun, channels_with_changed_input

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from enricher.classify import Rules
    from enricher.context import ChannelResult
    from storage.evaluation.corpus import RecordedPrompt

NO_INTENT = "none"
BUDGETS = tuple(key for key in RECORDED_SETTINGS if key.startswith("budgets."))
SHAPING_DEFAULTS = {key: DEFAULTS[key] for key in RECORDED_SETTINGS}
"""Default values of the recorded settings, for a trace that is older than a setting and so does not contain it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What rules decide about a prompt: its classification, and the text that is added to it.

    ``shown`` is whether the task type is certain enough to be shown. ``workflow`` is chosen for every judged prompt,
    even if the text contains no plan; it is empty if none was certain. ``guardrails``, ``approach`` and ``items``, each
    item as (channel, reference), are those that the text contains.

    ``unknown`` are the channels to which these rules would have sent a request that differs from the recorded one, so
    that their answer is unknown. ``today`` are channels for which this is also true, but that were queried now instead.
    """

    task_type: str
    shown: bool
    search_intent: str
    workflow: str
    guardrails: tuple[str, ...]
    approach: str
    items: tuple[tuple[str, str], ...]
    text: str
    tokens: int
    unknown: tuple[str, ...] = ()
    today: tuple[str, ...] = ()

    @classmethod
    def of_stored(cls, stored: Mapping[str, Any]) -> Outcome:
        """Return the outcome for the JSON values that a stored replay has of it.

        A snapshot without texts has an empty list in place of each item.
        """
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
        }
        fields["items"] = tuple(tuple(item) for item in stored["items"] if item)
        return cls(**fields)

    def is_same(self, other: Outcome) -> bool:
        """Return whether both outcomes have the same text, classification, workflow and unknown channels."""
        return (
            self.text == other.text
            and self.task_type == other.task_type
            and self.shown == other.shown
            and self.search_intent == other.search_intent
            and self.workflow == other.workflow
            and self.unknown == other.unknown
        )


def _outcome_of(enrichment: Enrichment, unknown: tuple[str, ...], today: tuple[str, ...]) -> Outcome:
    judged, text = enrichment.classification, enrichment.text
    return Outcome(
        judged.task_type,
        not judged.uncertain,
        judged.search_intent or NO_INTENT,
        enrichment.workflow,
        tuple(one.id for one in enrichment.guardrails) if text else (),
        enrichment.approach.text if enrichment.approach and text else "",
        tuple((item.channel, item.ref) for item in enrichment.items if item.kept) if text else (),
        text,
        enrichment.tokens,
        unknown,
        today,
    )


def reevaluated(
    row: RecordedPrompt, rules: Rules, *, recorded: Rules | None = None, ask_today: bool = False
) -> Outcome:
    """Judge a recorded prompt again by ``rules``, and return the outcome.

    ``recorded`` are the rules that judged it when it was recorded; if they are None, ``rules`` are assumed to send
    every channel the recorded request. If ``ask_today`` is true, built-in channels to which ``rules`` would have sent a
    request that differs from the recorded one are queried now.
    """
    inputs = _inputs(row, json.loads(row.inputs), rules, recorded)
    judged = verdict_on(inputs, rules, is_explained=False)
    return _decided(row, inputs, judged, rules=rules, recorded=recorded, ask_today=ask_today)


def reweighed(
    row: RecordedPrompt,
    scores: Mapping[str, Mapping[str, int]],
    rules: Rules,
    *,
    recorded: Rules,
    ask_today: bool = False,
) -> Outcome:
    """Compute the outcome of a prompt under ``rules`` from its recorded scores, without reading the prompt again.

    ``scores`` are the points that the rules ``recorded`` gave, by facet (such as the task type) and class name;
    ``rules`` must have the same signals. Raises KeyError for a trace without recorded features.
    """
    kept = json.loads(row.inputs)
    inputs, table = _inputs(row, kept, rules, recorded), rules.table
    judged = Classification()
    judged.features = kept["features"]
    judged.scores = {facet["name"]: {} for facet in table.facets}
    for facet, name in table.classes:
        judged.scores[facet][name] = scores.get(facet, {}).get(name, 0)
    choose_task_type(judged, table)
    judged.search_intent = "" if row.search_intent == NO_INTENT else row.search_intent
    judged.intent_confidence = row.intent_confidence or 0.0
    return _decided(row, inputs, judged, rules=rules, recorded=recorded, ask_today=ask_today)


def _inputs(row: RecordedPrompt, kept: Mapping[str, Any], rules: Rules, recorded: Rules | None) -> Inputs:
    inputs = Inputs.from_json(row.prompt, kept)
    if len(inputs.settings) < len(RECORDED_SETTINGS):  # the trace is older than one of these settings
        declared = rules.body["settings"]
        budgets = {key: declared[key] for key in BUDGETS if key in declared}
        inputs.settings = {**SHAPING_DEFAULTS, **budgets, **inputs.settings}
    if recorded is not None:
        inputs.settings = settings_under(inputs.settings, recorded, rules)
    return inputs


def _decided(
    row: RecordedPrompt,
    inputs: Inputs,
    judged: Classification,
    *,
    rules: Rules,
    recorded: Rules | None,
    ask_today: bool,
) -> Outcome:
    unknown, today = _unknown(row, inputs, judged, rules, recorded), tuple[str, ...]()
    if ask_today and (ours := _answerable(unknown, rules)):
        answers = _ask(ours, row, judged, rules, inputs)
        inputs.channels = [*(one for one in inputs.channels if one.name not in ours), *answers]
        unknown, today = tuple(name for name in unknown if name not in ours), ours
    return _outcome_of(decide(inputs, rules, judged), unknown, today)


def _answerable(channels: tuple[str, ...], rules: Rules) -> tuple[str, ...]:
    """Return those of ``channels`` that are built in under ``rules``, so that a replay may query them now."""
    askable = {rule["name"] for rule in rules.body["channels"] if can_rerun(rule)}
    return tuple(name for name in channels if name in askable)


def settings_under(used: Mapping[str, Any], then: Rules, now: Rules) -> dict[str, Any]:
    """Return the settings that a prompt would have had under the rules ``now`` instead of ``then``.

    ``used`` are its recorded settings. The budgets (token limits) that instructions files declare are those of ``now``;
    a value that ``config.toml`` or the environment set is kept.
    """
    said_then, says_now = then.body["budgets"], now.body["budgets"]
    return {
        key: says_now.get(key, value) if value == said_then.get(key) else value
        for key, value in used.items()
        if key in RECORDED_SETTINGS
    }


def _unknown(
    row: RecordedPrompt, inputs: Inputs, judged: Classification, rules: Rules, recorded: Rules | None
) -> tuple[str, ...]:
    # No channel was asked about an imported prompt, so there is no recorded request to compare with.
    if recorded is None or recorded.hash == rules.hash or row.origin == "import" or _is_spent(inputs):
        return ()
    before = ChannelInput(
        row.task_type,
        search_intent=row.search_intent,
        intent_confidence=row.intent_confidence or 0.0,
        is_silent=row.task_type in recorded.body["never_show"] and not inputs.is_as_specified and not inputs.channels,
    )
    after = ChannelInput(
        judged.task_type,
        search_intent=judged.search_intent,
        intent_confidence=judged.intent_confidence,
        is_silent=bool(silence_reason(judged, rules.body, inputs.settings, inputs.prompt)),
    )
    return channels_with_changed_input(
        (before, recorded.body["channels"]),
        (after, [rule for rule in rules.body["channels"] if not _was_off(rule, inputs)]),
        settings=inputs.settings,
        has_past=bool(inputs.conversation),
        off=[one.name for one in inputs.channels if one.status == "off"],
    )


def _was_off(rule: Mapping[str, Any], inputs: Inputs) -> bool:
    """Return whether ``rule`` is for a channel that was switched off when the prompt was recorded.

    This is concluded if no instructions file declares the channel and the recorded inputs do not mention it.
    """
    return rule.get("handler") == UNDECLARED and all(one.name != rule["name"] for one in inputs.channels)


def _is_spent(inputs: Inputs) -> bool:
    """Return whether the session had used up its token budget, so that no channel's answer could be shown."""
    has_budget = not (inputs.form or inputs.is_as_specified)
    return has_budget and inputs.spent >= int(inputs.settings["budgets.session_tokens"])


def _ask(
    channels: Collection[str], row: RecordedPrompt, judged: Classification, rules: Rules, inputs: Inputs
) -> list[ChannelResult]:
    """Query the built-in ``channels`` now for a recorded prompt, each within its deadline; return their results.

    The channels get the request that ``rules`` would send for the classification ``judged``.
    """
    settings, _problems = with_environment(rules.body["settings"], os.environ)
    event = PromptEvent(row.prompt, host=row.host, session_id=row.session_id, cwd=row.cwd)
    request = Request(
        event,
        judged,
        project=identify(row.cwd),
        conversation=inputs.conversation,
        state=state_dir(),
        settings=settings,
        skills=inputs.skills,
    )
    return gather([rule for rule in rules.body["channels"] if rule["name"] in channels], request, settings)
