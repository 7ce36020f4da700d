"""Past conversations of agent clients, found and read whole, as prompts to replay.

The records of each client are understood where the hook understands them
(``enricher.sources.transcripts``); here files are read forwards, line by line, in bounded
memory, and what no person typed is told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from enricher.prompt.conversation import Conversation

    Advance = Callable[[int], None]

HOSTS = ("claude", "codex", "gemini", "copilot", "llm", "jsonl")


@dataclass(frozen=True, slots=True)
class Source:
    """A file with conversations; ``host`` is empty where nothing in it tells which client wrote it."""

    host: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt as a person typed it; ``at`` is in microseconds since 1970.

    ``index`` names it within its session. ``is_dated`` says whether the file tells the
    time, or it is a guess that may differ at the next reading. ``before()`` is good
    until the next turn is asked for.
    """

    host: str
    session_id: str
    cwd: str
    at: int
    is_dated: bool
    text: str
    index: str
    path: str
    line: int
    before: Callable[[], Conversation]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A turn that is no prompt of a person, with what it is instead."""

    host: str
    session_id: str
    cwd: str
    kind: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read; ``line`` is 0 where the whole file is meant."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.line else f"{self.path}: {self.reason}"


Event = Turn | LeftOut | Problem
