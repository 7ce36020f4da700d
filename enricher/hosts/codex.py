"""Codex CLI: event ``UserPromptSubmit`` under a strict schema.

One key it does not know and the whole answer is refused; a timeout that is no
integer and the whole hooks file is.
"""

from __future__ import annotations

from enricher.event import PromptEvent
from enricher.hosts import nested, text

EVENT = "UserPromptSubmit"
TITLE = "Codex CLI"
TIMEOUT = 5  # seconds, an integer
HANDLER = {"type": "command", "command": "", "timeout": TIMEOUT}
COMMAND_KEY = "command"
IS_GROUPED = True
HAS_COMMENTS = False
ROOT: dict[str, object] = {}
HOME_VARIABLE = "CODEX_HOME"
HOME_FOLDER = ".codex"
USER_FILE = "hooks.json"
PROJECT_FILE = ".codex/hooks.json"


def parse(payload: object) -> PromptEvent:
    """Return the event."""
    return PromptEvent(
        text(payload, "prompt"),
        host="codex",
        session_id=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        transcript_path=text(payload, "transcript_path"),
        source=text(payload, "source"),
        agent=text(payload, "agent_id"),
    )


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print, with no key beyond the schema."""
    return nested(EVENT, context, notice)
