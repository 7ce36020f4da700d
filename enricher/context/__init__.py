"""Gather facts from channels under deadlines; each channel's fate is told, none can harm another.

Our own channels run one after the other in this process, each under a work budget
and a timer; programs that a person declared run beside them as processes.
"""

from __future__ import annotations

import os
import time

from enricher.redaction import redact
from enricher.settings import GATES
from storage.lean import within

BUILT_IN = ("code", "session", "tasks", "memory")
"""Channels that need no command: the modules of this package that have these names."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify import Classification
    from enricher.context.conversation import Conversation
    from enricher.event import PromptEvent
    from enricher.project import Project
    from enricher.settings import Value


class ChannelDeadlineError(BaseException):
    """A channel's time is up; no handler of its own may take that for a failure."""


class Channel:
    """A source of facts as the rules declare it; ``command`` is the program to ask, empty for our own."""

    __slots__ = ("command", "deadline_ms", "min_score", "most", "name", "priority", "tokens")

    def __init__(self, declared: Mapping[str, Any], *, deadline_ms: int) -> None:
        self.name: str = declared["name"]
        self.command: list[str] = declared["command"]
        self.deadline_ms: int = min(declared["deadline_ms"], deadline_ms)
        self.min_score: float = declared["min_score"]
        self.most: int = declared["most"]
        self.priority: int = declared["priority"]
        self.tokens: int = declared["tokens"]


class Request:
    """What a channel is asked: the prompt, what is known about it, and until when an answer helps.

    ``until`` is a reading of ``time.perf_counter``; ``now`` seconds since the epoch.
    """

    __slots__ = (
        "conversation",
        "cwd",
        "host",
        "intent_confidence",
        "now",
        "project",
        "prompt",
        "search_intent",
        "session_id",
        "settings",
        "state",
        "task_type",
        "topics",
        "until",
    )

    def __init__(
        self,
        event: PromptEvent,
        judged: Classification,
        *,
        project: Project,
        conversation: Conversation,
        state: str,
        settings: Mapping[str, Value],
    ) -> None:
        self.prompt = event.prompt
        self.host = event.host
        self.cwd = event.cwd
        self.session_id = event.session_id
        self.task_type = judged.task_type
        self.search_intent = judged.search_intent
        self.intent_confidence = judged.intent_confidence
        self.topics = list(judged.topics)
        self.project = project
        self.conversation = conversation
        self.state = state
        self.settings = settings
        self.now = time.time()
        self.until = time.perf_counter() + float(settings["budgets.gather_ms"]) / 1000

    def to_json(self) -> dict[str, Any]:
        """Return what a program is told."""
        return {"prompt": self.prompt, "cwd": self.cwd, "session_id": self.session_id, "task_type": self.task_type}


class Candidate:
    """A fact that a channel offers, before the rules weigh it.

    ``text`` is quoted, ``label`` says where it is from (without a text it says all
    there is to say); ``ref`` is what it is known by. ``score`` runs from 0 to 1,
    ``raw`` is the score before weights. ``stale`` says why it should not be told.
    """

    __slots__ = ("date", "kind", "label", "raw", "ref", "score", "stale", "text")

    def __init__(
        self,
        text: str,
        ref: str,
        score: float,
        *,
        label: str = "",
        date: str = "",
        kind: str = "",
        stale: str = "",
        raw: float | None = None,
    ) -> None:
        self.text = text
        self.ref = ref
        self.score = score
        self.label = label or ref
        self.date = date
        self.kind = kind
        self.stale = stale
        self.raw = score if raw is None else raw

    def to_json(self) -> list[Any]:
        return [self.text, self.ref, self.score, self.label, self.date, self.kind, self.stale, self.raw]

    @staticmethod
    def from_json(value: list[Any]) -> Candidate:
        text, ref, score, label, date, kind, stale, raw = value
        return Candidate(text, ref, score, label=label, date=date, kind=kind, stale=stale, raw=raw)


