"""Process one prompt from the client's event to the text for the agent: redact, skip or classify, gather, decide.

This module does all the input and output involved; a pure function (``enricher.respond.decision``) decides what to add.
"""

from __future__ import annotations

import os
import time

from enricher.classify import FRESH, UNSETTLED
from enricher.classify.verdict import verdict
from enricher.context import ChannelResult, Request
from enricher.home import project_root, skill_folders
from enricher.hosts import BARE
from enricher.prompt import MENTIONS_OF_RUNS
from enricher.prompt.conversation import REFUSED, RUNS, Conversation
from enricher.prompt.event import has_memory_cue, skip_reason
from enricher.prompt.redaction import redact_and_cap
from enricher.prompt.text import harmless
from enricher.record.after_answer import describe
from enricher.respond import Enrichment, Inputs
from enricher.respond.decision import decide, verdict_on
from enricher.respond.guidance import silence_reason
from enricher.rules import cache
from enricher.settings import (
    ENRICH,
    GATES,
    HYDRATE_FILE,
    KEEPS_TEXT,
    is_as_specified,
    is_on,
    misses_model,
    with_environment,
)
from storage import traces
from storage.base import private
from storage.base.fast_stdlib import keyed_hash
from storage.state import key, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification, Rules
    from enricher.prompt.event import PromptEvent
    from enricher.record import Run
    from enricher.settings import Value

PATIENCE_MS, MOST_PATIENCE_MS = 900, 1000  # wait for the compiler after an edit: default and maximum
PROMPT_LIMIT = 64 * 1024  # maximum characters of a prompt that are processed and stored (ruling R33)
HYDRATION = "hydration"  # the ``form`` of a text that is a plan for the agent
HOST_WITHOUT_TRANSCRIPT_PATH = "copilot"  # its transcript is found by the session id
LONGEST_QUOTED = 80  # maximum characters of a new memory that the notice about it quotes
MISSING_MODEL_MARK = "told-of-missing-model"  # this empty file in the state folder says that it was notified


def enrich(event: PromptEvent, run: Run) -> None:
    """Run the whole pipeline for one prompt and store the outcome in ``run``, ready to be recorded."""
    rules = _load_rules(event, run)  # first: the settings in them decide about all that follows
    run.tick("rules")
    run.mode = run.mode or str(run.settings["mode"])
    if run.mode == HYDRATE_FILE:
        run.typed = event.prompt
    # Redact before anything else looks at the prompt: neither the check for skipping nor a channel may see a secret.
    event.prompt = _redacted_prompt(event, run)
    run.tick("redact")
    reason = skip_reason(
        event,
        bypass_prefix=str(run.settings["bypass_prefix"]),
        enabled=bool(run.settings["enabled"]) and is_on(run.settings, "hosts", event.host),
    )
    if rules.state == UNSETTLED:  # the unknown settings may switch the enricher off and forbid storing text
        reason, run.settings["log"] = "settings_unknown", "hash"
    # A second registration of the hook (of the user and of the project) gets the same prompt again.
    if not reason and not sessions.claim(run.state, event.session_id, run.trace.prompt_hmac):
        reason = "duplicate"
    if not reason and run.form and any(run.settings.get(gate) is False for gate in GATES):  # unset counts as open
        reason = "gate_closed"
    if not reason and _remember(event.prompt, run):
        reason = "remembered"
    if run.settings["model.late"]:
        from enricher.record import late

        late.begin_turn(event, run, reason)
    if reason:
        run.trace.status, run.trace.skip_reason = "skipped", reason
    else:
        _enrich_prompt(event, rules, run)


def _load_rules(event: PromptEvent, run: Run) -> Rules:
    rules, layers = cache.load(event.cwd, wait_ms=_patience())
    run.rules = rules
    run.settings, problems = with_environment(rules.body["settings"], os.environ)
    run.problems += [("settings", f"{name}: {message}") for name, message in problems]
    if misses_model(run.settings):
        _notify_missing_model(run)
    if layers.missing:
        run.problems.append(("rules", f"no instructions file at {layers.missing}; the layers below it are used"))
    if rules.state != FRESH:
        run.trace.inputs["rules_state"] = f"rules_{rules.state}"
        run.problems.append(("rules", f"rules_{rules.state}: {rules.problem or 'the compiler has not finished yet'}"))
    run.untrusted = layers.untrusted
    return rules


def _notify_missing_model(run: Run) -> None:
    mark = f"{run.state}/{MISSING_MODEL_MARK}"
    if os.path.exists(mark):  # spares all later prompts the attempt to create it
        return
    try:
        private.make_directory(run.state)
        os.close(private.open_file(mark, os.O_WRONLY | os.O_EXCL))
    except OSError:  # another prompt notifies, or the file cannot be written
        return
    reason = (
        "search_intent.use_llm or .llm_timeout_ms is set, but no model is configured; signals alone find the intent"
    )
    run.notices.append(f"Prompt Enricher: {reason}")
    run.problems.append(("settings", reason))


