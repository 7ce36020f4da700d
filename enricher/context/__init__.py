"""Gather facts from channels under deadlines; each channel's fate is told, none can harm another."""

from __future__ import annotations

from enricher.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.settings import Value


class Channel:
    """A source of facts as the rules declare it; ``command`` is the program to ask."""

    __slots__ = ("command", "deadline_ms", "min_score", "most", "name", "priority")

    def __init__(self, declared: Mapping[str, Any], *, deadline_ms: int) -> None:
        self.name: str = declared["name"]
        self.command: list[str] = declared["command"]
        self.deadline_ms: int = min(declared["deadline_ms"], deadline_ms)
        self.min_score: float = declared["min_score"]
        self.most: int = declared["most"]
        self.priority: int = declared["priority"]


class Candidate:
    """A fact that a channel offers, before the rules weigh it; ``score`` runs from 0 to 1."""

    __slots__ = ("ref", "score", "text")

    def __init__(self, text: str, ref: str, score: float) -> None:
        self.text = text
        self.ref = ref
        self.score = score


class Gathered:
    """What one channel did: status ok, empty, timeout, error, off or untrusted, and what it offered."""

    __slots__ = ("candidates", "latency_ms", "name", "status")

    def __init__(
        self, name: str, status: str, *, latency_ms: float = 0.0, candidates: list[Candidate] | None = None
    ) -> None:
        self.name = name
        self.status = status
        self.latency_ms = latency_ms
        self.candidates = candidates or []

    def to_json(self) -> dict[str, Any]:
        """Return the recorded form, from which a replay takes the same candidates."""
        offered = [[item.text, item.ref, item.score] for item in self.candidates]
        return {"name": self.name, "status": self.status, "latency_ms": self.latency_ms, "candidates": offered}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Gathered:
        offered = [Candidate(*item) for item in value["candidates"]]
        return Gathered(value["name"], value["status"], latency_ms=value["latency_ms"], candidates=offered)


def gather(declared: list[dict[str, Any]], request: dict[str, Any], settings: Mapping[str, Value]) -> list[Gathered]:
    """Ask the declared channels about a prompt; return one result each, in their order."""
    if not declared:
        return []
    from enricher.context.external import items_of, run

    results: dict[str, Gathered] = {}
    asked: list[Channel] = []
    for rule in declared:
        channel = Channel(rule, deadline_ms=int(settings["budgets.channel_ms"]))
        if settings.get(f"channels.{channel.name}", True):
            asked.append(channel)
        else:
            results[channel.name] = Gathered(channel.name, "off")
    for one in run(asked, request, gather_ms=float(settings["budgets.gather_ms"])):
        items = items_of(bytes(one.answer)) if one.status == "ok" else []
        status = "error" if items is None else one.status if one.status != "ok" or items else "empty"
        results[one.channel.name] = Gathered(
            one.channel.name,
            status,
            latency_ms=round((one.ended_at - one.started_at) * 1000, 2),
            candidates=[_candidate(*item) for item in items or []],
        )
    return [results[rule["name"]] for rule in declared]


def _candidate(text: str, ref: str, score: float) -> Candidate:
    """An item as it may be kept: a channel's text is stored and shown like a prompt, so it is redacted like one."""
    return Candidate(redact(text)[0], redact(ref)[0], score)
