"""Rank the facts that the channels offer for a prompt, and record why some of them are omitted."""

from __future__ import annotations

from enricher.respond import RankedItem
from enricher.respond.guidance import SAID_BEFORE, OmittedGuidance
from storage.base.fast_stdlib import keyed_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.context import Candidate
    from enricher.respond import Enrichment, Inputs

LONGEST_NAME = 200
NOT_OUTDATED = (
    "the host has it", "the conversation has it", "the prompt", "it only accompanies", "it shares", "another one",
)  # fmt: skip
"""Beginnings of reasons in ``Candidate.stale`` that are shown unchanged; other reasons are shown as "stale: …"."""


def rank_items(result: Enrichment, inputs: Inputs, body: Mapping[str, Any]) -> None:
    """Add all offered facts to ``result``, ordered by channel priority and score; omitted ones get a reason."""
    rank = {rule["name"]: rule for rule in body["channels"]}
    seen: set[str] = set()
    for channel in sorted(inputs.channels, key=lambda one: -rank.get(one.name, {}).get("priority", 0)):
        rule = rank.get(channel.name)
        # In that profile, search_intent.max_count limits the memories instead.
        limits_itself = channel.name == "memory" and inputs.is_as_specified
        taken = 0
        for offered in sorted(channel.candidates, key=lambda one: (-one.score, one.ref, one.text)):
            text = " ".join(offered.text.lower().split()) or offered.label
            names = {name_of(offered.ref, offered.text), text}
            item = RankedItem(channel.name, offered, why=_objection(offered, rule, names, inputs))
            if not item.why and names & seen:
                item.why = "told by another channel"
            elif not item.why and rule and not limits_itself and taken >= rule["most"]:
                item.why = "more relevant ones fill the channel"
            if not item.why:
                seen |= names
                taken += 1
            result.items.append(item)
        best = max((one.score for one in channel.candidates), default=0.0)
        if rule and channel.candidates and best < rule["min_score"]:
            reason = "searched, nothing above the floor"
            result.misses.append(
                OmittedGuidance(f"channel {channel.name}", reason, score=best, needed=rule["min_score"])
            )


def _objection(offered: Candidate, rule: Mapping[str, Any] | None, names: set[str], inputs: Inputs) -> str:
    if rule is None or offered.score < rule["min_score"]:
        return "below the floor"
    if offered.raw < rule["min_score"]:  # weights only affect the order; they cannot make an item relevant
        return "below the floor without its weight"
    if offered.stale:
        return offered.stale if offered.stale.startswith(NOT_OUTDATED) else f"stale: {offered.stale}"
    known = inputs.already_shown
    place = place_of(offered)
    names = names - {offered.ref} if place != offered.ref else names
    if known and any(f"item:{one}" in known for name in {*names, place} for one in (name, hashed_ref(name))):
        return SAID_BEFORE
    # A path alone is nothing new if the same path was shown with a line number.
    is_bare_path = place == offered.ref and not offered.text
    if is_bare_path and any(one.startswith(f"item:{offered.ref}:") for one in known):
        return SAID_BEFORE
    return ""


def shown_refs(enrichment: Enrichment) -> list[tuple[str, str]]:
    """Return (kind, reference) of each thing that the text shows, so that the session can avoid repeating it."""
    if not enrichment.text:
        return []
    refs = [("guardrail", one.ref) for one in enrichment.guardrails]
    refs += [("approach", enrichment.approach.id)] if enrichment.approach else []
    return refs + [("item", name_of(place_of(item), item.text)) for item in enrichment.items if item.kept]


def place_of(offered: Candidate | RankedItem) -> str:
    """Return the reference under which a session records a fact, with the line number if its label has one.

    A file that was shown without a line number may therefore be shown again with one.
    """
    line = offered.label.removeprefix(f"{offered.ref}:").split(None, 1)[:1] if not offered.text else []
    is_line = bool(line) and offered.label.startswith(f"{offered.ref}:") and line[0].isdigit()
    return f"{offered.ref}:{line[0]}" if is_line else offered.ref


def name_of(ref: str, text: str) -> str:
    """Return the reference under which a session records an item: ``ref``, or a hash if that is empty or too long."""
    return ref if 0 < len(ref) <= LONGEST_NAME else hashed_ref(ref or text)


def hashed_ref(name: str) -> str:
    """Return a keyed hash of a reference, which is stored instead if the setting ``log`` forbids readable text."""
    return keyed_hash(b"item", name.encode(errors="replace"))
