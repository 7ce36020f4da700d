"""Python API: compute what the hook would add to a prompt, with all details, and record nothing.

The commands ``enrich`` and ``explain`` only print its results.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.classify import BOTH, MODEL, RULES, Rules
from enricher.classify.verdict import verdict
from enricher.context import CHANNELS, Request, external
from enricher.context.channels.skills import installed_skills
from enricher.context.gathering import gather, load
from enricher.home import project_root, skill_folders, state_dir
from enricher.hosts import BARE
from enricher.model import opinion_request
from enricher.pipeline import PROMPT_LIMIT, asks_for_plan, can_ask_memory, conversation_before, form_of
from enricher.prompt import capture
from enricher.prompt.event import PromptEvent, has_memory_cue, skip_reason
from enricher.prompt.project import identify
from enricher.prompt.redaction import redact_and_cap
from enricher.respond import Enrichment, Inputs, formats
from enricher.respond.decision import decide, verdict_on
from enricher.respond.guidance import silence_reason
from enricher.respond.hydration.drafting import improved
from enricher.respond.hydration.gathering import look_up
from enricher.respond.memory_context import memory_context
from enricher.rules import cache
from enricher.settings import GATES, is_on, with_environment
from enricher.with_model import ANSWERS_BY_S
from storage.base.fast_stdlib import loads
from storage.traces import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.classify import Classification
    from enricher.prompt.conversation import Conversation
    from enricher.rules.layers import Layers
    from enricher.settings import Value


SOURCES = {RULES: "keyword", MODEL: "llm", BOTH: "hybrid"}
"""What a classification is based on (the rules, a model or both), with its name in the specification (seed 001)."""


@dataclass(frozen=True, slots=True)
class Result:
    """What would be added to a prompt, and why.

    ``prompt`` is the prompt without its secrets; the start and end of each piece of evidence are positions in it.
    ``skipped`` is the reason why the hook would skip the prompt, or empty.
    """

    prompt: str
    skipped: str
    enrichment: Enrichment
    rules: Rules
    inputs: Inputs
    timings_ms: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``enrich --json`` prints."""
        judged, is_enriched = self.enrichment.classification, not self.skipped
        return {
            "task_type": judged.task_type,
            "confidence": judged.confidence,
            "uncertain": judged.uncertain,
            "scores": judged.scores,
            "evidence": [
                {"facet": one.facet, "name": one.name, "signal": one.signal, "start": one.start, "end": one.end,
                 "weight": one.weight}
                for one in judged.evidence
            ],
            "search_intent": {
                "type": judged.search_intent or "none",
                "confidence": judged.intent_confidence,
                "source": SOURCES[judged.source],
            },
            "topics": judged.topics,
            "guardrails": [{"id": one.id, "title": one.text} for one in self.enrichment.guardrails if is_enriched],
            "approach": self.enrichment.approach.text if self.enrichment.approach and is_enriched else None,
            "workflow": self.enrichment.workflow or None,
            "why_workflow": self.enrichment.why_workflow or None,
            "commit_required": self._requires_commit(),
            "complexity": self.enrichment.estimate.to_json() if self.enrichment.estimate and is_enriched else None,
            "context": [
                {"channel": one.channel, "ref": one.ref, "why": one.why, "score": one.score, "kept": one.kept}
                for one in self.enrichment.items
            ],
            "model": {key: value for key, value in self.inputs.model.items() if key != "opinion"} or None,
            "memory_context": memory_context(self.inputs, self.enrichment),
            "text": self.text(),
            "skipped": self.skipped or None,
            "scanned_chars": judged.scanned_chars,
            "timings_ms": self.timings_ms,
        }  # fmt: skip

    def _requires_commit(self) -> bool | None:
        """Return whether the workflow chosen for the prompt ends with a commit; None if no workflow was chosen."""
        plans: Any = self.rules.packed("plans") if self.enrichment.workflow else {}
        return bool(plans[self.enrichment.workflow]["commits"]) if plans else None

    def text(self) -> str:
        """Return the text that the agent would receive; empty if the prompt is skipped."""
        return "" if self.skipped else self.enrichment.text

    def in_pipeline(self) -> dict[str, object]:
        """Return the result as a JSON object in the format ``pipeline``: the text, and its tokens and channels."""
        return formats.answer(self.text(), self.enrichment.tokens, formats.kept_channels(self.enrichment))


def enrich(
    prompt: str,
    *,
    cwd: str = "",
    session_id: str = "",
    host: str = "claude",
    instructions: str = "",
    form: str = formats.ENRICHMENT,
) -> Result:
    """Return what would be added to ``prompt`` if it were the first prompt of a session in the folder ``cwd``.

    ``instructions`` is the path of an instructions file to use instead of all instructions and configuration files that
    apply in the folder. ``form`` is the format of the answer, one of ``enricher.respond.formats.NAMES``. Raises
    ``enricher.rules.cache.NoRulesError`` if there are no usable rules.
    """
    watch = _Watch()
    rules, _layers = rules_for(cwd, instructions=instructions)
    settings, _problems = with_environment(rules.body["settings"], os.environ)
    watch.tick("rules")
    redacted, _kinds, _length = redact_and_cap(storable(prompt), PROMPT_LIMIT)
    event = PromptEvent(redacted, host=host, session_id=session_id, cwd=cwd)
    conversation = conversation_before(event, settings, [])
    form = form_of(str(settings["mode"])) if form == formats.ENRICHMENT else form  # a named format has priority
    inputs = _inputs(event, conversation, settings, form)
    skipped = _skip_reason(event, settings, inputs.form)
    watch.tick("redact")
    judged = verdict(redacted, rules, conversation)
    watch.tick("classify")
    enrichment = _enrichment(event, judged, settings, inputs, rules, watch, is_skipped=bool(skipped))
    return Result(redacted, skipped, enrichment, rules, inputs, watch.stages)


