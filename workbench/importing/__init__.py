"""Find past conversations of agent clients, and read the prompts in them, to import and replay them.

The records of each client are parsed by the hook's own readers (``enricher.sources.transcripts``). Here, files are read
forwards, line by line, in bounded memory, and turns that no user typed are yielded as ``LeftOut``.
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
class ConversationFile:
    """A file with conversations; ``host`` is empty if the file does not show which client wrote it."""

    host: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt as the user typed it; ``at`` is its time in microseconds since 1970.

    ``index`` identifies the prompt within its session. ``is_dated`` is true if the file contains the time; if not, the
    time is a guess that may differ when the file is read again. ``before()`` returns the conversation before the
    prompt; call it before you request the next turn.
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
    """A turn that is not a prompt typed by the user; ``kind`` says what it is instead."""

    host: str
    session_id: str
    cwd: str
    kind: str


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """A file or line that could not be read; ``line`` is 0 if the problem concerns the whole file."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.line else f"{self.path}: {self.reason}"


Event = Turn | LeftOut | ReadProblem
