"""Define what a context channel (a source of facts about a prompt) declares, receives and answers.

Every module of this package may import this one, so it imports none of them;
``enricher.context.gathering`` loads and queries the channels.
"""

from __future__ import annotations

import os
import time

from enricher.prompt.redaction import redact

CHANNELS = ("code", "history", "session", "tasks", "memory", "ways", "tests", "skills")
"""The built-in channels, by module name. Compiling the rules fails if a module with a channel is missing here."""
DECLARED, UNDECLARED = "declared", "undeclared"
"""Values of the key ``handler`` in the rule of a channel that is a program of this package.

They say whether an instructions file declares the channel. An undeclared channel is queried only if it is switched on;
otherwise no trace mentions it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from sqlite3 import Connection
    from typing import Any

    from enricher.classify import Classification
    from enricher.prompt.conversation import Conversation
    from enricher.prompt.event import PromptEvent
    from enricher.prompt.project import Project
    from enricher.settings import Value


class Channel:
    """A channel's declaration, which its module exports as ``CHANNEL``; the module's name is the channel's name.

    ``offer(request, rule)`` returns candidates, best first. ``question(rule, channel_input, settings)`` returns what
    the answer depends on besides the prompt and the conversation; it is None if there is nothing else. A replay under
    other rules reports the answer as unknown if ``question`` then returns something else.
    ``can_answer(settings, has_past)`` returns whether the channel could answer a prompt under these settings, with or
    without an earlier conversation; None means that it always could. ``can_ask_again`` says that ``replay --today`` may
    call ``offer``, which must not change any state. ``gives`` and ``read_more`` fill the channel's row in the README.
    ``budget`` holds the values used if no rules file declares the channel: the minimum score of a fact, the maximum
    number of facts and of their tokens, and the priority.
    """

    __slots__ = ("budget", "can_answer", "can_rerun", "gives", "offer", "question", "read_more")

    def __init__(
        self,
        *,
        offer: Callable[[Request, ChannelRule], list[Candidate]],
        question: Callable[[Mapping[str, Any], ChannelInput, Mapping[str, Any]], object] | None,
        can_ask_again: bool,
        gives: str,
        min_score: float,
        most: int,
        priority: int,
        tokens: int,
        can_answer: Callable[[Mapping[str, Any], bool], bool] | None = None,
        read_more: str = "",
    ) -> None:
        self.offer, self.question, self.can_answer = offer, question, can_answer
        self.can_rerun = can_ask_again
        self.gives, self.read_more = gives, read_more
        self.budget: dict[str, Any] = {"min_score": min_score, "most": most, "priority": priority, "tokens": tokens}


class ChannelInput:
    """The part of a prompt's classification that channels see.

    ``is_silent`` means that the rules keep the hook silent for this prompt, so that no channel is queried.
    """

    __slots__ = ("intent_confidence", "is_silent", "search_intent", "task_type")

    def __init__(
        self, task_type: str, *, search_intent: str = "", intent_confidence: float = 0.0, is_silent: bool = False
    ) -> None:
        self.task_type, self.is_silent = task_type, is_silent
        self.search_intent, self.intent_confidence = search_intent, intent_confidence


class ChannelRule:
    """A channel as the rules declare it: ``command`` is the program to run, empty for a built-in channel.

    For a channel that asks a language model, the program is always ``enricher.model.handlers``, and ``handler``
    contains its arguments; ``handler`` is empty for any other channel.
    """

    __slots__ = ("command", "deadline_ms", "handler", "min_score", "most", "name", "priority", "tokens")

    def __init__(self, declared: Mapping[str, Any], *, deadline_ms: int) -> None:
        self.name: str = declared["name"]
        self.command: list[str] = declared["command"]
        self.handler: list[str] = []
        if declared.get("handler"):
            self.handler = [self.name, declared["endpoint"], declared["prompt"]]
        self.deadline_ms: int = min(declared["deadline_ms"], deadline_ms)
        self.min_score: float = declared["min_score"]
        self.most: int = declared["most"]
        self.priority: int = declared["priority"]
        self.tokens: int = declared["tokens"]

    def is_program(self) -> bool:
        """Return whether the channel is a program that runs in a process of its own."""
        return bool(self.command or self.handler)


class Request:
    """The input of a channel: the prompt, its classification and context, and the deadline for the answer.

    ``skills`` contains (name, description) of each installed skill; ``until`` is the deadline on the
    clock ``time.perf_counter``; ``now`` is in seconds since the epoch.
    """

    __slots__ = (
        "_index", "_records", "conversation", "cwd", "host", "intent_confidence", "now", "project", "prompt",
        "search_intent", "session_id", "settings", "skills", "state", "task_type", "until",
    )  # fmt: skip

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
        self.project, self.conversation, self.state = project, conversation, state
        self.settings, self.skills = settings, skills
        self.now = time.time()
        self.until = time.perf_counter() + float(settings["budgets.gather_ms"]) / 1000
        self._index: Connection | None = None
        self._records: bytes | None = None

    def has_index(self) -> bool:
        """Return whether the project has a code index."""
        from enricher.sources.code import database_file

        return bool(self.project.root) and os.path.exists(database_file(self.state, self.project.id))

    def index(self) -> Connection | None:
        """Return a connection to the project's code index, shared by all channels; None if there is no index yet."""
        if self._index is None:
            from enricher.sources.code import open_index

            self._index = open_index(self.state, self.project.id, lambda: time.perf_counter() > self.until)
        return self._index

    def folder(self) -> str:
        """Return the working folder, relative to the project; empty if it is the project itself or outside of it."""
        root, cwd = self.project.root, os.path.realpath(self.cwd) if self.cwd else ""
        return cwd[len(root) + 1 :] if root and cwd.startswith(root + os.sep) else ""

    def opened_files(self) -> set[str]:
        """Return the files, relative to the project, that the conversation has opened or changed."""
        root = self.project.root
        base = os.path.realpath(self.cwd) if self.cwd else root
        paths = {*self.conversation.files, *self.conversation.changed}
        return {
            os.path.relpath(os.path.normpath(os.path.join(base, path)), root).replace(os.sep, "/") for path in paths
        }

    def were_opened(self, paths: set[str]) -> bool:
        """Return whether the conversation has opened or changed all these files of the project, however long ago.

        Files opened long ago are noted in ``conversation.earlier_files``, so that a replay gives the same answer.
        """
        from enricher.sources.transcripts.opened import have_been_opened, raw_records

        asked = paths.difference(self.opened_files(), self.conversation.earlier_files)
        if not asked:
            return True
        if self._records is None:
            self._records = raw_records(self.conversation)
        is_known = have_been_opened(self._records, self.project.root, asked)
        self.conversation.earlier_files += sorted(asked) if is_known else ()
        return is_known

    def close(self) -> None:
        """Close the connection that ``index`` opened."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that an external channel program receives."""
        return {"prompt": self.prompt, "cwd": self.cwd, "session_id": self.session_id, "task_type": self.task_type}


