"""What a channel is asked depends on: a replay under other rules must know whether it would have been asked that.

A channel's answer is recorded, so a replay has it; but rules that judge the prompt
otherwise, or declare the channel otherwise, may have asked it something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.context.memory import effective_intent, memories_wanted
from enricher.context.tasks import MOST_OFFERED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

DECLARED: dict[str, Callable[[Mapping[str, Any]], object]] = {
    "code": lambda _: None,
    "session": lambda rule: rule["tokens"],
    "tasks": lambda rule: max(MOST_OFFERED, rule["most"]),
    "memory": lambda rule: rule["min_score"],
}
"""What of its declaration one of our own channels goes by."""
OF_A_PROGRAM = ("command", "deadline_ms", "model", "endpoint")
"""What decides whether a program is started, and what it is told beside the prompt and its task type."""
INTENT_IS_ON = "search_intent.enabled"


class Judgement:
    """What of a judged prompt a channel may be asked with; ``is_silent`` where no channel is asked at all."""

    __slots__ = ("intent_confidence", "is_silent", "search_intent", "task_type")

    def __init__(
        self, task_type: str, *, search_intent: str = "", intent_confidence: float = 0.0, is_silent: bool = False
    ) -> None:
        self.task_type = task_type
        self.search_intent = search_intent
        self.intent_confidence = intent_confidence
        self.is_silent = is_silent


def asked_otherwise(
    before: tuple[Judgement, Sequence[Mapping[str, Any]]],
    after: tuple[Judgement, Sequence[Mapping[str, Any]]],
    *,
    settings: Mapping[str, Any],
    has_past: bool = True,
    off: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the channels that the later judgement and declarations would have asked something else.

    Each side is the judgement and the declared channels of its rules; ``settings`` are the
    recorded ones, ``has_past`` says whether anything was known of the conversation, ``off``
    names the channels that were switched off then.
    """
    (was, declared_before), (now, declared_after) = before, after
    if now.is_silent:
        return ()
    known = {rule["name"]: rule for rule in declared_before}
    dumb = {*off, *(() if has_past else ("session",)), *(() if settings.get(INTENT_IS_ON, True) else ("memory",))}
    return tuple(
        rule["name"]
        for rule in declared_after
        if not (rule["name"] in dumb and _is_as_dumb(rule, known.get(rule["name"])))
        and (
            was.is_silent
            or rule["name"] not in known
            or _question(known[rule["name"]], was, settings) != _question(rule, now, settings)
        )
    )


def _is_as_dumb(rule: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> bool:
    """Say whether a channel that could say nothing then could say nothing now: it is the same, and needs the same."""
    return earlier is not None and all(rule[key] == earlier[key] for key in ("command", "model", "endpoint"))


def _question(rule: Mapping[str, Any], judged: Judgement, settings: Mapping[str, Any]) -> tuple[object, ...]:
    name = rule["name"]
    if rule["command"] or name not in DECLARED:
        return (judged.task_type, *(str(rule[key]) for key in OF_A_PROGRAM))
    declared = DECLARED[name](rule)
    if name != "memory":
        return (declared,)
    intent = effective_intent(judged.search_intent, judged.intent_confidence, settings)
    return (declared, intent, memories_wanted(intent, judged.intent_confidence, settings))
