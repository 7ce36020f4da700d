"""Find signals without effect: they duplicate another signal, or exclude themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enricher.classify.matching import MOST_WORDS_OF_A_WHOLE
from enricher.rules.compiling.signals import condition_of, tokens

LENGTHS = ("tiny", "short", "medium", "long", "very_long")
"""Features of which a prompt has at most one."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.rules.compiling.signals import ClassRule


def idle_signals(rule: ClassRule, lists: dict[str, list[str]]) -> Iterator[tuple[int, str]]:
    """Yield the index of each signal without effect, and the reason; all must have passed ``check_signal``."""
    seen: dict[str, int] = {}
    for index, signal in enumerate(rule.signals):
        condition = condition_of(signal)
        if condition in seen:
            yield index, f"says the same as signal {seen[condition] + 1} of this rule; both count, so raise one weight"
        seen.setdefault(condition, index)
        yield from ((index, reason) for reason in _contradictions(signal, lists))


def _contradictions(signal: dict[str, Any], lists: dict[str, list[str]]) -> Iterator[str]:
    wordings = _wordings(signal, lists)
    for guard in signal.get("unless", []):
        if guard == f"<{signal.get('feature')}>" or guard in signal.get("with", []):
            yield f"can never fire: it needs '{guard}' and is off where '{guard}' holds"
        forbidden = (
            [tokens(one) for one in lists.get(guard.strip("[]"), [])] if guard.startswith("[") else [tokens(guard)]
        )
        if "@" not in guard and wordings and all(any(_holds(one, part) for part in forbidden) for one in wordings):
            yield f"can never fire: every wording of it contains '{guard}'"
    yield from _keys_without_effect(signal, wordings)
    if signal.get("at") == "whole" and wordings and min(map(len, wordings)) > MOST_WORDS_OF_A_WHOLE:
        yield f"can never fire: as the whole of a prompt it may have {MOST_WORDS_OF_A_WHOLE} words"


def _keys_without_effect(signal: dict[str, Any], wordings: list[tuple[str, ...]]) -> Iterator[str]:
    if "feature" in signal:
        for key in ("at", "gap", "exact"):
            if key in signal:
                yield f"has no use for '{key}': a feature is of the whole prompt"
        lengths = {f"<{length}>" for length in LENGTHS if length != signal["feature"]}
        if signal["feature"] in LENGTHS and signal.get("with") and lengths.issuperset(signal["with"]):
            yield f"can never fire: a prompt that is '{signal['feature']}' has no other length"
    elif "gap" in signal and not any("…" in wording for wording in wordings):
        yield "has no use for 'gap': no wording of it has a '…'"


def _wordings(signal: dict[str, Any], lists: dict[str, list[str]]) -> list[tuple[str, ...]]:
    if "phrase" in signal:
        return [tokens(signal["phrase"])]
    return [tokens(one) for one in signal.get("any", lists.get(signal.get("words", ""), []))]


def _holds(wording: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(wording[at : at + len(part)] == part for at in range(len(wording) - len(part) + 1))
