"""Measure what a model's opinion is worth on labelled prompts: the rules alone, the model alone, both combined.

A simulated model names the right task type with a chosen probability, else another one; it shows what a model of that
accuracy would gain before anybody pays for one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.classify import TASK_TYPE, verdict
from enricher.classify.opinion import LEAST_TRUSTED, Opinion
from workbench.gate.case import Excerpt
from workbench.statistics.intervals import wilson
from workbench.statistics.pairs import mcnemar_midp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from enricher.rules.cache import Rules
    from workbench.statistics.intervals import Interval
    from workbench.tuning.labelled_prompts import LabelledPrompt

    Ask = Callable[[LabelledPrompt], dict[str, Any]]
    """Returns the record of a model call in the form in which traces have it (``enricher.model.opinion_request``)."""


@dataclass(slots=True)
class OpinionValue:
    """Counts over labelled prompts: right by rules, by model, and by both combined; calls by status; their cost.

    ``gained`` and ``lost`` are the prompts that only the combined verdict, or only the rules, get right. ``certain``
    and ``certain_merged`` are the number of prompts whose class is certain enough to be shown, and how many of them are
    right.
    """

    prompts: int = 0
    by_rules: int = 0
    by_model: int = 0
    merged: int = 0
    gained: int = 0
    lost: int = 0
    uncertain: int = 0
    certain: tuple[int, int] = (0, 0)
    certain_merged: tuple[int, int] = (0, 0)
    statuses: dict[str, int] = field(default_factory=dict)
    latencies_ms: list[float] = field(default_factory=list)
    tokens: tuple[int, int] = (0, 0)
    usd: float = 0.0

    @property
    def answered(self) -> int:
        """Number of usable answers."""
        return self.statuses.get("ok", 0)

    def share(self, right: int, of: int | None = None) -> tuple[float, Interval]:
        """Return the share ``right`` of the prompts (or of ``of``), and its 95 % interval."""
        count = self.prompts if of is None else of
        return (right / count if count else 0.0), wilson(right, count)

    @property
    def p_value(self) -> float:
        """Probability of such a difference between combined verdict and rules by chance alone (McNemar, mid-p)."""
        return mcnemar_midp(self.gained, self.lost)


def value_of(prompts: Iterable[LabelledPrompt], rules: Rules, ask: Ask, *, asks_always: bool = True) -> OpinionValue:
    """Ask about each prompt, and count what the rules, the model and both combined get right.

    Without ``asks_always``, the model is asked only where the rules are uncertain, as the hook does by default.
    """
    found = OpinionValue()
    for prompt in prompts:
        excerpt = Excerpt(prompt.earlier)
        alone = verdict(prompt.text, rules, excerpt, is_explained=False)
        found.prompts += 1
        found.uncertain += alone.uncertain
        was_right = alone.task_type in prompt.right
        record = ask(prompt) if asks_always or alone.uncertain else {}
        _count_call(found, record)
        opinion = Opinion.from_json(record["opinion"]) if record.get("opinion") else None
        both = verdict(prompt.text, rules, excerpt, opinion=opinion, is_explained=False) if opinion else alone
        is_right = both.task_type in prompt.right
        found.by_rules += was_right
        found.by_model += bool(opinion and opinion.task_type in prompt.right)
        found.merged += is_right
        found.certain = _added(found.certain, not alone.uncertain, was_right)
        found.certain_merged = _added(found.certain_merged, not both.uncertain, is_right)
        found.gained += is_right and not was_right
        found.lost += was_right and not is_right
    return found


def _added(counts: tuple[int, int], is_certain: bool, is_right: bool) -> tuple[int, int]:
    return counts[0] + is_certain, counts[1] + (is_certain and is_right)


def _count_call(found: OpinionValue, record: dict[str, Any]) -> None:
    if not record:
        return
    status = str(record["status"])
    found.statuses[status] = found.statuses.get(status, 0) + 1
    found.latencies_ms.append(float(record.get("latency_ms", 0.0)))
    found.tokens = (
        found.tokens[0] + int(record.get("input_tokens", 0)),
        found.tokens[1] + int(record.get("output_tokens", 0)),
    )
    found.usd += float(record.get("usd", 0.0))


def simulated(accuracy: float, rules: Rules, *, assumed: float | None = None) -> Ask:
    """Return a simulated model that names the right task type with probability ``accuracy``, else a random other one.

    ``assumed`` is the accuracy with which its opinion is combined with the rules, by default the true one.
    """
    chance = random.Random(0)  # the same answers in every run, so that runs can be compared
    table = rules.table
    names = [name for at, name in table.classes if table.facets[at]["name"] == TASK_TYPE]

    def ask(prompt: LabelledPrompt) -> dict[str, Any]:
        is_right = chance.random() < accuracy
        choice = [name for name in names if (name in prompt.right) is is_right] or names
        opinion = Opinion(task_type=chance.choice(choice), confidence=LEAST_TRUSTED, accuracy=assumed or accuracy)
        return {"status": "ok", "opinion": opinion.to_json()}

    return ask
