"""Query a model after the hook has answered, and give the agent what the model adds during the same turn.

The hook answers by the rules alone. With the setting ``model.late``, a background process then queries the model. If
the model's classification of the prompt leads to a different text, the new lines (a late result) wait in
``storage.state.late`` for the client's next hook point, such as the end of a tool call. The trace's record of this in
``inputs.model`` has the status ``late`` and an ``outcome``: first ``asked``, then ``delivered``, ``dropped`` (with the
reason) or ``nothing new``.
"""

from __future__ import annotations

from enricher.hosts import LATE_EVENTS, nested
from enricher.settings import KEEPS_TEXT
from storage.base import fast_stdlib
from storage.state import detached, late, sessions
from storage.traces import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from enricher.classify import Classification, Rules
    from enricher.prompt.event import PromptEvent
    from enricher.record import Run
    from enricher.respond import Inputs

TITLE = "Late result for your last prompt:"
LATE = "late"
ASKED, DELIVERED, DROPPED, NOTHING_NEW = "asked", "delivered", "dropped", "nothing new"
NEXT_PROMPT, NO_MORE, SHADOW_MODE = "the next prompt came first", "the session did not go on", "shadow mode"
"""Reasons why a late result was dropped."""
NOT_OF_THE_USER = ("duplicate", "subagent", "machine_prompt")
"""Reasons to skip a prompt that does not begin a new turn: the user did not write it, or sent it twice."""
GRACE_S = 2.0
"""Seconds that the background process may take beyond the longest call of a model, to decide and store the result."""


def is_wanted(event: PromptEvent, run: Run) -> bool:
    """Return whether the model may be queried after the answer to this prompt.

    The client must accept late results, the text must be in the usual format, and storing text must be allowed.
    """
    is_possible = event.host in LATE_EVENTS and bool(event.session_id) and not run.form
    return is_possible and run.settings["log"] in KEEPS_TEXT


def begin_turn(event: PromptEvent, run: Run, skipped: str) -> None:
    """Record that a new turn begins, and drop the session's late result, which is about an earlier turn.

    ``skipped`` is the reason for skipping the prompt, or empty. Never raises.
    """
    if skipped in NOT_OF_THE_USER or not event.session_id or event.host not in LATE_EVENTS:
        return
    try:
        if left := late.take(run.state, event.session_id):
            _drop(run.state, left, NEXT_PROMPT)
        late.begin_turn(run.state, event.session_id, run.trace.id)
    except (OSError, ValueError, KeyError, TypeError) as failure:  # a damaged file raises the last three
        run.problems.append((LATE, f"the turn is not noted: {failure!r}"))


def plan(judged: Classification, rules: Rules, run: Run) -> tuple[dict[str, Any], dict[str, str] | None]:
    """Return the trace's record of the query that will be sent to the model, and the task types offered to the model.

    The record is empty if the settings ask nothing of the model; the task types are None if no query will be sent.
    """
    from enricher.model import allowance, opinion_request

    kinds = opinion_request.task_types(judged, rules, run.settings)
    if not kinds and not opinion_request.asks_for_intent(run.settings):
        return {}, None
    known = {"model": str(run.settings["model.name"]), "limit_ms": round(opinion_request.LONGEST_S * 1000)}
    if refusal := allowance.read(run.state).refusal(run.settings, opinion_request.LONGEST_S):
        return {**known, "status": opinion_request.SKIPPED, "reason": refusal}, None
    return {**known, "status": LATE, "outcome": ASKED}, kinds


def follow_up(run: Run) -> None:
    """Start a background process that queries the model (see ``plan``); the hook does not wait for it."""
    inputs, rules, kinds = run.inputs, run.rules, run.late
    if inputs is None or rules is None or kinds is None:
        return
    # At normal priority, unlike other background work: the answer is of use only within the agent's present turn.
    detached.fork(run.state, "model", lambda: _ask(run, inputs, rules, kinds), niceness=0)


def _ask(run: Run, inputs: Inputs, rules: Rules, kinds: dict[str, str]) -> None:
    """Query the model, decide again with its answer, and store the new lines, which wait for the client.

    Runs in the background process.
    """
    from enricher.model import opinion_request

    fast_stdlib.on_alarm(opinion_request.LONGEST_S + GRACE_S, _give_up)
    answered = opinion_request.ask_now(inputs.prompt, kinds, rules, run.settings, state=run.state)
    model: dict[str, Any] = {**inputs.model, **answered}
    opinion = model.pop("opinion", None)
    if opinion is None:
        del model["outcome"]
        replace_model_record(run.state, run.trace.id, model)
        reason = f"{model['status']}: {model['reason']} (late); the rules alone decide"
        _log(run.state, reason, session_id=run.trace.session_id)
        return
    model |= {"status": LATE, "late_opinion": opinion}
    text, refs, tokens = _new_text(run, inputs, rules, opinion)
    waiting = {"trace": run.trace.id, "text": text, "told": refs, "tokens": tokens, "model": model}
    if not text:
        replace_model_record(run.state, run.trace.id, {**model, "outcome": NOTHING_NEW})
    elif run.settings["shadow"]:
        _drop(run.state, waiting, SHADOW_MODE)
    elif not late.store(run.state, run.trace.session_id, waiting):
        _drop(run.state, waiting, NEXT_PROMPT)