def _patience() -> int:
    given = os.environ.get("ENRICHER_BUDGETS_RULES_WAIT_MS", "")
    # The length is checked because int() raises ValueError for thousands of digits.
    return min(int(given), MOST_PATIENCE_MS) if given.isdecimal() and len(given) < len("10000") else PATIENCE_MS


def _redacted_prompt(event: PromptEvent, run: Run) -> str:
    # With ``log = full``, the user has allowed the prompt to be stored with its secrets.
    trace = run.trace
    original = traces.storable(event.prompt)  # SQLite stores no lone surrogates
    if run.settings["log"] == "full" and len(original) <= PROMPT_LIMIT:
        judged, full_length = original, len(original)
    else:
        judged, kinds, full_length = redact_and_cap(original, PROMPT_LIMIT)
        trace.inputs["redacted"] = list(kinds)
    trace.prompt = judged
    trace.prompt_chars = full_length
    # A hash with this installation's secret key: it recognizes a repeated prompt, but nobody else can test a guess.
    trace.prompt_hmac = keyed_hash(key.load(run.state), original.encode())
    return judged


def _enrich_prompt(event: PromptEvent, rules: Rules, run: Run) -> None:
    session = sessions.session_state(run.state, event.session_id)
    _notify_untrusted(event, run, session.injected)
    _note_wish_about_runs(event, run, session)
    conversation = conversation_before(event, run.settings, session.injected)
    if conversation.problem:
        run.problems.append(("session", conversation.problem))
    inputs = run.inputs = _inputs(event, session, conversation, run)
    run.tick("session")
    judged = verdict(event.prompt, rules, conversation)
    run.tick("classify")
    asked = None
    if run.settings["model.url"]:  # asked first, so that the model answers while the channels search
        from enricher import with_model

        asked = with_model.begin(event, judged, rules, run)
    _gather(event, judged, conversation, inputs, rules, run)
    run.tick("gather")
    if asked:
        with_model.take_opinion(asked, inputs, run)
        judged = verdict_on(inputs, rules) if inputs.opinion else judged
        run.tick("model")
    enrichment = decide(inputs, rules, judged)
    if inputs.form == HYDRATION and enrichment.text and asks_for_plan(run.settings):
        enrichment = with_model.plan(enrichment, inputs, rules, _request(event, judged, conversation, run), run)
        run.tick("plan")
    if run.mode == HYDRATE_FILE and enrichment.text:
        enrichment = _hand_over(enrichment, inputs, rules, run)
    run.enrichment = enrichment
    run.tick("guide")
    describe(run.trace, enrichment, inputs)
    run.trace.rules_hash = rules.hash
    if run.settings["shadow"]:
        run.trace.status = "shadow" if enrichment.text else "silent"


def _gather(
    event: PromptEvent, judged: Classification, conversation: Conversation, inputs: Inputs, rules: Rules, run: Run
) -> None:
    """Add what the channels find, and the facts for a plan, to the inputs."""
    # ``decide`` makes the same check: a prompt to which nothing is added must not wait for the channels.
    if not silence_reason(judged, rules.body, run.settings, event.prompt):
        from enricher.context.gathering import gather

        inputs.channels = gather(rules.body["channels"], _request(event, judged, conversation, run), run.settings)
        _note_failed(inputs.channels, run)
    if run.untrusted:  # shown in the trace like a channel that was left out
        inputs.channels.append(ChannelResult(".enricher", "untrusted"))
    if inputs.form == HYDRATION:
        inputs.hydration = _facts_for_plan(_request(event, judged, conversation, run), run)


def _inputs(event: PromptEvent, session: sessions.SessionState, conversation: Conversation, run: Run) -> Inputs:
    return Inputs(
        event.prompt,
        settings=run.settings,
        skills=_skills(event),
        injected=session.injected,
        spent=session.tokens,
        conversation=conversation,
        form=run.form or form_of(run.mode),
        has_mcp=can_ask_memory(event, run.settings),
        is_bare=event.host in BARE,
    )


def _request(event: PromptEvent, judged: Classification, conversation: Conversation, run: Run) -> Request:
    """Return the request that every channel (source of facts) gets; the channels' time limit starts with this call."""
    return Request(
        event,
        judged,
        project=run.project,
        conversation=conversation,
        state=run.state,
        settings=run.settings,
        skills=run.inputs.skills if run.inputs else (),
    )


def form_of(mode: str) -> str:
    """Return the form of the text added in this ``mode``: HYDRATION for a plan, an empty string for the usual facts."""
    return HYDRATION if mode != ENRICH else ""


def _facts_for_plan(request: Request, run: Run) -> dict[str, Any]:
    from enricher.respond.hydration.gathering import look_up

    try:
        return look_up(request, run.settings)
    except Exception as failure:  # the plan then names less
        run.problems.append(("hydration", f"nothing was looked up: {type(failure).__name__}: {failure}"))
        return {}


