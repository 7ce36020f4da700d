"""Our channels of context: which there are, what each declares, what it is asked, and what it answers.

Every module of this package may import this one, so it imports none of them;
``enricher.context.gathering`` loads and asks the channels.
"""

from __future__ import annotations

import os
import time

from enricher.prompt.redaction import redact

CHANNELS = ("code", "history", "session", "tasks", "memory", "ways", "tests", "skills")
"""The built-in channels, by module name. Compiling fails if a module declares a channel but is missing here."""


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Any

    from enricher.classify import Classification
    from enricher.context.asking import Judgement
    from enricher.prompt.conversation import Conversation
    from enricher.prompt.event import PromptEvent
    from enricher.prompt.project import Project
    from enricher.settings import Value


class Channel:
    """What a module declares as ``CHANNEL``; the channel has the module's name.

    ``offer(request, rule)`` returns candidates, best first. ``question(rule, judgement, settings)``
    returns what its answer depends on beside the prompt and the conversation: where that is another
    one under other rules, a replay calls the answer unknown. None: on nothing else.
    ``can_answer(settings, has_past)`` says whether it had anything to go by, so that the answer could
    be another one at all. ``can_ask_again``: ``replay --today`` may ask it, which must change nothing.
    ``gives`` and ``read_more`` are its row in the README. The budget holds where no layer declares the channel.
    """

    __slots__ = ("budget", "can_answer", "can_ask_again", "gives", "offer", "question", "read_more")

    def __init__(
        self,
        *,
        offer: Callable[[Request, ChannelRule], list[Candidate]],
        question: Callable[[Mapping[str, Any], Judgement, Mapping[str, Any]], object] | None,
        can_ask_again: bool,
        gives: str,
        min_score: float,
        most: int,
        priority: int,
        tokens: int,
        can_answer: Callable[[Mapping[str, Any], bool], bool] | None = None,
        read_more: str = "",
    ) -> None:
        self.offer = offer
        self.question = question
        self.can_answer = can_answer
        self.can_ask_again = can_ask_again
        self.gives = gives
        self.read_more = read_more
        self.budget: dict[str, Any] = {
            "min_score": min_score,
            "most": most,
            "priority": priority,
            "tokens": tokens,
        }


class ChannelRule:
    """A channel as the rules declare it; ``command`` is the program to ask, empty for our own."""

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

    ``skills`` are name and description of those installed; ``until`` is a reading of
    ``time.perf_counter``; ``now`` seconds since the epoch.
    """

    __slots__ = (
        "_index",
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
        "skills",
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
        skills: Sequence[tuple[str, str]] = (),
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
        self.skills = skills
        self.now = time.time()
        self.until = time.perf_counter() + float(settings["budgets.gather_ms"]) / 1000
        self._index: Connection | None = None

    def has_index(self) -> bool:
        """Say whether there is an index of the project's files."""
        from enricher.sources.code import database_file

        return bool(self.project.root) and os.path.exists(database_file(self.state, self.project.id))

    def index(self) -> Connection | None:
        """Return a connection to the project's index, shared by all channels; None if there is no index yet."""
        if self._index is None:
            from enricher.sources.code import open_index

            self._index = open_index(self.state, self.project.id, lambda: time.perf_counter() > self.until)
        return self._index

    def opened(self) -> set[str]:
        """Return the files, relative to the project, that the conversation has opened or changed."""
        root = self.project.root
        base = os.path.realpath(self.cwd) if self.cwd else root
        paths = {*self.conversation.files, *self.conversation.changed}
        return {
            os.path.relpath(os.path.normpath(os.path.join(base, path)), root).replace(os.sep, "/") for path in paths
        }

    def close(self) -> None:
        """Close the connection that ``index`` has opened."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def to_json(self) -> dict[str, Any]:
        """Return what a program is told."""
        return {"prompt": self.prompt, "cwd": self.cwd, "session_id": self.session_id, "task_type": self.task_type}


class Candidate:
    """A fact that a channel offers, before the rules weigh it.

    ``text`` is quoted, ``label`` says where it is from (without a text it says all
    there is to say). ``ref`` identifies the fact: a session is not told the same one twice,
    and equal scores are ordered by it. ``score`` runs from 0 to 1, ``raw`` is the score
    before weights. ``stale`` says why it should not be told.
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


def presentable(item: Candidate) -> Candidate:
    """Redact an item: what is stored and shown is treated like a prompt, whoever wrote it."""
    item.text = redact(item.text)[0] if item.text else ""
    item.ref = redact(item.ref)[0]
    item.label = redact(item.label)[0]
    return item
