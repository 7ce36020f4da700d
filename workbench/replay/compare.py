"""Compare the outcomes of recorded prompts under two sets of rules, base and candidate, and count the changes.

The counts over all prompts are the blast radius of an edit.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from enricher.respond import Inputs
from enricher.respond.decision import verdict_on
from storage.evaluation import corpus as stored
from workbench.replay.corpus import NOT_CLASSIFIED
from workbench.replay.outcome import reevaluated
from workbench.replay.rulesets.compared_rules import Fixed, SideError
from workbench.statistics.intervals import Share, share_changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.compared_rules import Side

KINDS = (
    "task type", "shown", "intent", "workflow", "guardrail added", "guardrail dropped", "guardrails reordered",
    "approach", "context gained", "context lost", "context unknown", "text only",
)  # fmt: skip
TIMED_RUNS = 5  # the fastest run counts, because others may have waited for the processor
TODAY = "today's rules"


@dataclass(frozen=True, slots=True)
class PairedPrompt:
    """A recorded prompt whose two outcomes are compared, with the fields that lists and pages show."""

    id: str
    at: str
    session_id: str
    project: str
    host: str
    text: str
    rules_hash: str
    scopes: tuple[str, str] = ("", "")
    """The prompt's scope under base and under candidate; with the rules version, it decides which rules apply."""

    @classmethod
    def of(cls, row: RecordedPrompt, scopes: tuple[str, str] = ("", "")) -> PairedPrompt:
        """Return ``row`` as a paired prompt; ``scopes`` are its scopes (``Side.scope``) under base and candidate."""
        return cls(row.id, row.at, row.session_id, row.project, row.host, row.prompt, row.rules_hash, scopes)


@dataclass(frozen=True, slots=True)
class Pair:
    """One prompt with its outcome under base and candidate; these are the same object if the outcomes are the same."""

    prompt: PairedPrompt
    before: Outcome
    after: Outcome


class Replayed(NamedTuple):
    """One batch of prompts after a replay: pairs for those that the edit may affect, and the others as recorded.

    Each list is newest first.
    """

    pairs: list[Pair]
    unaffected: list[RecordedPrompt]


@dataclass(frozen=True, slots=True)
class Change:
    """A prompt whose outcome changed; ``kinds`` are the kinds of change, in the order of KINDS."""

    prompt: PairedPrompt
    before: Outcome
    after: Outcome
    kinds: tuple[str, ...]


def kinds(before: Outcome, after: Outcome) -> tuple[str, ...]:
    """Return the kinds of difference between two outcomes of one prompt; empty if the outcomes are the same.

    If the rules of ``before`` or ``after`` would have sent a channel (a source of facts for the prompt) a request that
    differs from the recorded one, one kind is «context unknown», and the items of that channel are not compared.
    """
    if before is after or before.is_same(after):
        return ()
    unknown = {*before.unknown, *after.unknown}
    known_before, known_after = ({item for item in one.items if item[0] not in unknown} for one in (before, after))
    found = {
        "task type": before.task_type != after.task_type,
        "shown": before.shown != after.shown and before.task_type == after.task_type,  # else it is "task type"
        "intent": before.search_intent != after.search_intent,
        "workflow": before.workflow != after.workflow,
        "guardrail added": bool(set(after.guardrails) - set(before.guardrails)),
        "guardrail dropped": bool(set(before.guardrails) - set(after.guardrails)),
        "guardrails reordered": _common(before.guardrails, after.guardrails)
        != _common(after.guardrails, before.guardrails),
        "approach": before.approach != after.approach,
        "context gained": bool(known_after - known_before),
        "context lost": bool(known_before - known_after),
        "context unknown": bool(unknown),
    }
    named = tuple(kind for kind in KINDS if found.get(kind))
    return named or ("text only",)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
    return [name for name in one if name in other]


@dataclass(slots=True)
class SessionTally:
    """The counts for one session: its prompts, those to which the edit applies, and those with a changed outcome.

    ``tokens_before`` and ``tokens_after`` are the tokens added to its prompts before and after the edit.
    """

    prompts: int = 0
    concerned: int = 0
    changed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0