def _enrichment(
    event: PromptEvent,
    judged: Classification,
    settings: Mapping[str, Value],
    inputs: Inputs,
    rules: Rules,
    watch: _Watch,
    *,
    is_skipped: bool,
) -> Enrichment:
    """Ask the model and the channels, add to ``inputs`` what they found, and return what is decided with it."""
    asked = None
    if settings["model.url"] and not is_skipped:
        until = time.perf_counter() + ANSWERS_BY_S  # as in the hook, where the time counts from its start
        asked = opinion_request.start(event.prompt, judged, rules, settings, state=state_dir(), until=until)
    if not is_skipped and not silence_reason(judged, rules.body, settings, event.prompt):
        _load_channels()  # before the time limits of their queries start, since imports are slow
        _gather(_request(event, judged, settings, inputs), inputs, rules)
    watch.tick("gather")
    if asked:
        inputs.model = asked.record()
        judged = verdict_on(inputs, rules)
        watch.tick("model")
    enrichment = decide(inputs, rules, judged)
    if inputs.form == formats.HYDRATION and enrichment.text and not is_skipped and asks_for_plan(settings):
        until = time.perf_counter() + int(settings["model.plan_timeout_ms"]) / 1000
        enrichment = improved(enrichment, inputs, rules, _request(event, judged, settings, inputs), until=until)
        watch.tick("plan")
    watch.tick("guide")
    return enrichment


def _inputs(event: PromptEvent, conversation: Conversation, settings: Mapping[str, Value], form: str) -> Inputs:
    """Return everything, except the rules, that decides what is added to the first prompt of a session."""
    return Inputs(
        event.prompt,
        settings=settings,
        skills=installed_skills(skill_folders(event.host, project_root(event.cwd) if event.cwd else "")),
        conversation=conversation,
        form=form,
        has_mcp=can_ask_memory(event, settings),
        is_bare=event.host in BARE,
    )


def _skip_reason(event: PromptEvent, settings: Mapping[str, Value], form: str) -> str:
    """Return why the hook would skip the prompt; empty if it would not.

    A prompt that is sent twice within seconds, which the hook also skips, is not recognised here.
    """
    is_enabled = bool(settings["enabled"]) and is_on(settings, "hosts", event.host)
    if reason := skip_reason(event, bypass_prefix=str(settings["bypass_prefix"]), enabled=is_enabled):
        return reason
    if form == formats.PIPELINE and any(settings.get(gate) is False for gate in GATES):
        return "gate_closed"
    return "remembered" if has_memory_cue(event.prompt) and capture.is_all(event.prompt) else ""


def _gather(request: Request, inputs: Inputs, rules: Rules) -> None:
    """Query the context channels and, if the answer will be a plan, look up the files and commands it may mention."""
    inputs.channels = gather(rules.body["channels"], request, request.settings)
    if inputs.form == formats.HYDRATION:
        inputs.hydration = look_up(request, request.settings)
    if any(one.is_program for one in inputs.channels):  # end those that have not answered
        external.sweep(request.state, os.getpid())


def _request(event: PromptEvent, judged: Classification, settings: Mapping[str, Value], inputs: Inputs) -> Request:
    """Return a request to the context channels; its time limit begins now."""
    return Request(
        event,
        judged,
        project=identify(event.cwd),
        conversation=inputs.conversation,
        state=state_dir(),
        settings=settings,  # ``inputs`` keeps only those that decide what is added
        skills=inputs.skills,
    )


def _load_channels() -> None:
    for name in CHANNELS:
        with suppress(Exception):  # ``gather`` will report a channel that cannot be loaded
            load(name)


def rules_for(cwd: str, *, instructions: str = "") -> tuple[Rules, Layers]:
    """Return the compiled rules that apply in the folder ``cwd``, and the files (layers) from which they were compiled.

    If ``instructions`` names a file, only that one is used. Waits up to 30 s for the compilation.
    """
    return cache.load(cwd, wait_ms=30_000, base=instructions)


def replay(prompt: str, recorded: Mapping[str, Any], rules: Rules) -> Enrichment:
    """Recompute what was added to a recorded prompt, from its recorded inputs and the rules that were used then."""
    inputs = Inputs.from_json(prompt, recorded)
    return decide(inputs, rules, verdict_on(inputs, rules))


def recorded_rules(identity: str, text: str) -> Rules:
    """Parse the stored version of the rules with the hash ``identity``; raises ValueError if it cannot be used."""
    body = loads(text)
    if not isinstance(body, dict) or body.get("format") != cache.FORMAT:
        raise ValueError(f"version {identity} was compiled by another release of the enricher")
    return Rules(identity, body)


class _Watch:
    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def tick(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = round((now - self.last) * 1000, 3)
        self.last = now
