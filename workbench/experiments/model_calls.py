"""Ask a language model about every case of an experiment, once for each variant (arm), and rate its responses.

The two prompts of a case are sent one after the other. Which arm goes first alternates from case to case, so that
neither profits from a warm cache or a quiet hour. Calls count towards the daily limits of the settings.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.model import allowance, client
from enricher.model.endpoint import Endpoint, EndpointError
from enricher.prompt.redaction import redact
from storage.evaluation.experiments import ArmResult
from storage.traces import storable
from workbench.experiments import prompt_arms
from workbench.experiments.prompt_arms import NAMES, Bound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from enricher.settings import Value
    from workbench.experiments.prompt_arms import Pairing, PromptArm

ANSWER_S = 60.0
"""Maximum time to wait for a response, in seconds; a call without a response by then has failed."""
LONGEST_FAULT = 300  # characters; the fault of a response lists all of its problems
PURPOSE = "experiments"
"""Name under which failed calls are counted, so that a pause after failures stops only the calls of experiments."""
FAULTS_OF_THE_PROMPT = (400, 413, 422)
"""HTTP statuses with which an endpoint refuses a single prompt, for example because it is too long."""


class StopError(Exception):
    """Raised if the model cannot be called any more for now; the message says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response of a model; ``fault`` says why there is none. Tokens are None if the endpoint did not count them."""

    text: str
    latency_ms: float
    prompt_tokens: int | None = None
    response_tokens: int | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ResponseQuality:
    """How good a model's response is: whether it is valid, and its quality (0 to 1).

    ``violations`` is the number of rule violations that the response reports, None if there was no response.
    """

    is_valid: bool
    quality: float
    violations: int | None
    fault: str = ""


class ModelCalls:
    """A connection to the configured model, which sends it prompts within its daily limits.

    ``prices`` are used to compute the cost of each call.
    """

    def __init__(
        self, settings: Mapping[str, Value], *, state: str, prices: prompt_arms.Prices, most_tokens: int
    ) -> None:
        self._settings, self._state, self._prices, self._most_tokens = settings, state, prices, most_tokens
        self._endpoints: dict[str, Endpoint] = {}

    def check(self, calls: int) -> None:
        """Raise StopError if the limits, or a pause after failures, do not allow this number of calls now."""
        known = allowance.read(self._state)
        made, limit = known.today()[0], int(self._settings["model.calls_per_day"])
        if reason := known.refusal_for(PURPOSE, self._settings):
            raise StopError(reason)
        if made + calls > limit:
            raise StopError(f"budget: {made} of {limit} calls are made today")

    def __call__(self, prompt: str, model: str) -> Reply:
        """Send a prompt to a model, and return the response; raises StopError if the model cannot be called for now."""
        try:
            endpoint = self._endpoint(model)
        except EndpointError as problem:
            raise StopError(str(problem)) from None
        allowance.change(self._state, allowance.Account.count)  # before the call, so that a killed process counts it
        began = time.perf_counter()
        try:
            answer = client.ask(endpoint, prompt, within_s=ANSWER_S, most_tokens=self._most_tokens)
        except client.ModelError as failure:
            return self._failed(failure, (time.perf_counter() - began) * 1000)
        latency_ms = (time.perf_counter() - began) * 1000
        reply = Reply(answer.text, latency_ms, answer.input_tokens or None, answer.output_tokens or None)
        usd = prompt_arms.cost(self._prices, model, reply.prompt_tokens, reply.response_tokens) or 0.0
        allowance.change(self._state, lambda account: account.ended(PURPOSE, is_failure=False, usd=usd))
        return reply

    def _endpoint(self, model: str) -> Endpoint:
        if model not in self._endpoints:
            endpoint = Endpoint({**self._settings, "model.name": model})
            endpoint.unlock()
            self._endpoints[model] = endpoint
        return self._endpoints[model]

    def _failed(self, failure: client.ModelError, latency_ms: float) -> Reply:
        """Return a reply without a text if this prompt was refused or no response came in time.

        Any other failure would also affect later calls, so it is recorded, and StopError is raised.
        """
        if failure.reason == "timeout" or failure.status in FAULTS_OF_THE_PROMPT:
            return Reply("", latency_ms, fault=str(failure))
        retry_after_s = failure.retry_after_s
        allowance.change(
            self._state, lambda account: account.ended(PURPOSE, is_failure=True, retry_after_s=retry_after_s)
        )
        raise StopError(str(failure))


@dataclass(frozen=True, slots=True)
class Comparison:
    """An experiment that runs two variants (arms) of a prompt template on the same cases, which are asked in order.

    ``prompts`` is the file with the cases, empty for recorded prompts. ``most_tokens`` is the maximum number of tokens
    of a response, ``budget`` the maximum cost of all calls in US dollars.
    """

    template: str
    arms: Mapping[str, PromptArm]
    asked: Sequence[Pairing]
    prompts: str
    prices: prompt_arms.Prices
    budget: float | None
    most_tokens: int

    def stored(self) -> dict[str, Any]:
        """Return, as JSON values, the data that is stored so that an interrupted experiment can be continued."""
        return {
            "template": self.template,
            **{name: arm.label for name, arm in self.arms.items()},
            "prompts": os.path.abspath(self.prompts) if self.prompts else "",
            "prices": {name: list(price) for name, price in self.prices.items()},
            "budget": self.budget,
            "most_tokens": self.most_tokens,
            "cases": [[one.case.id, one.case.session, one.hash] for one in self.asked],
        }

    def missing(self, done: Mapping[tuple[str, str], ArmResult]) -> list[list[tuple[Pairing, str]]]:
        """Return the calls without a result in ``done``, grouped by case, in the order in which they are to be made."""
        found = []
        for at, one in enumerate(self.asked):
            order = NAMES if at % 2 == 0 else NAMES[::-1]
            calls = [(one, name) for name in order if (one.case.id, name) not in done]
            if calls:
                found.append(calls)
        return found

    def bound(self, calls: Sequence[tuple[Pairing, str]]) -> Bound:
        """Return an upper bound for the cost of these calls."""
        made = ((self.arms[name].model, one.prompts[name]) for one, name in calls)
        return prompt_arms.bound(made, self.prices, most_tokens=self.most_tokens)

    def check_budget(self, calls: Sequence[tuple[Pairing, str]], done: Mapping[tuple[str, str], ArmResult]) -> None:
        """Raise StopError if these calls could exceed the budget; where a cost is unknown, its upper bound counts."""
        if self.budget is None:
            return
        unpriced = {key for key, result in done.items() if result.usd is None}
        unknown = [(one, name) for one in self.asked for name in NAMES if (one.case.id, name) in unpriced]
        spent = sum(one.usd or 0.0 for one in done.values()) + (self.bound(unknown).most_usd or 0.0)
        most = self.bound(calls).most_usd
        if most is None or spent + most > self.budget:
            text = f"{spent:.4f} of {self.budget:.4f} USD are spent"
            raise StopError(f"budget: {text}, and the next case may cost {most or 0.0:.4f}")


def ask_missing(
    comparison: Comparison,
    done: dict[tuple[str, str], ArmResult],
    *,
    ask: ModelCalls,
    judge: Callable[[str], ResponseQuality],
    store: Callable[[ArmResult], None],
) -> str:
    """Make the calls without a result in ``done``; return why some were not made, or an empty string if all were.

    Each result is stored and added to ``done`` before the next call. No call is made for a case that could exceed the
    budget or a daily limit, or after the endpoint has refused one.
    """
    try:
        for calls in comparison.missing(done):
            comparison.check_budget(calls, done)
            ask.check(len(calls))  # for both arms: a case that only one has answered cannot be compared
            for one, name in calls:
                result = _result(comparison, one, name, ask, judge)
                store(result)
                done[one.case.id, name] = result
    except StopError as reason:
        return str(reason)
    return ""


def _result(
    comparison: Comparison, one: Pairing, name: str, ask: ModelCalls, judge: Callable[[str], ResponseQuality]
) -> ArmResult:
    arm = comparison.arms[name]
    reply = ask(one.prompts[name], arm.model)
    judged = ResponseQuality(False, 0.0, None, reply.fault) if reply.fault else judge(reply.text)
    return ArmResult(
        one.case.id,
        name,
        "",
        (reply.prompt_tokens or 0) + (reply.response_tokens or 0),
        reply.latency_ms,
        judged.is_valid,
        judged.quality,
        judged.violations,
        redact(storable(reply.text))[0],
        reply.prompt_tokens,
        reply.response_tokens,
        prompt_arms.cost(comparison.prices, arm.model, reply.prompt_tokens, reply.response_tokens),
        redact(storable(judged.fault))[0][:LONGEST_FAULT],
    )