class Candidate:
    """A fact that a channel offers, before the rules weigh it.

    ``text`` is quoted in the output and ``label`` names its source; without a text the label contains
    the whole fact. ``ref`` identifies the fact: a session never shows the same ``ref`` twice, and equal
    scores are ordered by it. ``score`` is from 0 to 1, ``raw`` is the score before the channel weighted it.
    ``stale`` is the reason not to show the fact, empty if there is none.
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
        self.text, self.ref, self.score = text, ref, score
        self.label = label or ref
        self.date, self.kind, self.stale = date, kind, stale
        self.raw = score if raw is None else raw

    def to_json(self) -> list[Any]:
        return [self.text, self.ref, self.score, self.label, self.date, self.kind, self.stale, self.raw]

    @staticmethod
    def from_json(value: list[Any]) -> Candidate:
        text, ref, score, label, date, kind, stale, raw = value
        return Candidate(text, ref, score, label=label, date=date, kind=kind, stale=stale, raw=raw)


class ChannelResult:
    """The result of one channel: its status (ok, empty, timeout, error, off or untrusted) and its candidates.

    ``is_built_in`` is set only for a built-in channel that ran out of time, which the text for the agent does not
    mention.
    """

    __slots__ = (
        "candidates", "fallback", "is_built_in", "is_program", "latency_ms", "model", "name", "problem", "status",
    )  # fmt: skip

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
        self.name, self.status, self.latency_ms = name, status, latency_ms
        self.candidates = candidates or []
        self.problem, self.is_program = problem, is_program
        self.is_built_in = False
        self.model = ""
        self.fallback = False

    def to_json(self) -> dict[str, Any]:
        """Return the result as the trace stores it, from which a replay restores the same candidates."""
        offered = [item.to_json() for item in self.candidates]
        found = {"name": self.name, "status": self.status, "latency_ms": self.latency_ms, "candidates": offered}
        return {**found, "built_in": True} if self.is_built_in else found

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> ChannelResult:
        offered = [Candidate.from_json(item) for item in value["candidates"]]
        found = ChannelResult(value["name"], value["status"], latency_ms=value["latency_ms"], candidates=offered)
        found.is_built_in = value.get("built_in", False)
        return found


def redact_item(item: Candidate) -> Candidate:
    """Remove secrets from ``item``, which may be stored and shown, and return it."""
    item.text = redact(item.text)[0] if item.text else ""
    item.ref = redact(item.ref)[0]
    item.label = redact(item.label)[0]
    return item
