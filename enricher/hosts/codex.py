"""Translate events (``UserPromptSubmit``) and answers of Codex CLI, whose schema is strict.

A single unknown key makes it reject the whole answer; a timeout that is not an
integer makes it reject the whole hooks file.
"""

from __future__ import annotations

from enricher.hosts import common_event, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.event import PromptEvent

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
    """Return the prompt event that the client sent."""
    return common_event(payload, "codex")


def answer(context: str, notice: str) -> dict[str, object] | None:
    """Return the object to print, which contains only keys that the client's schema allows."""
    return nested(EVENT, context, notice)
