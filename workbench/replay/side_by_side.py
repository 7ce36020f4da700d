"""Judge one prompt under two sets of rules, and return outcomes, scores and signals of both sides."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.respond.decision import Inputs, verdict_on
from storage.evaluation import corpus as stored
from storage.traces.selection import Selection
from workbench.replay.compare import PairedPrompt, kinds
from workbench.replay.corpus import NOT_CLASSIFIED
from workbench.replay.outcome import reevaluated
from workbench.replay.rulesets.compared_rules import RECORDED, Fixed, SideError

if TYPE_CHECKING:
    from enricher.rules.cache import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.compared_rules import Side

TIMED_RUNS = 5
TODAY = "today's rules"


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one class, and the signals that gave it, as (words, points), strongest first."""

    facet: str
    name: str
    points: int
    signals: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SideResult:
    """One side of a comparison: outcome, scores, and the time to judge the prompt here (0 if it was not judged)."""

    label: str
    outcome: Outcome
    scores: tuple[Score, ...]
    confidence: float | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both sides of a prompt and the kinds of difference between them."""

    prompt: PairedPrompt
    before: SideResult
    after: SideResult
    kinds: tuple[str, ...]


def side_by_side(corpus: Corpus, trace_id: str, *, base: Side = RECORDED, candidate: Side | None = None) -> SideBySide:
    """Judge one recorded prompt by both sides; the default candidate is the rules that apply in its folder today.

    Raises SideError if the prompt was deleted or its text was not kept.
    """
    row = _row(corpus, trace_id)
    recorded = corpus.versions.rules(row.rules_hash)
    candidate = candidate or current_rules(row.cwd)
    before = _evaluate_side(corpus, row, base, recorded)
    after = _evaluate_side(corpus, row, candidate, recorded)
    return SideBySide(PairedPrompt.of(row), before, after, kinds(before.outcome, after.outcome))


def current_rules(cwd: str) -> Side:
    """Return the rules that would judge a prompt typed in ``cwd`` now; raises SideError if there are no valid rules."""
    from enricher.interfaces.api import rules_for
    from enricher.rules import cache

    try:
        rules, _layers = rules_for(cwd if os.path.isdir(cwd) else "")
    except cache.NoRulesError as error:
        raise SideError(f"{error}; see: enricher check") from error
    if rules.state != cache.FRESH:  # the last good rules, which judge prompts until the files are corrected
        raise SideError("the instructions as they are saved have errors; see: enricher check")
    return Fixed(TODAY, rules)


def _row(corpus: Corpus, trace_id: str) -> RecordedPrompt:
    named = Selection("traces.id = :wanted", {"wanted": trace_id})
    row = next((row for page in stored.rows(corpus.db, named) for row in page), None)
    if row is None:
        raise SideError(f"there is no trace {trace_id}; it may have been deleted")
    if not row.has_inputs:
        reason = row.status if row.status in NOT_CLASSIFIED else "its text was not kept"
        raise SideError(f"trace {trace_id} cannot be judged again: {reason}")
    return row


def _evaluate_side(corpus: Corpus, row: RecordedPrompt, side: Side, recorded: Rules | None) -> SideResult:
    rules = side.rules_for(row.rules_hash, side.scope(row)) if side.concerns(row) else None
    if rules is None:
        outcome = corpus.recorded(row)
        if recorded is None:
            return SideResult(side.label, outcome, _recorded_scores(corpus, row), None, 0.0)
        rules = recorded
    else:
        outcome = reevaluated(row, rules, recorded=recorded)
    scores, confidence, milliseconds = _scores(row, rules)
    return SideResult(side.label, outcome, scores, confidence, milliseconds)


def _scores(row: RecordedPrompt, rules: Rules) -> tuple[tuple[Score, ...], float, float]:
    inputs = Inputs.from_json(row.prompt, json.loads(row.inputs))
    best = float("inf")
    for _ in range(TIMED_RUNS):
        began = time.perf_counter()
        judged = verdict_on(inputs, rules)
        best = min(best, time.perf_counter() - began)
    signals: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for one in judged.evidence:
        signals.setdefault((one.facet, one.name), []).append((one.signal, one.weight))
    found = [
        Score(facet, name, points, tuple(sorted(signals.get((facet, name), ()), key=lambda pair: -abs(pair[1]))))
        for facet, names in judged.scores.items()
        for name, points in names.items()
        if points or (facet, name) in signals
    ]
    return tuple(found), judged.confidence, best * 1000


def _recorded_scores(corpus: Corpus, row: RecordedPrompt) -> tuple[Score, ...]:
    kept = stored.scores(corpus.db, [row.id]).get(row.id, {})
    return tuple(Score(facet, name, points) for facet, names in kept.items() for name, points in names.items())
