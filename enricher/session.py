"""What happened in a session so far, as text: the public door to the transcripts of the hosts.

The hook does not come through here; it reads the same conversation itself.
"""

from __future__ import annotations

from pathlib import Path

from enricher.context.conversation import Conversation
from enricher.context.session import summary
from enricher.event import PromptEvent
from enricher.transcripts import read_conversation

__all__ = ["Conversation", "extract_router_context", "read_session"]

HEADING = "## Session Context"
BUDGET_CHARS = 400
"""About 100 tokens, as seed 003 gives a session."""


def read_session(transcript: str | Path, *, host: str = "claude", prompt: str = "", cwd: str = "") -> Conversation:
    """Return what a transcript says, redacted and short; nothing of it where the file is missing.

    ``host`` is the client that wrote it: claude, gemini, codex or copilot. For a ``prompt``
    of at most ten characters more of the last answer is kept. Never raises for what a file
    holds; ``problem`` of the result says what could not be read.
    """
    path = str(Path(transcript).absolute())
    return read_conversation(PromptEvent(prompt, host=host, cwd=cwd, transcript_path=path))


def extract_router_context(transcript: str | Path, *, host: str = "claude") -> str:
    """Return the session's last prompts, todo state, last error and files in about 100 tokens of Markdown.

    The prompts are the newest five that a person wrote, oldest first, without tags; an
    empty text says that the transcript holds none of all that.
    """
    conversation = read_session(transcript, host=host)
    found = summary(conversation, chars=BUDGET_CHARS - len(HEADING))
    lines = [f"{item.label[0].upper()}{item.label[1:]}: {item.text}" for item in found]
    return "\n".join([HEADING, *lines]) if lines else ""
