"""Explain in words what is added to a prompt and why, and what a language model and the code checks reported.

The command line, the workbench (a terminal app) and the published pages show these texts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.classify.verdict import least_confidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from enricher.classify import Evidence, Rules
    from enricher.context import ChannelResult
    from enricher.respond import Enrichment, Inputs

FACETS = (TASK_TYPE, SEARCH_INTENT)  # a prompt gets exactly one class in each of these dimensions
CONFIDENCES = {TASK_TYPE: "confidence", SEARCH_INTENT: "intent_confidence"}
"""For each facet, the key under which a model's recorded answer has its confidence in the class that it named."""
OUTCOMES = {"empty": "has nothing to offer", "timeout": "took too long", "error": "failed", "off": "is not asked"}


class ExplanationError(ValueError):
    """Raised if a recorded prompt cannot be explained; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A class of a facet, the points that the prompt got for it, and the matched signals that gave these points.

    ``lacked`` is how many points the class was short of winning; it is 0 for the winner.
    """

    facet: str
    name: str
    points: int
    lacked: int
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is added to a prompt and why: the decision (``enrichment``), and the rules and inputs that led to it.

    ``skipped`` is the reason why the hook skips the prompt; it is empty if the hook does not skip it.
    """

    prompt: str
    skipped: str
    enrichment: Enrichment
    rules: Rules
    inputs: Inputs

    def ranking(self, facet: str) -> list[Ranked]:
        """Return the classes of a facet that have points, the winner first; ties keep the order of the rules."""
        judged = self.enrichment.classification
        pairs = sorted(judged.scores.get(facet, {}).items(), key=lambda pair: -pair[1])
        most = pairs[0][1] if pairs else 0
        return [
            Ranked(facet, name, points, most - points + 1 if at else 0, self._evidence(facet, name))
            for at, (name, points) in enumerate(pairs)
            if points
        ]

    def _evidence(self, facet: str, name: str) -> tuple[Evidence, ...]:
        found = self.enrichment.classification.evidence
        return tuple(one for one in found if (one.facet, one.name) == (facet, name))

    def nearest(self, facet: str) -> str:
        """Return a sentence that names the second-best class of a facet and the number of points by which it lost.

        It is empty if fewer than two classes have points.
        """
        return nearest([(one.name, one.points) for one in self.ranking(facet)])

    def nearest_rule(self) -> str:
        """Return a sentence on the guardrail or approach that came closest to being added; empty if none had points."""
        short = [one for one in self.enrichment.misses if one.needed > one.score > 0]  # others lacked no points
        if not short:
            return ""
        found = min(short, key=lambda one: one.needed - one.score)
        return f"{found.line} came nearest: it had {found.score:g} of the {found.needed:g} points that it needs"

    @property
    def is_shown(self) -> bool:
        """Return whether the task type is shown to the agent; in the profile ``as-specified``, it always is."""
        return self.enrichment.shown or not self.enrichment.classification.uncertain

    def lead(self) -> str:
        """Return a sentence on how sure the task type is, and on whether the agent sees it.

        It also says how many points of lead double the odds of the winner.
        """
        confidence = self.enrichment.classification.confidence
        doubling = self._facet.get("points_that_double", float("nan"))
        shown = "shown" if self.is_shown else "not shown"
        return f"confidence {confidence:.2f}: every {doubling:g} points of lead double the odds; {shown}"

    def thresholds(self) -> list[str]:
        """Return a text for each threshold that decides whether the task type is shown, with the prompt's value."""
        facet, judged = self._facet, self.enrichment.classification
        if not facet or not judged.scores.get(TASK_TYPE):
            return []
        names = " or ".join(facet["silent"])
        least, most, share = least_confidence(facet, judged.task_type), facet["max_silent"], self._silent_share()
        silent = [f"max_silent {most:g}: {names} has {beside(share, most)}"] if names else []
        return [f"{self._named(least)}: it is {beside(judged.confidence, least)}", *silent]

    def doubts(self) -> str:
        """Return a text with each reason why the task type is not shown to the agent; empty if it is shown."""
        doubts = " and ".join(self._doubts()) if self.enrichment.classification.uncertain else ""
        return f"uncertain because {doubts}" if doubts else ""

    def _doubts(self) -> Iterator[str]:
        facet, judged = self._facet, self.enrichment.classification
        if not facet or not judged.scores.get(TASK_TYPE):
            yield "no task type is defined"
            return
        silent, names = self._silent_share(), " or ".join(facet["silent"])
        least, most = least_confidence(facet, judged.task_type), facet["max_silent"]
        if judged.task_type in facet["silent"]:
            yield f"{judged.task_type} is never shown"
        elif silent > most:
            yield f"it may be {names}: {beside(silent, most)} is above max_silent {most:g}"
        if judged.confidence < least:
            yield f"confidence {beside(judged.confidence, least)} is below {self._named(least)}"
        if "non_english" in judged.features:
            yield "the prompt does not seem to be English"

    def _named(self, least: float) -> str:
        """Return the least confidence with its key, and with the task type if that demands more than all must have."""
        of = f" of {self.enrichment.classification.task_type}" if least > self._facet["min_confidence"] else ""
        return f"min_confidence {least:g}{of}"

    def _silent_share(self) -> float:
        """Return the probability that the prompt has one of the task types that are never shown to the agent."""
        facet, scores = self._facet, self.enrichment.classification.scores[TASK_TYPE]
        best = max(scores.values())  # relative to it, no power overflows
        odds = {name: 2.0 ** ((score - best) / facet["points_that_double"]) for name, score in scores.items()}
        return float(sum(odds.get(name, 0.0) for name in facet["silent"]) / sum(odds.values()))

    @property
    def _facet(self) -> dict[str, Any]:
        return next((one for one in self.rules.body["classes"]["facets"] if one["name"] == TASK_TYPE), {})

    def left_out(self) -> list[str]:
        """Return why each line that was left out was not added; if it lacked points, with those it had and needed."""
        return [
            f"{miss.line}: {miss.reason}" + (f" ({miss.score:g} of {miss.needed:g})" if miss.needed else "")
            for miss in self.enrichment.misses
        ]

    def channels(self) -> list[tuple[str, list[str]]]:
        """Return for each channel a text on how it ended, and one on each item that it offered, added items first."""
        return [(_outcome(one), [*self._added(one.name), *self._omitted(one.name)]) for one in self.inputs.channels]

    def _added(self, channel: str) -> Iterator[str]:
        for item in self.enrichment.items:
            if item.channel == channel and item.kept:
                yield f"added: {item.label} ({item.score:g})"

    def _omitted(self, channel: str) -> Iterator[str]:
        for item in self.enrichment.items:
            if item.channel == channel and item.why:
                yield f"left out: {item.label} ({item.score:g}): {item.why}"

    def model(self) -> str:
        """Describe the call to a language model in words; empty if there was none."""
        return model_summary(self.inputs.model) if self.inputs.model else ""

    def opinion(self, facet: str, name: str) -> str:
        """Return a phrase saying how confidently the language model assigned the prompt to the class ``name``.

        It is empty if the model named another class of the ``facet`` or was not asked.
        """
        found = self.inputs.model.get("opinion") or self.inputs.model.get("late_opinion") or {}
        if found.get(facet) != name:
            return ""
        return f"the model names it ({found.get(CONFIDENCES[facet], 0.0):.2f})"

    def said_before(self) -> list[str]:
        """Return the names of what was added earlier in this session and is not repeated; context items are counted."""
        kinds = Counter(ref.partition(":")[0] for ref in self.inputs.injected)
        named = [ref.replace(":", " ", 1) for ref in self.inputs.injected if not ref.startswith("item:")]  # "KIND:NAME"
        items = kinds["item"]
        return named + ([f"{items} item{'s' * (items != 1)} of context"] if items else [])


