"""Judge recorded prompts by two sets of rules (the sides base and candidate), in this process or in a worker."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.prompt import POINTING_WORDS
from enricher.prompt.conversation import Conversation
from enricher.prompt.conversation.followup import basis, kind
from workbench.replay.impact import CONVERSATION, EVALUATE, NOT, WEIGH, Impact
from workbench.replay.outcome import Outcome, reevaluated, reweighed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.replay.rulesets.versions import Versions

    Sides = tuple[Outcome | None, Outcome | None]
    Situation = tuple[str, str, str]

FEATURES_KEY = '"features"'
OPINION = '"opinion":'
"""A piece of JSON that the recorded inputs of a prompt contain if a language model classified it, too (its opinion).

How much the opinion counts depends on the rules, so such a prompt cannot be judged from its recorded scores alone.
"""


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """A recorded prompt to judge under base and candidate.

    ``levels`` says for base and for candidate how much must be done: nothing (NOT), weigh the recorded ``scores`` again
    (WEIGH), or judge the whole prompt again (EVALUATE). ``scopes`` are the prompt's scopes (``Side.scope``) under base
    and candidate.
    """

    row: RecordedPrompt
    levels: tuple[int, int]
    scores: Mapping[str, Mapping[str, int]]
    scopes: tuple[str, str] = ("", "")

    @property
    def situation(self) -> Situation:
        """Return the prompt's recorded rules version and its scopes under base and candidate.

        These three determine which rules apply to the prompt.
        """
        return self.row.rules_hash, *self.scopes


@dataclass(frozen=True, slots=True)
class Impacts:
    """Tells which prompts must be judged again, from the differences between recorded, base and candidate rules.

    ``base`` and ``candidate`` say how each of these rule sets differs from the recorded rules, ``between`` how they
    differ from each other. If the recorded outcome is used instead of a rule set, the differences that would involve
    that rule set are None.
    """

    base: Impact | None
    candidate: Impact | None
    between: Impact | None

    def levels(self, rows: Sequence[RecordedPrompt]) -> dict[str, tuple[int, int]]:
        """Return how much must be judged again (NOT, WEIGH or EVALUATE) under base and under candidate, by trace id.

        Prompts that the edit cannot affect are left out.
        """
        sides = [impact for impact in (self.base, self.candidate) if impact is not None]
        if self.between is not None and not any(impact.is_nothing for impact in sides):
            # The recorded features are those under the base, too, if it reads prompts as the recorded rules did.
            is_read_alike = self.base is not None and not self.base.is_everything
            rows = [
                row
                for row in _affected(rows, [self.between], knows_confidence=False)
                if level_of(row, self.between, knows_features=is_read_alike, knows_confidence=False) != NOT
            ]
        found = ((row.id, level_of(row, self.base), level_of(row, self.candidate)) for row in _affected(rows, sides))
        return {trace_id: (before, after) for trace_id, before, after in found if before or after}

    def is_for_all(self) -> bool:
        """Return whether base or candidate may have to judge most prompts again, whatever words they contain."""
        sides = [impact for impact in (self.base, self.candidate) if impact is not None]
        is_wide = self.between is None or self.between.is_for_all
        return is_wide and any(impact.is_for_all for impact in sides)


@dataclass(slots=True)
class Evaluator:
    """Judges prompts by the rules of base and candidate.

    ``recorded`` has the rules of each recorded version. ``sides`` has the rules of base and candidate for each
    situation; they are None where the recorded outcome is used instead. If ``ask_today`` is true and these rules would
    have sent a built-in channel a request that differs from the recorded one, the channel is queried now.
    """

    ask_today: bool = False
    recorded: dict[str, Rules | None] = field(default_factory=dict)
    sides: dict[Situation, tuple[Rules | None, Rules | None]] = field(default_factory=dict)

    def learn(self, situation: Situation, versions: Versions, sides: tuple[Side, Side]) -> Impacts:
        """Store the rules of base and candidate for a situation, and return which prompts they can affect.

        A situation is a recorded rules version together with a prompt's scopes (``Side.scope``) under base and
        candidate. Raises ``workbench.replay.rulesets.compared_rules.SideError`` if rules are broken.
        """
        version, *scopes = situation
        recorded = self.recorded[version] = versions.rules(version)
        base, candidate = (side.rules_for(version, scope) for side, scope in zip(sides, scopes, strict=True))
        self.sides[situation] = base, candidate
        of_base, of_candidate = (Impact(recorded, rules) if rules else None for rules in (base, candidate))
        if of_base is None or of_candidate is None or base is None or candidate is None:
            return Impacts(of_base, of_candidate, between=None)
        return Impacts(of_base, of_candidate, of_candidate if of_base.is_nothing else Impact(base, candidate))

    def outcomes(self, task: EvaluationTask) -> Sides:
        """Return the prompt's outcomes under base and candidate; None stands for the outcome that was recorded."""
        recorded = self.recorded[task.row.rules_hash]
        base, candidate = self.sides[task.situation]
        before, after = task.levels
        return self._outcome(task, base, recorded, level=before), self._outcome(task, candidate, recorded, level=after)

    def _outcome(
        self, task: EvaluationTask, rules: Rules | None, recorded: Rules | None, *, level: int
    ) -> Outcome | None:
        if rules is None or level == NOT:
            return None
        if level == WEIGH and recorded is not None and OPINION not in task.row.inputs:
            return reweighed(task.row, task.scores, rules, recorded=recorded, ask_today=self.ask_today)
        return reevaluated(task.row, rules, recorded=recorded, ask_today=self.ask_today)