def _hand_over(enrichment: Enrichment, inputs: Inputs, rules: Rules, run: Run) -> Enrichment:
    """Write the plan and its sources into a file for a subagent, and return a text that names that file (seed 003).

    If it cannot be written, the enrichment is returned unchanged: the whole plan is added to the prompt (ruling R1).
    """
    from enricher.respond.hydration.sheet import sheet
    from storage.base import log
    from storage.state import plan_files

    try:
        folder = plan_files.own_folder()
        plan_files.remove_old(folder, now=time.time())
        # Two sessions without an id must not share a file. An id may be of any length, and have slashes.
        name = keyed_hash(b"session", (run.trace.session_id or os.urandom(8).hex()).encode(errors="replace"))[:16]
        path = f"{folder}/{plan_files.PREFIX}{name}{plan_files.SUFFIX}"
        text = sheet(enrichment, inputs, rules, typed=run.typed, cwd=run.trace.cwd)
        private.write_file(path, text.encode(errors="replace"))
    except OSError as failure:
        reason = f"no file could be written for the plan, which is added inline: {failure}"
        run.problems.append(("hydration", reason, log.ERROR))
        run.notices.append(f"Prompt Enricher: {reason}")
        return enrichment
    inputs.hydration = {**inputs.hydration, "file": path}
    return decide(inputs, rules, enrichment.classification)


def asks_for_plan(settings: Mapping[str, Value]) -> bool:
    """Return whether the settings ask a language model to write the intent and the steps of plans."""
    return bool(settings["model.url"] and settings["model.plan_timeout_ms"])


def can_ask_memory(event: PromptEvent, settings: Mapping[str, Value]) -> bool:
    """Return whether the agent can query our MCP server, to which only texts of the profile ``as-specified`` point."""
    if not is_as_specified(settings):
        return False
    from enricher.hosts.servers import has_our_server

    return has_our_server(event.host, event.cwd)


def _note_failed(channels: list[ChannelResult], run: Run) -> None:
    for one in channels:
        if one.status == "timeout" and run.form:
            if run.settings.get("log_level") == "debug":  # seed 004
                run.problems.append(("channel", f"{one.name}: timeout", "DEBUG"))
        elif one.status in ("error", "timeout"):
            run.problems.append(("channel", f"{one.name}: {one.problem or one.status}"))


def conversation_before(event: PromptEvent, settings: Mapping[str, Value], injected: list[str]) -> Conversation:
    """Return the session's conversation before this prompt, from the client's transcript; empty if there is none.

    ``injected`` lists what the hook has shown in the session.
    """
    # Most first prompts have no transcript yet; for them, the module that reads it is not imported.
    has_transcript = event.host == HOST_WITHOUT_TRANSCRIPT_PATH or os.path.lexists(event.transcript_path)
    if not (has_transcript and is_on(settings, "channels", "session")):
        return Conversation()
    from enricher.sources.transcripts import read_conversation

    return read_conversation(event, injected)


def _notify_untrusted(event: PromptEvent, run: Run, injected: list[str]) -> None:
    if run.untrusted and f"notice:{run.untrusted}" not in injected:
        from enricher.prompt.trust import follows_branch

        if follows_branch(run.untrusted):  # a pull may restore the trust
            return
        sessions.record_injected(run.state, event.session_id, [("notice", run.untrusted)], tokens=0)
        run.notices.append(
            f"Prompt Enricher: {run.untrusted}/.enricher is not used until you have read it and run: enricher trust"
        )


def _note_wish_about_runs(event: PromptEvent, run: Run, session: sessions.SessionState) -> None:
    """Record in the session's file whether the prompt says that nothing is to be run, or that it is again."""
    low = event.prompt.lower()
    if not any(word in low for word in MENTIONS_OF_RUNS):
        return
    from enricher.prompt.conversation.runs import wish

    earlier = sorted(name for name in session.injected if name.startswith(RUNS))
    is_refused = bool(earlier) and earlier[-1].endswith(REFUSED)
    wanted = wish(event.prompt)
    if wanted and (wanted == REFUSED) != is_refused:
        # Numbered, because the names have no other order.
        name = f"{len(earlier):03} {wanted}"
        sessions.record_injected(run.state, event.session_id, [(RUNS.rstrip(":"), name)], tokens=0)
        session.injected.append(f"{RUNS}{name}")


def _remember(prompt: str, run: Run) -> bool:
    """Store what the prompt asks to remember, and notify the user; return whether the prompt asks for nothing else.

    Nothing is stored if the setting ``log`` forbids storing text, or if the memory channel is off.
    """
    if run.settings["log"] not in KEEPS_TEXT or not is_on(run.settings, "channels", "memory"):
        return False
    if not has_memory_cue(prompt):
        return False
    from enricher.prompt import capture

    run.trace.memories = list(capture.rows(prompt, run.project.id))
    if run.settings["shadow"]:  # nothing that the user or the agent could see may change
        return False
    for identity, namespace, text, *_ in run.trace.memories:
        quoted = harmless(str(text), longest=LONGEST_QUOTED)
        run.notices.append(
            f'Remembered {identity} ({namespace}): "{quoted}" - approve or drop it: enricher memory review'
        )
    return capture.is_all(prompt)


def _skills(event: PromptEvent) -> list[tuple[str, str]]:
    folders = skill_folders(event.host, project_root(event.cwd) if event.cwd else "")
    if not folders:
        return []
    from enricher.context.channels.skills import installed_skills

    return installed_skills(folders)
