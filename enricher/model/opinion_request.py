"""Query the language model about a prompt in a child process, while the hook gathers facts for the prompt.

The record of a call (``PendingOpinion.record``) goes into the prompt's trace: the model's name, the status, the
duration, tokens and cost of the call, and the opinion, which is the model's classification of the prompt. The statuses
are: ok; timeout; error (the endpoint failed); parse (the answer is unusable); skipped (no call was made, because of a
daily limit, a pause after failures, or a model that is too slow). With any status but ok, the rules alone classify the
prompt (seed 001, task 5.5).
"""

from __future__ import annotations

import os
import time

from enricher.model import allowance
from enricher.prompt.redaction import redact
from storage.base.fast_stdlib import dumps, loads, on_alarm
from storage.state import detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from enricher.classify import Classification, Rules
    from enricher.model.client import ModelAnswer
    from enricher.settings import Value
    from enricher.structured.parsing import Schema

LONGEST_S = 20.0  # the hook stops waiting long before, but the call's duration and cost still count
OK, TIMEOUT, ERROR, PARSE, SKIPPED = "ok", "timeout", "error", "parse", allowance.SKIPPED
MOST_TOKENS_OF_PLAN = 1200
ALWAYS, NEVER = "always", "never"
LARGEST_RECORD = 64 * 1024


class PendingOpinion:
    """A call to the model that a child process makes; ``record`` waits for its result.

    ``until`` is the deadline, on the clock ``time.perf_counter``. ``refusal`` is the reason why no call is made; it is
    empty if one is made.
    """

    def __init__(self, settings: Mapping[str, Value], *, until: float, limit_ms: int) -> None:
        self.began = time.perf_counter()
        self.until = min(until, self.began + limit_ms / 1000)
        self.descriptor = -1
        self.refusal = ""
        self._known: dict[str, Any] = {"model": str(settings["model.name"]), "limit_ms": limit_ms}

    def record(self) -> dict[str, Any]:
        """Wait for the answer until the deadline; return the record of the call, even if the child process failed."""
        if self.refusal:
            return {**self._known, "status": SKIPPED, "reason": self.refusal}
        received = self._read()
        waited_ms = round((time.perf_counter() - self.began) * 1000, 1)
        if received is None:
            return {**self._known, "status": TIMEOUT, "reason": "timeout", "latency_ms": waited_ms}
        try:
            value = loads(received.decode())
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):  # the child was killed
            value = {"status": ERROR, "reason": "the process that asked it ended without an answer"}
        return {**self._known, "latency_ms": waited_ms, **value}

    def _read(self) -> bytes | None:
        """Return what the process that asks the model has written; None if it is still running at the deadline."""
        import select

        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        received = bytearray()
        try:
            while True:
                left = self.until - time.perf_counter()
                if left <= 0 or not poll.poll(left * 1000):
                    return None
                piece = os.read(self.descriptor, LARGEST_RECORD)
                received += piece
                if not piece or len(received) > LARGEST_RECORD:
                    return bytes(received)
        finally:
            os.close(self.descriptor)
            self.descriptor = -1


def start(
    prompt: str, judged: Classification, rules: Rules, settings: Mapping[str, Value], *, state: str, until: float
) -> PendingOpinion | None:
    """Start a query for a prompt's search intent and task type; return None if the settings ask a model for neither."""
    kinds = task_types(judged, rules, settings)
    if not kinds and not asks_for_intent(settings):
        return None
    asked = PendingOpinion(settings, until=until, limit_ms=int(settings["search_intent.llm_timeout_ms"]))
    asked.refusal = allowance.read(state).refusal(settings, asked.until - asked.began)
    if not asked.refusal:
        _start(asked, lambda: ask_now(prompt, kinds, rules, settings, state=state), state)
    return asked


def start_plan(text: str, schema: Schema, settings: Mapping[str, Value], *, state: str, until: float) -> PendingOpinion:
    """Start a query for the steps of a plan; ``text`` is the question, and ``schema`` describes the model's answer."""
    asked = PendingOpinion(settings, until=until, limit_ms=int(settings["model.plan_timeout_ms"]))
    asked.refusal = allowance.read(state).refusal_for(allowance.PLAN, settings)
    if not asked.refusal:
        within_s = asked.until - time.perf_counter()
        _start(asked, lambda: _plan_now(text, schema, settings, state=state, within_s=within_s), state)
    return asked


def _start(asked: PendingOpinion, call: Callable[[], dict[str, Any]], state: str) -> None:
    """Run ``call`` in a child process; it writes the record of the call to a pipe, from which ``asked`` will read."""
    asked.descriptor, answer = os.pipe()
    try:
        is_started = detached.fork(state, "model", lambda: _ask(call, answer), keep=answer, niceness=0)
    finally:
        os.close(answer)
    if not is_started:
        asked.refusal = "no process could be started"
        os.close(asked.descriptor)


