"""Decide, for a replay under other rules, which recorded answers of channels are still valid.

A trace records each channel's answer. If the other rules classify the prompt differently, or declare
the channel differently, the channel would have had another input, and may have given another answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.context import CHANNELS, ChannelInput
from enricher.context.gathering import load

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

OF_A_PROGRAM = ("command", "deadline_ms", "model", "endpoint")  # its answer depends on them


def channels_with_changed_input(
    before: tuple[ChannelInput, Sequence[Mapping[str, Any]]],
    after: tuple[ChannelInput, Sequence[Mapping[str, Any]]],
    *,
    settings: Mapping[str, Any],
    has_past: bool = True,
    off: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names of the channels that would have had another input under the rules in ``after``.

    ``before`` and ``after`` are each the classification and the declared channels under one set of rules. ``off`` names
    the channels that were switched off when the trace was recorded.
    """
    (was, declared_before), (now, declared_after) = before, after
    if now.is_silent:
        return ()
    known = {rule["name"]: rule for rule in declared_before}
    changed = []
    for rule in declared_after:
        earlier = known.get(rule["name"])
        is_same = earlier is not None and all(rule[key] == earlier[key] for key in ("command", "model", "endpoint"))
        # Under the same program, a channel that was off or could not answer would not answer now either.
        if is_same and (rule["name"] in off or not _can_answer(rule, settings, has_past)):
            continue
        if was.is_silent or earlier is None or _question(earlier, was, settings) != _question(rule, now, settings):
            changed.append(rule["name"])
    return tuple(changed)


def can_rerun(rule: Mapping[str, Any]) -> bool:
    """Return whether a replay may query the channel again, with today's data.

    Programs are never run again, because the rules under test may contain commands that the user has not trusted.
    """
    return _is_builtin(rule) and load(rule["name"]).can_rerun


def _is_builtin(rule: Mapping[str, Any]) -> bool:
    return not rule["command"] and rule["name"] in CHANNELS


def _can_answer(rule: Mapping[str, Any], settings: Mapping[str, Any], has_past: bool) -> bool:
    can_answer = load(rule["name"]).can_answer if _is_builtin(rule) else None
    return can_answer is None or can_answer(settings, has_past)


def _question(rule: Mapping[str, Any], judged: ChannelInput, settings: Mapping[str, Any]) -> tuple[object, ...]:
    if not _is_builtin(rule):
        return (judged.task_type, *(str(rule[key]) for key in OF_A_PROGRAM))
    question = load(rule["name"]).question
    return (question(rule, judged, settings),) if question else ()