@dataclass(slots=True)
class BlastRadius:
    """Counts how an edit of the rules changes the outcomes of the prompts replayed so far.

    ``is_same_rules`` means that base and candidate have the same rules; the only possible verdict is then «identical».
    ``concerns`` says whether the edit applies to a prompt: one of a project's layer does not apply to other projects.
    """

    base: str
    candidate: str
    is_same_rules: bool = False
    concerns: Callable[[RecordedPrompt], bool] = lambda _row: True
    prompts: int = 0
    changes: list[Change] = field(default_factory=list)
    sessions: defaultdict[str, SessionTally] = field(default_factory=lambda: defaultdict(SessionTally))
    unknown: int = 0
    replayed: list[str] = field(default_factory=list)
    silent: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    """The ids of the prompts without any added text, before and after the edit."""

    def add(self, replayed: Replayed) -> None:
        """Add a batch of replayed prompts to the counts."""
        for pair in replayed.pairs:
            self._add(pair)
        self.prompts += len(replayed.unaffected)
        self.replayed += [row.id for row in replayed.unaffected]
        silent = [row.id for row in replayed.unaffected if not row.output_text]
        for ids in self.silent:
            ids.extend(silent)
        for row in replayed.unaffected:
            tally = self.sessions[row.session_id or row.id]
            tally.prompts += 1
            tally.concerned += self.concerns(row)
            tally.tokens_before += row.output_tokens
            tally.tokens_after += row.output_tokens

    def _add(self, pair: Pair) -> None:
        before, after = pair.before, pair.after
        tally = self.sessions[pair.prompt.session_id or pair.prompt.id]
        self.prompts += 1
        tally.prompts += 1
        tally.concerned += 1
        tally.tokens_before += before.tokens
        tally.tokens_after += after.tokens
        self.replayed.append(pair.prompt.id)
        for ids, outcome in zip(self.silent, (before, after), strict=True):
            if not outcome.text:
                ids.append(pair.prompt.id)
        found = kinds(before, after)
        if not found:
            return
        self.changes.append(Change(pair.prompt, before, after, found))
        self.unknown += "context unknown" in found
        tally.changed += 1

    @property
    def changed(self) -> int:
        """Return the number of prompts with a changed outcome."""
        return len(self.changes)

    @property
    def concerned(self) -> int:
        """Return the number of prompts to which the edit applies."""
        return sum(one.concerned for one in self.sessions.values())

    def share(self) -> Share:
        """Return the share of changed prompts among those to which the edit applies.

        Its confidence interval is computed by resampling sessions.
        """
        return share_changed([(one.changed, one.concerned) for one in self.sessions.values()])

    def tokens_per_session(self) -> tuple[float, float]:
        """Return the mean number of tokens added per session, before and after the edit."""
        count = max(1, len(self.sessions))
        before = sum(one.tokens_before for one in self.sessions.values())
        after = sum(one.tokens_after for one in self.sessions.values())
        return before / count, after / count


@dataclass(frozen=True, slots=True)
class Score:
    """The points that a prompt got for one class (such as a task type), and the signals that gave them.

    ``signals`` contains each signal with the points that it gave, the strongest first.
    """

    facet: str
    name: str
    points: int
    signals: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SideResult:
    """A prompt's outcome and scores under one of two compared rule sets (sides).

    ``milliseconds`` is the time that judging the prompt took on this machine, 0 if it was not judged again.
    """

    label: str
    outcome: Outcome
    scores: tuple[Score, ...]
    confidence: float | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A prompt's results under base and under candidate, and the kinds of difference between them."""

    prompt: PairedPrompt
    before: SideResult
    after: SideResult
    kinds: tuple[str, ...]


def side_by_side(corpus: Corpus, trace_id: str, *, base: Side, candidate: Side | None) -> SideBySide:
    """Judge one recorded prompt by two sets of rules, and return both results.

    If ``candidate`` is None, it is the rules that apply in the prompt's folder today. Raises SideError if the prompt
    was deleted, its text was not kept, or the rules are broken.
    """
    row = _row(corpus, trace_id)
    recorded = corpus.versions.rules(row.rules_hash)
    candidate = candidate or current_rules(row.cwd)
    before = _evaluate_side(corpus, row, base, recorded)
    after = _evaluate_side(corpus, row, candidate, recorded)
    return SideBySide(PairedPrompt.of(row), before, after, kinds(before.outcome, after.outcome))


def current_rules(cwd: str) -> Side:
    """Return the rules that would judge a prompt typed in ``cwd`` now; raises SideError if there are no valid rules."""
    from enricher.classify import FRESH
    from enricher.interfaces.api import rules_for
    from enricher.rules import cache

    try:
        rules, _layers = rules_for(cwd if os.path.isdir(cwd) else "")  # without its folder: the user's rules
    except cache.NoRulesError as error:
        raise SideError(f"{error}; see: enricher check") from error
    if rules.state != FRESH:  # the last valid rules apply until the files are corrected
        raise SideError("the instructions as they are saved have errors; see: enricher check")
    return Fixed(TODAY, rules)


def _row(corpus: Corpus, trace_id: str) -> RecordedPrompt:
    row = corpus.find(trace_id)
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
