"""Choose the guardrails and the approach that this prompt calls for, with the score that chose them.

A guardrail's or approach's score is the weight of its task type, if that is
shown, plus the weights of its own signals; below the file's ``min_score`` it is
left out and the miss is told to ``explain``.
"""

from __future__ import annotations

from enricher.render import harmless
from enricher.settings import AS_SPECIFIED

LONGEST_FACT = 120

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any


class Scored:
    """A guardrail or approach with what spoke for it."""

    __slots__ = ("id", "score", "text")

    def __init__(self, identity: str, text: str, score: int) -> None:
        self.id = identity
        self.text = text
        self.score = score


class Miss:
    """A line that was left out, and why: its score against the threshold, or another reason."""

    __slots__ = ("line", "needed", "reason", "score")

    def __init__(self, line: str, reason: str, *, score: float = 0, needed: float = 0) -> None:
        self.line = line
        self.reason = reason
        self.score = score
        self.needed = needed


def select_guardrails(
    rules: Mapping[str, Any],
    *,
    task_type: str,
    signal_scores: Mapping[str, int],
    injected: Collection[str],
    is_as_specified: bool = False,
) -> tuple[list[Scored], list[Miss]]:
    """Return the guardrails to show, most relevant first, and those left out.

    ``task_type`` is empty where no class is shown; ``injected`` holds what this
    session already has. Ties keep the order of the catalogue. With ``is_as_specified``
    the guardrails of the task type come first, whatever their score is.
    """
    chosen: list[Scored] = []
    misses: list[Miss] = []
    of_class: set[str] = set()
    for identity, title, task_types, always, own_threshold in rules["rules"]:
        needed = own_threshold or rules["min_score"]
        score = signal_scores.get(identity, 0) + (rules["task_type_weight"] if task_type in task_types else 0)
        if is_as_specified and task_type in task_types:
            of_class.add(identity)
        if always or identity in of_class:
            chosen.append(Scored(identity, title, max(score, needed)))
        elif score < needed:
            if score:
                misses.append(Miss(f"guardrail {identity}", "score", score=score, needed=needed))
        elif f"guardrail:{identity}" in injected:
            misses.append(Miss(f"guardrail {identity}", "said before in this session", score=score))
        else:
            chosen.append(Scored(identity, title, score))
    chosen.sort(key=lambda one: (one.id not in of_class, -one.score))
    misses += [Miss(f"guardrail {one.id}", "more relevant ones fill the line") for one in chosen[rules["most"] :]]
    return chosen[: rules["most"]], misses


def suggest_approach(
    rules: Mapping[str, Any],
    facts: Mapping[str, str],
    *,
    task_type: str,
    signal_scores: Mapping[str, int],
    injected: Collection[str],
    is_as_specified: bool = False,
) -> tuple[Scored | None, list[Miss]]:
    """Return the first approach in the file's order that has its facts and its score, and those left out.

    With ``is_as_specified`` those that the file declares for that profile follow behind the others.
    """
    misses: list[Miss] = []
    rows = [*rules["rules"], *rules.get(AS_SPECIFIED, ())] if is_as_specified else rules["rules"]
    for name, say, needs, task_types in rows:
        score = signal_scores.get(name, 0) + task_types.get(task_type, 0)
        missing = [fact for fact in needs if fact not in facts]
        if score < rules["min_score"] or missing:
            if score:
                reason = f"the prompt has no {missing[0]}" if missing else "score"
                misses.append(Miss(f"approach {name}", reason, score=score, needed=rules["min_score"]))
        elif f"approach:{name}" in injected:
            misses.append(Miss(f"approach {name}", "said before in this session", score=score))
        else:
            return Scored(name, _fill(say, facts), score), misses
    return None, misses


def _fill(say: str, facts: Mapping[str, str]) -> str:
    for name, value in facts.items():
        say = say.replace("{" + name + "}", harmless(value, longest=LONGEST_FACT))
    return say