def beside(value: float, limit: float) -> str:
    """Return ``value`` as text, with enough decimal places (at least two) to tell it from ``limit``."""
    texts = (f"{value:.{digits}f}" for digits in range(2, 17))
    sides = (value > limit, value < limit)
    return next((text for text in texts if (float(text) > limit, float(text) < limit) == sides), f"{value!r}")


def nearest(ranking: Sequence[tuple[str, float]]) -> str:
    """Return a sentence on the second class in a ranking of (class, points) pairs; empty if there is only one."""
    if len(ranking) < 2:
        return ""
    (best, most), (second, points) = ranking[:2]
    lacked = most - points + 1
    return f"{second} came nearest: it lacked {lacked:g} point{'s' * (lacked != 1)} to beat {best}"


def _outcome(channel: ChannelResult) -> str:
    offered = len(channel.candidates)
    outcome = f"offers {offered}" if offered else OUTCOMES.get(channel.status, channel.status)
    return f"{channel.name}: {outcome}" + (f": {channel.problem}" if channel.problem else "")


def of_prompt(prompt: str, *, cwd: str, instructions: str) -> Explanation:
    """Explain what would be added to a new prompt.

    Raises ``enricher.rules.cache.NoRulesError`` if no compiled rules are available.
    """
    from enricher.interfaces.api import enrich

    found = enrich(prompt, cwd=cwd, instructions=instructions)
    return Explanation(found.prompt, found.skipped, found.enrichment, found.rules, found.inputs)