class Gathered:
    """What one channel did: status ok, empty, timeout, error, off or untrusted, and what it offered."""

    __slots__ = ("candidates", "fallback", "is_program", "latency_ms", "model", "name", "problem", "status")

    def __init__(
        self,
        name: str,
        status: str,
        *,
        latency_ms: float = 0.0,
        candidates: list[Candidate] | None = None,
        problem: str = "",
        is_program: bool = False,
    ) -> None:
        self.name = name
        self.status = status
        self.latency_ms = latency_ms
        self.candidates = candidates or []
        self.problem = problem
        self.is_program = is_program
        self.model = ""
        self.fallback = False

    def to_json(self) -> dict[str, Any]:
        """Return the recorded form, from which a replay takes the same candidates."""
        offered = [item.to_json() for item in self.candidates]
        return {"name": self.name, "status": self.status, "latency_ms": self.latency_ms, "candidates": offered}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Gathered:
        offered = [Candidate.from_json(item) for item in value["candidates"]]
        return Gathered(value["name"], value["status"], latency_ms=value["latency_ms"], candidates=offered)


def gather(declared: list[dict[str, Any]], request: Request, settings: Mapping[str, Value]) -> list[Gathered]:
    """Ask the declared channels about a prompt; return one result each, in their order."""
    results: dict[str, Gathered] = {}
    asked: list[Channel] = []
    for rule in declared:
        channel = Channel(rule, deadline_ms=int(settings["budgets.channel_ms"]))
        if _is_on(rule, settings):
            asked.append(channel)
        else:
            results[channel.name] = Gathered(channel.name, "off")
    programs = [channel for channel in asked if channel.command]
    if programs:
        from enricher.context import external

        started = external.start(programs, request.to_json(), request.state)
        try:
            _ask_ours(asked, request, results)
        finally:
            answers = external.collect(started, until=request.until)
        results.update((channel.name, Gathered(channel.name, "off")) for channel in programs)
        results.update((one.name, one) for one in answers)
    else:
        _ask_ours(asked, request, results)
    gathered = [results[rule["name"]] for rule in declared]
    if any(item.text for one in gathered for item in one.candidates):
        from enricher.context.known import mark, mark_said

        mark(gathered, request)
        mark_said(gathered, request.conversation.answer)
    return gathered


def _is_on(rule: Mapping[str, Any], settings: Mapping[str, Value]) -> bool:
    """Say whether a channel is asked: nobody switched it off, and what it needs is there (ruling R10)."""
    if settings.get("no_handlers") or not settings.get(f"channels.{rule['name']}", True):
        return False
    if rule.get("model") and not all(settings.get(gate) is True for gate in GATES):
        return False
    return not rule.get("endpoint") or bool(os.environ.get(rule["endpoint"]))


def _ask_ours(asked: list[Channel], request: Request, results: dict[str, Gathered]) -> None:
    """Ask our own channels in the order of their priority, so that time runs out on the least important."""
    until = request.until
    for channel in sorted(asked, key=lambda one: -one.priority):
        if not channel.command:
            results[channel.name] = _ask(channel, request, until=until)
    request.until = until


def _ask(channel: Channel, request: Request, *, until: float) -> Gathered:
    begun = time.perf_counter()
    request.until = min(until, begun + channel.deadline_ms / 1000)
    status, problem, offered = "timeout", "", []
    try:
        if begun < until:
            offered = within(request.until - begun, _ring, lambda: _offer(channel, request))
            status = "ok" if offered else "empty"
    except ChannelDeadlineError:
        pass
    except Exception as failure:  # whatever is wrong with one channel, the others go on
        late = time.perf_counter() >= request.until
        status, problem = ("timeout", "") if late else ("error", f"{type(failure).__name__}: {failure}")
    latency_ms = round((time.perf_counter() - begun) * 1000, 2)
    return Gathered(channel.name, status, latency_ms=latency_ms, candidates=offered, problem=problem)


def _ring() -> None:
    raise ChannelDeadlineError


def _offer(channel: Channel, request: Request) -> list[Candidate]:
    module = __import__(f"enricher.context.{channel.name}", fromlist=["offer"])
    return [presentable(item) for item in module.offer(request, channel)]


def presentable(item: Candidate) -> Candidate:
    """Redact an item: what is stored and shown is treated like a prompt, whoever wrote it."""
    item.text = redact(item.text)[0] if item.text else ""
    item.ref = redact(item.ref)[0]
    item.label = redact(item.label)[0]
    return item
