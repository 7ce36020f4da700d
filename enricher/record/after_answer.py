"""Record the outcome of a prompt: its trace with everything that the result depended on, events, and session state.

This runs after the answer has been written, so the client does not wait for it. Finally, detached processes are
started that update the database, the project's code index and its memories for the next prompts.
"""

from __future__ import annotations

import os
import time

from enricher.prompt.text import estimate_tokens
from enricher.respond.ranking import hashed_ref, shown_refs
from enricher.settings import EMBEDDING, is_on
from storage import traces
from storage.base.fast_stdlib import dumps, keyed_hash
from storage.state import detached, sessions
from storage.traces import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.classify import Classification, Rules
    from enricher.prompt.project import Project
    from enricher.record import Run
    from enricher.respond import Enrichment, Inputs
    from storage.traces import Trace

VECTORS_S = 20.0
"""Seconds for fetching the embeddings of new memories; those still missing are fetched after the next prompts."""
REST_S = 20.0
"""Minimum seconds between two background updates of one project, since each takes several times as long as a prompt."""


def describe(trace: Trace, enrichment: Enrichment, inputs: Inputs) -> None:
    """Copy the enrichment and the inputs that led to it into the trace."""
    judged = enrichment.classification
    # If the memory channel is off, the trace has no memory context; if it was not queried, the context has no memories.
    if not any(one.name == "memory" and one.status == "off" for one in inputs.channels):
        from enricher.respond.memory_context import memory_context

        trace.memory_context = memory_context(inputs, enrichment)
    trace.status = "partial" if enrichment.partial else "ok" if enrichment.text else "silent"
    trace.task_type, trace.confidence, trace.uncertain = judged.task_type, judged.confidence, judged.uncertain
    trace.search_intent, trace.intent_confidence = judged.search_intent or "none", judged.intent_confidence
    trace.topics, trace.complexity = judged.topics, str(judged.complexity)
    trace.workflow = enrichment.workflow
    trace.approach = enrichment.approach.text if enrichment.approach else ""
    trace.inputs = {**trace.inputs, **inputs.to_json(), "features": judged.features, "verdict": judged.to_json()}
    if enrichment.why_workflow:
        trace.inputs["workflow"] = enrichment.why_workflow
    trace.output_text, trace.output_tokens = enrichment.text, enrichment.tokens
    trace.scanned_chars = judged.scanned_chars
    trace.partial = bool(enrichment.partial)
    trace.scores = _scores(judged)
    trace.items = [(item.channel, item.ref, item.text, item.why, item.score, item.kept) for item in enrichment.items]
    trace.channels = [
        (
            one.name, one.status, one.latency_ms, len(one.candidates), *_count_kept(enrichment, one.name),
            "yes" if one.fallback else "", one.model,
        )
        for one in inputs.channels
    ]  # fmt: skip
    # Without a text, the agent has seen no guardrail.
    trace.guardrails = [(one.id, one.text, one.score) for one in enrichment.guardrails] if enrichment.text else []
    trace.estimate = [enrichment.estimate.row()] if enrichment.estimate else []
    trace.injected = shown_refs(enrichment)


def _scores(judged: Classification) -> list[tuple[object, ...]]:
    """Return facet, name, points and evidence of each class with points or evidence."""
    evidence: dict[tuple[str, str], list[list[object]]] = {}
    for one in judged.evidence:
        evidence.setdefault((one.facet, one.name), []).append([one.signal, one.start, one.end, one.weight])
    return [
        (facet, name, score, evidence.get((facet, name), []))
        for facet, scores in judged.scores.items()
        for name, score in scores.items()
        if score or (facet, name) in evidence  # points that cancel each other out are recorded, too
    ]


def _count_kept(enrichment: Enrichment, channel: str) -> tuple[int, int]:
    """Return how many facts of a channel are in the added text, and their total tokens before any shortening."""
    kept = [item for item in enrichment.items if item.channel == channel and item.kept]
    return len(kept), sum(estimate_tokens(item.text or item.label) for item in kept)


def send_events(run: Run) -> None:
    """Send the prompt's events if the user has configured a file or socket for them."""
    if run.settings.get("events.file") or run.settings.get("events.socket"):
        from enricher.record import events

        events.send(run)


def keep_trace(run: Run) -> None:
    """Write the trace to disk, without the parts that the setting ``log`` excludes; a second call changes nothing."""
    trace, level = run.trace, run.settings.get("log", "redacted")
    trace.latency_ms = round((time.perf_counter() - run.started) * 1000, 3)
    if level == "off":
        return
    if level == "hash":
        trace.prompt = trace.output_text = trace.approach = ""
        trace.items, trace.scores, trace.topics, trace.injected, trace.inputs = [], [], [], [], {}
        trace.memory_context = {}
        trace.estimate = []  # its rationale names words of the prompt
    spool.record(run.state, trace)


