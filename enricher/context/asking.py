"""What a channel is asked depends on: a replay under other rules must know whether it would have been asked that.

A channel's answer is recorded, so a replay has it; but rules that judge the prompt
otherwise, or declare the channel otherwise, may have asked it something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.context.memory import effective_intent, memories_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

DECLARED = {"code": (), "session": ("tokens",), "tasks": ("most",), "memory": ("min_score",)}
"""What of its declaration one of our own channels goes by; a program may go by anything."""


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
) -> tuple[str, ...]:
    """Return the channels that the later judgement and declarations would have asked something else.

    Each side is the judgement and the declared channels of its rules; ``settings`` are the recorded ones.
    """
    (was, declared_before), (now, declared_after) = before, after
    if now.is_silent:
        return ()
    known = {} if was.is_silent else {rule["name"]: rule for rule in declared_before}
    return tuple(
        rule["name"]
        for rule in declared_after
        if rule["name"] not in known or _question(known[rule["name"]], was, settings) != _question(rule, now, settings)
    )


def _question(rule: Mapping[str, Any], judged: Judgement, settings: Mapping[str, Any]) -> tuple[object, ...]:
    name = rule["name"]
    if rule["command"] or name not in DECLARED:
        return (judged.task_type, *sorted((key, str(value)) for key, value in rule.items()))
    declared = tuple(rule[key] for key in DECLARED[name])
    if name != "memory":
        return declared
    intent = effective_intent(judged.search_intent, judged.intent_confidence, settings)
    return (*declared, intent, memories_for(judged.intent_confidence) if intent else 0)