def _give_up() -> None:
    raise TimeoutError("the model took too long")


def _new_text(
    run: Run, inputs: Inputs, rules: Rules, opinion: Mapping[str, Any]
) -> tuple[str, list[tuple[str, str]], int]:
    """Return a text with the lines that a model's opinion (its classification of the prompt) adds to the first answer.

    Also return the references of the facts in that text, and how many tokens it has. It is empty if nothing is new.
    """
    from enricher.prompt.text import estimate_tokens
    from enricher.respond.decision import decide, verdict_on
    from enricher.respond.ranking import shown_refs
    from enricher.respond.render import finish

    # Read again: another prompt of the session may have been answered while the model was thinking.
    session = sessions.session_state(run.state, run.trace.session_id)
    inputs.injected, inputs.spent, inputs.model = session.injected, session.tokens, {"opinion": opinion}
    enrichment = decide(inputs, rules, verdict_on(inputs, rules))
    lines = new_lines(enrichment.text, run.text())
    if not lines:
        return "", [], 0
    text = finish("\n".join([TITLE, *lines]))
    refs = [(kind, ref) for kind, ref in shown_refs(enrichment) if f"{kind}:{ref}" not in session.injected]
    return text, refs, estimate_tokens(text)


def new_lines(text: str, earlier: str) -> list[str]:
    """Return the lines of ``text`` that ``earlier`` lacks, except for the title and the note on partial results.

    The label above the facts is kept if a fact below it is kept.
    """
    from enricher.respond.render import BACKGROUND_TITLE, CONTEXT_LABEL, PLAIN_CONTEXT_LABEL
    from enricher.respond.render import TITLE as PROMPT_TITLE

    labels = (CONTEXT_LABEL, PLAIN_CONTEXT_LABEL)
    # The labels do not count as known: new facts need one, even if the first answer had it.
    known = {*earlier.splitlines(), "", PROMPT_TITLE, BACKGROUND_TITLE} - {*labels}
    left = [line for line in text.splitlines() if line not in known and not line.startswith("_Partial: ")]
    return [line for at, line in enumerate(left) if line not in labels or "".join(left[at + 1 : at + 2])[:2] == "- "]


def deliver(state: str, session_id: str, event: str, write: Callable[[dict[str, object] | None], None]) -> None:
    """Answer the client's ``event`` with the session's late result, and record this; do nothing if there is none.

    A result that belongs to an earlier turn is dropped. ``write`` sends the answer to the client.
    """
    result = late.take(state, session_id)
    if not result:
        return
    if late.is_due(state, session_id, result):
        write(nested(event, result["text"], ""))
        _record_delivery(state, session_id, result)
    else:
        _drop(state, result, NEXT_PROMPT)


def _record_delivery(state: str, session_id: str, result: Mapping[str, Any]) -> None:
    """Record that the client got a late result, so that the session does not get the same facts again."""
    sessions.record_injected(
        state, session_id, [(kind, ref) for kind, ref in result["told"]], tokens=int(result["tokens"])
    )
    outcome = {"outcome": DELIVERED, "text": result["text"], "tokens": result["tokens"]}
    replace_model_record(state, result["trace"], {**result["model"], **outcome})


def drop_unclaimed(state: str) -> None:
    """Remove the late results that no client fetched before its session ended, and record that they were dropped."""
    for left in late.take_unclaimed(state):
        _drop(state, left, NO_MORE)


def _drop(state: str, result: Mapping[str, Any], reason: str) -> None:
    replace_model_record(state, result["trace"], {**result["model"], "outcome": DROPPED, "reason": reason})


def replace_model_record(state: str, trace_id: str, model: dict[str, Any]) -> None:
    """Replace the record about the model in a trace that is already written; a failure is logged."""
    try:
        spool.put_late(state, trace_id, model)
    except spool.FAILURES as failure:
        _log(state, f"a late result was not recorded: {failure!r}")


def _log(state: str, reason: str, *, session_id: str = "") -> None:
    from storage.base import log

    log.append(state, stage="model", reason=reason, session_id=session_id)