def task_types(judged: Classification, rules: Rules, settings: Mapping[str, Value]) -> dict[str, str]:
    """Return the task types that the model may choose from, with their meanings; empty if it is not asked to choose.

    The setting ``model.task_type`` says when it is asked: always, never, or if the rules are uncertain.
    """
    when = settings["model.task_type"]
    if when == NEVER or (when != ALWAYS and not judged.uncertain):
        return {}
    meanings: dict[str, str] = rules.body["meanings"]
    return meanings


def asks_for_intent(settings: Mapping[str, Value]) -> bool:
    """Return whether the settings ask a model for the search intent of every prompt."""
    return bool(settings["search_intent.enabled"] and settings["search_intent.use_llm"])


def _ask(call: Callable[[], dict[str, Any]], descriptor: int) -> None:
    on_alarm(LONGEST_S, _give_up)
    record = call()
    try:
        os.write(descriptor, dumps(record).encode())
    except OSError:  # the hook no longer waits
        return


def _give_up() -> None:
    os._exit(0)  # not ``sys.exit``: the child is a fork of the hook, whose frames and exit handlers must not go on


def ask_now(
    prompt: str, kinds: Mapping[str, str], rules: Rules, settings: Mapping[str, Value], *, state: str
) -> dict[str, Any]:
    """Query the model in this process to classify a prompt; return the record of the call; never raise.

    ``kinds`` are the task types to choose from, with their meanings; it is empty if only the search intent is wanted.
    """
    from enricher.model.client import ModelError, ask
    from enricher.model.endpoint import Endpoint, EndpointError
    from enricher.model.question import question, read_opinion

    began = time.perf_counter()
    call = allowance.CountedCall(allowance.OPINION, settings, state)
    try:
        endpoint = Endpoint(settings)
        endpoint.unlock()
        # With ``log = full``, the prompt and the stored ones have their secrets.
        examples = [(redact(text)[0], name) for text, name in _examples(prompt, settings, state)] if kinds else []
        prompts = rules.packed("prompts")
        text = question(
            redact(prompt)[0],
            prompts,
            task_types=kinds,
            examples=examples,
            asks_effort=bool(settings["complexity.enabled"]),
        )
        with call:
            answer = ask(endpoint, text, within_s=LONGEST_S, schema=prompts["classification"]["schema"])
            call.used(answer.input_tokens, answer.output_tokens)
    except (ModelError, EndpointError, OSError) as failure:
        return _failed(failure, began)
    latency_ms = _since(began)
    schema, accuracy = prompts["classification"]["schema"], float(settings["model.accuracy"])
    opinion, problem = read_opinion(answer.text, schema, task_types=kinds, accuracy=accuracy)
    record = _answered(answer, settings, OK if opinion else PARSE, problem, latency_ms)
    return record | ({"opinion": opinion.to_json()} if opinion else {})


def _plan_now(
    text: str, schema: Schema, settings: Mapping[str, Value], *, state: str, within_s: float
) -> dict[str, Any]:
    """Query the model for the steps of a plan in this process; return the record of the call; never raise."""
    from enricher.model.client import ModelError, ask
    from enricher.model.endpoint import Endpoint, EndpointError
    from enricher.structured.parsing import parse

    began = time.perf_counter()
    try:
        endpoint = Endpoint(settings)
        endpoint.unlock()
        with allowance.CountedCall(allowance.PLAN, settings, state) as call:
            answer = ask(endpoint, text, within_s=within_s, schema=schema, most_tokens=MOST_TOKENS_OF_PLAN)
            call.used(answer.input_tokens, answer.output_tokens)
    except (ModelError, EndpointError, OSError) as failure:
        return _failed(failure, began)
    parsed = parse(answer.text, schema)
    reason = "; ".join(parsed.problems)[:300]
    return _answered(answer, settings, OK if parsed.data else PARSE, reason, _since(began)) | {"plan": parsed.data}


def _answered(
    answer: ModelAnswer, settings: Mapping[str, Value], status: str, reason: str, latency_ms: float
) -> dict[str, Any]:
    return {
        "model": answer.model or str(settings["model.name"]),
        "status": status,
        "reason": reason,
        "latency_ms": latency_ms,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "usd": round(allowance.cost(settings, answer.input_tokens, answer.output_tokens), 6),
    }


def _failed(failure: Exception, began: float) -> dict[str, Any]:
    status = getattr(failure, "reason", ERROR)  # only a ModelError has a reason
    return {"status": status, "reason": str(failure)[:300], "latency_ms": _since(began)}


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)


def _examples(prompt: str, settings: Mapping[str, Value], state: str) -> list[tuple[str, str]]:
    most = int(settings["model.examples"])
    if not most:
        return []
    try:
        from enricher.model.question import nearest

        return nearest(prompt, state, most=most)
    except Exception:  # whatever is wrong with the database, a question without examples is better than none
        return []