def keep_rest(run: Run) -> None:
    """Store what the session was shown and which rules were used, and start the background work that is due."""
    trace, level = run.trace, run.settings.get("log", "redacted")
    if run.enrichment is not None and (trace.status in traces.INJECTING or trace.status == "shadow"):
        refs = shown_refs(run.enrichment)
        refs = refs if level not in ("off", "hash") else _hashed_refs(refs)
        sessions.record_injected(run.state, trace.session_id, refs, tokens=trace.output_tokens)
    if run.late is not None and run.enrichment is not None:
        from enricher.record import late

        late.follow_up(run)
    if run.inputs is not None and any(one.is_program for one in run.inputs.channels):
        from enricher.context import external

        external.start_sweep(run.state)
    if level == "off":
        return
    if run.rules is not None and trace.rules_hash:  # a replay needs the version of the rules that decided
        _keep_version(run.state, run.rules)
    detached.start(run.state, detached.MAINTENANCE, lambda: _maintain(run.state))
    if trace.status != "skipped" and run.project.root:
        mark, has_index = upkeep_stamp(run.project), is_on(run.settings, "channels", "code")
        detached.start(run.state, mark, lambda: _maintain_project(run.state, run.project, mark, has_index=has_index))


def _hashed_refs(refs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Replace references to files and memories with hashes; keep references to the session, which contain no text."""
    return [(kind, hashed_ref(ref) if kind == "item" and not ref.startswith("session ") else ref) for kind, ref in refs]


def _keep_version(state: str, rules: Rules) -> None:
    if os.path.exists(f"{state}/versions/{rules.hash}"):  # the file is named by its content, so it is the same
        return
    try:
        spool.put_version(state, rules.hash, lambda: dumps(rules.body))
    except (OSError, ValueError) as failure:
        from storage.base import log

        log.append(state, stage="record", reason=f"the rules version {rules.hash} was not kept: {failure}")


def upkeep_stamp(project: Project) -> str:
    """Return the name of the lock file that allows only one process at a time to update a project's data."""
    return f"upkeep/{keyed_hash(b'upkeep', project.root.encode(errors='surrogateescape'))}"


def _maintain(state: str) -> None:
    from storage.db import maintenance
    from storage.state.late import FOLDER

    if os.path.exists(f"{state}/{FOLDER}"):  # few users have late results
        from enricher.record import late

        late.drop_unclaimed(state)
    maintenance.main(state)
    if maintenance.is_housekeeping_due(state):
        _call(state, "enricher.erasure.forgetting", "run_retention", state)


def _maintain_project(state: str, project: Project, mark: str, *, has_index: bool) -> None:
    turn = detached.claim(state, mark)
    if turn < 0:  # another process updates this project
        return
    try:
        # First, since it regards the modules that are loaded now as those that a prompt needs.
        _call(state, "enricher.bundle", "refresh")
        refresh_project(state, project, has_index=has_index)
    finally:
        detached.postpone(state, REST_S, mark)  # before unlocking, so that no process starts in between
        os.close(turn)


def _call(state: str, module: str, function: str, *arguments: object) -> None:
    """Import a module and call its function; if that fails, only log it, so that the rest of the upkeep is done."""
    try:
        getattr(__import__(module, fromlist=[function]), function)(*arguments)
    except Exception as failure:
        _note(state, module, failure)


def refresh_project(state: str, project: Project, *, has_index: bool) -> None:
    """Update a project's memories, embeddings and (with ``has_index``) code index; failures are only logged.

    ``has_index`` is false if the channel ``code`` is off; then no file of the project is read for the code index. The
    files of the packaged rules are stored as well if they are not stored yet.
    """
    detached.find_libraries()
    _call(state, "enricher.rules.sources", "store_packaged", state)
    _call(state, "enricher.sources.memory.refreshing", "refresh", project, state)
    if has_index:
        _call(state, "enricher.sources.code.indexing.index", "refresh", project, state)
    if os.environ.get(EMBEDDING):
        try:
            _complete_vectors(state, project)
        except Exception as failure:
            _note(state, "enricher.model.embedding", failure)


def _complete_vectors(state: str, project: Project) -> None:
    """Fetch the embeddings of new memories, so that the next prompts and searches can use them."""
    from contextlib import closing

    from enricher.rules import cache
    from enricher.settings import has_vectors, with_environment
    from storage.memory.memory_markers import has_memories

    settings, _problems = with_environment(cache.load(project.root)[0].body["settings"], os.environ)
    if not has_vectors(settings, os.environ) or not has_memories(state, project.id):
        return
    from enricher.model import embedding
    from storage.db import database

    with closing(database.connect(state)) as db:
        embedding.complete(db, project.id, settings, state=state, within_s=VECTORS_S)


def _note(state: str, name: str, failure: Exception) -> None:
    from storage.base import log

    log.append(state, stage=f"upkeep of {name}", reason=f"{type(failure).__name__}: {failure}")
