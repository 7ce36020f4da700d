"""Define the two variants (arms) of an experiment: instructions that are applied now, or answers read from a file.

An arm returns one task per prompt, a pure function that can be run as often as needed for timing. Each arm keeps its
own record of what it has shown to a session.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from enricher.prompt.text import estimate_tokens
from enricher.respond import Inputs
from enricher.respond.decision import decide, verdict_on
from enricher.respond.ranking import shown_refs
from enricher.settings import is_as_specified
from storage.base.fast_stdlib import dumps, keyed_hash
from workbench.experiments.questions import QuestionError, lines
from workbench.experiments.text_form import FormError, Terms, allowance, parse, references
from workbench.replay.outcome import reevaluated, settings_under

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.respond import Enrichment
    from workbench.experiments.questions import ExperimentPrompt
    from workbench.replay.rulesets.compared_rules import Side

REMEDY = 'write one {"id", "text", "task_type"?, "latency_ms"} a line, or what "enricher enrich --jsonl" prints'


@dataclass(frozen=True, slots=True)
class ArmAnswer:
    """The answer of an arm to a prompt: its task type, and the text that would be added to it.

    ``names`` are the guardrails, approach and items that the text shows, as ``kind:reference``. ``latency_ms`` is None
    if the answer is computed now and has to be timed; ``failure`` says why an answer is missing.
    """

    task_type: str
    text: str
    tokens: int
    names: tuple[str, ...]
    latency_ms: float | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ArmTask:
    """One prompt for one arm: a function that answers it, and the limits for the answer.

    ``terms`` are the names that the answer may use, ``tokens`` is the maximum number of its tokens, and
    ``already_shown`` is what the session was shown before. ``is_unknown`` means that the arm's rules would have sent a
    channel another request than was recorded, so that the channel's answer is unknown.
    """

    answer: Callable[[], ArmAnswer]
    terms: Terms
    tokens: int
    already_shown: frozenset[str]
    is_unknown: bool = False


class Arm:
    """One of the two variants that an experiment compares; arms with equal hashes are equal.

    An arm remembers what it has shown to each session. This memory is not used for recorded prompts, whose inputs say
    what their session was shown.
    """

    label: str
    hash: str

    def __init__(self) -> None:
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        self._spent: defaultdict[str, int] = defaultdict(int)

    def task(self, question: ExperimentPrompt) -> ArmTask | None:
        """Return the task of answering a prompt; None if this arm cannot answer it."""
        raise NotImplementedError

    def _shown_before(self, question: ExperimentPrompt) -> tuple[list[str], int]:
        """Return what the session was shown, as ``kind:reference``, and the number of tokens spent on it."""
        return self._names[question.session], self._spent[question.session]

    def record_shown(self, question: ExperimentPrompt, answer: ArmAnswer) -> None:
        """Record that the answer has been shown to the prompt's session."""
        self._names[question.session] = sorted({*self._names[question.session], *answer.names})
        self._spent[question.session] += answer.tokens


class Instructions(Arm):
    """An arm that answers with the rules of a side, which is a rule set to compare.

    If the side has no rules for a prompt, the rules under which the prompt was recorded are used.
    """

    def __init__(self, side: Side) -> None:
        super().__init__()
        self.label, self.hash = side.label, side.hash
        self._side = side
        self._terms: dict[str, Terms] = {}

    def task(self, question: ExperimentPrompt) -> ArmTask | None:
        """Return a task that decides by these rules what to add to the prompt; None if no rules are known."""
        row, base = question.row, question.base
        own = self._side.rules_for(row.rules_hash, self._side.scope(row)) if self._side.concerns(row) else None
        rules = own or base
        if rules is None:
            return None
        inputs = Inputs.from_json(row.prompt, json.loads(row.inputs))
        if base is not None:
            inputs.settings = settings_under(inputs.settings, base, rules)
        if not question.is_recorded:
            inputs.injected, inputs.spent = self._shown_before(question)
        return ArmTask(
            lambda: _answer(decide(inputs, rules, verdict_on(inputs, rules))),
            self._terms.setdefault(rules.hash, Terms.of(rules)),
            allowance(inputs.settings, spent=inputs.spent),
            frozenset(inputs.already_shown),
            question.is_recorded and own is not None and bool(reevaluated(row, own, recorded=base).unknown),
        )


class Recording(Arm):
    """An arm whose answers are read from a file; they are checked against the rules the prompt was recorded under."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.label = path
        self._answers = {str(value.get("id")): _recorded(value, place) for place, value in lines(path)}
        # The hash leaves latencies out: with the same answers, arms are equal, however long they took.
        content = [[key, one.task_type, one.text, one.tokens, one.failure] for key, one in self._answers.items()]
        self.hash = keyed_hash(b"answers", dumps(sorted(content)).encode())

    def task(self, question: ExperimentPrompt) -> ArmTask | None:
        """Return a task with the recorded answer; None if there is no answer, or the prompt's rules are unknown."""
        answer, base = self._answers.get(question.row.id), question.base
        if answer is None or base is None:
            return None
        settings = json.loads(question.row.inputs)["settings"]
        shown, spent = self._shown_before(question)
        tokens = allowance(settings, spent=spent)
        already_shown = () if is_as_specified(settings) else shown
        return ArmTask(lambda: answer, Terms.of(base), tokens, frozenset(already_shown))


def _answer(enrichment: Enrichment) -> ArmAnswer:
    names = tuple(f"{kind}:{reference}" for kind, reference in shown_refs(enrichment))
    return ArmAnswer(enrichment.classification.task_type, enrichment.text, enrichment.tokens, names)


def _recorded(value: dict[str, Any], place: str) -> ArmAnswer:
    if "error" in value and value.get("id") is not None:
        return ArmAnswer("", "", 0, (), latency_ms=0.0, failure=str(value["error"]))
    text = value.get("text")
    if not isinstance(text, str) or value.get("id") is None:
        raise QuestionError(f"{place}: the answer has no {'id' if isinstance(text, str) else 'text'}; {REMEDY}")
    latency = value.get("latency_ms", _sum(value.get("timings_ms")))
    if not isinstance(latency, int | float) or isinstance(latency, bool) or latency < 0:
        raise QuestionError(f"{place}: the answer does not say how long it took (latency_ms); {REMEDY}")
    tokens = estimate_tokens(text) if text else 0
    answer = ArmAnswer(str(value.get("task_type") or ""), text, tokens, (), latency_ms=float(latency))
    try:
        parsed = parse(text)
    except FormError:
        return answer
    return replace(answer, names=tuple(references(parsed)), task_type=answer.task_type or parsed.task_type)


def _sum(timings: object) -> float | None:
    return float(sum(timings.values())) if isinstance(timings, dict) else None