def level_of(
    row: RecordedPrompt, impact: Impact | None, *, knows_features: bool = True, knows_confidence: bool = True
) -> int:
    """Return how much of a recorded prompt must be judged again: nothing (NOT), its scores (WEIGH) or all (EVALUATE).

    ``impact`` is the difference between the rules that judged the prompt before and those to judge it by now; None if
    the recorded outcome is used instead. ``knows_features`` and ``knows_confidence`` say whether the prompt's recorded
    features and confidence are those that the earlier rules gave it; if not, they are not used.
    """
    if impact is None or impact.is_nothing:
        return NOT
    confidence = row.confidence if knows_confidence else None
    earlier = _earlier(row) if CONVERSATION in row.inputs else ""
    if not knows_features or FEATURES_KEY not in row.inputs:  # weighing scores again needs them
        return EVALUATE if impact.level(row.prompt, earlier=earlier, confidence=confidence) else NOT
    return impact.level(row.prompt, earlier=earlier, features=_features(row), confidence=confidence)


def _affected(
    rows: Sequence[RecordedPrompt], impacts: Sequence[Impact], *, knows_confidence: bool = True
) -> Sequence[RecordedPrompt]:
    """Return the prompts that may be affected by at least one of ``impacts``, which are differences between rules.

    The search is fast, but also finds some prompts that are not affected; ``level_of`` can exclude these.
    ``knows_confidence`` says whether the recorded confidences are those that the earlier rules gave.
    """
    affecting = [impact for impact in impacts if not impact.is_nothing]
    if not affecting or any(impact.is_everything for impact in affecting):
        return rows if affecting else ()
    found = {at for impact in affecting for at in impact.positions(rows, knows_confidence=knows_confidence)}
    return [rows[at] for at in sorted(found)]


def _earlier(row: RecordedPrompt) -> str:
    """Return the earlier text of the conversation that the prompt refers back to; empty for most prompts."""
    # Only a short prompt can refer back; the words are not split further than needed to see that.
    if len(row.prompt.split(None, POINTING_WORDS)) > POINTING_WORDS or not _refers_back(row.prompt):
        return ""
    return basis(Conversation.from_json(json.loads(row.inputs)["conversation"]), row.prompt)


@functools.lru_cache(maxsize=1 << 16)  # each edit needs the same prompts twice: for base and candidate
def _refers_back(prompt: str) -> bool:
    return bool(kind(prompt))


def _features(row: RecordedPrompt) -> set[str]:
    """Return the prompt's recorded features, plus one for its task type, such as ``task_debug``.

    They are searched for in the JSON text, because parsing all of it would take too long.
    """
    _, _, behind = row.inputs.partition(f"{FEATURES_KEY}:")
    named = behind[: behind.index("]")].strip("[ ")
    return {*(name.strip('" ') for name in named.split(",")), f"task_{row.task_type}"}


_PREPARED: list[Evaluator] = []  # sent to each worker process once, because the rules in it are large


def prepare(evaluator: Evaluator) -> None:
    """Store the evaluator that this worker process uses."""
    _PREPARED[:] = [evaluator]


def evaluate_all(tasks: Sequence[EvaluationTask]) -> list[Sides]:
    """Return the outcomes of these tasks under base and candidate; runs in a worker process, after ``prepare``."""
    return [_PREPARED[0].outcomes(task) for task in tasks]