def of_trace(db: sqlite3.Connection, trace_id: str) -> Explanation:
    """Explain a recorded prompt by the rules and inputs that were recorded with it.

    Raises ExplanationError if ``trace_id`` does not name a single prompt, or if its rules or inputs were not recorded.
    """
    from storage.traces import queries

    try:
        trace = queries.show(db, queries.find(db, trace_id))
    except queries.UnknownTraceError as error:
        raise ExplanationError(f"{error}; to see the ids, run: enricher trace list") from error
    return of_record(db, trace)


def of_record(db: sqlite3.Connection, trace: dict[str, Any], *, rules: Rules | None = None) -> Explanation:
    """Explain a recorded prompt; ``trace`` is a result of ``storage.traces.queries.show``.

    ``rules`` are the rules with which it was recorded; without them, they are read from the database. Raises
    ExplanationError if the rules or the inputs were not recorded, or if the rules cannot be read.
    """
    from enricher.interfaces.api import recorded_rules, replay
    from enricher.respond import Inputs
    from storage.traces import queries

    stored = "" if rules else queries.instructions(db, trace["rules_hash"])
    if not (rules or stored) or "settings" not in trace["inputs"]:
        outcome = " ".join(filter(None, (trace["status"], trace["skip_reason"])))
        raise ExplanationError(
            f"trace {trace['id']} ({outcome}) was recorded without its inputs, so it cannot be explained"
        )
    try:
        rules = rules or recorded_rules(trace["rules_hash"], stored or "")
    except ValueError as error:
        raise ExplanationError(str(error)) from error
    text = trace["prompt"]
    inputs = Inputs.from_json(text, trace["inputs"])
    return Explanation(text, trace["skip_reason"], replay(text, trace["inputs"], rules), rules, inputs)


def model_summary(record: Mapping[str, Any]) -> str:
    """Describe a recorded call to a language model in words: its status, answer, reason, time, tokens and cost."""
    opinion: Mapping[str, Any] = record.get("opinion", {})
    opinions = [
        f"{opinion[name]} ({opinion[confidence]:.2f})" for name, confidence in CONFIDENCES.items() if opinion.get(name)
    ]
    spent = f"{record['latency_ms']:g} ms of {record.get('limit_ms', '?')}" if "latency_ms" in record else ""
    tokens = f"{record['input_tokens'] + record['output_tokens']} tokens" if "input_tokens" in record else ""
    usd = f"{record['usd']} USD" if record.get("usd") else ""
    facts = (" and ".join(opinions), str(record.get("outcome", "")), str(record.get("reason", "")), spent, tokens, usd)
    return ", ".join([f"{record.get('model') or 'unnamed'}: {record.get('status', 'unknown')}", *filter(None, facts)])


def violation_summary(row: Mapping[str, Any]) -> str:
    """Describe a stored violation of a code rule in one line, with the ids of guardrails that demand the same.

    Only guardrails that were shown to the agent are named.
    """
    where = f"{row['file']}:{row['line']}: {row['severity']} {row['rule_id']} {row['rule_name']}"
    against = f"; against guardrail {row['guardrails']}" if row["guardrails"] else ""
    resolved = "; resolved" if row["resolved"] else ""
    return f"{where}: {row['message']} ({row['suggestion']}){against}{resolved}"
